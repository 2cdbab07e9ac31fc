# Above each grant stands what its plan shows.

# Tables by name. USAGE on the schema comes with them, and for INSERT the
# sequences that their serial columns own.
#
#   GRANT USAGE ON SCHEMA "public" TO "sales_emea"
#   GRANT SELECT, INSERT, UPDATE ON TABLE "public"."customers", "public"."orders" TO "sales_emea"
#   GRANT USAGE ON SEQUENCE … TO "sales_emea" -- of serial columns of "public"."customers", "public"."orders"
resource "datatable_grant" "orders" {
  datatable  = datatable.main.name
  role       = datatable_role.sales_emea.name
  privileges = ["SELECT", "INSERT", "UPDATE"]
  schema     = "public"
  objects    = ["orders", "customers"]
}

# Every table and view of a schema, and those that the owner and sales_emea make
# later.
#
#   GRANT USAGE ON SCHEMA "analytics" TO "reader"
#   ALTER DEFAULT PRIVILEGES FOR ROLE … IN SCHEMA "analytics" GRANT SELECT ON TABLES TO "reader"
#   ALTER DEFAULT PRIVILEGES FOR ROLE "sales_emea" IN SCHEMA "analytics" GRANT SELECT ON TABLES TO "reader"
#   GRANT SELECT ON ALL TABLES IN SCHEMA "analytics" TO "reader"
resource "datatable_grant" "analytics" {
  datatable   = datatable.main.name
  role        = datatable_role.reader.name
  privileges  = ["SELECT"]
  schema      = "analytics"
  all_objects = true
  future      = true
  created_by  = ["admin", datatable_role.sales_emea.name]
}

# Columns, and the right to grant them on.
#
#   GRANT USAGE ON SCHEMA "public" TO "sales_amer"
#   GRANT SELECT ("id", "region"), UPDATE ("id", "region") ON TABLE "public"."customers" TO "sales_amer" WITH GRANT OPTION
resource "datatable_grant" "customers" {
  datatable         = datatable.main.name
  role              = datatable_role.sales_amer.name
  privileges        = ["SELECT", "UPDATE"]
  schema            = "public"
  objects           = ["customers"]
  columns           = ["id", "region"]
  with_grant_option = true
}

# A function by its signature.
#
#   GRANT USAGE ON SCHEMA "analytics" TO "sales_emea"
#   GRANT EXECUTE ON ROUTINE "analytics".total(text, numeric(10,2)) TO "sales_emea"
resource "datatable_grant" "total" {
  datatable   = datatable.main.name
  role        = datatable_role.sales_emea.name
  privileges  = ["EXECUTE"]
  object_type = "function"
  schema      = "analytics"
  objects     = ["total(text, numeric(10,2))"]
}

# Sequences.
#
#   GRANT USAGE ON SCHEMA "analytics" TO "sales_emea"
#   GRANT USAGE, SELECT ON ALL SEQUENCES IN SCHEMA "analytics" TO "sales_emea"
resource "datatable_grant" "numbers" {
  datatable   = datatable.main.name
  role        = datatable_role.sales_emea.name
  privileges  = ["USAGE", "SELECT"]
  object_type = "sequence"
  schema      = "analytics"
  all_objects = true
}

# A schema itself: its holders may make tables in it, and own what they make.
#
#   GRANT CREATE, USAGE ON SCHEMA "analytics" TO "sales_emea"
resource "datatable_grant" "analytics_create" {
  datatable   = datatable.main.name
  role        = datatable_role.sales_emea.name
  privileges  = ["CREATE", "USAGE"]
  object_type = "schema"
  schema      = "analytics"
}

# The database of the data table: temporary tables.
#
#   GRANT TEMPORARY ON DATABASE … TO "reader"
resource "datatable_grant" "temporary" {
  datatable   = datatable.main.name
  role        = datatable_role.reader.name
  privileges  = ["TEMPORARY"]
  object_type = "database"
}

# Every role, whoever it belongs to.
#
#   GRANT USAGE ON SCHEMA "public" TO PUBLIC
#   GRANT SELECT ON TABLE "public"."products" TO PUBLIC
resource "datatable_grant" "products" {
  datatable  = datatable.main.name
  role       = "public"
  privileges = ["SELECT"]
  schema     = "public"
  objects    = ["products"]
}
