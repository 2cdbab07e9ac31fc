package resolve

import (
	"flag"
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// Decisions are cheap and most of those drawn are refusals: draw more of them
// than the usual 100, unless the command line says how many.
func TestMain(m *testing.M) {
	if err := flag.Set("rapid.checks", "1000"); err != nil {
		panic(err)
	}
	m.Run()
}

// Few words, so that what is drawn often meets; some are broken on purpose.
var (
	anyRole      = rapid.SampledFrom([]string{"r", "s", "t", "u", "admin", "none", "Admin", "pg_x", ""})
	anyUser      = rapid.SampledFrom([]string{"ada", "bob", "carol", "ada", "bob", "carol", "bob@x", "", "ghost", "BOB@X"})
	anyEmail     = rapid.SampledFrom([]string{"ada@x", "bob@x", "BOB@x", "carol@x", "", "bob"})
	anyGroup     = rapid.SampledFrom([]string{"emea", "amer", ""})
	anyFolder    = rapid.SampledFrom([]string{"f", "h"})
	anyWorkspace = rapid.SampledFrom([]string{"acme", "fork", "gone"})
	anyTable     = rapid.SampledFrom([]string{"main", "crm", "gone"})
	anyPattern   = rapid.SampledFrom([]string{"*", "*", "u/bob", "u/ada", "u/carol", "u/", "g/emea", "g/amer", "f/f", "f/h", "bob", "", "x/y"})
	anyReader    = rapid.SampledFrom([]string{"u/bob", "u/carol", "g/emea", "g/amer", "g/", "u", "*"})
	anyKey       = rapid.Custom(func(t *rapid.T) Key { return Key{anyWorkspace.Draw(t, "workspace"), anyTable.Draw(t, "name")} })

	anyMember = rapid.Custom(func(t *rapid.T) Member {
		return Member{anyUser.Draw(t, "username"), anyEmail.Draw(t, "email"), rapid.Bool().Draw(t, "admin")}
	})
	anyPerson = rapid.Custom(func(t *rapid.T) Person {
		p := Person{User: anyUser.Draw(t, "user"), SpelledOut: rapid.Bool().Draw(t, "spelled out")}
		if p.SpelledOut {
			p.Email, p.Admin = anyEmail.Draw(t, "email"), rapid.Bool().Draw(t, "admin")
			p.Groups, p.Folders = rapid.SliceOfN(anyGroup, 0, 2).Draw(t, "groups"), rapid.SliceOfN(anyFolder, 0, 2).Draw(t, "folders")
		}
		return p
	})
	anyDatatable = rapid.Custom(func(t *rapid.T) Datatable {
		d := drawDatatable(t, anyKey.Draw(t, "key"))
		d.DefaultRole, d.Tenants = anyRole.Draw(t, "default"), rapid.MapOfN(anyRole, anyPatterns, 0, 6).Draw(t, "tenants")
		return d
	})
	anyPatterns = rapid.SliceOfN(anyPattern, 0, 3)

	// anyCatalog is mostly sound, and in one of three a few entries are not.
	anyCatalog = rapid.Custom(func(t *rapid.T) Catalog {
		c := Catalog{Cluster: "c", PrincipalLogins: map[string]bool{UserLogin("1", "bob@x"): true, UserLogin("", ""): true}}
		c.Workspaces = []Workspace{
			drawWorkspace(t, "1", "acme", []Member{{"ada", "ada@x", rapid.Bool().Draw(t, "admin")}, {"bob", "bob@x", false}, {"carol", "carol@x", false}}),
			drawWorkspace(t, "2", "fork", []Member{{"ada", "ada@x", false}, {"bob", "carol@x", true}, {"carol", "BOB@x", false}}),
		}
		for _, name := range []string{"r", "s", "t", "u"} {
			c.Roles = append(c.Roles, drawRole(t, "id of "+name, name))
		}
		c.Datatables = []Datatable{drawDatatable(t, Key{"acme", "main"}), drawDatatable(t, Key{"acme", "crm"}), drawDatatable(t, Key{"fork", "main"})}
		if rapid.Bool().Draw(t, "governed") {
			c.Datatables[2].GovernedBy = &c.Datatables[0].Key
		}
		if rapid.IntRange(0, 2).Draw(t, "broken") == 0 {
			damage(t, &c)
		}
		return c
	})
)

func drawWorkspace(t *rapid.T, id, name string, members []Member) Workspace {
	return Workspace{
		ID: id, Name: name, Members: members,
		Groups:  rapid.MapOfN(anyGroup, rapid.SliceOfN(anyUser, 0, 3), 0, 3).Draw(t, "groups"),
		Folders: rapid.MapOfN(anyFolder, rapid.SliceOfN(anyReader, 0, 3), 0, 2).Draw(t, "folders"),
	}
}

func drawRole(t *rapid.T, id, name string) Role {
	return Role{id, name, rapid.IntRange(0, 5).Draw(t, "disabled") > 0, rapid.IntRange(0, 5).Draw(t, "unfinished") > 0}
}

func drawDatatable(t *rapid.T, key Key) Datatable {
	d := Datatable{
		Key: key, Owner: "owner",
		Access:           rapid.SampledFrom([]Access{AccessRoles, AccessRoles, AccessRoles, AccessRoles, AccessOpen, AccessPrincipals, "?"}).Draw(t, "access"),
		DefaultRole:      rapid.SampledFrom([]string{"r", "s", "none", "admin", "?"}).Draw(t, "default"),
		UnnamedRolesFrom: rapid.SampledFrom([]Rule{RuleViewer, RuleViewer, RuleIdentity, RuleIdentity, "?"}).Draw(t, "rule"),
	}
	if rapid.IntRange(0, 5).Draw(t, "tenants are given") > 0 {
		d.Tenants = map[string][]string{}
		for _, role := range []string{"admin", "r", "s", "t", "u"} {
			if patterns := anyPatterns.Draw(t, role); len(patterns) > 0 {
				d.Tenants[role] = patterns
			}
		}
	}
	return d
}

// damage adds entries that break the rules of a catalog, or may.
func damage(t *rapid.T, c *Catalog) {
	for i := range c.Workspaces {
		c.Workspaces[i].Members = append(c.Workspaces[i].Members, rapid.SliceOfN(anyMember, 0, 2).Draw(t, "members")...)
	}
	for range rapid.IntRange(0, 2).Draw(t, "roles") {
		c.Roles = append(c.Roles, drawRole(t, rapid.SampledFrom([]string{"id of r", "id", ""}).Draw(t, "id"), anyRole.Draw(t, "name")))
	}
	if rapid.IntRange(0, 4).Draw(t, "another workspace") == 0 {
		id := rapid.SampledFrom([]string{"1", "3", ""}).Draw(t, "id")
		c.Workspaces = append(c.Workspaces, drawWorkspace(t, id, anyWorkspace.Draw(t, "name"), nil))
	}
	c.Datatables = append(c.Datatables, rapid.SliceOfN(anyDatatable, 0, 2).Draw(t, "data tables")...)
	for i := range c.Datatables {
		if rapid.IntRange(0, 4).Draw(t, "governed") == 0 {
			by := anyKey.Draw(t, "governor")
			c.Datatables[i].GovernedBy = &by
		}
	}
}

// drawRequest asks for what is there: a request for nothing proves little.
func drawRequest(t *rapid.T, c Catalog) Request {
	d := rapid.SampledFrom(c.Datatables).Draw(t, "data table")
	r := Request{
		Workspace: d.Workspace,
		Reference: Reference{Datatable: d.Datatable, AsViewer: rapid.IntRange(0, 3).Draw(t, "as viewer") == 0},
		Identity:  anyPerson.Draw(t, "identity"),
	}
	if !r.Reference.AsViewer && rapid.IntRange(0, 2).Draw(t, "named") == 0 {
		r.Reference.Role = anyRole.Draw(t, "role")
	}
	if rapid.IntRange(0, 3).Draw(t, "viewed") > 0 {
		p := anyPerson.Draw(t, "viewer")
		r.Viewer = &p
	}
	return r
}

// mayBe gives every member of a workspace that a person could be taken for,
// ambiguous or not, and through whatever workspace: more than resolving may
// ever grant. Spelled out, they are themselves.
func mayBe(c Catalog, workspace string, p Person) (usernames []string, admin bool) {
	if p.SpelledOut {
		return []string{p.User}, p.Admin
	}
	emails := map[string]bool{foldEmail(p.User): true}
	for _, w := range c.Workspaces {
		for _, m := range w.Members {
			if m.Username == p.User {
				emails[foldEmail(m.Email)] = true
			}
		}
	}
	for _, w := range c.Workspaces {
		for _, m := range w.Members {
			if w.Name == workspace && (m.Username == p.User || emails[foldEmail(m.Email)]) {
				usernames, admin = append(usernames, m.Username), admin || m.Admin
			}
		}
	}
	return usernames, admin
}

// listed tells, from the rules and by looking through everything, whether one
// of the patterns could name the person.
func listed(c Catalog, workspace string, p Person, patterns []string) bool {
	usernames, _ := mayBe(c, workspace, p)
	if len(usernames) == 0 {
		return false
	}
	inGroup := func(group string) bool {
		if p.SpelledOut {
			return slices.Contains(p.Groups, group)
		}
		return slices.ContainsFunc(c.Workspaces, func(w Workspace) bool {
			return w.Name == workspace && slices.ContainsFunc(w.Groups[group], func(u string) bool { return slices.Contains(usernames, u) })
		})
	}
	reads := func(folder string) bool {
		if p.SpelledOut {
			return slices.Contains(p.Folders, folder)
		}
		return slices.ContainsFunc(c.Workspaces, func(w Workspace) bool {
			return w.Name == workspace && slices.ContainsFunc(w.Folders[folder], func(reader string) bool {
				return len(reader) > 2 && (reader[:2] == "u/" && slices.Contains(usernames, reader[2:]) || reader[:2] == "g/" && inGroup(reader[2:]))
			})
		})
	}
	return slices.ContainsFunc(patterns, func(pattern string) bool {
		if pattern == "*" {
			return true
		}
		if len(pattern) < 3 {
			return false
		}
		switch kind, name := pattern[:2], pattern[2:]; kind {
		case "u/":
			return slices.Contains(usernames, name)
		case "g/":
			return inGroup(name)
		case "f/":
			return reads(name)
		}
		return false
	})
}

// Nobody holds a role that no tenant list and no default test gives them, in
// whatever catalog, and admin is never one of several.
func TestNobodyHoldsWhatNothingGivesThem(t *testing.T) {
	kinds := map[Kind]int{}
	defer func() {
		if !t.Failed() && (kinds[KindOwner] == 0 || kinds[KindRole] == 0 || kinds[KindSet] == 0) {
			t.Errorf("decisions drawn are %v: the property says little", kinds)
		}
	}()
	rapid.Check(t, func(t *rapid.T) {
		c := anyCatalog.Draw(t, "catalog")
		r := drawRequest(t, c)
		d := NewIndex(c).Resolve(r)
		kinds[d.Kind]++
		if !d.Allowed() {
			return
		}
		i := slices.IndexFunc(c.Datatables, func(other Datatable) bool { return other.Key == d.Governor })
		governor := c.Datatables[i]
		gives := func(role string, p *Person, adminPasses bool) bool {
			if p == nil || p.User == "" {
				return false
			}
			_, admin := mayBe(c, d.Governor.Workspace, *p)
			return adminPasses && admin || listed(c, d.Governor.Workspace, *p, governor.tenants()[role])
		}
		ref, identity, viewer := r.Reference, &r.Identity, r.Viewer
		subject := identity
		if ref.AsViewer {
			subject = viewer
		}
		for _, role := range d.Roles {
			var given bool
			switch {
			case governor.Access == AccessOpen:
				given = role == RoleAdmin
			case governor.Access == AccessPrincipals:
				_, admin := mayBe(c, d.Governor.Workspace, *identity)
				given = role == RoleAdmin && admin
			case ref.Role != "":
				given = role == ref.Role && gives(role, identity, true)
			case role == RoleAdmin:
				given = governor.DefaultRole == RoleAdmin && !ref.AsViewer && gives(role, identity, true)
			case governor.UnnamedRolesFrom == RuleViewer:
				given = gives(role, viewer, false) || role == governor.DefaultRole && !ref.AsViewer && gives(role, identity, true)
			default:
				given = gives(role, subject, false)
			}
			if !given {
				t.Errorf("%q of %s is not theirs\ntrace: %q", role, d.Login, d.Trace)
			}
			usable := slices.ContainsFunc(c.Roles, func(r Role) bool { return r.Name == role && r.Enabled && r.Provisioned })
			if role == RoleAdmin && (d.Kind != KindOwner || len(d.Roles) != 1) || role != RoleAdmin && (!usable || CheckRoleName(role) != nil) {
				t.Errorf("%s holds %q\ntrace: %q", d.Kind, d.Roles, d.Trace)
			}
		}
	})
}

// The same catalog and request, told in another order, give the same decision.
func TestOrderDecidesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := anyCatalog.Draw(t, "catalog")
		r := drawRequest(t, c)
		want := NewIndex(c).Resolve(r)
		got := NewIndex(shuffled(t, c)).Resolve(r)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-told in one order +in another):\n%s", diff)
		}
	})
}

