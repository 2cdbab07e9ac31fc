# workspace/datatable/role/object_type/schema/objects, where objects are names
# with commas between them, or * for all_objects.
terraform import 'datatable_grant.orders["emea"]' acme/main/sales_emea/table/public/customers,orders
terraform import datatable_grant.analytics 'acme/main/reader/table/analytics/*'

# A schema has no objects, and a database no schema either: a - stands there.
terraform import datatable_grant.analytics_create acme/main/sales_emea/schema/analytics/-
terraform import datatable_grant.temporary acme/main/reader/database/-/-
