# One table, of which everyone sees what concerns them.

resource "datatable_grant" "orders" {
  datatable  = datatable.main.name
  role       = datatable_role.staff.name
  privileges = ["SELECT"]
  schema     = "public"
  objects    = ["orders"]

  # Without a policy the table would show every row to whoever may read it.
  depends_on = [datatable_policy.unassigned]
}

resource "datatable_grant" "orders_emea" {
  datatable  = datatable.main.name
  role       = datatable_role.sales_emea.name
  privileges = var.emea_privileges
  schema     = "public"
  objects    = ["orders"]
  depends_on = [datatable_policy.unassigned]
}

resource "datatable_grant" "orders_amer" {
  datatable  = datatable.main.name
  role       = datatable_role.sales_amer.name
  privileges = ["SELECT", "INSERT"]
  schema     = "public"
  objects    = ["orders"]
  depends_on = [datatable_policy.unassigned]
}

resource "datatable_policy" "unassigned" {
  name      = "unassigned"
  datatable = datatable.main.name
  table     = "orders"
  command   = "SELECT"
  using     = "region IS NULL"
}

# Nobody writes an order of a region that they do not sell in: with_check is
# using, where it is left out.
resource "datatable_policy" "region" {
  for_each = {
    emea = datatable_role.sales_emea.name
    amer = datatable_role.sales_amer.name
  }

  name      = "region_${each.key}"
  datatable = datatable.main.name
  table     = "orders"
  using     = "region = ${provider::datatable::quote_literal(each.key)} AND ${provider::datatable::member_of(each.value)}"
}
