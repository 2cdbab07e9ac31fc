# A job that runs as jobs, whose result emma sees: jobs is let in by the default
# role, and emma's groups add her own.
data "datatable_connection" "emma" {
  reference = "datatable://main"
  identity  = { user = "jobs" }
  viewer    = { user = "emma" }

  depends_on = [datatable.main, datatable_workspace.acme]
}

output "emma" {
  value = {
    login = data.datatable_connection.emma.login
    roles = data.datatable_connection.emma.roles # reader, sales_emea
    trace = data.datatable_connection.emma.trace # each step of the decision
  }
}

# A role that is named is asked of the identity alone. The refusal is a value, so
# it can be asserted on: a plan says so when andy gets in.
data "datatable_connection" "andy" {
  datatable = datatable.main.name
  role      = datatable_role.sales_emea.name
  identity  = { user = "andy" }
}

check "regions_are_apart" {
  assert {
    condition     = try(data.datatable_connection.andy.refusal.code, "") == "not_a_tenant"
    error_message = "andy sells in amer, and must not get sales_emea."
  }
}

# Someone who is not in the directory, spelled out.
data "datatable_connection" "newcomer" {
  datatable = datatable.main.name
  identity  = { user = "nora", groups = ["emea"], folders = [] }
  viewer    = { user = "nora", groups = ["emea"], folders = [] }
}
