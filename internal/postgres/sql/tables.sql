-- Relations, what kind they are, and whether row-level security is on.
-- $1 schemas and $2 tables, in parallel
SELECT n.nspname, c.relname, c.relkind::text, c.relrowsecurity
FROM pg_catalog.pg_class c
JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
JOIN ROWS FROM (pg_catalog.unnest($1::text[]), pg_catalog.unnest($2::text[])) AS t (schema, name)
    ON t.schema = n.nspname AND t.name = c.relname
WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f')
