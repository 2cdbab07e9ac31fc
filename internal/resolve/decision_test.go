package resolve

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Messages are all that somebody who is refused gets to see.
func TestRefusalsNameWhatIsMeantAndWhatWouldWork(t *testing.T) {
	for _, tc := range []struct {
		code      Code
		change    func(*Catalog)
		workspace string
		reference string
		identity  string
		viewer    *Person
		want      []string
	}{
		{CodeMalformedReference, nil, "acme", "t?as=owner", "bob", nil, []string{`"t?as=owner"`, "byte 5", "as=viewer"}},
		{CodeUnknownDatatable, nil, "acme", "nowhere", "bob", nil, []string{`"acme"`, `"nowhere"`, "create it"}},
		{CodeGovernorMissing, governed("a", "gone"), "acme", "a", "bob", nil, []string{"acme/a", "acme/gone", "create it"}},
		{CodeReferenceLoop, governed("a", "a"), "acme", "a", "bob", nil, []string{"acme/a", "let one of them keep"}},
		{CodeReferenceLoop, chain(21), "acme", "hop0", "bob", nil, []string{"acme/hop0", "20", "name the last"}},
		{CodeRolesNotEnabled, nil, "acme", "free?role=r", "bob", nil, []string{`identity "bob"`, `"r"`, "acme/free", `access = "roles"`}},
		{CodeRolesNotEnabled, nil, "acme", "people?as=viewer", "bob", nil, []string{`identity "bob"`, "acme/people", "leave out as=viewer"}},
		{CodeNotAMember, nil, "acme", "t", "ghost", nil, []string{`identity "ghost"`, "acme/t", `members of workspace "acme"`}},
		{CodeNotAMember, nil, "fork", "people", "ada", nil, []string{`identity "ada"`, "fork/people", "zoe@acme.test", `members of workspace "acme"`}},
		{CodeUnknownRole, nil, "acme", "t?role=nope", "bob", nil, []string{`"nope"`, `identity "bob"`, "acme/t", "create it"}},
		{CodeRoleDisabled, withRole("r", disabled), "acme", "t?role=r", "bob", nil, []string{`"r"`, `identity "bob"`, "acme/t", "enabled = true"}},
		{CodeRoleNotOnDatatable, nil, "acme", "t?role=unlisted", "bob", nil, []string{`"unlisted"`, `identity "bob"`, "acme/t", "add it to tenants"}},
		{CodeNotATenant, nil, "acme", "t?role=r", "carol", nil, []string{`"r"`, `identity "carol"`, "acme/t", `tenants["r"]`}},
		{CodeNotATenant, nil, "acme", "t?role=admin", "carol", nil, []string{`tenants["admin"]`, `identity "carol"`, "acme/t"}},
		{CodeRoleNotProvisioned, withRole("r", unfinished), "acme", "t?role=r", "bob", nil, []string{`"r"`, `identity "bob"`, "acme/t", "apply"}},
		{CodeNotProvisioned, nil, "acme", "people", "carol", nil, []string{`identity "carol"`, "acme/people", "wm_u_", "apply"}},
		{CodeNoViewer, nil, "acme", "t?as=viewer", "bob", nil, []string{`identity "bob"`, "acme/t", "give a viewer"}},
		{CodeNoRole, nil, "acme", "t", "bob", nil, []string{`identity "bob"`, "acme/t", "give a viewer"}},
		{CodeNoRole, defaultIs("r"), "acme", "t", "carol", viewer("ghost"), []string{`identity "carol"`, "acme/t", `default role "r"`, `viewer "ghost"`}},
		{CodeNoRole, both(defaultIs("r"), withRole("r", disabled)), "acme", "t", "bob", nil, []string{`default role "r", which is disabled`}},
		{CodeNoRole, defaultIs("admin"), "acme", "t", "bob", nil, []string{`identity "bob"`, "acme/t", `tenants["admin"]`, "default_role"}},
		{CodeNoRole, nil, "fork", "t", "ada", nil, []string{`identity "ada"`, "fork/t", "zoe@acme.test", `members of workspace "acme"`}},
	} {
		d := NewIndex(world(tc.change)).ResolveText(tc.workspace, tc.reference, user(tc.identity), tc.viewer)
		if d.Allowed() || d.Refusal.Code != tc.code {
			t.Errorf("%s for %s is %+v, want %s", tc.reference, tc.identity, d.Refusal, tc.code)
			continue
		}
		for _, part := range tc.want {
			if !strings.Contains(d.Refusal.Message, part) {
				t.Errorf("%s lacks %q: %s", tc.code, part, d.Refusal.Message)
			}
		}
		if last := d.Trace[len(d.Trace)-1]; !strings.Contains(last, string(tc.code)) || !strings.Contains(last, d.Refusal.Message) {
			t.Errorf("the trace of %s ends with %q", tc.code, last)
		}
	}
}

