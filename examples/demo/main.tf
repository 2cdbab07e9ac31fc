# Who may use which role. A connection that names none starts from staff, and
# gets the roles that these lists give its viewer besides.
resource "datatable" "main" {
  database           = var.database
  workspace          = datatable_workspace.acme.name
  access             = "roles"
  default_role       = datatable_role.staff.name
  unnamed_roles_from = "viewer"

  tenants = {
    (datatable_role.staff.name)      = ["*"]
    (datatable_role.sales_emea.name) = ["g/emea"]
    (datatable_role.sales_amer.name) = ["g/amer"]
    (datatable_role.analyst.name)    = ["f/reports"]

    # Nobody is listed: these are for workspace admins, who have to name them.
    (datatable_role.company.name) = []
    admin                         = []
  }
}

resource "datatable_role" "staff" {
  name = "staff"
}

resource "datatable_role" "sales_emea" {
  name = "sales_emea"
}

resource "datatable_role" "sales_amer" {
  name = "sales_amer"
}

resource "datatable_role" "analyst" {
  name = "analyst"
}

resource "datatable_role" "company" {
  name = "company"
}
