-- Forgets tables that are gone, or on which row-level security is off.
DELETE FROM datatable_ledger.row_security l
WHERE NOT EXISTS (
    SELECT FROM pg_catalog.pg_class c
    JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
    WHERE (n.nspname, c.relname) = (l.schema, l.table_name) AND c.relrowsecurity
)
