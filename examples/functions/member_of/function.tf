output "condition" {
  # pg_catalog.pg_has_role(current_user, 'reader', 'member')
  value = provider::datatable::member_of("reader")
}
