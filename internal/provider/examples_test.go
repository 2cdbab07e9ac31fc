package provider_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/ephemeral"
	"github.com/hashicorp/terraform-plugin-framework/function"
	"github.com/hashicorp/terraform-plugin-framework/resource"

	"github.com/datatable-io/terraform-provider-datatable/internal/acctest"
	"github.com/datatable-io/terraform-provider-datatable/internal/provider"
)

const examplesDir = "../../examples"

// What the examples' data tables have in them before Terraform comes.
const exampleTables = `
	CREATE TABLE public.products (name text, price numeric);
	CREATE TABLE public.customers (id serial, region text, name text);
	CREATE TABLE public.orders (id integer, region text, quantity integer, embargoed boolean NOT NULL DEFAULT false);
	CREATE SCHEMA analytics;
	CREATE TABLE analytics.revenue (month date, amount numeric);
	CREATE FUNCTION analytics.total(text, numeric) RETURNS numeric LANGUAGE sql AS 'SELECT $2'`

// The values that the examples of functions say they have, by output.
var exampleOutputs = map[string]any{
	"parsed":       map[string]any{"datatable": "main", "schema": "analytics", "role": "reader", "as": nil},
	"reference":    "datatable://main:analytics?role=reader",
	"as_viewer":    "datatable://main?as=viewer",
	"condition":    "pg_catalog.pg_has_role(current_user, 'reader', 'member')",
	"any_of_these": "(pg_catalog.pg_has_role(current_user, 'emea', 'member') OR pg_catalog.pg_has_role(current_user, 'apac', 'member'))",
	"own_rows":     `"email" = wm_email()`,
	"identifier":   `"Order ""lines"""`,
	"literal":      `'O''Brien'`,
}

// TestExamples applies every example of the documentation. They are parts of one
// configuration, as someone would have who pastes all of them.
func TestExamples(t *testing.T) {
	e := acctest.New(t)
	e.SQL(t, exampleTables)
	e.SQL(t, `CREATE DATABASE "§scratch"`)
	t.Cleanup(func() { e.SQL(t, `DROP DATABASE "§scratch" WITH (FORCE)`) })

	folders := []string{"provider", "resources", "data-sources", "functions"}
	if acctest.HasEphemeral(t) {
		folders = append(folders, "ephemeral-resources")
	}
	files := prefixed(t, e, exampleFiles(t, folders...))
	m := newExample(t, e, files)
	m.MustRun("plan", "-out", "first.tfplan")
	t.Run("statements", func(t *testing.T) { statementsAsDocumented(t, m, files) })
	applyExample(t, m)

	t.Run("values of functions", func(t *testing.T) {
		for name, want := range exampleOutputs {
			if diff := cmp.Diff(want, outputsOf(t, m)[name]); diff != "" {
				t.Errorf("output %s (-want +got):\n%s", name, diff)
			}
		}
		for _, name := range declared(files, "functions/", regexp.MustCompile(`(?m)^output "(\w+)"`)) {
			if _, ok := exampleOutputs[name]; !ok {
				t.Errorf("nothing is expected of the output %s", name)
			}
		}
	})

	t.Run("import", func(t *testing.T) { importExamples(t, newExample(t, e, files), files) })

	destroyExample(t, e, m)
}

var documentedGrant = regexp.MustCompile(`(?m)((?:^#.*\n)+)resource "datatable_grant" "(\w+)"`)

// statementsAsDocumented compares the statements of the plan with those that
// stand above each grant of the examples.
func statementsAsDocumented(t *testing.T, m *acctest.Module, files map[string]string) {
	t.Helper()
	planned := map[string][]string{}
	for _, c := range planOf(t, m, "first.tfplan") {
		planned[c.Address] = c.Change.After.Statements
	}
	grants := documentedGrant.FindAllStringSubmatch(files["resources/datatable_grant/resource.tf"], -1)
	if len(grants) < 8 {
		t.Errorf("only %d grants are documented", len(grants))
	}
	for _, grant := range grants {
		var documented []string
		for _, line := range strings.Split(grant[1], "\n") {
			if statement, ok := strings.CutPrefix(line, "#   "); ok {
				documented = append(documented, statement)
			}
		}
		if diff := cmp.Diff(documented, planned["datatable_grant."+grant[2]]); diff != "" {
			t.Errorf("statements of datatable_grant.%s (-documented +planned):\n%s", grant[2], diff)
		}
	}
}

