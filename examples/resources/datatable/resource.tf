# Everyone may use reader, and a connection that names no role starts from it.
# Who is in a sales group gets that group's role besides.
resource "datatable" "main" {
  database     = "shop"
  access       = "roles"
  default_role = datatable_role.reader.name

  tenants = {
    (datatable_role.reader.name)     = ["*"]
    (datatable_role.sales_emea.name) = ["g/emea"]
    (datatable_role.sales_amer.name) = ["g/amer"]
    (datatable_role.auditor.name)    = ["u/jobs", "f/finance"]
    admin                            = [] # the owner: workspace admins alone, by its name
  }
}

# Everyone in the workspace is the owner, and nothing is enforced.
resource "datatable" "scratch" {
  name     = "scratch"
  database = "scratch"
}

# The same database, asked for in another workspace: the permissions of acme's
# data table count.
resource "datatable" "lab" {
  workspace = datatable_workspace.lab.name
  database  = datatable.main.database

  governed_by = {
    workspace = datatable.main.workspace
    datatable = datatable.main.name
  }
}
