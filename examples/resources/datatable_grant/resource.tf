# Tables by name. USAGE on the schema comes with it.
resource "datatable_grant" "orders" {
  for_each = {
    emea = datatable_role.sales_emea.name
    amer = datatable_role.sales_amer.name
  }

  datatable  = datatable.main.name
  role       = each.value
  privileges = ["SELECT", "INSERT", "UPDATE"]
  schema     = "public"
  objects    = ["orders", "customers"]
}

# Every table and view of a schema. What is made later is granted by the next
# apply, whose plan shows it.
resource "datatable_grant" "analytics" {
  datatable   = datatable.main.name
  role        = datatable_role.reader.name
  privileges  = ["SELECT"]
  schema      = "analytics"
  all_objects = true
}

# A schema itself: its holders may create tables in it.
resource "datatable_grant" "analytics_create" {
  datatable   = datatable.main.name
  role        = datatable_role.sales_emea.name
  privileges  = ["CREATE"]
  object_type = "schema"
  schema      = "analytics"
}

# The database of the data table: temporary tables.
resource "datatable_grant" "temporary" {
  datatable   = datatable.main.name
  role        = datatable_role.reader.name
  privileges  = ["TEMPORARY"]
  object_type = "database"
}

# Every role, whoever it belongs to.
resource "datatable_grant" "products" {
  datatable  = datatable.main.name
  role       = "public"
  privileges = ["SELECT"]
  schema     = "public"
  objects    = ["products"]
}
