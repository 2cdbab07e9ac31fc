-- Who holds an advisory lock of this database, one line each.
-- $1 the lock's 64-bit key, which pg_locks shows in two halves
SELECT pg_catalog.format('process %s, login %s, application "%s", from %s, in its transaction since %s',
    a.pid, a.usename, a.application_name, coalesce(a.client_addr::text, 'a local socket'), a.xact_start)
FROM pg_catalog.pg_locks l
JOIN pg_catalog.pg_stat_activity a ON a.pid = l.pid
WHERE l.locktype = 'advisory' AND l.granted AND l.objsubid = 1
    AND l.database = (SELECT oid FROM pg_catalog.pg_database WHERE datname = pg_catalog.current_database())
    AND (l.classid::bigint << 32 | l.objid::bigint) = $1::bigint
