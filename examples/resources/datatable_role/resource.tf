resource "datatable_role" "reader" {
  name = "reader"
}

resource "datatable_role" "sales_emea" {
  name = "sales_emea"
}

resource "datatable_role" "sales_amer" {
  name = "sales_amer"
}

# It keeps its grants and its tenants while nobody can log in as it.
resource "datatable_role" "auditor" {
  name    = "auditor"
  enabled = false
}
