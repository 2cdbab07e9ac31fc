output "identifier" {
  # "Order ""lines"""
  value = provider::datatable::quote_ident("Order \"lines\"")
}
