package catalog

import (
	"github.com/datatable-io/terraform-provider-datatable/internal/postgres"
	"github.com/datatable-io/terraform-provider-datatable/internal/resolve"
)

// directoryReader gathers workspaces from four queries.
type directoryReader struct {
	workspaces []resolve.Workspace
	at         map[string]int
}

func (r *directoryReader) queries() []postgres.Query {
	return []postgres.Query{
		{
			SQL: "SELECT id::text, name, coalesce(parent, '') FROM datatable_catalog.workspace ORDER BY name",
			Each: func(scan func(...any) error) error {
				w := resolve.Workspace{Groups: map[string][]string{}, Folders: map[string][]string{}}
				if err := scan(&w.ID, &w.Name, &w.Parent); err != nil {
					return err
				}
				r.at[w.Name] = len(r.workspaces)
				r.workspaces = append(r.workspaces, w)
				return nil
			},
		},
		{SQL: membersSQL, Each: func(scan func(...any) error) error {
			var workspace string
			var m resolve.Member
			if err := scan(&workspace, &m.Username, &m.Email, &m.Admin); err != nil {
				return err
			}
			w := &r.workspaces[r.at[workspace]]
			w.Members = append(w.Members, m)
			return nil
		}},
		r.lists("member_group", "usernames", func(w *resolve.Workspace) map[string][]string { return w.Groups }),
		r.lists("folder", "readers", func(w *resolve.Workspace) map[string][]string { return w.Folders }),
	}
}

func (r *directoryReader) lists(table, column string, of func(*resolve.Workspace) map[string][]string) postgres.Query {
	return postgres.Query{
		SQL: "SELECT w.name, t.name, t." + column + " FROM datatable_catalog." + table + " t " +
			"JOIN datatable_catalog.workspace w ON w.id = t.workspace_id",
		Each: func(scan func(...any) error) error {
			var workspace, key string
			var values []string
			if err := scan(&workspace, &key, &values); err != nil {
				return err
			}
			of(&r.workspaces[r.at[workspace]])[key] = values
			return nil
		},
	}
}

// PutWorkspace writes a workspace and all of its directory. Its id is kept
// where there is one of that name.
func PutWorkspace(w resolve.Workspace) []postgres.Query {
	var parent *string
	if w.Parent != "" {
		parent = &w.Parent
	}
	usernames, emails, admins := make([]string, len(w.Members)), make([]string, len(w.Members)), make([]bool, len(w.Members))
	for i, m := range w.Members {
		usernames[i], emails[i], admins[i] = m.Username, m.Email, m.Admin
	}
	const id = "(SELECT id FROM datatable_catalog.workspace WHERE name = $1)"
	queries := []postgres.Query{
		{
			SQL:  "INSERT INTO datatable_catalog.workspace (name, parent) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET parent = excluded.parent",
			Args: []any{w.Name, parent},
		},
		{SQL: "DELETE FROM datatable_catalog.member WHERE workspace_id = " + id, Args: []any{w.Name}},
		{SQL: "DELETE FROM datatable_catalog.member_group WHERE workspace_id = " + id, Args: []any{w.Name}},
		{SQL: "DELETE FROM datatable_catalog.folder WHERE workspace_id = " + id, Args: []any{w.Name}},
		{
			SQL: "INSERT INTO datatable_catalog.member SELECT " + id + ", m.* " +
				"FROM ROWS FROM (pg_catalog.unnest($2::text[]), pg_catalog.unnest($3::text[]), pg_catalog.unnest($4::boolean[])) AS m",
			Args: []any{w.Name, usernames, emails, admins},
		},
	}
	for group, members := range w.Groups {
		queries = append(queries, postgres.Query{
			SQL:  "INSERT INTO datatable_catalog.member_group SELECT " + id + ", $2, $3::text[]",
			Args: []any{w.Name, group, notNull(members)},
		})
	}
	for folder, readers := range w.Folders {
		queries = append(queries, postgres.Query{
			SQL:  "INSERT INTO datatable_catalog.folder SELECT " + id + ", $2, $3::text[]",
			Args: []any{w.Name, folder, notNull(readers)},
		})
	}
	return queries
}

// DeleteWorkspace removes a workspace with its directory.
func DeleteWorkspace(name string) postgres.Query {
	return postgres.Query{SQL: "DELETE FROM datatable_catalog.workspace WHERE name = $1", Args: []any{name}}
}

// notNull makes an empty array of nil, which would be stored as NULL.
func notNull(values []string) []string {
	if values == nil {
		return []string{}
	}
	return values
}
