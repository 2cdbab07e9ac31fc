-- What stands against taking a role over, one line each: of what kind it is, and
-- its name. A membership in the role hands over what the role will hold, unless
-- it is one that can neither use nor give it, as there is from PostgreSQL 16.
-- $1 name of the role
WITH it AS (
    SELECT oid, rolname, rolsuper FROM pg_catalog.pg_roles WHERE rolname = $1::text
)
SELECT 'superuser', '' FROM it WHERE rolsuper
UNION ALL
SELECT 'login', '' FROM it WHERE rolname IN (CURRENT_USER, SESSION_USER)
UNION ALL
SELECT 'database', d.datname::text FROM it JOIN pg_catalog.pg_database d ON d.datdba = it.oid
UNION ALL
SELECT DISTINCT 'member of', r.rolname::text
FROM it
JOIN pg_catalog.pg_auth_members m ON m.member = it.oid
JOIN pg_catalog.pg_roles r ON r.oid = m.roleid
UNION ALL
SELECT DISTINCT 'member', u.rolname::text
FROM it
JOIN pg_catalog.pg_auth_members m ON m.roleid = it.oid
JOIN pg_catalog.pg_roles u ON u.oid = m.member
WHERE NOT u.rolsuper AND u.rolname <> CURRENT_USER
    AND (m.admin_option OR NOT pg_catalog.to_jsonb(m) @> '{"inherit_option": false, "set_option": false}')
UNION ALL
-- what PostgreSQL 16 asks of a login that is no superuser, to alter a role
SELECT 'not admin', ''
FROM it
JOIN pg_catalog.pg_roles me ON me.rolname = CURRENT_USER
WHERE NOT me.rolsuper AND NOT it.rolsuper AND pg_catalog.current_setting('server_version_num')::int >= 160000
    AND NOT pg_catalog.pg_has_role(it.oid, 'MEMBER WITH ADMIN OPTION')
