-- Writes a policy as it was written and as Postgres prints it.
-- $1 schema, $2 table, $3 policy
-- $4 id and $5 name of the data table
-- $6 using and $7 with_check as written, $8 when_last_removed
INSERT INTO datatable_ledger.policy (schema, table_name, name, datatable_id, datatable,
    using_written, using_printed, check_written, check_printed, when_last_removed)
SELECT p.schemaname, p.tablename, p.policyname, $4::uuid, $5::text, $6::text, p.qual, $7::text, p.with_check, $8::text
FROM pg_catalog.pg_policies p
WHERE (p.schemaname, p.tablename, p.policyname) = ($1::text, $2::text, $3::text)
ON CONFLICT (schema, table_name, name) DO UPDATE SET
    datatable_id = excluded.datatable_id, datatable = excluded.datatable,
    using_written = excluded.using_written, using_printed = excluded.using_printed,
    check_written = excluded.check_written, check_printed = excluded.check_printed,
    when_last_removed = excluded.when_last_removed
