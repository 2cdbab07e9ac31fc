package resolve

import (
	_ "embed"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

//go:embed testdata/resolution.json
var workedText []byte

// worked mirrors testdata/resolution.json: a world and what is asked of it.
type worked struct {
	Workspaces map[string]struct {
		Parent  *string
		Members map[string]struct {
			Email string
			Admin bool
		}
		Groups, Folders map[string][]string
	}
	Roles      map[string]struct{ Enabled, Provisioned *bool }
	Datatables []struct {
		Workspace, Name, Access string
		DefaultRole             *string `json:"default_role"`
		UnnamedRolesFrom        *string `json:"unnamed_roles_from"`
		Tenants                 map[string][]string
		GovernedBy              *Key `json:"governed_by"`
	}
	Cases []struct {
		Name, Workspace, Reference string
		Identity                   workedPerson
		Viewer                     *workedPerson
		Expect                     struct {
			Kind    Kind
			Roles   []string
			Refusal Code
		}
	}
}

type workedPerson struct {
	User, Email     string
	Groups, Folders []string
	Admin           *bool
}

func (p *workedPerson) person() *Person {
	if p == nil {
		return nil
	}
	return &Person{
		User: p.User, Email: p.Email, Groups: p.Groups, Folders: p.Folders,
		Admin:      or(p.Admin, false),
		SpelledOut: p.Admin != nil || p.Groups != nil || p.Folders != nil,
	}
}

func or[T any](given *T, otherwise T) T {
	if given != nil {
		return *given
	}
	return otherwise
}

func readWorked(t testing.TB) (worked, Catalog) {
	t.Helper()
	var w worked
	if err := json.Unmarshal(workedText, &w); err != nil {
		t.Fatal(err)
	}
	c := Catalog{Cluster: "instance", PrincipalLogins: map[string]bool{}}
	for name, from := range w.Workspaces {
		to := Workspace{ID: "id of " + name, Name: name, Parent: or(from.Parent, ""), Groups: from.Groups, Folders: from.Folders}
		for username, m := range from.Members {
			to.Members = append(to.Members, Member{Username: username, Email: m.Email, Admin: m.Admin})
			c.PrincipalLogins[UserLogin(to.ID, m.Email)] = true
		}
		c.Workspaces = append(c.Workspaces, to)
	}
	for name, r := range w.Roles {
		c.Roles = append(c.Roles, Role{ID: "id of " + name, Name: name, Enabled: or(r.Enabled, true), Provisioned: or(r.Provisioned, true)})
	}
	for _, d := range w.Datatables {
		access := Access(d.Access)
		if access == "" {
			access = AccessOpen
		}
		c.Datatables = append(c.Datatables, Datatable{
			Key: Key{d.Workspace, d.Name}, Access: access, Tenants: d.Tenants, GovernedBy: d.GovernedBy,
			DefaultRole: or(d.DefaultRole, RoleAdmin), UnnamedRolesFrom: Rule(or(d.UnnamedRolesFrom, string(RuleViewer))),
			Owner: "owner_of_" + d.Name,
		})
	}
	return w, c
}

func TestWorkedCases(t *testing.T) {
	w, c := readWorked(t)
	for _, ws := range c.Workspaces {
		if broken := ws.Check(); broken != nil {
			t.Errorf("workspace %s: %v", ws.Name, broken)
		}
	}
	ids := map[string]string{}
	for _, r := range c.Roles {
		ids[r.Name] = r.ID
	}
	index := NewIndex(c)
	for _, tc := range w.Cases {
		t.Run(tc.Name, func(t *testing.T) {
			d := index.ResolveText(tc.Workspace, tc.Reference, *tc.Identity.person(), tc.Viewer.person())
			if d.Allowed() != (tc.Expect.Refusal == "") || !d.Allowed() && d.Refusal.Code != tc.Expect.Refusal {
				t.Fatalf("refusal is %+v, want %q", d.Refusal, tc.Expect.Refusal)
			}
			if d.Kind != tc.Expect.Kind {
				t.Errorf("kind is %q, want %q", d.Kind, tc.Expect.Kind)
			}
			if diff := cmp.Diff(tc.Expect.Roles, d.Roles); diff != "" {
				t.Errorf("roles (-want +got):\n%s", diff)
			}
			checkLogin(t, c.Cluster, ids, d)
		})
	}
	if len(w.Cases) < 80 {
		t.Errorf("%d cases were read, more are there", len(w.Cases))
	}
}

// checkLogin holds a decision against what its kind says about its login.
func checkLogin(t testing.TB, cluster string, ids map[string]string, d Decision) {
	t.Helper()
	if len(d.Trace) == 0 {
		t.Error("no trace")
	}
	about := map[string]bool{} // a role is considered once
	for _, step := range d.Trace {
		subject, _, _ := strings.Cut(step, ": ")
		if about[subject] {
			t.Errorf("the trace repeats itself: %q", d.Trace)
		}
		about[subject] = true
	}
	if !d.Allowed() {
		if d.Login != "" || d.CacheKey != "" || d.Kind != "" || d.Roles != nil || d.RoleIDs != nil || d.Refusal.Message == "" {
			t.Errorf("a refusal carries more or less than a reason: %+v", d)
		}
		return
	}
	if len(d.CacheKey) != 64 || d.Login == "" {
		t.Errorf("cache key %q, login %q", d.CacheKey, d.Login)
	}
	var want []string
	for _, name := range d.Roles {
		if name != RoleAdmin {
			want = append(want, ids[name])
		}
	}
	if !slices.Equal(want, d.RoleIDs) || !slices.IsSorted(d.Roles) {
		t.Errorf("roles %q have ids %q, want %q", d.Roles, d.RoleIDs, want)
	}
	switch {
	case d.Kind == KindRole && len(want) == 1 && d.Login == d.Roles[0]:
	case d.Kind == KindSet && len(want) > 1 && d.Login == SetLogin(cluster, want):
	case d.Kind == KindOwner && slices.Equal(d.Roles, []string{RoleAdmin}):
	case d.Kind == KindPrincipal && d.Roles != nil && len(d.Roles) == 0:
	default:
		t.Errorf("%s with login %q and roles %q", d.Kind, d.Login, d.Roles)
	}
}
