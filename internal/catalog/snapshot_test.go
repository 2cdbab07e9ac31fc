package catalog

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/google/uuid"

	"github.com/datatable-io/terraform-provider-datatable/internal/postgres"
	"github.com/datatable-io/terraform-provider-datatable/internal/resolve"
)

// id makes a UUID of a number.
func id(n int) string { return fmt.Sprintf("00000000-0000-4000-8000-%012d", n) }

// roleID is a UUID of a number that no other test has: marks are of the whole
// cluster.
func (p *place) roleID(n int) string {
	return uuid.NewSHA1(uuid.NameSpaceOID, []byte(fmt.Sprint(p.prefix, n))).String()
}

// role puts a role of the catalog; with a login it is in Postgres too, marked.
func (p *place) role(t *testing.T, n int, name string, login bool) Role {
	t.Helper()
	r := Role{ID: p.roleID(n), Name: p.prefix + name, Enabled: true, Sealed: []byte{1, 2, 3}, PasswordVersion: 1, Astray: []string{}}
	p.run(t, PutRole(r))
	if login {
		role, _ := p.login(t, name, "")
		p.sql(t, string(postgres.CommentOnRole(role, Mark(r.ID))))
		r.Exists, r.CanLogin = true, true
	}
	return r
}

func workspaces(all ...resolve.Workspace) (queries []postgres.Query) {
	for _, w := range all {
		queries = append(queries, PutWorkspace(w)...)
	}
	return queries
}

