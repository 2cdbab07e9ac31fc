-- Databases of the cluster and who owns them.
-- $1 names
SELECT d.datname::text, pg_catalog.pg_get_userbyid(d.datdba)::text
FROM pg_catalog.pg_database d
WHERE d.datname = ANY ($1::text[]) AND d.datallowconn
