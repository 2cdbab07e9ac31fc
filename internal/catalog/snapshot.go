package catalog

import (
	"context"
	_ "embed" // the queries of this package are files
	"maps"
	"slices"
	"strings"

	"github.com/datatable-io/terraform-provider-datatable/internal/postgres"
	"github.com/datatable-io/terraform-provider-datatable/internal/resolve"
)

//go:embed sql/members.sql
var membersSQL string

//go:embed sql/roles.sql
var rolesSQL string

//go:embed sql/datatables.sql
var datatablesSQL string

//go:embed sql/tenants.sql
var tenantsSQL string

// Mark is the first line of the comment of the Postgres role that belongs to a
// row of the catalog. A role without it is not touched. What stands on the lines
// below is a note, and marks nothing.
func Mark(id string) string { return markPrefix + id }

// Comment is a role's comment: its mark, and below it a note where there is one.
func Comment(id, note string) string {
	if note == "" {
		return Mark(id)
	}
	return Mark(id) + "\n" + note
}

// Note is what stands in a role's comment below the mark.
func Note(comment string) string {
	_, note, _ := strings.Cut(comment, "\n")
	return note
}

// HasMark says whether a comment is that of the role of a row.
func HasMark(comment, id string) bool {
	found, ok := Marked(comment)
	return ok && found == id
}

const markPrefix = "datatable role "

// Marked reads a role's id from the comment of its login; ok is false where
// the comment does not begin with a mark.
func Marked(comment string) (id string, ok bool) {
	line, _, _ := strings.Cut(comment, "\n")
	return strings.CutPrefix(line, markPrefix)
}

// A Role is an entry of the role catalog and what became of its login.
type Role struct {
	ID, Name string
	Enabled  bool
	// Sealed password.
	Sealed []byte
	// PasswordVersion is the number that the password was asked for by.
	PasswordVersion int64
	// Note is what its comment has below the mark.
	Note string
	// Exists says whether Postgres has the login, with the role's mark.
	Exists   bool
	CanLogin bool
	// Lingers says that it cannot log in, and sessions or set logins hold it yet.
	Lingers bool
	// Astray are the keywords that would make the login what it has to be.
	Astray []string
}

// Provisioned says whether somebody can connect as the role once it is
// enabled.
func (r Role) Provisioned() bool { return r.Exists && len(r.Sealed) > 0 && (r.CanLogin || !r.Enabled) }

// A Datatable is an entry with its permissions. Owner is empty where its
// database does not exist.
type Datatable struct {
	ID string
	resolve.Datatable
	Database          string
	RevokePublic      bool
	AcceptReplication []string
	// UnmanagedGrants is what to do about privileges that nothing declares.
	UnmanagedGrants string
}

// A Snapshot is the catalog at one moment.
type Snapshot struct {
	Workspaces []resolve.Workspace
	Roles      []Role
	Datatables []Datatable
	// Principals are the logins of people that exist in Postgres, with their
	// mark.
	Principals map[string]bool
	// Sets are the set logins that have a row.
	Sets []string
}

// principalsSQL finds logins by their mark, which is their own name.
const principalsSQL = "SELECT rolname::text FROM pg_catalog.pg_roles WHERE rolcanlogin AND pg_catalog.starts_with(rolname::text, 'wm_u_') " +
	"AND pg_catalog.split_part(pg_catalog.shobj_description(oid, 'pg_authid'), E'\\n', 1) = $1::text || rolname"

