package resolve

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// chain adds data tables hop0 … hop<hops>, each governed by the next; the last
// one is open.
func chain(hops int) func(*Catalog) {
	return func(c *Catalog) {
		for i := range hops {
			c.Datatables = append(c.Datatables, Datatable{
				Key: Key{"acme", fmt.Sprint("hop", i)}, GovernedBy: &Key{"acme", fmt.Sprint("hop", i+1)}, Owner: "owner_of_hop",
			})
		}
		c.Datatables = append(c.Datatables, Datatable{Key: Key{"acme", fmt.Sprint("hop", hops)}, Access: AccessOpen})
	}
}

func governed(name, by string) func(*Catalog) {
	return func(c *Catalog) {
		c.Datatables = append(c.Datatables, Datatable{Key: Key{"acme", name}, GovernedBy: &Key{"acme", by}, Access: AccessOpen})
	}
}

func TestFindTheDatatable(t *testing.T) {
	run(t, []resolving{
		{"unknown", nil, "", "nowhere", user("bob"), nil, nothing(CodeUnknownDatatable)},
		{"unknown comes before who asks", nil, "", "nowhere", nobody, nil, nothing(CodeUnknownDatatable)},
		{"names keep their letter case", nil, "", "T", user("bob"), nil, nothing(CodeUnknownDatatable)},
		{"workspaces keep their letter case", nil, "ACME", "free", user("bob"), nil, nothing(CodeUnknownDatatable)},
		{"of another workspace", governed("only", "free"), "fork", "only", user("bobby"), nil, nothing(CodeUnknownDatatable)},
		{"in the catalog twice", func(c *Catalog) { c.Datatables = append(c.Datatables, c.Datatables[2]) }, "", "free", user("bob"), nil, nothing(CodeUnknownDatatable)},
		{"malformed comes before unknown", nil, "", "nowhere?", user("bob"), nil, nothing(CodeMalformedReference)},
		{"20 hops", chain(20), "", "hop0", user("bob"), nil, owner("owner_of_hop")},
		{"21 hops", chain(21), "", "hop0", user("bob"), nil, nothing(CodeReferenceLoop)},
		{"20 of 21 hops", chain(21), "", "hop1", user("bob"), nil, owner("owner_of_hop")},
		{"governed by itself", governed("self", "self"), "", "self", user("bob"), nil, nothing(CodeReferenceLoop)},
		{"a loop further on", both(governed("a", "b"), governed("b", "c"), governed("c", "b")), "", "a", user("bob"), nil, nothing(CodeReferenceLoop)},
		{"governor missing", governed("a", "nowhere"), "", "a", user("bob"), nil, nothing(CodeGovernorMissing)},
		{"governor of the governor missing", both(governed("a", "b"), governed("b", "nowhere")), "", "a", user("bob"), nil, nothing(CodeGovernorMissing)},
		{"governor in the catalog twice", both(governed("a", "b"), governed("b", "free"), governed("b", "people")), "", "a", user("bob"), nil, nothing(CodeGovernorMissing)},
		{"a broken chain comes before who asks", governed("a", "nowhere"), "", "a", nobody, nil, nothing(CodeGovernorMissing)},
		{"the governor's access counts, not one's own", governed("a", "t"), "", "a", user("bob"), nil, nothing(CodeNoRole)},
		{"the database is one's own, and so is its owner", nil, "fork", "free", user("bobby"), nil, owner("owner_of_fork_free")},
	})
}

func TestPermissionsAllComeFromTheGovernor(t *testing.T) {
	c := world(func(c *Catalog) {
		c.Datatables[0].DefaultRole, c.Datatables[0].UnnamedRolesFrom = "r", RuleIdentity
		c.Datatables[3].Access, c.Datatables[3].DefaultRole = AccessOpen, RoleAdmin
		c.Datatables[3].Tenants, c.Datatables[3].UnnamedRolesFrom = map[string][]string{"unlisted": {"*"}}, RuleViewer
	})
	d := NewIndex(c).ResolveText("fork", "t", user("bobby"), viewer("mailless"))
	if !slices.Equal(d.Roles, []string{"every", "r", "s", "t"}) {
		t.Errorf("roles %q, trace %q", d.Roles, d.Trace)
	}
	if d.Datatable != (Key{"fork", "t"}) || d.Governor != (Key{"acme", "t"}) {
		t.Errorf("%s is governed by %s", d.Datatable, d.Governor)
	}
}

