package resolve

import (
	"fmt"
	"slices"
	"testing"
)

// world is a catalog for tests of single rules. Members are admin ada, and
// bob, carol and pub, of whom bob is in g/emea and reads f/reports through it.
// In the fork they are told by email: bobby is bob, and the fork's admin; zoe
// is in the fork alone. acme/t is under roles; its role r has the tenant
// u/bob, s has g/emea, t has f/reports and every has *.
func world(change func(*Catalog)) Catalog {
	c := Catalog{
		Cluster: "instance",
		Workspaces: []Workspace{
			{
				ID: "w1", Name: "acme",
				Members: []Member{
					{"ada", "ada@acme.test", true},
					{"bob", "Bob@acme.test", false},
					{"carol", "carol@acme.test", false},
					{"pub", "pub@acme.test", false},
				},
				Groups:  map[string][]string{"emea": {"bob", "ghost"}},
				Folders: map[string][]string{"reports": {"g/emea", "g/gone"}, "own": {"u/carol"}},
			},
			{
				ID: "w2", Name: "fork", Parent: "acme",
				Members: []Member{
					{"bobby", "bob@ACME.test", true},
					{"ada", "zoe@acme.test", true},
					{"boss", "ada@acme.test", false},
					{"mailless", "", false},
				},
			},
		},
		Datatables: []Datatable{
			{
				Key: Key{"acme", "t"}, Access: AccessRoles, DefaultRole: DefaultNone, UnnamedRolesFrom: RuleViewer, Owner: "owner_of_t",
				Tenants: map[string][]string{"r": {"u/bob"}, "s": {"g/emea"}, "t": {"f/reports"}, "every": {"*"}},
			},
			{Key: Key{"acme", "people"}, Access: AccessPrincipals, DefaultRole: RoleAdmin, UnnamedRolesFrom: RuleViewer, Owner: "owner_of_people"},
			{Key: Key{"acme", "free"}, Access: AccessOpen, DefaultRole: RoleAdmin, UnnamedRolesFrom: RuleViewer, Owner: "owner_of_free"},
			{Key: Key{"fork", "t"}, Owner: "owner_of_fork_t", GovernedBy: &Key{"acme", "t"}},
			{Key: Key{"fork", "people"}, Owner: "owner_of_fork_people", GovernedBy: &Key{"acme", "people"}},
			{Key: Key{"fork", "free"}, Owner: "owner_of_fork_free", GovernedBy: &Key{"acme", "free"}},
		},
		PrincipalLogins: map[string]bool{UserLogin("w1", "bob@acme.test"): true, UserLogin("w1", ""): true},
	}
	for _, name := range []string{"r", "s", "t", "every", "unlisted"} {
		c.Roles = append(c.Roles, Role{ID: "id of " + name, Name: name, Enabled: true, Provisioned: true})
	}
	if change != nil {
		change(&c)
	}
	return c
}

// on changes acme/t.
func on(change func(*Datatable)) func(*Catalog) {
	return func(c *Catalog) { change(&c.Datatables[0]) }
}

// withRole changes the roles of that name.
func withRole(name string, change func(*Role)) func(*Catalog) {
	return func(c *Catalog) {
		for i := range c.Roles {
			if c.Roles[i].Name == name {
				change(&c.Roles[i])
			}
		}
	}
}

func both(changes ...func(*Catalog)) func(*Catalog) {
	return func(c *Catalog) {
		for _, change := range changes {
			change(c)
		}
	}
}

var (
	disabled    = func(r *Role) { r.Enabled = false }
	unfinished  = func(r *Role) { r.Provisioned = false }
	byIdentity  = on(func(d *Datatable) { d.UnnamedRolesFrom = RuleIdentity })
	nobody      = Person{}
	anyoneAdmin = Person{User: "svc", Admin: true, SpelledOut: true}
)

// defaultIs sets the default role of acme/t and, unless there are none, its tenants.
func defaultIs(role string, tenants ...string) func(*Catalog) {
	return on(func(d *Datatable) {
		d.DefaultRole = role
		if tenants != nil {
			d.Tenants[role] = tenants
		}
	})
}

func user(name string) Person     { return Person{User: name} }
func viewer(name string) *Person  { return &Person{User: name} }
func spelled(p Person) *Person    { p.SpelledOut = true; return &p }
func nothing(reason Code) outcome { return outcome{refusal: reason} }

// outcome is what a test wants of a decision.
type outcome struct {
	kind    Kind
	login   string // "": whatever follows from the roles
	roles   []string
	refusal Code
}

func holds(roles ...string) outcome {
	if len(roles) == 1 {
		return outcome{kind: KindRole, login: roles[0], roles: roles}
	}
	ids := make([]string, len(roles))
	for i, role := range roles {
		ids[i] = "id of " + role
	}
	return outcome{kind: KindSet, login: SetLogin("instance", ids), roles: roles}
}

func owner(login string) outcome {
	return outcome{kind: KindOwner, login: login, roles: []string{RoleAdmin}}
}

// resolving is one row of a table of decisions.
type resolving struct {
	name      string
	change    func(*Catalog)
	workspace string // "": acme
	reference string
	identity  Person
	viewer    *Person
	want      outcome
}

func run(t *testing.T, table []resolving) {
	t.Helper()
	for _, tc := range table {
		t.Run(tc.name, func(t *testing.T) {
			c := world(tc.change)
			if tc.workspace == "" {
				tc.workspace = "acme"
			}
			d := NewIndex(c).ResolveText(tc.workspace, tc.reference, tc.identity, tc.viewer)
			got := outcome{kind: d.Kind, login: d.Login, roles: d.Roles}
			if !d.Allowed() {
				got.refusal = d.Refusal.Code
			}
			if got.kind != tc.want.kind || got.login != tc.want.login || got.refusal != tc.want.refusal || !slices.Equal(got.roles, tc.want.roles) {
				t.Errorf("got %s, want %s\nrefusal: %+v\ntrace: %q", got, tc.want, d.Refusal, d.Trace)
			}
			ids := map[string]string{}
			for _, role := range c.Roles {
				ids[role.Name] = role.ID
			}
			checkLogin(t, c.Cluster, ids, d)
		})
	}
}

func (o outcome) String() string {
	return fmt.Sprintf("%s %q %q %s", o.kind, o.login, o.roles, o.refusal)
}
