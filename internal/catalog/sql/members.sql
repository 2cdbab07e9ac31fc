-- Members of all workspaces.
SELECT w.name, m.username, m.email, m.admin
FROM datatable_catalog.member m
JOIN datatable_catalog.workspace w ON w.id = m.workspace_id
ORDER BY w.name, m.username
