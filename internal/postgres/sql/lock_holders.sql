-- Who holds a lock of this database, one line each.
-- $1 the advisory lock's 64-bit key, which pg_locks shows in two halves
-- $2 schema and $3 name of the table that is locked in its place, or ''
SELECT pg_catalog.format('process %s, login %s, application "%s", from %s, in its transaction since %s',
    a.pid, a.usename, a.application_name, coalesce(a.client_addr::text, 'a local socket'), coalesce(a.xact_start::text, 'unknown'))
FROM pg_catalog.pg_locks l
JOIN pg_catalog.pg_stat_activity a ON a.pid = l.pid
WHERE l.granted
    AND l.database = (SELECT oid FROM pg_catalog.pg_database WHERE datname = pg_catalog.current_database())
    AND CASE l.locktype
        WHEN 'advisory' THEN l.objsubid = 1 AND (l.classid::bigint << 32 | l.objid::bigint) = $1::bigint
        WHEN 'relation' THEN l.mode = 'ExclusiveLock' AND l.relation = (
            SELECT c.oid FROM pg_catalog.pg_class c
            JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
            WHERE (n.nspname, c.relname) = ($2::text, $3::text))
        ELSE false END
