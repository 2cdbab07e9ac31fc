# Who gets which login, as Terraform sees it. It changes nothing in the database.

data "datatable_connection" "who" {
  for_each = datatable_workspace.acme.members

  reference = "datatable://${datatable.main.name}"
  identity  = { user = each.key }
  viewer    = { user = each.key }
}

output "who" {
  description = "Kind of login and the roles that it holds, by person."
  value       = { for name, c in data.datatable_connection.who : name => "${c.kind}: ${join(", ", c.roles)}" }
}

data "datatable_connection" "bob_as_company" {
  reference = "datatable://${datatable.main.name}?role=${datatable_role.company.name}"
  identity  = { user = "bob" }
}

check "company_data_is_closed" {
  assert {
    condition     = try(data.datatable_connection.bob_as_company.refusal.code, "") == "not_a_tenant"
    error_message = "bob is no admin, and must not get the role company."
  }
}
