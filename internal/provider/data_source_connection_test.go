package provider_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/datatable-io/terraform-provider-datatable/internal/acctest"
	"github.com/datatable-io/terraform-provider-datatable/internal/resolve"
)

// The worked cases of resolution. The pure package tests the same file.
type resolutionCases struct {
	Workspaces map[string]struct {
		Parent  *string
		Members map[string]struct {
			Email string `json:"email"`
			Admin bool   `json:"admin"`
		}
		Groups, Folders map[string][]string
	}
	Roles map[string]struct {
		Enabled, Provisioned *bool
	}
	Datatables []struct {
		Workspace, Name, Access string
		DefaultRole             *string              `json:"default_role"`
		UnnamedRolesFrom        *string              `json:"unnamed_roles_from"`
		Tenants                 *map[string][]string `json:"tenants"`
		GovernedBy              json.RawMessage      `json:"governed_by"`
	}
	Cases []struct {
		Name, Workspace, Reference string
		Identity, Viewer           json.RawMessage
		Expect                     struct {
			Kind    string
			Roles   []string
			Refusal string
		}
	}
}

func TestConnectionResolvesEveryCase(t *testing.T) {
	e := acctest.New(t)
	text, err := os.ReadFile("../resolve/testdata/resolution.json")
	if err != nil {
		t.Fatal(err)
	}
	// Roles are of the whole cluster, so they get the test's prefix.
	var names struct{ Roles map[string]any }
	if err := json.Unmarshal(text, &names); err != nil {
		t.Fatal(err)
	}
	var c resolutionCases
	if err := json.Unmarshal(text, &c); err != nil {
		t.Fatal(err)
	}
	role := func(name string) string {
		if _, ok := names.Roles[name]; ok {
			return e.Name("§" + name)
		}
		return name
	}
	m := acctest.NewModule(t, e.Provider()+c.resources(t, e, role))
	m.MustRun("apply", "-auto-approve", "-input=false")

	// A role whose login is gone is not provisioned, and a person's login is
	// made by hand, as long as nothing makes it.
	for name, r := range c.Roles {
		if r.Provisioned != nil && !*r.Provisioned {
			e.SQL(t, `DROP OWNED BY "`+role(name)+`"`, `DROP ROLE "`+role(name)+`"`)
		}
	}
	login := resolve.UserLogin(e.Value(t, "SELECT id::text FROM datatable_catalog.workspace WHERE name = 'acme'"), "bob@acme.test")
	e.SQL(t, `CREATE ROLE "`+login+`" LOGIN`, `COMMENT ON ROLE "`+login+`" IS 'datatable role `+login+`'`)
	t.Cleanup(func() { e.SQL(t, `DROP ROLE "`+login+`"`) })

	reader := acctest.NewModule(t, e.Provider()+c.connections(role))
	reader.MustRun("apply", "-auto-approve", "-input=false")
	var got map[string]struct {
		Allowed bool
		Kind    *string
		Login   *string
		Roles   []string
		Refusal *struct{ Code, Message string }
		Trace   []string
		Cache   *string `json:"cache_key"`
	}
	if err := json.Unmarshal([]byte(reader.MustRun("output", "-json", "it")), &got); err != nil {
		t.Fatal(err)
	}
	for i, test := range c.Cases {
		t.Run(test.Name, func(t *testing.T) {
			d := got[strconv.Itoa(i)]
			if len(d.Trace) == 0 {
				t.Error("no trace")
			}
			if test.Expect.Refusal != "" {
				if d.Refusal == nil || d.Refusal.Code != test.Expect.Refusal || d.Allowed || d.Login != nil || d.Cache != nil {
					t.Errorf("got %+v, want the refusal %s", d, test.Expect.Refusal)
				}
				return
			}
			if d.Kind == nil || d.Login == nil || d.Cache == nil {
				t.Fatalf("got %+v, want kind %s", d, test.Expect.Kind)
			}
			var roles []string
			for _, name := range test.Expect.Roles {
				roles = append(roles, role(name))
			}
			slices.Sort(roles)
			if diff := cmp.Diff(roles, d.Roles, cmpEmpty); *d.Kind != test.Expect.Kind || !d.Allowed || d.Refusal != nil || diff != "" {
				t.Errorf("kind %s, want %s; roles (-want +got):\n%s", *d.Kind, test.Expect.Kind, diff)
			}
		})
	}
	m.MustRun("destroy", "-auto-approve", "-input=false")
}

// cmpEmpty takes a nil and an empty list for the same.
var cmpEmpty = cmp.Transformer("empty", func(list []string) string { return strings.Join(list, ",") })

