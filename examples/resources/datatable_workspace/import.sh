# The name of the workspace.
terraform import datatable_workspace.acme acme
