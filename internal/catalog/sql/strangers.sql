-- What in a store belongs to somebody who could make the provider run code: not
-- to its login, and not to a superuser. Triggers, rules and views are no part
-- of a store.
-- $1 schema
SELECT pg_catalog.format('schema of %I', r.rolname)
FROM pg_catalog.pg_namespace n JOIN pg_catalog.pg_roles r ON r.oid = n.nspowner
WHERE n.nspname = $1::text AND r.rolname <> CURRENT_USER AND NOT r.rolsuper
UNION ALL
SELECT pg_catalog.format('relation %I of %I', c.relname, r.rolname)
FROM pg_catalog.pg_class c
JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
JOIN pg_catalog.pg_roles r ON r.oid = c.relowner
WHERE n.nspname = $1::text AND (
    r.rolname <> CURRENT_USER AND NOT r.rolsuper
    OR c.relkind NOT IN ('r', 'i')
    OR EXISTS (SELECT FROM pg_catalog.pg_trigger t WHERE t.tgrelid = c.oid AND NOT t.tgisinternal)
    OR EXISTS (SELECT FROM pg_catalog.pg_rewrite w WHERE w.ev_class = c.oid))