func TestWhoIsAsking(t *testing.T) {
	twice := func(m Member) func(*Catalog) {
		return func(c *Catalog) { c.Workspaces[0].Members = append(c.Workspaces[0].Members, m) }
	}
	run(t, []resolving{
		{"by username", nil, "", "t?role=r", user("bob"), nil, holds("r")},
		{"by email", nil, "", "t?role=r", user("bob@acme.test"), nil, holds("r")},
		{"by email in any letter case", nil, "", "t?role=r", user("BOB@ACME.TEST"), nil, holds("r")},
		{"usernames keep their letter case", nil, "", "t?role=r", user("Bob"), nil, nothing(CodeNotAMember)},
		{"not a member, roles", nil, "", "t", user("ghost"), viewer("bob"), nothing(CodeNotAMember)},
		{"not a member, open", nil, "", "free", user("ghost"), nil, nothing(CodeNotAMember)},
		{"not a member, principals", nil, "", "people", user("ghost"), nil, nothing(CodeNotAMember)},
		{"not a member comes before the role is looked at", nil, "", "free?role=nope", user("ghost"), nil, nothing(CodeNotAMember)},
		{"a member of the governing workspace alone", nil, "fork", "free", user("carol"), nil, nothing(CodeNotAMember)},
		{"nobody", nil, "", "free", nobody, nil, nothing(CodeNotAMember)},
		{"nobody spelled out", nil, "", "free", Person{SpelledOut: true, Admin: true, Email: "ada@acme.test"}, nil, nothing(CodeNotAMember)},
		{"nobody, beside a member without an email", nil, "fork", "free", nobody, nil, nothing(CodeNotAMember)},
		{"a member with an empty username", twice(Member{"", "x@acme.test", true}), "", "free", user("x@acme.test"), nil, nothing(CodeNotAMember)},
		{"an email that is theirs", nil, "", "t?role=r", Person{User: "bob", Email: "BOB@acme.test"}, nil, holds("r")},
		{"an email that is another's", nil, "", "t?role=r", Person{User: "bob", Email: "carol@acme.test"}, nil, nothing(CodeNotAMember)},
		{"groups and admin are not read unless spelled out", nil, "", "t?role=r", Person{User: "carol", Groups: []string{"emea"}, Admin: true}, nil, nothing(CodeNotATenant)},
		{"an email of two members", twice(Member{"mallory", "BOB@acme.test", false}), "", "t", user("bob@acme.test"), nil, nothing(CodeNotAMember)},
		{"a username with an email of two members", twice(Member{"mallory", "BOB@acme.test", false}), "", "t", user("mallory"), nil, nothing(CodeNotAMember)},
		{"the other of the two", twice(Member{"mallory", "BOB@acme.test", false}), "", "t", user("bob"), nil, nothing(CodeNotAMember)},
		{"a username twice", twice(Member{"bob", "b@acme.test", false}), "", "free", user("bob"), nil, nothing(CodeNotAMember)},
		{"a username that is another's email", twice(Member{"Bob@acme.test", "m@acme.test", true}), "", "free", user("Bob@acme.test"), nil, nothing(CodeNotAMember)},
		{"a workspace twice", func(c *Catalog) { c.Workspaces = append(c.Workspaces, c.Workspaces[0]) }, "", "free", user("bob"), nil, nothing(CodeNotAMember)},
		{"a workspace with the id of another", func(c *Catalog) { c.Workspaces[1].ID = "w1" }, "", "free", user("bob"), nil, nothing(CodeNotAMember)},
		{"workspaces without ids", func(c *Catalog) { c.Workspaces[0].ID, c.Workspaces[1].ID = "", "" }, "", "free", user("bob"), nil, owner("owner_of_free")},
		{"a folder whose reader is a group without a name", func(c *Catalog) {
			c.Workspaces[0].Groups[""], c.Workspaces[0].Folders["reports"] = []string{"carol"}, []string{"g/", "g", "u/"}
		}, "", "t?role=t", user("carol"), nil, nothing(CodeNotATenant)},
		{"a data table of no workspace", func(c *Catalog) { c.Workspaces = nil }, "", "free", user("bob"), nil, nothing(CodeNotAMember)},

		{"counterpart by email", nil, "fork", "t?role=r", user("bobby"), nil, holds("r")},
		{"counterpart by email, asked for by email", nil, "fork", "t?role=r", user("bob@acme.test"), nil, holds("r")},
		{"a username of the governing workspace is someone else", nil, "fork", "t?role=every", user("ada"), nil, nothing(CodeNotATenant)},
		{"a username of the governing workspace that looks like one's email", twice(Member{"zoe@acme.test", "z@acme.test", true}), "fork", "t?role=every", user("ada"), nil, nothing(CodeNotATenant)},
		{"admin of the child counts for nothing", nil, "fork", "t?role=admin", user("bobby"), nil, nothing(CodeNotATenant)},
		{"admin of the governing workspace counts", nil, "fork", "t?role=admin", user("boss"), nil, owner("owner_of_fork_t")},
		{"the child's groups count for nothing", func(c *Catalog) {
			c.Workspaces[1].Groups = map[string][]string{"emea": {"boss"}}
		}, "fork", "t?as=viewer", user("bobby"), viewer("boss"), holds("every")},
		{"no counterpart: open needs none", nil, "fork", "free", user("mailless"), nil, owner("owner_of_fork_free")},
		{"no counterpart: no role is named", nil, "fork", "t", user("ada"), nil, nothing(CodeNoRole)},
		{"no counterpart: not the viewer's roles either", nil, "fork", "t", user("ada"), viewer("bobby"), nothing(CodeNoRole)},
		{"no counterpart: nor as the viewer", nil, "fork", "t?as=viewer", user("ada"), viewer("bobby"), nothing(CodeNoRole)},
		{"no counterpart: nor under the rule identity", byIdentity, "fork", "t?as=viewer", user("ada"), viewer("bobby"), nothing(CodeNoRole)},
		{"no counterpart: principals", nil, "fork", "people", user("ada"), nil, nothing(CodeNotAMember)},
		{"empty emails match nobody", func(c *Catalog) {
			c.Workspaces[0].Members = append(c.Workspaces[0].Members, Member{"void", "", true})
		}, "fork", "t?role=admin", user("mailless"), nil, nothing(CodeNotATenant)},
		{"words that are no emails match nobody", func(c *Catalog) {
			c.Workspaces[0].Members = append(c.Workspaces[0].Members, Member{"void", "same", true})
			c.Workspaces[1].Members = append(c.Workspaces[1].Members, Member{"child", "same", true})
		}, "fork", "t?role=admin", user("child"), nil, nothing(CodeNotATenant)},
		{"an email of two members of the governing workspace", twice(Member{"mallory", "BOB@acme.test", true}), "fork", "t?role=r", user("bobby"), nil, nothing(CodeNotATenant)},
		{"the governing workspace is gone", func(c *Catalog) { c.Workspaces = c.Workspaces[1:] }, "fork", "t?role=every", user("bobby"), nil, nothing(CodeNotATenant)},
		{"the governing workspace is there twice", func(c *Catalog) { c.Workspaces = append(c.Workspaces, c.Workspaces[0]) }, "fork", "t?role=every", user("bobby"), nil, nothing(CodeNotATenant)},
		{"another data table of the same workspace matches by username", both(governed("a", "t"), func(c *Catalog) {
			c.Workspaces[0].Members = append(c.Workspaces[0].Members, Member{"void", "", false})
		}), "", "a?role=every", user("void"), nil, holds("every")},

		{"viewer not a member", nil, "", "t", user("pub"), viewer("ghost"), nothing(CodeNoRole)},
		{"viewer not a member, the default serves", defaultIs("every"), "", "t", user("pub"), viewer("ghost"), holds("every")},
		{"viewer of the governing workspace alone", defaultIs("every"), "fork", "t", user("bobby"), viewer("carol"), holds("every")},
		{"viewer without a counterpart", defaultIs("every"), "fork", "t", user("bobby"), viewer("ada"), holds("every")},
		{"viewer with a counterpart", defaultIs("every"), "fork", "t", user("boss"), viewer("bobby"), holds("every", "r", "s", "t")},
		{"viewer is nobody", defaultIs("every"), "", "t", user("pub"), &Person{}, holds("every")},

		{"spelled out: a stranger is a member", nil, "", "free", *spelled(user("stranger")), nil, owner("owner_of_free")},
		{"spelled out: a member of the governing workspace", nil, "fork", "t?role=every", *spelled(user("stranger")), nil, holds("every")},
		{"spelled out: an instance-wide administrator", nil, "fork", "t?role=s", anyoneAdmin, nil, holds("s")},
		{"spelled out: owner of a governed data table", nil, "fork", "t?role=admin", anyoneAdmin, nil, owner("owner_of_fork_t")},
		{"spelled out: by username", nil, "", "t?role=r", *spelled(user("bob")), nil, holds("r")},
		{"spelled out: the directory's groups do not count", nil, "", "t?role=s", *spelled(user("bob")), nil, nothing(CodeNotATenant)},
		{"spelled out: the directory's admin flag does not count", nil, "", "t?role=admin", *spelled(user("ada")), nil, nothing(CodeNotATenant)},
		{"spelled out: a group", nil, "", "t?role=s", *spelled(Person{User: "x", Groups: []string{"emea"}}), nil, holds("s")},
		{"spelled out: a group's folders are not the person's", nil, "", "t?role=t", *spelled(Person{User: "x", Groups: []string{"emea"}}), nil, nothing(CodeNotATenant)},
		{"spelled out: a folder", nil, "", "t?role=t", *spelled(Person{User: "x", Folders: []string{"reports"}}), nil, holds("t")},
		{"spelled out: a viewer", nil, "", "t", user("pub"), spelled(Person{User: "x", Groups: []string{"emea"}}), holds("every", "s")},
		{"spelled out: a viewer of a governed data table", nil, "fork", "t?as=viewer", user("bobby"), spelled(Person{User: "x", Folders: []string{"reports"}}), holds("every", "t")},
		{"spelled out: an admin viewer is nobody's tenant", nil, "", "t?as=viewer", user("pub"), &anyoneAdmin, holds("every")},
	})
}

