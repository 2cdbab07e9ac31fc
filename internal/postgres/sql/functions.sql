-- Which functions signatures mean, as Postgres prints them. One that means none
-- is left out.
-- $1 schemas and $2 signatures, in parallel
SELECT w.schema, w.signature, pg_catalog.quote_ident(p.proname) || '(' || pg_catalog.oidvectortypes(p.proargtypes) || ')'
FROM ROWS FROM (pg_catalog.unnest($1::text[]), pg_catalog.unnest($2::text[])) AS w (schema, signature)
JOIN pg_catalog.pg_namespace n ON n.nspname = w.schema
JOIN pg_catalog.pg_proc p ON p.oid = pg_catalog.to_regprocedure(pg_catalog.quote_ident(w.schema) || '.' || w.signature)
