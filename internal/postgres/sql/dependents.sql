-- The databases in which a role owns something or holds a privilege, and who
-- owns each. What is shared by all databases is not among them.
-- $1 name of the role
SELECT DISTINCT d.datname::text, pg_catalog.pg_get_userbyid(d.datdba)::text
FROM pg_catalog.pg_shdepend s
JOIN pg_catalog.pg_roles r ON r.oid = s.refobjid
JOIN pg_catalog.pg_database d ON d.oid = s.dbid
WHERE s.refclassid = 'pg_catalog.pg_authid'::pg_catalog.regclass AND r.rolname = $1::text
