package resolve

import "testing"

// With nothing right about a role, the first check that fails is the refusal;
// with each mended in turn, the next one is.
func TestNamedRoleIsCheckedInOrder(t *testing.T) {
	absent := func(c *Catalog) { c.Roles = c.Roles[:4] } // without unlisted
	off, half := withRole("unlisted", disabled), withRole("unlisted", unfinished)
	listed := on(func(d *Datatable) { d.Tenants["unlisted"] = []string{"u/bob"} })
	const reference = "t?role=unlisted"
	run(t, []resolving{
		{"not in the catalog", absent, "", reference, user("carol"), nil, nothing(CodeUnknownRole)},
		{"disabled", both(off, half), "", reference, user("carol"), nil, nothing(CodeRoleDisabled)},
		{"not on the data table", half, "", reference, user("carol"), nil, nothing(CodeRoleNotOnDatatable)},
		{"not a tenant", both(half, listed), "", reference, user("carol"), nil, nothing(CodeNotATenant)},
		{"not provisioned", both(half, listed), "", reference, user("bob"), nil, nothing(CodeRoleNotProvisioned)},
		{"held", listed, "", reference, user("bob"), nil, holds("unlisted")},
	})
}

func TestNamedRole(t *testing.T) {
	adminFor := func(patterns ...string) func(*Catalog) {
		return on(func(d *Datatable) { d.Tenants["admin"] = patterns })
	}
	notGiven := on(func(d *Datatable) { d.Tenants = nil })
	run(t, []resolving{
		{"admin, by a workspace admin", nil, "", "t?role=admin", user("ada"), nil, owner("owner_of_t")},
		{"admin, which tenants do not list", nil, "", "t?role=admin", user("bob"), nil, nothing(CodeNotATenant)},
		{"admin, by its tenant", adminFor("g/emea"), "", "t?role=admin", user("bob"), nil, owner("owner_of_t")},
		{"admin, by everyone", adminFor("*"), "", "t?role=admin", user("carol"), nil, owner("owner_of_t")},
		{"admin, by nobody", adminFor(), "", "t?role=admin", user("bob"), nil, nothing(CodeNotATenant)},
		{"admin, by one without a counterpart", adminFor("*"), "fork", "t?role=admin", user("ada"), nil, nothing(CodeNotATenant)},
		{"admin, where tenants are not given", notGiven, "", "t?role=admin", user("carol"), nil, owner("owner_of_t")},
		{"admin, where tenants are given and empty", on(func(d *Datatable) { d.Tenants = map[string][]string{} }), "", "t?role=admin", user("carol"), nil, nothing(CodeNotATenant)},
		{"a role where tenants are not given", notGiven, "", "t?role=r", user("ada"), nil, nothing(CodeRoleNotOnDatatable)},
		{"another letter case", nil, "", "t?role=R", user("bob"), nil, nothing(CodeUnknownRole)},
		{"Admin in another letter case", nil, "", "t?role=Admin", user("ada"), nil, nothing(CodeUnknownRole)},
		{"none", nil, "", "t?role=none", user("ada"), nil, nothing(CodeUnknownRole)},
		{"held alone, whatever the default and the viewer", defaultIs("every"), "", "t?role=r", user("bob"), viewer("bob"), holds("r")},
		{"the viewer does not lend theirs", nil, "", "t?role=r", user("pub"), viewer("bob"), nothing(CodeNotATenant)},
		{"the rule plays no part", both(byIdentity, defaultIs("every")), "", "t?role=s", user("bob"), nil, holds("s")},
		{"an unknown rule plays no part", on(func(d *Datatable) { d.UnnamedRolesFrom = "?" }), "", "t?role=s", user("bob"), nil, holds("s")},
		{"a workspace admin", nil, "", "t?role=r", user("ada"), nil, holds("r")},
		{"a workspace admin, disabled", withRole("r", disabled), "", "t?role=r", user("ada"), nil, nothing(CodeRoleDisabled)},
		{"a workspace admin, unfinished", withRole("r", unfinished), "", "t?role=r", user("ada"), nil, nothing(CodeRoleNotProvisioned)},
		{"a role without a tenant", on(func(d *Datatable) { d.Tenants["r"] = nil }), "", "t?role=r", user("ada"), nil, holds("r")},
		{"by group", nil, "", "t?role=s", user("bob"), nil, holds("s")},
		{"by folder through a group", nil, "", "t?role=t", user("bob"), nil, holds("t")},
		{"by folder through oneself", on(func(d *Datatable) { d.Tenants["r"] = []string{"f/own"} }), "", "t?role=r", user("carol"), nil, holds("r")},
		{"by a pattern of no kind", on(func(d *Datatable) { d.Tenants["r"] = []string{"carol", "", "**", "u/", "g/"} }), "", "t?role=r", user("carol"), nil, nothing(CodeNotATenant)},
		{"by a pattern that names nobody", on(func(d *Datatable) { d.Tenants["r"] = []string{"g/", "f/"} }), "", "t?role=r", *spelled(Person{User: "x", Groups: []string{""}, Folders: []string{""}}), nil, nothing(CodeNotATenant)},
		{"a role in the catalog twice", func(c *Catalog) { c.Roles = append(c.Roles, c.Roles[0]) }, "", "t?role=r", user("bob"), nil, nothing(CodeUnknownRole)},
		{"a role in the catalog twice, by different ids", func(c *Catalog) { c.Roles = append(c.Roles, Role{"id", "r", true, true}) }, "", "t?role=r", user("bob"), nil, nothing(CodeUnknownRole)},
		{"a role that shares its id", func(c *Catalog) { c.Roles[1].ID = c.Roles[0].ID }, "", "t?role=r", user("bob"), nil, nothing(CodeUnknownRole)},
		{"a role without an id", func(c *Catalog) { c.Roles[0].ID = "" }, "", "t?role=r", user("bob"), nil, nothing(CodeUnknownRole)},
		{"a role with the name of a set login", both(withRole("unlisted", func(r *Role) { r.Name = "wm_set_1" }), on(func(d *Datatable) { d.Tenants["wm_set_1"] = []string{"*"} })), "", "t?role=wm_set_1", user("bob"), nil, nothing(CodeUnknownRole)},
	})
}

