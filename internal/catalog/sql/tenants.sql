-- Tenant lists, the role by its present name.
SELECT t.datatable_id::text, coalesce(r.name, 'admin'), t.patterns
FROM datatable_catalog.tenant t
LEFT JOIN datatable_catalog.role r ON r.id = t.role_id
