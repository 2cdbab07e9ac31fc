# The name of a role of the catalog.
terraform import datatable_role.reader reader
