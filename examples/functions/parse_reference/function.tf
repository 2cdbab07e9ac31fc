output "parsed" {
  # { datatable = "main", schema = "analytics", role = "reader", as = null }
  value = provider::datatable::parse_reference("datatable://main:analytics?role=reader")
}