type plannedChange struct {
	Address string `json:"address"`
	Change  struct {
		Actions []string `json:"actions"`
		After   struct {
			Statements []string `json:"statements"`
		} `json:"after"`
	} `json:"change"`
}

func planOf(t *testing.T, m *acctest.Module, file string) []plannedChange {
	t.Helper()
	var plan struct {
		Changes []plannedChange `json:"resource_changes"`
	}
	if err := json.Unmarshal([]byte(m.MustRun("show", "-json", file)), &plan); err != nil {
		t.Fatal(err)
	}
	return plan.Changes
}

// importExamples runs the commands of the examples' import.sh, as someone does
// who has the configuration and lost the state. Nothing is left to change then.
func importExamples(t *testing.T, m *acctest.Module, files map[string]string) {
	t.Helper()
	var addresses []string
	for _, command := range declared(files, "resources/", regexp.MustCompile(`(?m)^terraform import (.+)$`)) {
		address, id, ok := strings.Cut(command, " ")
		if !ok {
			t.Fatalf("no address and id in %q", command)
		}
		addresses = append(addresses, strings.Trim(address, "'"))
		m.MustRun("import", strings.Trim(address, "'"), strings.Trim(id, "'"))
	}

	m.MustRun("plan", "-out", "imported.tfplan")
	planned := map[string][]string{}
	for _, c := range planOf(t, m, "imported.tfplan") {
		planned[c.Address] = c.Change.Actions
	}
	for _, address := range addresses {
		if diff := cmp.Diff([]string{"no-op"}, planned[address]); diff != "" {
			t.Errorf("the plan after importing %s (-want +got):\n%s", address, diff)
		}
	}
}

// TestExamplesAreComplete finds what the provider offers without an example.
func TestExamplesAreComplete(t *testing.T) {
	t.Parallel()
	ctx, p := t.Context(), provider.New("test")
	want := []string{"provider/provider.tf"}
	for _, build := range p.Resources(ctx) {
		var resp resource.MetadataResponse
		build().Metadata(ctx, resource.MetadataRequest{ProviderTypeName: "datatable"}, &resp)
		want = append(want, "resources/"+resp.TypeName+"/resource.tf", "resources/"+resp.TypeName+"/import.sh")
	}
	for _, build := range p.DataSources(ctx) {
		var resp datasource.MetadataResponse
		build().Metadata(ctx, datasource.MetadataRequest{ProviderTypeName: "datatable"}, &resp)
		want = append(want, "data-sources/"+resp.TypeName+"/data-source.tf")
	}
	for _, build := range p.EphemeralResources(ctx) {
		var resp ephemeral.MetadataResponse
		build().Metadata(ctx, ephemeral.MetadataRequest{ProviderTypeName: "datatable"}, &resp)
		want = append(want, "ephemeral-resources/"+resp.TypeName+"/ephemeral-resource.tf")
	}
	for _, build := range p.Functions(ctx) {
		var resp function.MetadataResponse
		build().Metadata(ctx, function.MetadataRequest{}, &resp)
		want = append(want, "functions/"+resp.Name+"/function.tf")
	}
	files := exampleFiles(t, "provider", "resources", "data-sources", "ephemeral-resources", "functions")
	for _, name := range want {
		if _, ok := files[name]; !ok {
			t.Errorf("examples/%s is missing", name)
		}
	}
}

// TestExampleDemo applies the configuration that make demo shows.
func TestExampleDemo(t *testing.T) {
	e := acctest.New(t)
	files := prefixed(t, e, exampleFiles(t, "demo"))
	e.SQL(t, files["demo/schema.sql"])

	m := newExample(t, e, files)
	m.Env = append(m.Env, "TF_VAR_database="+e.Database())
	applyExample(t, m)

	who, _ := outputsOf(t, m)["who"].(map[string]any)
	want := map[string]any{
		"alice": "role: §staff", "bob": "role: §staff", "jobs": "role: §staff",
		"anton": "set: §analyst, §staff",
		"carla": "set: §sales_amer, §staff",
		"emma":  "set: §sales_emea, §staff",
		"gina":  "set: §analyst, §sales_amer, §sales_emea, §staff",
	}
	for name, text := range want {
		want[name] = e.Name(text.(string))
	}
	if diff := cmp.Diff(want, who); diff != "" {
		t.Errorf("output who (-want +got):\n%s", diff)
	}

	destroyExample(t, e, m)
}

