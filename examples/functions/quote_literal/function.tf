output "literal" {
  # 'O''Brien'
  value = provider::datatable::quote_literal("O'Brien")
}
