-- Roles of the catalog, each with its login in Postgres where there is one
-- that carries the role's mark.
-- $1 prefix of the mark, before the role's id
SELECT c.id::text, c.name, c.enabled, c.password,
    r.oid IS NOT NULL,
    coalesce(r.rolcanlogin, false),
    r.oid IS NOT NULL AND NOT r.rolcanlogin AND NOT c.enabled AND (
        EXISTS (SELECT FROM pg_catalog.pg_stat_activity a WHERE a.usesysid = r.oid)
        OR EXISTS (
            SELECT FROM pg_catalog.pg_auth_members m
            JOIN pg_catalog.pg_roles s ON s.oid = m.member
            WHERE m.roleid = r.oid AND pg_catalog.starts_with(s.rolname::text, 'wm_set_')
                AND pg_catalog.shobj_description(s.oid, 'pg_authid') = $1::text || s.rolname)),
    coalesce(pg_catalog.array_remove(ARRAY[
        CASE WHEN r.rolsuper THEN 'NOSUPERUSER' END,
        CASE WHEN r.rolcreatedb THEN 'NOCREATEDB' END,
        CASE WHEN r.rolcreaterole THEN 'NOCREATEROLE' END,
        CASE WHEN r.rolreplication THEN 'NOREPLICATION' END,
        CASE WHEN r.rolbypassrls THEN 'NOBYPASSRLS' END,
        CASE WHEN NOT r.rolinherit THEN 'INHERIT' END], NULL), '{}')
FROM datatable_catalog.role c
LEFT JOIN pg_catalog.pg_roles r ON r.rolname = c.name
    AND pg_catalog.shobj_description(r.oid, 'pg_authid') = $1::text || c.id::text
ORDER BY c.name
