package catalog

import (
	"github.com/datatable-io/terraform-provider-datatable/internal/postgres"
	"github.com/datatable-io/terraform-provider-datatable/internal/resolve"
)

// PutDatatable writes a data table and its tenant lists. The entry keeps its id
// where there is one of that name. RoleIDs gives the id of each role that the
// tenants and the default name, admin left out.
func PutDatatable(d Datatable, roleIDs map[string]string) []postgres.Query {
	var defaultRole, workspace, governor *string
	if role, ok := roleIDs[d.DefaultRole]; ok {
		defaultRole = &role
	}
	if d.GovernedBy != nil {
		workspace, governor = &d.GovernedBy.Workspace, &d.GovernedBy.Datatable
	}
	const id = "(SELECT id FROM datatable_catalog.datatable WHERE workspace = $1 AND name = $2)"
	queries := []postgres.Query{
		{
			SQL: `INSERT INTO datatable_catalog.datatable (workspace, name, id, database, access, default_admin, default_role_id,
    tenants_given, unnamed_roles_from, revoke_public, accept_replication, governing_workspace, governing_datatable, unmanaged_grants)
VALUES ($1, $2, $3::uuid, $4, $5, $6, $7::uuid, $8, $9, $10, $11, $12, $13, $14)
ON CONFLICT (workspace, name) DO UPDATE SET access = excluded.access, default_admin = excluded.default_admin,
    default_role_id = excluded.default_role_id, tenants_given = excluded.tenants_given,
    unnamed_roles_from = excluded.unnamed_roles_from, revoke_public = excluded.revoke_public,
    accept_replication = excluded.accept_replication, governing_workspace = excluded.governing_workspace,
    governing_datatable = excluded.governing_datatable, unmanaged_grants = excluded.unmanaged_grants`,
			Args: []any{
				d.Workspace, d.Key.Datatable, d.ID, d.Database, string(d.Access), d.DefaultRole == resolve.RoleAdmin, defaultRole,
				d.Tenants != nil, string(d.UnnamedRolesFrom), d.RevokePublic, notNull(d.AcceptReplication), workspace, governor, d.UnmanagedGrants,
			},
		},
		{
			SQL:  "DELETE FROM datatable_catalog.tenant WHERE datatable_id = " + id,
			Args: []any{d.Workspace, d.Key.Datatable},
		},
	}
	for role, patterns := range d.Tenants {
		// Null is admin. A role without an id must not pass for it: the empty
		// id is one that Postgres refuses.
		var roleID *string
		if role != resolve.RoleAdmin {
			known := roleIDs[role]
			roleID = &known
		}
		queries = append(queries, postgres.Query{
			SQL:  "INSERT INTO datatable_catalog.tenant (datatable_id, role_id, patterns) SELECT " + id + ", $3::uuid, $4",
			Args: []any{d.Workspace, d.Key.Datatable, roleID, notNull(patterns)},
		})
	}
	return queries
}

// DeleteDatatable removes an entry and its tenant lists.
func DeleteDatatable(key resolve.Key) postgres.Query {
	return postgres.Query{
		SQL:  "DELETE FROM datatable_catalog.datatable WHERE workspace = $1 AND name = $2",
		Args: []any{key.Workspace, key.Datatable},
	}
}