func TestOpen(t *testing.T) {
	run(t, []resolving{
		{"the owner", nil, "", "free", user("carol"), viewer("bob"), owner("owner_of_free")},
		{"admin is the owner", nil, "", "free?role=admin", user("carol"), nil, owner("owner_of_free")},
		{"Admin is a role", nil, "", "free?role=Admin", user("carol"), nil, nothing(CodeRolesNotEnabled)},
		{"a role, by an admin", nil, "", "free?role=r", user("ada"), nil, nothing(CodeRolesNotEnabled)},
		{"a role that does not exist", nil, "", "free?role=nope", user("bob"), nil, nothing(CodeRolesNotEnabled)},
		{"as the viewer", nil, "", "free?as=viewer", user("ada"), viewer("bob"), nothing(CodeRolesNotEnabled)},
		{"as the viewer, who is absent", nil, "", "free?as=viewer", user("ada"), nil, nothing(CodeRolesNotEnabled)},
	})
}

func TestPrincipals(t *testing.T) {
	bob := outcome{kind: KindPrincipal, login: UserLogin("w1", "bob@acme.test")}
	emailed := func(email string) Person { return *spelled(Person{User: "x", Email: email}) }
	run(t, []resolving{
		{"a login of one's own", nil, "", "people", user("bob"), viewer("carol"), bob},
		{"in the governing workspace", nil, "fork", "people", user("bobby"), nil, bob},
		{"an admin", nil, "", "people", user("ada"), nil, owner("owner_of_people")},
		{"an admin of the governing workspace", nil, "fork", "people", user("boss"), nil, owner("owner_of_fork_people")},
		{"an admin of the child", nil, "fork", "people", user("ada"), nil, nothing(CodeNotAMember)},
		{"not provisioned", nil, "", "people", user("carol"), nil, nothing(CodeNotProvisioned)},
		{"said not to be provisioned", func(c *Catalog) { c.PrincipalLogins[UserLogin("w1", "bob@acme.test")] = false }, "", "people", user("bob"), nil, nothing(CodeNotProvisioned)},
		{"provisioned in another workspace", func(c *Catalog) {
			c.PrincipalLogins = map[string]bool{UserLogin("w2", "bob@acme.test"): true}
		}, "fork", "people", user("bobby"), nil, nothing(CodeNotProvisioned)},
		{"a member without an email", func(c *Catalog) { c.Workspaces[0].Members[2].Email = "" }, "", "people", user("carol"), nil, nothing(CodeNotProvisioned)},
		{"a role", nil, "", "people?role=r", user("bob"), nil, nothing(CodeRolesNotEnabled)},
		{"admin, by an admin", nil, "", "people?role=admin", user("ada"), nil, nothing(CodeRolesNotEnabled)},
		{"as the viewer", nil, "", "people?as=viewer", user("bob"), viewer("bob"), nothing(CodeRolesNotEnabled)},
		{"a role comes before the counterpart", nil, "fork", "people?role=r", user("ada"), nil, nothing(CodeRolesNotEnabled)},
		{"spelled out with an email", nil, "fork", "people", emailed("BOB@acme.test"), nil, bob},
		{"spelled out by email", nil, "", "people", *spelled(user("bob@acme.test")), nil, bob},
		{"spelled out without an email", nil, "", "people", *spelled(user("bob")), nil, nothing(CodeNotProvisioned)},
		{"spelled out, not provisioned", nil, "", "people", emailed("x@acme.test"), nil, nothing(CodeNotProvisioned)},
		{"spelled out as an admin", nil, "", "people", anyoneAdmin, nil, owner("owner_of_people")},
		{"spelled out in a workspace that is gone", func(c *Catalog) {
			c.Workspaces, c.PrincipalLogins = nil, map[string]bool{UserLogin("", "bob@acme.test"): true}
		}, "", "people", emailed("bob@acme.test"), nil, nothing(CodeNotProvisioned)},
		{"spelled out in a workspace that is there twice", func(c *Catalog) { c.Workspaces = append(c.Workspaces, c.Workspaces[0]) }, "", "people", emailed("bob@acme.test"), nil, nothing(CodeNotProvisioned)},
		{"spelled out in a workspace without an id", func(c *Catalog) {
			c.Workspaces[0].ID, c.PrincipalLogins = "", map[string]bool{UserLogin("", "bob@acme.test"): true}
		}, "", "people", emailed("bob@acme.test"), nil, nothing(CodeNotProvisioned)},
	})
}

