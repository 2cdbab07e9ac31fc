-- Forgets the texts of policies that are gone, with their table or by hand.
DELETE FROM datatable_ledger.policy l
WHERE NOT EXISTS (
    SELECT FROM pg_catalog.pg_policies p
    WHERE (p.schemaname, p.tablename, p.policyname) = (l.schema, l.table_name, l.name)
)
