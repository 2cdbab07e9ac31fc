resource "datatable_role" "reader" {
  name = "reader"
}

# Another number is another password: whoever has the old one logs in no more.
resource "datatable_role" "sales_emea" {
  name             = "sales_emea"
  comment          = "For the sales dashboards. Ask the data team."
  password_version = 2
}

resource "datatable_role" "sales_amer" {
  name = "sales_amer"
}

# Made by hand before, or not there yet. The plan shows both ways.
resource "datatable_role" "legacy_app" {
  name  = "legacy_app"
  adopt = true
}

# It keeps its grants and its tenants while nobody can log in as it.
resource "datatable_role" "auditor" {
  name    = "auditor"
  enabled = false
}
