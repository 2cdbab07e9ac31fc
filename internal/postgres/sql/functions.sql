-- Which functions signatures mean, as Postgres prints them. One that means none
-- is left out, and so is one of a type that is gone, for which to_regprocedure
-- raises an error before PostgreSQL 16.
-- $1 schemas, $2 signatures and $3 the names in them, in parallel
-- $4 numbers of signatures, from 1, and $5 types of their arguments, in parallel
SELECT w.schema, w.signature, pg_catalog.quote_ident(p.proname) || '(' || pg_catalog.oidvectortypes(p.proargtypes) || ')'
FROM ROWS FROM (pg_catalog.unnest($1::text[]), pg_catalog.unnest($2::text[]), pg_catalog.unnest($3::text[]))
    WITH ORDINALITY AS w (schema, signature, name, number)
JOIN pg_catalog.pg_namespace n ON n.nspname = w.schema
JOIN pg_catalog.pg_proc p ON p.pronamespace = n.oid AND p.proname = w.name AND p.proargtypes::text = (
    SELECT coalesce(pg_catalog.string_agg(coalesce(pg_catalog.to_regtype(a.type)::oid, 0)::text, ' ' ORDER BY a.position), '')
    FROM ROWS FROM (pg_catalog.unnest($4::int[]), pg_catalog.unnest($5::text[])) WITH ORDINALITY AS a (signature, type, position)
    WHERE a.signature = w.number
)