func TestAWorkspaceIsReadAsItWasPut(t *testing.T) {
	p := migrated(t)
	full := resolve.Workspace{
		Name: "acme", Parent: "not there yet",
		Members: []resolve.Member{{Username: "ada", Email: "Ada@x", Admin: true}, {Username: "bob o'x", Email: "", Admin: false}},
		Groups:  map[string][]string{"emea": {"bob o'x", "ada"}, "empty": {}},
		Folders: map[string][]string{"f/g": {"u/ada", "g/emea"}, "none": {}},
	}
	bare := resolve.Workspace{Name: "bare", Groups: map[string][]string{}, Folders: map[string][]string{}}
	p.run(t, workspaces(full, bare)...)
	first := p.load(t)
	if diff := cmp.Diff([]resolve.Workspace{full, bare}, first.Workspaces, cmpopts.IgnoreFields(resolve.Workspace{}, "ID")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	acme, ok := first.Workspace("acme")
	other, _ := first.Workspace("bare")
	if !ok || acme.ID == "" || acme.ID == other.ID {
		t.Errorf("ids are %q and %q", acme.ID, other.ID)
	}
	if _, ok := first.Workspace("gone"); ok {
		t.Error("there is a workspace that was never put")
	}

	// The next one replaces all but the id.
	changed := resolve.Workspace{
		ID: acme.ID, Name: "acme", Members: []resolve.Member{{Username: "ada", Email: "ada@y"}},
		Groups: map[string][]string{"amer": {"ada"}}, Folders: map[string][]string{},
	}
	p.run(t, PutWorkspace(changed)...)
	got, _ := p.load(t).Workspace("acme")
	if diff := cmp.Diff(changed, got); diff != "" {
		t.Errorf("changed (-want +got):\n%s", diff)
	}
	p.run(t, PutWorkspace(resolve.Workspace{Name: "acme"})...) // nil is none
	p.run(t, DeleteWorkspace("bare"))
	if s := p.load(t); len(s.Workspaces) != 1 || len(s.Workspaces[0].Members)+len(s.Workspaces[0].Groups) != 0 {
		t.Errorf("left is %+v", s.Workspaces)
	}
	p.run(t, DeleteWorkspace("acme"), DeleteWorkspace("gone"))
	if n := p.texts(t, "SELECT 'left' FROM datatable_catalog.member"); len(n) > 0 || len(p.load(t).Workspaces) > 0 {
		t.Error("a deleted workspace leaves something")
	}
}

func TestADataTableIsReadAsItWasPut(t *testing.T) {
	p := migrated(t)
	reader, writer := p.role(t, 1, "reader", false), p.role(t, 2, "writer", false)
	roleIDs := map[string]string{reader.Name: reader.ID, writer.Name: writer.ID}
	governor := resolve.Key{Workspace: "acme", Datatable: "main"}
	all := map[string][]string{reader.Name: {"*", "u/bob"}, writer.Name: {}, resolve.RoleAdmin: {"g/ops"}}
	for name, test := range map[string]Datatable{
		"all of it": {
			Datatable: resolve.Datatable{Access: resolve.AccessRoles, DefaultRole: reader.Name, Tenants: all, UnnamedRolesFrom: resolve.RuleIdentity},
			Database:  p.database, RevokePublic: true, AcceptReplication: []string{"slot", "pub"}, UnmanagedGrants: "revoke",
		},
		"tenants that are not given": {
			Datatable: resolve.Datatable{Access: resolve.AccessRoles, DefaultRole: resolve.RoleAdmin, UnnamedRolesFrom: resolve.RuleViewer},
			Database:  p.database, AcceptReplication: []string{},
		},
		"tenants that are none": {
			Datatable: resolve.Datatable{Access: resolve.AccessRoles, DefaultRole: resolve.DefaultNone, Tenants: map[string][]string{}, UnnamedRolesFrom: resolve.RuleViewer},
			Database:  p.database, AcceptReplication: []string{},
		},
		"admin alone": {
			Datatable: resolve.Datatable{
				Access: resolve.AccessPrincipals, DefaultRole: resolve.RoleAdmin,
				Tenants: map[string][]string{resolve.RoleAdmin: {"*"}}, UnnamedRolesFrom: resolve.RuleViewer,
			},
			Database: p.database, AcceptReplication: []string{},
		},
		"governed by another": {
			Datatable: resolve.Datatable{Access: resolve.AccessOpen, DefaultRole: resolve.RoleAdmin, UnnamedRolesFrom: resolve.RuleViewer, GovernedBy: &governor},
			Database:  p.database, AcceptReplication: []string{},
		},
		"a database that is gone": {
			Datatable: resolve.Datatable{Access: resolve.AccessOpen, DefaultRole: resolve.RoleAdmin, UnnamedRolesFrom: resolve.RuleViewer},
			Database:  p.prefix + "gone", AcceptReplication: []string{}, UnmanagedGrants: "report",
		},
	} {
		t.Run(name, func(t *testing.T) {
			d := test
			d.ID, d.Key = id(9), resolve.Key{Workspace: "acme", Datatable: "crm"}
			p.run(t, PutDatatable(d, roleIDs)...)
			want := d
			if d.Database == p.database {
				want.Owner = "postgres"
			}
			s := p.load(t)
			got, ok := s.Datatable(d.Key)
			if diff := cmp.Diff(want, got); diff != "" || !ok {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if diff := cmp.Diff([]resolve.Datatable{want.Datatable}, s.Resolvable("c").Datatables); diff != "" {
				t.Errorf("as it is resolved (-want +got):\n%s", diff)
			}
			p.run(t, DeleteDatatable(d.Key))
			if left := p.texts(t, "SELECT 'tenant' FROM datatable_catalog.tenant UNION ALL SELECT 'entry' FROM datatable_catalog.datatable"); len(left) > 0 {
				t.Errorf("left is %q", left)
			}
		})
	}
}

func TestAChangedDataTableKeepsItsIDAndDatabase(t *testing.T) {
	p := migrated(t)
	reader := p.role(t, 1, "reader", false)
	roleIDs := map[string]string{reader.Name: reader.ID}
	key := resolve.Key{Workspace: "acme", Datatable: "main"}
	first := Datatable{
		ID: id(1), Database: p.database, AcceptReplication: []string{}, UnmanagedGrants: "ignore",
		Datatable: resolve.Datatable{Key: key, Access: resolve.AccessRoles, DefaultRole: reader.Name, Tenants: map[string][]string{reader.Name: {"*"}}, UnnamedRolesFrom: resolve.RuleViewer},
	}
	next := Datatable{
		ID: id(2), Database: p.database, RevokePublic: true, AcceptReplication: []string{"x"}, UnmanagedGrants: "report",
		Datatable: resolve.Datatable{
			Key: key, Access: resolve.AccessPrincipals, DefaultRole: resolve.DefaultNone, Tenants: map[string][]string{resolve.RoleAdmin: {"u/ada"}},
			UnnamedRolesFrom: resolve.RuleIdentity, GovernedBy: &resolve.Key{Workspace: "a", Datatable: "b"},
		},
	}
	p.run(t, PutDatatable(first, roleIDs)...)
	p.run(t, PutDatatable(next, roleIDs)...)
	want := next
	want.ID, want.Owner = id(1), "postgres"
	if got, _ := p.load(t).Datatable(key); cmp.Diff(want, got) != "" {
		t.Errorf("(-want +got):\n%s", cmp.Diff(want, got))
	}
}

// A list for a role that nobody gave an id must not become one for admin.
func TestTenantsOfAnUnknownRoleAreRefused(t *testing.T) {
	p := migrated(t)
	d := Datatable{
		ID: id(1), Database: p.database,
		Datatable: resolve.Datatable{
			Key: resolve.Key{Workspace: "acme", Datatable: "main"}, Access: resolve.AccessRoles, DefaultRole: resolve.DefaultNone,
			Tenants: map[string][]string{"unknown": {"*"}}, UnnamedRolesFrom: resolve.RuleViewer,
		},
	}
	err := p.cluster.Do(t.Context(), p.database, lock, func(tx *postgres.Tx) error {
		return tx.Batch(t.Context(), PutDatatable(d, nil)...)
	})
	if err == nil {
		got, _ := p.load(t).Datatable(d.Key)
		t.Errorf("put is %v", got.Tenants)
	}
}

func TestDeletingARoleTakesItFromDataTables(t *testing.T) {
	p := migrated(t)
	reader, writer := p.role(t, 1, "reader", false), p.role(t, 2, "writer", false)
	roleIDs := map[string]string{reader.Name: reader.ID, writer.Name: writer.ID}
	key := resolve.Key{Workspace: "acme", Datatable: "main"}
	d := Datatable{ID: id(9), Database: p.database, Datatable: resolve.Datatable{
		Key: key, Access: resolve.AccessRoles, DefaultRole: reader.Name, UnnamedRolesFrom: resolve.RuleViewer,
		Tenants: map[string][]string{reader.Name: {"*"}, writer.Name: {"u/bob"}, resolve.RoleAdmin: {"u/ada"}},
	}}
	p.run(t, PutDatatable(d, roleIDs)...)
	p.run(t, DeleteRole(reader.ID))
	got, _ := p.load(t).Datatable(key)
	if got.DefaultRole != resolve.DefaultNone {
		t.Errorf("the default is %q", got.DefaultRole)
	}
	want := map[string][]string{writer.Name: {"u/bob"}, resolve.RoleAdmin: {"u/ada"}}
	if diff := cmp.Diff(want, got.Tenants); diff != "" {
		t.Errorf("tenants (-want +got):\n%s", diff)
	}
	// The last one leaves a list that is given, and empty.
	d.Tenants, d.DefaultRole = map[string][]string{writer.Name: {"*"}}, writer.Name
	p.run(t, append(PutDatatable(d, roleIDs), DeleteRole(writer.ID))...)
	got, _ = p.load(t).Datatable(key)
	if got.Tenants == nil || len(got.Tenants) != 0 || got.DefaultRole != resolve.DefaultNone {
		t.Errorf("at last: tenants %v, default %q", got.Tenants, got.DefaultRole)
	}
}

func TestARenamedRoleKeepsItsPlaces(t *testing.T) {
	p := migrated(t)
	reader := p.role(t, 1, "reader", true)
	key := resolve.Key{Workspace: "acme", Datatable: "main"}
	d := Datatable{ID: id(9), Database: p.database, Datatable: resolve.Datatable{
		Key: key, Access: resolve.AccessRoles, DefaultRole: reader.Name, Tenants: map[string][]string{reader.Name: {"*"}}, UnnamedRolesFrom: resolve.RuleViewer,
	}}
	p.run(t, PutDatatable(d, map[string]string{reader.Name: reader.ID})...)
	renamed := reader
	renamed.Name = p.prefix + "Renamed"
	p.sql(t, string(postgres.RenameRole(reader.Name, renamed.Name)))
	p.run(t, PutRole(renamed))
	s := p.load(t)
	got, _ := s.Datatable(key)
	if got.DefaultRole != renamed.Name || !slices.Equal(slices.Collect(maps.Keys(got.Tenants)), []string{renamed.Name}) {
		t.Errorf("default %q, tenants %v", got.DefaultRole, got.Tenants)
	}
	if r, ok := s.RoleByID(reader.ID); !ok || cmp.Diff(renamed, r) != "" {
		t.Errorf("the role (-want +got):\n%s", cmp.Diff(renamed, r))
	}
}

func TestARoleIsReadWithWhatBecameOfItsLogin(t *testing.T) {
	p := migrated(t)
	for n, test := range []struct {
		name        string
		login       bool
		change      string // of the login
		put         func(*Role)
		provisioned bool
		want        func(*Role)
	}{
		{name: "as it should be", login: true, provisioned: true},
		{name: "no login", login: false, provisioned: false},
		{name: "somebody else's", login: true, change: "COMMENT ON ROLE %s IS 'mine'", want: func(r *Role) { r.Exists, r.CanLogin = false, false }},
		{name: "another role's", login: true, change: "COMMENT ON ROLE %s IS '" + Mark(id(99)) + "'", want: func(r *Role) { r.Exists, r.CanLogin = false, false }},
		{name: "shut by hand", login: true, change: "ALTER ROLE %s NOLOGIN", want: func(r *Role) { r.CanLogin = false }},
		{name: "open for good", login: true, change: "ALTER ROLE %s VALID UNTIL 'infinity' CONNECTION LIMIT 3", provisioned: true},
		{name: "with another password", login: true, put: func(r *Role) { r.PasswordVersion = 7 }, provisioned: true},
		{
			name: "with a note", login: true, change: "COMMENT ON ROLE %s IS '" + Mark("VAR_ID") + "\n\nof two\nlines \n'",
			want: func(r *Role) { r.Note = "\nof two\nlines \n" }, provisioned: true,
		},
		{
			name: "its mark below", login: true, change: "COMMENT ON ROLE %s IS 'mine\n" + Mark("VAR_ID") + "'",
			want: func(r *Role) { r.Exists, r.CanLogin = false, false },
		},
		{name: "disabled", login: true, change: "ALTER ROLE %s NOLOGIN", put: func(r *Role) { r.Enabled = false }, want: func(r *Role) { r.CanLogin = false }, provisioned: true},
		{name: "without a password", login: true, put: func(r *Role) { r.Sealed = []byte{} }},
		{
			name: "astray", login: true, change: "ALTER ROLE %s SUPERUSER CREATEDB CREATEROLE REPLICATION BYPASSRLS NOINHERIT VALID UNTIL '2999-01-01' CONNECTION LIMIT 0",
			want: func(r *Role) {
				r.Astray = []string{
					"NOSUPERUSER", "NOCREATEDB", "NOCREATEROLE", "NOREPLICATION", "NOBYPASSRLS", "INHERIT", "VALID UNTIL 'infinity'", "CONNECTION LIMIT -1",
				}
			}, provisioned: true,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			want := p.role(t, n, test.name, test.login)
			if test.put != nil {
				test.put(&want)
				p.run(t, PutRole(want))
			}
			if test.change != "" {
				p.sql(t, strings.ReplaceAll(fmt.Sprintf(test.change, postgres.Ident(want.Name)), "VAR_ID", want.ID))
			}
			if test.want != nil {
				test.want(&want)
			}
			s := p.load(t)
			got, ok := s.Role(want.Name)
			if diff := cmp.Diff(want, got); diff != "" || !ok {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if got.Provisioned() != test.provisioned {
				t.Errorf("provisioned: %v", got.Provisioned())
			}
			resolved := resolve.Role{ID: want.ID, Name: want.Name, Enabled: want.Enabled, Provisioned: test.provisioned}
			if !slices.Contains(s.Resolvable("c").Roles, resolved) {
				t.Errorf("as it is resolved: %+v", s.Resolvable("c").Roles)
			}
		})
	}
}

func TestTwoRolesCannotHaveOneName(t *testing.T) {
	p := migrated(t)
	r := p.role(t, 1, "reader", false)
	r.ID = p.roleID(2)
	err := p.cluster.Do(t.Context(), p.database, lock, func(tx *postgres.Tx) error { return tx.Batch(t.Context(), PutRole(r)) })
	if err == nil {
		t.Error("they can")
	}
}

func TestRoleSetsAreKept(t *testing.T) {
	p := migrated(t)
	one := RoleSet{Login: "wm_set_1", RoleIDs: []string{id(1), id(2)}, Sealed: []byte{1}}
	two := RoleSet{Login: "wm_set_2", RoleIDs: []string{id(2), id(3)}, Sealed: []byte{}}
	p.run(t, PutRoleSet(one), PutRoleSet(two))
	read := func(login string) (set RoleSet) {
		p.run(t, RoleSetByLogin(login, &set))
		return set
	}
	of := func(roleID string) (sets []RoleSet) {
		p.do(t, func(ctx ctx, tx *postgres.Tx) (err error) {
			sets, err = RoleSetsOf(ctx, tx, roleID)
			return err
		})
		return sets
	}
	for login, want := range map[string]RoleSet{"wm_set_1": one, "wm_set_2": two, "wm_set_3": {}} {
		if diff := cmp.Diff(want, read(login)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", login, diff)
		}
	}
	for roleID, want := range map[string][]RoleSet{id(1): {one}, id(2): {one, two}, id(4): nil} {
		if diff := cmp.Diff(want, of(roleID)); diff != "" {
			t.Errorf("of %s (-want +got):\n%s", roleID, diff)
		}
	}
	// One that was not used for long is stale until it is used.
	p.sql(t, "UPDATE datatable_catalog.role_set SET last_used_at = now() - interval '25 hours' WHERE login = 'wm_set_1'",
		"UPDATE datatable_catalog.role_set SET last_used_at = now() - interval '23 hours' WHERE login = 'wm_set_2'")
	if !read("wm_set_1").Stale || read("wm_set_2").Stale {
		t.Error("25 hours are not long, or 23 are")
	}
	one.Sealed = []byte{2}
	p.run(t, PutRoleSet(one))
	if diff := cmp.Diff(one, read("wm_set_1")); diff != "" {
		t.Errorf("used again (-want +got):\n%s", diff)
	}
	p.run(t, DeleteRoleSet("wm_set_1"), DeleteRoleSet("gone"))
	if sets := of(id(2)); len(sets) != 1 {
		t.Errorf("left are %+v", sets)
	}
}
