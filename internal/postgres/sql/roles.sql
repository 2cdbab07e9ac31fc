-- Roles of the cluster: by name, by the first line of the comment, or both.
-- $1 names, $2 first lines
SELECT r.rolname,
    coalesce(pg_catalog.shobj_description(r.oid, 'pg_authid'), ''),
    r.rolcanlogin,
    pg_catalog.array_remove(ARRAY[
        CASE WHEN r.rolsuper THEN 'NOSUPERUSER' END,
        CASE WHEN r.rolcreatedb THEN 'NOCREATEDB' END,
        CASE WHEN r.rolcreaterole THEN 'NOCREATEROLE' END,
        CASE WHEN r.rolreplication THEN 'NOREPLICATION' END,
        CASE WHEN r.rolbypassrls THEN 'NOBYPASSRLS' END,
        CASE WHEN NOT r.rolinherit THEN 'INHERIT' END,
        CASE WHEN r.rolvaliduntil < 'infinity' THEN 'VALID UNTIL ''infinity''' END,
        CASE WHEN r.rolconnlimit = 0 THEN 'CONNECTION LIMIT -1' END], NULL)
FROM pg_catalog.pg_roles r
WHERE r.rolname = ANY ($1::text[])
    OR (pg_catalog.cardinality($2::text[]) > 0
        AND pg_catalog.split_part(pg_catalog.shobj_description(r.oid, 'pg_authid'), E'\n', 1) = ANY ($2::text[]))
