-- The objects that privileges are held on, each with what some grantees hold
-- directly: two parallel arrays, grantee and privilege.
-- $1 schemas
-- $2 names of objects, or null for all in those schemas
-- $3 grantees by name, "public" for PUBLIC
WITH object (type, schema, name, acl) AS (
    SELECT 'database', '', '', coalesce(datacl, pg_catalog.acldefault('d', datdba))
    FROM pg_catalog.pg_database
    WHERE datname = pg_catalog.current_database()
  UNION ALL
    SELECT 'schema', nspname, '', coalesce(nspacl, pg_catalog.acldefault('n', nspowner))
    FROM pg_catalog.pg_namespace
    WHERE nspname = ANY ($1::text[])
  UNION ALL
    -- every kind of relation that GRANT … ON TABLE takes
    SELECT 'table', n.nspname, c.relname, coalesce(c.relacl, pg_catalog.acldefault('r', c.relowner))
    FROM pg_catalog.pg_class c
    JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
    WHERE n.nspname = ANY ($1::text[])
        AND c.relkind IN ('r', 'p', 'v', 'm', 'f')
        AND ($2::text[] IS NULL OR c.relname = ANY ($2::text[]))
)
SELECT o.type, o.schema, o.name, coalesce(held.grantees, '{}'), coalesce(held.privileges, '{}')
FROM object o
LEFT JOIN LATERAL (
    SELECT pg_catalog.array_agg(grantee) AS grantees, pg_catalog.array_agg(privilege_type) AS privileges
    FROM (
        SELECT CASE WHEN a.grantee = 0 THEN 'public' ELSE r.rolname::text END AS grantee, a.privilege_type
        FROM pg_catalog.aclexplode(o.acl) a
        LEFT JOIN pg_catalog.pg_roles r ON r.oid = a.grantee
    ) entry
    WHERE grantee = ANY ($3::text[])
) held ON true
