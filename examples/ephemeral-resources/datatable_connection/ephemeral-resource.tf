# What a report connects as, when emma looks at it. By its reference a data table
# is known once it exists, so the first plan does not ask for a connection to it.
ephemeral "datatable_connection" "report" {
  workspace = datatable_workspace.acme.name
  reference = datatable.main.reference
  identity  = { user = "andy" }
  viewer    = { user = "emma" }
}

# A program that is handed the credentials; no state or plan has them.
resource "terraform_data" "report" {
  input = "report"

  provisioner "local-exec" {
    command     = "echo connecting as $PGUSER"
    environment = { PGUSER = ephemeral.datatable_connection.report.username, PGPASSWORD = ephemeral.datatable_connection.report.password }
  }
}