func TestTraceTellsTheDecision(t *testing.T) {
	index := NewIndex(world(both(defaultIs("r"), withRole("s", disabled), withRole("t", unfinished))))
	d := index.ResolveText("fork", "t", user("boss"), viewer("BOB@acme.test"))
	want := []string{
		`data table fork/t is found`,
		`fork/t is governed by acme/t`,
		`access of acme/t is roles`,
		`identity "boss": member "boss" of "fork" by username; member "ada" of "acme" by email`,
		`viewer "BOB@acme.test": member "bobby" of "fork" by email; member "bob" of "acme" by email`,
		`no role is named: default role r, roles from viewer`,
		`role every: taken, tenant * names viewer "BOB@acme.test"`,
		`role r: taken, tenant u/bob names viewer "BOB@acme.test"`,
		`role s: not taken, it is disabled, though tenant g/emea names viewer "BOB@acme.test"`,
		`role t: not taken, it has no login yet, though tenant f/reports names viewer "BOB@acme.test"`,
		`default role r: taken, identity "boss" is an admin of the workspace`,
		`outcome: the set login ` + SetLogin("instance", []string{"id of every", "id of r"}) + ` of every, r`,
	}
	if diff := cmp.Diff(want, d.Trace); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestTraceDoesNotWeighAdminAsAFurtherRole(t *testing.T) {
	index := NewIndex(world(on(func(d *Datatable) { d.Tenants["admin"] = []string{"*"} })))
	for _, step := range index.ResolveText("acme", "t", user("pub"), viewer("carol")).Trace {
		if strings.Contains(step, RoleAdmin) {
			t.Error(step)
		}
	}
}

// A key may be shared only where the data table, both people and the login are
// the same.
func TestCacheKeysDiffer(t *testing.T) {
	index := NewIndex(world(both(
		func(c *Catalog) { c.PrincipalLogins[UserLogin("w1", "x@acme.test")] = true },
		on(func(d *Datatable) { d.DefaultRole = "every" }),
	)))
	guest := func(p Person) *Person { p.User, p.Email = "x", "x@acme.test"; return spelled(p) }
	keys := map[string]string{}
	for what, d := range map[string]Decision{
		"no viewer":                   index.ResolveText("acme", "t", user("pub"), nil),
		"a viewer who is nobody":      index.ResolveText("acme", "t", user("pub"), viewer("")),
		"a viewer who is no member":   index.ResolveText("acme", "t", user("pub"), viewer("ghost")),
		"another who is no member":    index.ResolveText("acme", "t", user("pub"), viewer("ghoul")),
		"a viewer with a role":        index.ResolveText("acme", "t", user("pub"), viewer("carol")),
		"another viewer, same login":  index.ResolveText("acme", "t", user("pub"), viewer("pub")),
		"another identity":            index.ResolveText("acme", "t", user("carol"), viewer("pub")),
		"identity and viewer swapped": index.ResolveText("acme", "t", user("pub"), viewer("bob")),
		"swapped":                     index.ResolveText("acme", "t", user("bob"), viewer("pub")),
		"another login":               index.ResolveText("acme", "t?role=r", user("bob"), viewer("pub")),
		"another data table":          index.ResolveText("fork", "t", user("bobby"), nil),
		"the governor itself":         index.ResolveText("acme", "t", user("bob"), nil),
		"the owner":                   index.ResolveText("acme", "free", user("bob"), nil),
		"here":                        index.ResolveText("acme", "t", *spelled(user("bob")), nil),
		"elsewhere":                   index.ResolveText("fork", "t", *spelled(user("bob")), nil),
		"spelled out":                 index.ResolveText("acme", "free", *spelled(user("bob")), nil),
		"spelled out as an admin":     index.ResolveText("acme", "free", *spelled(Person{User: "bob", Admin: true}), nil),
		"spelled out with an email":   index.ResolveText("acme", "free", *spelled(Person{User: "bob", Email: "b@x"}), nil),
		"a principal":                 index.ResolveText("acme", "people", *guest(Person{}), nil),
		"a principal in a group":      index.ResolveText("acme", "people", *guest(Person{Groups: []string{"emea"}}), nil),
		"a principal in another":      index.ResolveText("acme", "people", *guest(Person{Groups: []string{"amer"}}), nil),
		"a principal in a folder":     index.ResolveText("acme", "people", *guest(Person{Folders: []string{"emea"}}), nil),
		"a principal in two groups":   index.ResolveText("acme", "people", *guest(Person{Groups: []string{"amer", "emea"}}), nil),
	} {
		if !d.Allowed() {
			t.Errorf("%s: %+v", what, d.Refusal)
		}
		if other, taken := keys[d.CacheKey]; taken {
			t.Errorf("%s and %s share a key", what, other)
		}
		keys[d.CacheKey] = what
	}
}

func TestCacheKeysAgree(t *testing.T) {
	index := NewIndex(world(nil))
	key := func(reference string, identity Person, viewer *Person) string {
		d := index.ResolveText("acme", reference, identity, viewer)
		if !d.Allowed() {
			t.Errorf("%s: %+v", reference, d.Refusal)
		}
		return d.CacheKey
	}
	plain := key("t", user("pub"), viewer("bob"))
	for what, other := range map[string]string{
		"the schema":           key("datatable://t:sales", user("pub"), viewer("bob")),
		"how they are named":   key("t", user("pub@acme.test"), viewer("BOB@acme.test")),
		"as=viewer, one login": key("t?as=viewer", user("pub"), viewer("bob")),
	} {
		if other != plain {
			t.Errorf("%s changes the key", what)
		}
	}
	one := key("t", user("pub"), spelled(Person{User: "x", Groups: []string{"a", "emea"}}))
	if two := key("t", user("pub"), spelled(Person{User: "x", Groups: []string{"emea", "a", "emea"}})); one != two {
		t.Error("the order of what is spelled out changes the key")
	}
}
