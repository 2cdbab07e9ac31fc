-- Declared grants, each with the present names of its roles: a role is known by
-- the mark, the first line of its comment, so a rename needs no change here. A mark that two
-- roles carry is nobody's; the last column is the id of a role with such a one.
-- $1 schemas, or null for all
-- $2 prefix of the mark, before the role's id
-- $3 ids of claims, of whatever schema
-- $4 ids of grantees, empty for PUBLIC, that the claims of the schemas are for,
--    besides those of the claims with the ids; or null for all
WITH mark AS (
    SELECT pg_catalog.substr(pg_catalog.split_part(d.description, E'\n', 1), pg_catalog.length($2::text) + 1) AS id, CASE pg_catalog.count(*) WHEN 1 THEN pg_catalog.min(r.rolname::text) END AS name
    FROM pg_catalog.pg_shdescription d
    JOIN pg_catalog.pg_roles r ON r.oid = d.objoid
    WHERE d.classoid = 'pg_catalog.pg_authid'::pg_catalog.regclass AND pg_catalog.starts_with(d.description, $2::text)
    GROUP BY pg_catalog.split_part(d.description, E'\n', 1)
)
SELECT c.id::text, c.datatable_id::text, c.datatable, coalesce(c.role_id::text, ''),
    coalesce(m.name, c.role), c.role_id IS NOT NULL AND m.name IS NULL,
    c.object_type, c.schema, c.objects, c.whole, c.columns, c.future,
    ARRAY(
        SELECT coalesce(creator.name, listed.id)
        FROM pg_catalog.unnest(c.created_by) AS listed (id)
        LEFT JOIN mark creator ON creator.id = listed.id
        ORDER BY 1
    ),
    c.privileges, c.grant_option,
    coalesce((SELECT pg_catalog.min(s.id) FROM mark s WHERE s.name IS NULL AND (s.id = c.role_id::text OR s.id = ANY (c.created_by))), '')
FROM datatable_ledger.claim c
LEFT JOIN mark m ON m.id = c.role_id::text
WHERE $1::text[] IS NULL OR c.id::text = ANY ($3::text[]) OR (c.schema = ANY ($1::text[]) AND (
    $4::text[] IS NULL OR coalesce(c.role_id::text, '') = ANY ($4::text[]) OR coalesce(c.role_id::text, '') IN (
        SELECT coalesce(named.role_id::text, '') FROM datatable_ledger.claim named WHERE named.id::text = ANY ($3::text[]))))
