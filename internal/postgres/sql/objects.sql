-- What privileges are held on, each object with what some grantees hold on it
-- directly, in parallel arrays: grantee, privilege, column ('' for all of it),
-- whether it can be granted on, and who granted it. The columns before tell its
-- owner, and whether it belongs to an extension.
-- $1 schemas, or null for all that are not the system's or this product's own
-- $2 names of relations, or null for all in those schemas; what the tables
--    among them own counts as named
-- $3 grantees by name, "public" for PUBLIC
WITH namespace AS (
    SELECT n.oid, n.nspname, n.nspowner, n.nspacl
    FROM pg_catalog.pg_namespace n
    WHERE CASE WHEN $1::text[] IS NULL
        THEN NOT pg_catalog.starts_with(n.nspname::text, 'pg_')
            AND n.nspname NOT IN ('information_schema', 'datatable_catalog', 'datatable_ledger')
        ELSE n.nspname = ANY ($1::text[]) END
),
relation AS (
    SELECT n.nspname AS schema, c.oid, c.relname, c.relkind, c.relowner, c.relacl, owner.relname AS owned_by
    FROM pg_catalog.pg_class c
    JOIN namespace n ON n.oid = c.relnamespace
    -- a sequence that a serial column owns; an identity column's is internal
    LEFT JOIN pg_catalog.pg_depend d ON c.relkind = 'S' AND d.deptype = 'a'
        AND d.classid = 'pg_catalog.pg_class'::pg_catalog.regclass AND d.objid = c.oid
        AND d.refclassid = 'pg_catalog.pg_class'::pg_catalog.regclass AND d.refobjsubid > 0
    LEFT JOIN pg_catalog.pg_class owner ON owner.oid = d.refobjid AND owner.relnamespace = c.relnamespace
    WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f', 'S')
        AND ($2::text[] IS NULL OR c.relname = ANY ($2::text[]) OR owner.relname = ANY ($2::text[]))
),
object (class, id, type, schema, name, extent, owner, owned_by, column_name, acl) AS (
    SELECT 'pg_catalog.pg_database'::pg_catalog.regclass, oid, 'database', '', '', '', datdba, '', '', coalesce(datacl, pg_catalog.acldefault('d', datdba))
    FROM pg_catalog.pg_database
    WHERE datname = pg_catalog.current_database()
  UNION ALL
    SELECT 'pg_catalog.pg_namespace'::pg_catalog.regclass, oid, 'schema', nspname, '', '', nspowner, '', '',
        coalesce(nspacl, pg_catalog.acldefault('n', nspowner))
    FROM namespace
  UNION ALL
    -- every kind of relation that GRANT … ON TABLE takes, and sequences
    SELECT 'pg_catalog.pg_class'::pg_catalog.regclass, oid, CASE relkind WHEN 'S' THEN 'sequence' ELSE 'table' END, schema, relname, '', relowner, coalesce(owned_by, ''), '',
        coalesce(relacl, pg_catalog.acldefault(CASE relkind WHEN 'S' THEN 's' ELSE 'r' END::"char", relowner))
    FROM relation
  UNION ALL
    SELECT 'pg_catalog.pg_class'::pg_catalog.regclass, r.oid, 'table', r.schema, r.relname, '', r.relowner, '', a.attname, a.attacl
    FROM relation r
    JOIN pg_catalog.pg_attribute a ON a.attrelid = r.oid AND a.attnum > 0 AND NOT a.attisdropped AND a.attacl IS NOT NULL
  UNION ALL
    SELECT 'pg_catalog.pg_proc'::pg_catalog.regclass, p.oid, 'function', n.nspname, pg_catalog.quote_ident(p.proname) || '(' || pg_catalog.oidvectortypes(p.proargtypes) || ')',
        '', p.proowner, '', '', coalesce(p.proacl, pg_catalog.acldefault('f', p.proowner))
    FROM pg_catalog.pg_proc p
    JOIN namespace n ON n.oid = p.pronamespace
  UNION ALL
    -- what objects get that a role makes later, by that role
    SELECT 'pg_catalog.pg_default_acl'::pg_catalog.regclass, d.oid, CASE d.defaclobjtype WHEN 'r' THEN 'table' WHEN 'S' THEN 'sequence' ELSE 'function' END,
        n.nspname, pg_catalog.pg_get_userbyid(d.defaclrole), 'future', d.defaclrole, '', '', d.defaclacl
    FROM pg_catalog.pg_default_acl d
    JOIN namespace n ON n.oid = d.defaclnamespace
    WHERE d.defaclobjtype IN ('r', 'S', 'f')
)
SELECT o.type, o.schema, o.name, o.extent, o.owned_by, o.column_name, pg_catalog.pg_get_userbyid(o.owner),
    EXISTS (
        SELECT FROM pg_catalog.pg_depend e
        WHERE e.classid = o.class AND e.objid = o.id AND e.deptype = 'e'
    ),
    coalesce(held.grantees, '{}'), coalesce(held.privileges, '{}'), coalesce(held.options, '{}'), coalesce(held.grantors, '{}')
FROM object o
LEFT JOIN LATERAL (
    SELECT pg_catalog.array_agg(grantee) AS grantees, pg_catalog.array_agg(privilege_type) AS privileges,
        pg_catalog.array_agg(is_grantable) AS options, pg_catalog.array_agg(grantor) AS grantors
    FROM (
        SELECT CASE WHEN a.grantee = 0 THEN 'public' ELSE r.rolname::text END AS grantee, a.privilege_type, a.is_grantable,
            pg_catalog.pg_get_userbyid(a.grantor)::text AS grantor
        FROM pg_catalog.aclexplode(o.acl) a
        LEFT JOIN pg_catalog.pg_roles r ON r.oid = a.grantee
    ) entry
    WHERE grantee = ANY ($3::text[])
) held ON true
