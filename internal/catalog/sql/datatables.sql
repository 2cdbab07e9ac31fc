-- Data tables, with their default role by its present name and the owner of
-- their database, null where there is no such database.
SELECT d.id::text, d.workspace, d.name, d.database, d.access,
    CASE WHEN d.default_admin THEN 'admin' ELSE coalesce(r.name, 'none') END,
    d.tenants_given, d.unnamed_roles_from, d.revoke_public, d.unmanaged_grants, d.accept_replication,
    d.governing_workspace, d.governing_datatable,
    (SELECT pg_catalog.pg_get_userbyid(b.datdba) FROM pg_catalog.pg_database b WHERE b.datname = d.database)
FROM datatable_catalog.datatable d
LEFT JOIN datatable_catalog.role r ON r.id = d.default_role_id
ORDER BY d.workspace, d.name