func TestUnnamedUnderTheViewerRule(t *testing.T) {
	run(t, []resolving{
		{"default none: the viewer's roles", nil, "", "t", user("pub"), viewer("bob"), holds("every", "r", "s", "t")},
		{"default none: not the identity's", nil, "", "t", user("bob"), nil, nothing(CodeNoRole)},
		{"default none: an admin identity adds none", nil, "", "t", user("ada"), nil, nothing(CodeNoRole)},
		{"default: the identity is its tenant", defaultIs("r"), "", "t", user("bob"), nil, holds("r")},
		{"default: a workspace admin passes", defaultIs("r"), "", "t", user("ada"), nil, holds("r")},
		{"default: an admin of the child does not", defaultIs("r", "u/carol"), "fork", "t", user("bobby"), nil, nothing(CodeNoRole)},
		{"default: the identity is no tenant, the viewer's remain", defaultIs("r"), "", "t", user("pub"), viewer("carol"), holds("every")},
		{"default: the viewer's own tenancy of it is a further role", defaultIs("r"), "", "t", user("pub"), viewer("bob"), holds("every", "r", "s", "t")},
		{"default: held once though the viewer holds it too", defaultIs("every"), "", "t", user("pub"), viewer("carol"), holds("every")},
		{"default and the viewer's", defaultIs("r"), "", "t", user("ada"), viewer("carol"), holds("every", "r")},
		{"default: disabled", both(defaultIs("r"), withRole("r", disabled)), "", "t", user("ada"), viewer("carol"), holds("every")},
		{"default: unfinished", both(defaultIs("r"), withRole("r", unfinished)), "", "t", user("ada"), viewer("carol"), holds("every")},
		{"default: unknown", defaultIs("nope", "*"), "", "t", user("ada"), viewer("carol"), holds("every")},
		{"default: empty", defaultIs("", "*"), "", "t", user("ada"), nil, nothing(CodeNoRole)},
		{"default: Admin in another letter case", defaultIs("Admin", "*"), "", "t", user("ada"), nil, nothing(CodeNoRole)},
		{"default: None in another letter case", defaultIs("None", "*"), "", "t", user("ada"), nil, nothing(CodeNoRole)},
		{"default: not listed in tenants, not even for an admin", defaultIs("unlisted"), "", "t", user("ada"), nil, nothing(CodeNoRole)},
		{"further: disabled", withRole("r", disabled), "", "t", user("pub"), viewer("bob"), holds("every", "s", "t")},
		{"further: unfinished", withRole("s", unfinished), "", "t", user("pub"), viewer("bob"), holds("every", "r", "t")},
		{"further: not in the catalog", func(c *Catalog) { c.Roles = c.Roles[1:] }, "", "t", user("pub"), viewer("bob"), holds("every", "s", "t")},
		{"further: in the catalog twice", func(c *Catalog) { c.Roles = append(c.Roles, c.Roles[0]) }, "", "t", user("pub"), viewer("bob"), holds("every", "s", "t")},
		{"further: never admin", on(func(d *Datatable) { d.Tenants["admin"] = []string{"*", "u/carol"} }), "", "t", user("pub"), viewer("carol"), holds("every")},
		{"further: never admin, though the catalog has such a role", func(c *Catalog) {
			c.Roles = append(c.Roles, Role{"id of admin", "admin", true, true})
			c.Datatables[0].Tenants["admin"] = []string{"*"}
		}, "", "t", user("pub"), viewer("carol"), holds("every")},
		{"further: never none, though the catalog has such a role", func(c *Catalog) {
			c.Roles = append(c.Roles, Role{"id of none", "none", true, true})
			c.Datatables[0].Tenants["none"] = []string{"*"}
		}, "", "t", user("pub"), viewer("carol"), holds("every")},
		{"further: an admin viewer gets what lists give", nil, "", "t", user("pub"), viewer("ada"), holds("every")},
		{"further: named twice over", on(func(d *Datatable) { d.Tenants = map[string][]string{"r": {"*", "u/bob", "u/bob", "g/emea"}} }), "", "t", user("pub"), viewer("bob"), holds("r")},

		{"default admin: by a workspace admin, nothing added", defaultIs("admin", "u/pub"), "", "t", user("ada"), viewer("bob"), owner("owner_of_t")},
		{"default admin: by its tenant, nothing added", defaultIs("admin", "u/pub"), "", "t", user("pub"), viewer("bob"), owner("owner_of_t")},
		{"default admin: by nobody else, viewer or not", defaultIs("admin", "u/bob"), "", "t", user("pub"), viewer("bob"), nothing(CodeNoRole)},
		{"default admin: tenants list it not", defaultIs("admin"), "", "t", user("pub"), viewer("bob"), nothing(CodeNoRole)},
		{"default admin: tenants are not given", on(func(d *Datatable) { d.DefaultRole, d.Tenants = "admin", nil }), "", "t", user("pub"), nil, owner("owner_of_t")},
		{"default admin: without a counterpart", defaultIs("admin", "*"), "fork", "t", user("ada"), nil, nothing(CodeNoRole)},

		{"as viewer: the viewer's roles", nil, "", "t?as=viewer", user("pub"), viewer("bob"), holds("every", "r", "s", "t")},
		{"as viewer: without the default", defaultIs("unlisted", "u/pub"), "", "t?as=viewer", user("pub"), viewer("carol"), holds("every")},
		{"as viewer: the default as a role of the viewer", defaultIs("r"), "", "t?as=viewer", user("ada"), viewer("bob"), holds("every", "r", "s", "t")},
		{"as viewer: never the owner", defaultIs("admin", "*"), "", "t?as=viewer", user("ada"), viewer("ada"), holds("every")},
		{"as viewer: without a viewer", nil, "", "t?as=viewer", user("ada"), nil, nothing(CodeNoViewer)},
		{"as viewer: without a viewer, without a counterpart", nil, "fork", "t?as=viewer", user("ada"), nil, nothing(CodeNoViewer)},
		{"as viewer: a viewer who is not a member", defaultIs("every"), "", "t?as=viewer", user("bob"), viewer("ghost"), nothing(CodeNoRole)},
		{"as viewer: a viewer who is nobody", defaultIs("every"), "", "t?as=viewer", user("bob"), &Person{}, nothing(CodeNoRole)},
	})
}

