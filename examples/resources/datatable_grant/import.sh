# workspace/datatable/role/object_type/schema/objects, where objects are names
# with commas between them, or * for all_objects. What nothing declares yet is
# adopted: the import records a grant of what is held, and changes no privilege.
terraform import datatable_grant.orders acme/main/sales_emea/table/public/customers,orders
terraform import datatable_grant.analytics 'acme/main/reader/table/analytics/*'

# What is percent-encoded in a URL is here too: a comma or slash in a name.
terraform import datatable_grant.total 'acme/main/sales_emea/function/analytics/total(text%2C%20numeric(10%2C2))'

# A schema has no objects, and a database no schema either: a - stands there.
terraform import datatable_grant.analytics_create acme/main/sales_emea/schema/analytics/-
terraform import datatable_grant.temporary acme/main/reader/database/-/-
