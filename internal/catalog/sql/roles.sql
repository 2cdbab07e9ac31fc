-- Roles of the catalog, each with its login in Postgres where there is one
-- that carries the role's mark, the first line of its comment.
-- $1 prefix of the mark, before the role's id
-- A catalog that was not written to since an older provider has no versions yet.
SELECT c.id::text, c.name, c.enabled, c.password, coalesce((pg_catalog.to_jsonb(c) ->> 'password_version')::bigint, 1),
    coalesce(pg_catalog.substr(d.description, pg_catalog.length(pg_catalog.split_part(d.description, E'\n', 1)) + 2), ''),
    r.oid IS NOT NULL,
    coalesce(r.rolcanlogin, false),
    r.oid IS NOT NULL AND NOT r.rolcanlogin AND NOT c.enabled AND (
        EXISTS (SELECT FROM pg_catalog.pg_stat_activity a WHERE a.usesysid = r.oid)
        OR EXISTS (
            SELECT FROM pg_catalog.pg_auth_members m
            JOIN pg_catalog.pg_roles s ON s.oid = m.member
            WHERE m.roleid = r.oid AND pg_catalog.starts_with(s.rolname::text, 'wm_set_')
                AND pg_catalog.split_part(pg_catalog.shobj_description(s.oid, 'pg_authid'), E'\n', 1) = $1::text || s.rolname)),
    coalesce(pg_catalog.array_remove(ARRAY[
        CASE WHEN r.rolsuper THEN 'NOSUPERUSER' END,
        CASE WHEN r.rolcreatedb THEN 'NOCREATEDB' END,
        CASE WHEN r.rolcreaterole THEN 'NOCREATEROLE' END,
        CASE WHEN r.rolreplication THEN 'NOREPLICATION' END,
        CASE WHEN r.rolbypassrls THEN 'NOBYPASSRLS' END,
        CASE WHEN NOT r.rolinherit THEN 'INHERIT' END,
        CASE WHEN r.rolvaliduntil < 'infinity' THEN 'VALID UNTIL ''infinity''' END,
        CASE WHEN r.rolconnlimit = 0 THEN 'CONNECTION LIMIT -1' END], NULL), '{}')
FROM datatable_catalog.role c
LEFT JOIN (
    pg_catalog.pg_roles r
    JOIN pg_catalog.pg_shdescription d ON d.classoid = 'pg_catalog.pg_authid'::pg_catalog.regclass AND d.objoid = r.oid
) ON r.rolname = c.name AND pg_catalog.split_part(d.description, E'\n', 1) = $1::text || c.id::text
ORDER BY c.name
