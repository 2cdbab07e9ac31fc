-- Declared grants, each with the present name of its role: a role is known by
-- the mark in its comment, so a rename needs no change here.
-- $1 schemas, or null for all
-- $2 prefix of the mark, before the role's id
-- $3 ids of claims, of whatever schema
SELECT c.id::text, c.datatable_id::text, c.datatable, coalesce(c.role_id::text, ''),
    coalesce(m.name, c.role), c.role_id IS NOT NULL AND m.name IS NULL,
    c.object_type, c.schema, c.objects, c.whole, c.privileges
FROM datatable_ledger.claim c
LEFT JOIN (
    SELECT d.description, r.rolname::text AS name
    FROM pg_catalog.pg_shdescription d
    JOIN pg_catalog.pg_roles r ON r.oid = d.objoid
    WHERE d.classoid = 'pg_catalog.pg_authid'::pg_catalog.regclass
) m ON m.description = $2::text || c.role_id::text
WHERE $1::text[] IS NULL OR c.schema = ANY ($1::text[]) OR c.id::text = ANY ($3::text[])
