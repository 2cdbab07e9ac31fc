-- The roles that a role is directly a member of in another way than GRANT makes
-- it: with the admin option, or from PostgreSQL 16 without what the role holds
-- or without SET ROLE.
-- $1 name of the role
SELECT DISTINCT r.rolname::text
FROM pg_catalog.pg_auth_members m
JOIN pg_catalog.pg_roles r ON r.oid = m.roleid
JOIN pg_catalog.pg_roles u ON u.oid = m.member
WHERE u.rolname = $1::text
    AND (m.admin_option OR pg_catalog.to_jsonb(m) @> '{"inherit_option": false}' OR pg_catalog.to_jsonb(m) @> '{"set_option": false}')
