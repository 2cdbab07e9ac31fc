-- Functions, operators, relations and types that a row policy uses and that
-- belong neither to a superuser, nor to the owner of the database, nor to the
-- login that asks. A relation or a type may be that of the table's owner.
-- $1 schema, $2 table, $3 policy
SELECT DISTINCT pg_catalog.pg_describe_object(d.refclassid, d.refobjid, 0), pg_catalog.pg_get_userbyid(o.owner)::text
FROM pg_catalog.pg_policy p
JOIN pg_catalog.pg_class c ON c.oid = p.polrelid
JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
JOIN pg_catalog.pg_depend d ON d.classid = 'pg_catalog.pg_policy'::pg_catalog.regclass AND d.objid = p.oid
JOIN LATERAL (
    SELECT proowner AS owner FROM pg_catalog.pg_proc
    WHERE d.refclassid = 'pg_catalog.pg_proc'::pg_catalog.regclass AND oid = d.refobjid
  UNION ALL
    SELECT oprowner FROM pg_catalog.pg_operator
    WHERE d.refclassid = 'pg_catalog.pg_operator'::pg_catalog.regclass AND oid = d.refobjid
  UNION ALL
    SELECT relowner FROM pg_catalog.pg_class
    WHERE d.refclassid = 'pg_catalog.pg_class'::pg_catalog.regclass AND oid = d.refobjid AND relowner <> c.relowner
  UNION ALL
    SELECT typowner FROM pg_catalog.pg_type
    WHERE d.refclassid = 'pg_catalog.pg_type'::pg_catalog.regclass AND oid = d.refobjid AND typowner <> c.relowner
) o ON true
JOIN pg_catalog.pg_roles r ON r.oid = o.owner
WHERE (n.nspname, c.relname, p.polname) = ($1::text, $2::text, $3::text)
    AND NOT r.rolsuper
    AND r.rolname <> CURRENT_USER
    AND r.oid <> (SELECT datdba FROM pg_catalog.pg_database WHERE datname = pg_catalog.current_database())