// exampleFiles reads the files of some folders under examples, by their path
// there.
func exampleFiles(t *testing.T, folders ...string) map[string]string {
	t.Helper()
	files := map[string]string{}
	for _, folder := range folders {
		err := filepath.WalkDir(filepath.Join(examplesDir, folder), func(path string, entry os.DirEntry, err error) error {
			if err != nil || entry.IsDir() {
				return err
			}
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			name, err := filepath.Rel(examplesDir, path)
			files[filepath.ToSlash(name)] = string(text)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return files
}

var declaredRole = regexp.MustCompile(`(?m)^resource "datatable_role" "\w+" {\n  name += "(\w+)"`)

// prefixed gives the test's own names to what others share: roles are
// cluster-wide, and so are databases. Each word that is the name of a role gets
// the prefix, wherever it stands. Functions only calculate, and keep the values
// that they document.
func prefixed(t *testing.T, e *acctest.Env, files map[string]string) map[string]string {
	t.Helper()
	roles := declared(files, "", declaredRole)
	if len(roles) == 0 {
		t.Fatal("the examples declare no roles")
	}
	words := regexp.MustCompile(`\b(` + strings.Join(roles, "|") + `)\b`)
	named := map[string]string{}
	for name, text := range files {
		if !strings.HasPrefix(name, "functions/") {
			text = words.ReplaceAllString(text, e.Name("§")+"$1")
			text = replace(text, `= "shop"`, `= "`+e.Database()+`"`, `database = "scratch"`, `database = "`+e.Name("§scratch")+`"`)
		}
		named[name] = text
	}
	return named
}

// newExample writes .tf files into a module.
func newExample(t *testing.T, e *acctest.Env, files map[string]string) *acctest.Module {
	t.Helper()
	m := acctest.NewModule(t, "")
	m.Write("terraform.tf", "") // the examples say themselves what they require
	for name, text := range files {
		if strings.HasSuffix(name, ".tf") {
			m.Write(strings.ReplaceAll(name, "/", "-"), text)
		}
	}
	m.Env = []string{"DATATABLE_URL=" + e.URL(), "DATATABLE_ENCRYPTION_KEY=" + exampleKey}
	return m
}

// exampleKey is base64 of 32 bytes.
const exampleKey = "ZXhhbXBsZXMgYW5kIHRoZWlyIGVuY3J5cHRpb24ga2U="

// declared finds what a pattern's group stands for, in files whose path starts
// with the prefix, in the order of their paths.
func declared(files map[string]string, prefix string, pattern *regexp.Regexp) []string {
	var found []string
	for name, text := range files {
		if strings.HasPrefix(name, prefix) {
			for _, match := range pattern.FindAllStringSubmatch(text, -1) {
				found = append(found, match[1])
			}
		}
	}
	slices.Sort(found)
	return found
}

func applyExample(t *testing.T, m *acctest.Module) {
	t.Helper()
	// What is left by a test that fails would be in the way of the next one.
	t.Cleanup(func() {
		if t.Failed() {
			_, _ = m.Run("destroy", "-auto-approve")
		}
	})
	out := m.MustRun("apply", "-auto-approve")
	if strings.Contains(out, "Check block assertion failed") {
		t.Errorf("a check of the example fails:\n%s", out)
	}
	noChanges(t, m)
}

func noChanges(t *testing.T, m *acctest.Module) {
	t.Helper()
	if out, err := m.Run("plan", "-detailed-exitcode"); err != nil {
		t.Fatalf("the plan is not empty: %v\n%s", err, out)
	}
}

func destroyExample(t *testing.T, e *acctest.Env, m *acctest.Module) {
	t.Helper()
	m.MustRun("destroy", "-auto-approve")
	if left := e.Leftovers(t); len(left) > 0 {
		t.Errorf("left over: %s", strings.Join(left, "; "))
	}
}

func outputsOf(t *testing.T, m *acctest.Module) map[string]any {
	t.Helper()
	var outputs map[string]struct {
		Value any `json:"value"`
	}
	if err := json.Unmarshal([]byte(m.MustRun("output", "-json")), &outputs); err != nil {
		t.Fatal(fmt.Errorf("read the outputs: %w", err))
	}
	values := map[string]any{}
	for name, output := range outputs {
		values[name] = output.Value
	}
	return values
}