func (c resolutionCases) resources(t *testing.T, e *acctest.Env, role func(string) string) string {
	t.Helper()
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(c.Roles)) {
		r := c.Roles[name]
		fmt.Fprintf(&b, "resource \"datatable_role\" %q {\n  name = %q\n  enabled = %t\n}\n", name, role(name), r.Enabled == nil || *r.Enabled)
	}
	for _, name := range slices.Sorted(maps.Keys(c.Workspaces)) {
		w := c.Workspaces[name]
		fmt.Fprintf(&b, "resource \"datatable_workspace\" %q {\n  name = %q\n", name, name)
		if w.Parent != nil {
			fmt.Fprintf(&b, "  parent = %q\n", *w.Parent)
		}
		fmt.Fprintf(&b, "  members = %s\n  groups = %s\n  folders = %s\n}\n", hcl(t, w.Members), hcl(t, w.Groups), hcl(t, w.Folders))
	}
	for i, d := range c.Datatables {
		fmt.Fprintf(&b, "resource \"datatable\" \"d%d\" {\n  workspace = %q\n  name = %q\n  database = %q\n  depends_on = [%s]\n",
			i, d.Workspace, d.Name, e.Database(), "datatable_role."+strings.Join(slices.Sorted(maps.Keys(c.Roles)), ", datatable_role."))
		if d.Access != "" {
			fmt.Fprintf(&b, "  access = %q\n", d.Access)
		}
		if d.DefaultRole != nil {
			fmt.Fprintf(&b, "  default_role = %q\n", role(*d.DefaultRole))
		}
		if d.UnnamedRolesFrom != nil {
			fmt.Fprintf(&b, "  unnamed_roles_from = %q\n", *d.UnnamedRolesFrom)
		}
		if d.Tenants != nil {
			tenants := map[string][]string{}
			for name, patterns := range *d.Tenants {
				tenants[role(name)] = patterns
			}
			fmt.Fprintf(&b, "  tenants = %s\n", hcl(t, tenants))
		}
		if d.GovernedBy != nil {
			fmt.Fprintf(&b, "  governed_by = %s\n", d.GovernedBy)
		}
		b.WriteString("}\n")
	}
	return b.String()
}

func (c resolutionCases) connections(role func(string) string) string {
	var b strings.Builder
	for i, test := range c.Cases {
		// A reference that names a role names it with the prefix.
		reference := test.Reference
		for name := range c.Roles {
			for _, key := range []string{"role=", "ROLE="} {
				if strings.HasSuffix(reference, key+name) {
					reference = strings.TrimSuffix(reference, name) + role(name)
				}
			}
		}
		fmt.Fprintf(&b, "data \"datatable_connection\" \"c%d\" {\n  workspace = %q\n  reference = %q\n  identity = %s\n  viewer = %s\n}\n",
			i, test.Workspace, reference, test.Identity, test.Viewer)
	}
	b.WriteString("output \"it\" {\n  value = {\n")
	for i := range c.Cases {
		fmt.Fprintf(&b, "    \"%d\" = data.datatable_connection.c%d\n", i, i)
	}
	b.WriteString("  }\n}\n")
	return b.String()
}

// hcl writes a value as an HCL expression, which JSON is.
func hcl(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestConnectionByPartsIsTheSameAsByReference(t *testing.T) {
	e := acctest.New(t)
	m := acctest.NewModule(t, e.Config(oneRole+`
data "datatable_connection" "reference" {
  reference  = "datatable://main?role=§reader"
  identity   = { user = "bob" }
  depends_on = [datatable.main]
}
data "datatable_connection" "parts" {
  datatable  = "main"
  role       = "§reader"
  identity   = { user = "bob" }
  depends_on = [datatable.main]
}
data "datatable_connection" "viewer" {
  as         = "viewer"
  identity   = { user = "bob" }
  depends_on = [datatable.main]
}
output "same" {
  value = [for k in ["login", "kind", "cache_key", "host", "port", "database"] :
    data.datatable_connection.reference[k] == data.datatable_connection.parts[k]]
}
output "database" {
  value = data.datatable_connection.parts.database
}
output "viewer" {
  value = data.datatable_connection.viewer.refusal.code
}`))
	m.MustRun("apply", "-auto-approve", "-input=false")
	for output, want := range map[string]string{
		"same": "[true,true,true,true,true,true]", "viewer": `"no_viewer"`, "database": `"` + e.Database() + `"`,
	} {
		if got := strings.TrimSpace(m.MustRun("output", "-json", output)); got != want {
			t.Errorf("%s is %s, want %s", output, got, want)
		}
	}
	m.MustRun("destroy", "-auto-approve", "-input=false")
}
