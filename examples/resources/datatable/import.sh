# The workspace and the name of the data table. A slash inside a name is written
# as %2F, here and in the ids of the other resources.
terraform import datatable.main acme/main
