output "condition" {
  # pg_catalog.pg_has_role(current_user, 'reader', 'member')
  value = provider::datatable::member_of("reader")
}

output "any_of_these" {
  # (pg_catalog.pg_has_role(current_user, 'emea', 'member') OR pg_catalog.pg_has_role(current_user, 'apac', 'member'))
  value = provider::datatable::member_of("emea", "apac")
}
