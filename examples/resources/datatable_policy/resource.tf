# A region's salespeople see its orders and write no others. The condition asks
# for membership, so it holds for someone who has both roles too. Without
# with_check, using would count for what is written as well.
resource "datatable_policy" "orders_of_region" {
  for_each = {
    emea = datatable_role.sales_emea.name
    amer = datatable_role.sales_amer.name
  }

  name      = "orders_${each.key}"
  datatable = datatable.main.name
  table     = "orders"
  command   = "ALL"

  using      = "region = ${provider::datatable::quote_literal(each.key)} AND ${provider::datatable::member_of(each.value)}"
  with_check = "region = ${provider::datatable::quote_literal(each.key)} AND quantity > 0 AND ${provider::datatable::member_of(each.value)}"
}

# Orders that no region has yet are seen by those who hold one of these roles.
resource "datatable_policy" "unassigned" {
  name      = "unassigned"
  datatable = datatable.main.name
  table     = "orders"
  command   = "SELECT"
  roles     = [datatable_role.sales_emea.name, datatable_role.sales_amer.name]
  using     = "region IS NULL"
}

# Whatever else permits a row, it must pass this one too.
resource "datatable_policy" "not_embargoed" {
  name        = "not_embargoed"
  datatable   = datatable.main.name
  table       = "orders"
  restrictive = true
  using       = "NOT embargoed"
}

# When the last policy of this table goes, row-level security goes with it, and
# whoever holds SELECT sees every row. By default it stays on.
resource "datatable_policy" "customers" {
  name              = "everyone"
  datatable         = datatable.main.name
  table             = "customers"
  using             = "true"
  when_last_removed = "disable"
}