func shuffled(t *rapid.T, c Catalog) Catalog {
	lists := func(from map[string][]string) map[string][]string {
		if from == nil {
			return nil
		}
		to := map[string][]string{}
		for _, key := range slices.Sorted(maps.Keys(from)) {
			to[key] = rapid.Permutation(from[key]).Draw(t, "list")
		}
		return to
	}
	c.Roles = rapid.Permutation(c.Roles).Draw(t, "roles")
	c.Workspaces = rapid.Permutation(c.Workspaces).Draw(t, "workspaces")
	for i, w := range c.Workspaces {
		c.Workspaces[i].Members = rapid.Permutation(w.Members).Draw(t, "members")
		c.Workspaces[i].Groups, c.Workspaces[i].Folders = lists(w.Groups), lists(w.Folders)
	}
	c.Datatables = rapid.Permutation(c.Datatables).Draw(t, "data tables")
	for i, d := range c.Datatables {
		c.Datatables[i].Tenants = lists(d.Tenants)
	}
	return c
}

// Renaming roles changes the names of a decision and nothing else of a set.
func TestRenamingRolesMovesNoSetLogin(t *testing.T) {
	renamed := func(role string) string {
		if CheckRoleName(role) != nil {
			return role
		}
		return map[string]string{"r": "zz", "s": "aa", "t": "r", "u": "s"}[role]
	}
	sets := 0
	rapid.Check(t, func(t *rapid.T) {
		c := anyCatalog.Draw(t, "catalog")
		r := drawRequest(t, c)
		before := NewIndex(c).Resolve(r)
		for i := range c.Roles {
			c.Roles[i].Name = renamed(c.Roles[i].Name)
		}
		for i, d := range c.Datatables {
			c.Datatables[i].DefaultRole = renamed(d.DefaultRole)
			if d.Tenants != nil {
				c.Datatables[i].Tenants = map[string][]string{}
				for role, patterns := range d.Tenants {
					c.Datatables[i].Tenants[renamed(role)] = patterns
				}
			}
		}
		r.Reference.Role = renamed(r.Reference.Role)
		after := NewIndex(c).Resolve(r)
		if before.Kind != after.Kind || before.Kind == KindSet && before.Login != after.Login {
			t.Errorf("%s %s became %s %s", before.Kind, before.Login, after.Kind, after.Login)
		}
		if !slices.Equal(sortedSet(before.RoleIDs), sortedSet(after.RoleIDs)) {
			t.Errorf("%q became %q", before.RoleIDs, after.RoleIDs)
		}
		if before.Kind == KindSet {
			sets++
		}
	})
	if sets == 0 {
		t.Error("no set was ever drawn: the property says nothing")
	}
}

func TestResolvingNeverPanics(t *testing.T) {
	for _, c := range []Catalog{{}, {Datatables: []Datatable{{}}, Workspaces: []Workspace{{Members: []Member{{}, {}}}}, Roles: []Role{{}, {}}}} {
		index := NewIndex(c)
		for _, p := range []Person{{}, {SpelledOut: true}, {User: "x", SpelledOut: true}} {
			for _, reference := range []string{"", "main", "main?role=admin", "main?as=viewer"} {
				if d := index.ResolveText("", reference, p, &p); d.Allowed() {
					t.Errorf("%q: %+v", reference, d)
				}
			}
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		c := anyCatalog.Draw(t, "catalog")
		identity := anyPerson.Draw(t, "identity")
		NewIndex(c).Resolve(Request{rapid.String().Draw(t, "workspace"), Reference{Datatable: rapid.String().Draw(t, "name"), Role: rapid.String().Draw(t, "role")}, identity, &identity})
	})
}