// Load reads the whole catalog. One that does not exist yet is empty.
func Load(ctx context.Context, tx *postgres.Tx) (*Snapshot, error) {
	s := &Snapshot{Principals: map[string]bool{}}
	version, err := Catalog.Version(ctx, tx)
	if err != nil || version == 0 {
		return s, err
	}
	directory := directoryReader{at: map[string]int{}}
	tenants := map[string]map[string][]string{}
	given := map[string]bool{}
	err = tx.Batch(ctx, append(directory.queries(),
		postgres.Query{SQL: rolesSQL, Args: []any{markPrefix}, Each: func(scan func(...any) error) error {
			var r Role
			if err := scan(&r.ID, &r.Name, &r.Enabled, &r.Sealed, &r.PasswordVersion, &r.Note, &r.Exists, &r.CanLogin, &r.Lingers, &r.Astray); err != nil {
				return err
			}
			s.Roles = append(s.Roles, r)
			return nil
		}},
		postgres.Query{SQL: datatablesSQL, Each: func(scan func(...any) error) error {
			var d Datatable
			var tenantsGiven bool
			var workspace, governor, owner *string
			if err := scan(&d.ID, &d.Workspace, &d.Key.Datatable, &d.Database, &d.Access, &d.DefaultRole, &tenantsGiven,
				&d.UnnamedRolesFrom, &d.RevokePublic, &d.UnmanagedGrants, &d.AcceptReplication, &workspace, &governor, &owner); err != nil {
				return err
			}
			if workspace != nil && governor != nil {
				d.GovernedBy = &resolve.Key{Workspace: *workspace, Datatable: *governor}
			}
			if owner != nil {
				d.Owner = *owner
			}
			given[d.ID] = tenantsGiven
			s.Datatables = append(s.Datatables, d)
			return nil
		}},
		postgres.Query{SQL: tenantsSQL, Each: func(scan func(...any) error) error {
			var id, role string
			var patterns []string
			if err := scan(&id, &role, &patterns); err != nil {
				return err
			}
			if tenants[id] == nil {
				tenants[id] = map[string][]string{}
			}
			tenants[id][role] = patterns
			return nil
		}},
		postgres.Query{SQL: principalsSQL, Args: []any{markPrefix}, Each: func(scan func(...any) error) error {
			var login string
			if err := scan(&login); err != nil {
				return err
			}
			s.Principals[login] = true
			return nil
		}},
		postgres.Query{SQL: "SELECT login FROM datatable_catalog.role_set", Each: func(scan func(...any) error) error {
			var login string
			err := scan(&login)
			s.Sets = append(s.Sets, login)
			return err
		}},
	)...)
	s.Workspaces = directory.workspaces
	for i := range s.Datatables {
		d := &s.Datatables[i]
		if given[d.ID] {
			// An empty map is the whole truth too: nobody but workspace admins.
			d.Tenants = tenants[d.ID]
			if d.Tenants == nil {
				d.Tenants = map[string][]string{}
			}
		}
	}
	return s, err
}

// Logins returns every role of Postgres that belongs to this catalog.
func (s *Snapshot) Logins() []string {
	logins := slices.Concat(s.Sets, slices.Collect(maps.Keys(s.Principals)))
	for _, r := range s.Roles {
		if r.Exists {
			logins = append(logins, r.Name)
		}
	}
	return logins
}

// SealedRoles are the passwords of roles.
func (s *Snapshot) SealedRoles() []SealedRow {
	var rows []SealedRow
	for _, r := range s.Roles {
		if len(r.Sealed) > 0 {
			rows = append(rows, SealedRow{Identity: r.ID, Login: r.Name, Sealed: r.Sealed})
		}
	}
	return rows
}

// Workspace finds a workspace by name.
func (s *Snapshot) Workspace(name string) (resolve.Workspace, bool) {
	return find(s.Workspaces, func(w resolve.Workspace) bool { return w.Name == name })
}

// Role finds a role by name.
func (s *Snapshot) Role(name string) (Role, bool) {
	return find(s.Roles, func(r Role) bool { return r.Name == name })
}

// RoleByID finds a role by its id.
func (s *Snapshot) RoleByID(id string) (Role, bool) {
	return find(s.Roles, func(r Role) bool { return r.ID == id })
}

// Datatable finds a data table.
func (s *Snapshot) Datatable(key resolve.Key) (Datatable, bool) {
	return find(s.Datatables, func(d Datatable) bool { return d.Key == key })
}

func find[T any](rows []T, is func(T) bool) (T, bool) {
	if i := slices.IndexFunc(rows, is); i >= 0 {
		return rows[i], true
	}
	var none T
	return none, false
}

// Resolvable is the catalog in the form that decides who connects as what.
func (s *Snapshot) Resolvable(cluster string) resolve.Catalog {
	c := resolve.Catalog{Cluster: cluster, Workspaces: s.Workspaces, PrincipalLogins: s.Principals}
	for _, r := range s.Roles {
		c.Roles = append(c.Roles, resolve.Role{ID: r.ID, Name: r.Name, Enabled: r.Enabled, Provisioned: r.Provisioned()})
	}
	for _, d := range s.Datatables {
		c.Datatables = append(c.Datatables, d.Datatable)
	}
	return c
}
