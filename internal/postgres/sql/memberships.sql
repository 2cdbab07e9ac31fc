-- The roles that a role is directly a member of.
-- $1 name of the role
SELECT DISTINCT r.rolname::text
FROM pg_catalog.pg_auth_members m
JOIN pg_catalog.pg_roles r ON r.oid = m.roleid
JOIN pg_catalog.pg_roles u ON u.oid = m.member
WHERE u.rolname = $1::text
