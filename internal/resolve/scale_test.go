package resolve

import (
	"fmt"
	"testing"
)

// large is a catalog of one workspace and one data table. Whatever its size,
// the viewer m7 has ten groups and folders and eleven roles.
func large(members, roles, tenants int) Catalog {
	w := Workspace{ID: "w", Name: "acme", Groups: map[string][]string{}, Folders: map[string][]string{}}
	for i := range members {
		username := fmt.Sprint("m", i)
		w.Members = append(w.Members, Member{Username: username, Email: username + "@acme.test"})
		group := fmt.Sprint("g", i/10)
		w.Groups[group] = append(w.Groups[group], username)
	}
	for i := range 5 {
		w.Groups[fmt.Sprint("team", i)] = []string{"m7"}
		w.Folders[fmt.Sprint("folder", i)] = []string{"u/m7"}
	}
	d := Datatable{
		Key: Key{"acme", "main"}, Access: AccessRoles, DefaultRole: "r0", UnnamedRolesFrom: RuleViewer,
		Tenants: map[string][]string{"r0": {Everyone}},
	}
	c := Catalog{Cluster: "c"}
	for i := range roles {
		name := fmt.Sprint("r", i)
		c.Roles = append(c.Roles, Role{ID: fmt.Sprint("id", i), Name: name, Enabled: true, Provisioned: true})
		for j := range tenants {
			d.Tenants[name] = append(d.Tenants[name], fmt.Sprint("u/m", 10+(i*tenants+j)%(members-10)))
		}
		if i > 0 && i <= 5 {
			d.Tenants[name] = append(d.Tenants[name], fmt.Sprint("g/team", i-1))
		} else if i > 5 && i <= 10 {
			d.Tenants[name] = append(d.Tenants[name], fmt.Sprint("f/folder", i-6))
		}
	}
	c.Workspaces, c.Datatables = []Workspace{w}, []Datatable{d}
	return c
}

var largeRequest = Request{
	Workspace: "acme", Reference: Reference{Datatable: "main"}, Identity: Person{User: "M3@acme.test"}, Viewer: &Person{User: "m7"},
}

// What a decision costs follows from the person's own roles.
func TestResolvingDoesNotGrowWithTheCatalog(t *testing.T) {
	cost := func(c Catalog) float64 {
		index := NewIndex(c)
		if d := index.Resolve(largeRequest); len(d.Roles) != 11 {
			t.Fatalf("%d roles: %+v", len(d.Roles), d)
		}
		return testing.AllocsPerRun(100, func() { index.Resolve(largeRequest) })
	}
	small, big := cost(large(100, 20, 5)), cost(large(10_000, 1000, 20))
	if big > small*1.1 { // the race detector moves a few
		t.Errorf("%.0f allocations in a small catalog, %.0f in a large one", small, big)
	}
}

func BenchmarkNewIndex(b *testing.B) {
	c := large(10_000, 1000, 20)
	b.ReportAllocs()
	for b.Loop() {
		NewIndex(c)
	}
}

func BenchmarkResolve(b *testing.B) {
	index := NewIndex(large(10_000, 1000, 20))
	b.ReportAllocs()
	for b.Loop() {
		index.Resolve(largeRequest)
	}
}

func BenchmarkResolveNamed(b *testing.B) {
	index := NewIndex(large(10_000, 1000, 20))
	request := largeRequest
	request.Identity, request.Reference.Role = Person{User: "m7"}, "r7"
	b.ReportAllocs()
	for b.Loop() {
		index.Resolve(request)
	}
}
