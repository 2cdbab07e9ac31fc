# workspace/datatable/schema/table/policy. A policy that exists in the database
# and is in no configuration is taken over as it is.
terraform import 'datatable_policy.orders_of_region["emea"]' acme/main/public/orders/orders_emea