func TestAccessThatIsNotKnown(t *testing.T) {
	for _, access := range []Access{"", "Open", "owner"} {
		run(t, []resolving{
			{"no role is named", on(func(d *Datatable) { d.Access = access }), "", "t", user("ada"), viewer("bob"), nothing(CodeNoRole)},
			{"admin by an admin", on(func(d *Datatable) { d.Access = access }), "", "t?role=admin", user("ada"), nil, nothing(CodeNoRole)},
		})
	}
}

func TestReferenceInPartsIsChecked(t *testing.T) {
	index := NewIndex(world(nil))
	for _, r := range []Reference{{}, {Datatable: "t", Role: "r", AsViewer: true}, {Datatable: "t", Schema: "a\x00"}} {
		d := index.Resolve(Request{Workspace: "acme", Reference: r, Identity: user("bob"), Viewer: viewer("bob")})
		if d.Allowed() || d.Refusal.Code != CodeMalformedReference {
			t.Errorf("%+v: %+v", r, d)
		}
	}
	d := index.Resolve(Request{Workspace: "acme", Reference: Reference{Datatable: "t", Schema: "sales", Role: "r"}, Identity: user("bob")})
	if !d.Allowed() || d.Schema != "sales" || d.Login != "r" {
		t.Errorf("%+v", d)
	}
}

// The index keeps nothing of the catalog that its owner can still change.
func TestIndexKeepsToItself(t *testing.T) {
	c := world(nil)
	index := NewIndex(c)
	before := index.ResolveText("fork", "t", user("boss"), viewer("bobby"))
	c.Workspaces[0].Groups["emea"][0] = "carol"
	c.Datatables[0].Tenants["r"][0] = "u/carol"
	c.Datatables[3].GovernedBy.Datatable = "free"
	clear(c.PrincipalLogins)
	after := index.ResolveText("fork", "t", user("boss"), viewer("bobby"))
	if strings.Join(before.Trace, "\n") != strings.Join(after.Trace, "\n") {
		t.Errorf("%q became %q", before.Trace, after.Trace)
	}
	if d := index.ResolveText("acme", "people", user("bob"), nil); !d.Allowed() {
		t.Errorf("%+v", d.Refusal)
	}
}
