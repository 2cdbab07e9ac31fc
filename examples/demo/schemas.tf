# Three schemas: public for everyone, analytics for who can read the folder
# reports, company_data for admins.

resource "datatable_grant" "products" {
  datatable  = datatable.main.name
  role       = "public"
  privileges = ["SELECT"]
  schema     = "public"
  objects    = ["products"]
}

resource "datatable_grant" "analytics" {
  datatable   = datatable.main.name
  role        = datatable_role.analyst.name
  privileges  = ["SELECT"]
  schema      = "analytics"
  all_objects = true
}

resource "datatable_grant" "company_data" {
  datatable   = datatable.main.name
  role        = datatable_role.company.name
  privileges  = ["ALL"]
  schema      = "company_data"
  all_objects = true
}