func TestUnnamedUnderTheIdentityRule(t *testing.T) {
	rule := func(changes ...func(*Catalog)) func(*Catalog) { return both(append(changes, byIdentity)...) }
	run(t, []resolving{
		{"the identity's roles, not the viewer's", rule(), "", "t", user("carol"), viewer("bob"), holds("every")},
		{"the identity's roles without a viewer", rule(), "", "t", user("bob"), nil, holds("every", "r", "s", "t")},
		{"default: by tenant lists", rule(defaultIs("unlisted", "u/carol")), "", "t", user("carol"), nil, holds("every", "unlisted")},
		{"default: a workspace admin does not pass", rule(defaultIs("r")), "", "t", user("ada"), nil, holds("every")},
		{"default: disabled", rule(defaultIs("r"), withRole("r", disabled)), "", "t", user("bob"), nil, holds("every", "s", "t")},
		{"default: unfinished", rule(defaultIs("r"), withRole("r", unfinished)), "", "t", user("bob"), nil, holds("every", "s", "t")},
		{"nothing held", rule(on(func(d *Datatable) { d.Tenants = map[string][]string{"r": {"u/bob"}} })), "", "t", user("ada"), viewer("bob"), nothing(CodeNoRole)},
		{"default admin: a workspace admin is the owner", rule(defaultIs("admin")), "", "t", user("ada"), nil, owner("owner_of_t")},
		{"default admin: its tenant", rule(defaultIs("admin", "u/pub")), "", "t", user("pub"), nil, owner("owner_of_t")},
		{"default admin: nobody else", rule(defaultIs("admin", "u/pub")), "", "t", user("bob"), viewer("pub"), nothing(CodeNoRole)},
		{"as viewer: the viewer's roles", rule(), "", "t?as=viewer", user("carol"), viewer("bob"), holds("every", "r", "s", "t")},
		{"as viewer: not the identity's", rule(), "", "t?as=viewer", user("bob"), viewer("carol"), holds("every")},
		{"as viewer: the default is the viewer's", rule(defaultIs("unlisted", "u/carol")), "", "t?as=viewer", user("pub"), viewer("carol"), holds("every", "unlisted")},
		{"as viewer: the default is not the identity's", rule(defaultIs("unlisted", "u/pub")), "", "t?as=viewer", user("pub"), viewer("carol"), holds("every")},
		{"as viewer: never the owner", rule(defaultIs("admin", "*")), "", "t?as=viewer", user("ada"), viewer("ada"), holds("every")},
		{"as viewer: without a viewer", rule(), "", "t?as=viewer", user("bob"), nil, nothing(CodeNoViewer)},
		{"as viewer: a viewer who is not a member", rule(defaultIs("every")), "", "t?as=viewer", user("bob"), viewer("ghost"), nothing(CodeNoRole)},
		{"as viewer: spelled out", rule(), "", "t?as=viewer", user("pub"), spelled(Person{User: "x", Groups: []string{"emea"}}), holds("every", "s")},
		{"spelled out identity", rule(), "", "t", *spelled(Person{User: "x", Groups: []string{"emea"}}), nil, holds("every", "s")},
		{"spelled out admin gets what lists give", rule(defaultIs("r")), "", "t", anyoneAdmin, nil, holds("every")},
	})
}

func TestUnnamedUnderNoKnownRule(t *testing.T) {
	for _, rule := range []Rule{"", "Viewer", "both"} {
		unknown := on(func(d *Datatable) { d.UnnamedRolesFrom = rule })
		run(t, []resolving{
			{"no role", both(unknown, defaultIs("every")), "", "t", user("bob"), viewer("bob"), nothing(CodeNoRole)},
			{"not even the owner", both(unknown, defaultIs("admin", "*")), "", "t", user("ada"), nil, nothing(CodeNoRole)},
		})
	}
}
