-- Row policies of tables, as Postgres prints them.
-- $1 schemas and $2 tables, in parallel
SELECT p.schemaname, p.tablename, p.policyname, p.cmd, p.permissive = 'RESTRICTIVE',
    p.roles::text[], p.qual, p.with_check
FROM pg_catalog.pg_policies p
JOIN ROWS FROM (pg_catalog.unnest($1::text[]), pg_catalog.unnest($2::text[])) AS t (schema, name)
    ON t.schema = p.schemaname AND t.name = p.tablename
