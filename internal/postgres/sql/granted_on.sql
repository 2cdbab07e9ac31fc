-- What a role has granted on to others on objects of a schema, in words.
-- $1 the role, $2 the schema
WITH object (class, id, acl) AS (
    SELECT 'pg_catalog.pg_class'::pg_catalog.regclass, c.oid, c.relacl
    FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = $2::text
  UNION ALL
    SELECT 'pg_catalog.pg_class'::pg_catalog.regclass, a.attrelid, a.attacl
    FROM pg_catalog.pg_attribute a JOIN pg_catalog.pg_class c ON c.oid = a.attrelid
    JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = $2::text
  UNION ALL
    SELECT 'pg_catalog.pg_proc'::pg_catalog.regclass, p.oid, p.proacl
    FROM pg_catalog.pg_proc p JOIN pg_catalog.pg_namespace n ON n.oid = p.pronamespace WHERE n.nspname = $2::text
  UNION ALL
    SELECT 'pg_catalog.pg_namespace'::pg_catalog.regclass, n.oid, n.nspacl FROM pg_catalog.pg_namespace n WHERE n.nspname = $2::text
  UNION ALL
    SELECT 'pg_catalog.pg_database'::pg_catalog.regclass, d.oid, d.datacl
    FROM pg_catalog.pg_database d WHERE d.datname = pg_catalog.current_database()
)
SELECT DISTINCT pg_catalog.format('%s on %s to %s', e.privilege_type, pg_catalog.pg_describe_object(o.class, o.id, 0),
    CASE WHEN e.grantee = 0 THEN 'PUBLIC' ELSE pg_catalog.quote_ident(pg_catalog.pg_get_userbyid(e.grantee)) END)
FROM object o, pg_catalog.aclexplode(o.acl) e
JOIN pg_catalog.pg_roles r ON r.oid = e.grantor
WHERE r.rolname = $1::text AND e.grantee <> e.grantor
ORDER BY 1
