-- Takes every privilege on a schema and its tables from everyone but their
-- owner, whatever default privileges gave. $SCHEMA is replaced.
DO $$
DECLARE
    it record;
BEGIN
    EXECUTE 'REVOKE ALL ON SCHEMA $SCHEMA FROM PUBLIC';
    EXECUTE 'REVOKE ALL ON ALL TABLES IN SCHEMA $SCHEMA FROM PUBLIC';
    FOR it IN
        SELECT DISTINCT r.rolname
        FROM (
            SELECT nspacl AS acl, nspowner AS owner FROM pg_catalog.pg_namespace WHERE nspname = '$SCHEMA'
          UNION ALL
            SELECT relacl, relowner FROM pg_catalog.pg_class WHERE relnamespace = '$SCHEMA'::pg_catalog.regnamespace
        ) object, pg_catalog.aclexplode(object.acl) entry
        JOIN pg_catalog.pg_roles r ON r.oid = entry.grantee
        WHERE entry.grantee <> object.owner
    LOOP
        EXECUTE pg_catalog.format('REVOKE ALL ON SCHEMA $SCHEMA FROM %I', it.rolname);
        EXECUTE pg_catalog.format('REVOKE ALL ON ALL TABLES IN SCHEMA $SCHEMA FROM %I', it.rolname);
    END LOOP;
END
$$
