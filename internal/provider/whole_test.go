package provider_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/datatable-io/terraform-provider-datatable/internal/acctest"
)

// everything is one resource of each type.
const everything = oneRole + `
resource "datatable_grant" "it" {
  datatable   = datatable.main.name
  role        = datatable_role.reader.name
  schema      = "public"
  all_objects = true
  privileges  = ["SELECT", "INSERT"]
}
resource "datatable_policy" "it" {
  datatable  = datatable.main.name
  name       = "p"
  table      = "t"
  roles      = [datatable_role.reader.name]
  using      = "( a ) > 1"
  with_check = "a in (1, 2)"
}
`

func TestPlanAfterImportIsEmpty(t *testing.T) {
	e := acctest.New(t)
	e.SQL(t, "CREATE TABLE t (a int)")
	made := acctest.NewModule(t, e.Config(everything))
	made.MustRun("apply", "-auto-approve", "-input=false")
	m := acctest.NewModule(t, e.Config(everything))
	for address, id := range map[string]string{
		"datatable_workspace.acme": "acme",
		"datatable_role.reader":    e.Name("§reader"),
		"datatable.main":           "acme/main",
		"datatable_grant.it":       e.Name("acme/main/§reader/table/public/*"),
		"datatable_policy.it":      "acme/main/public/t/p",
	} {
		m.MustRun("import", "-input=false", address, id)
	}
	if out, err := m.Run("plan", "-detailed-exitcode", "-input=false"); err != nil {
		t.Errorf("the plan after the imports is not empty:\n%s", out)
	}
	for address, id := range map[string]string{
		"datatable_workspace.acme": "nobody",
		"datatable_role.reader":    "nobody",
		"datatable.main":           "acme",
		"datatable_grant.it":       e.Name("acme/main/§reader/table/public/t"),
		"datatable_policy.it":      "acme/main/public/t/q",
	} {
		m := acctest.NewModule(t, e.Config(everything))
		if out := fails(t, m, "import", address, id); !strings.Contains(out, "Cannot import") {
			t.Errorf("%s: %s", address, out)
		}
	}
	m.MustRun("destroy", "-auto-approve", "-input=false")
	if left := e.Leftovers(t); len(left) > 0 {
		t.Errorf("left over: %q", left)
	}
}

func TestSecretsAreInNoPlanStateOrLog(t *testing.T) {
	e := acctest.New(t)
	e.SQL(t, "CREATE TABLE t (a int)")
	provider, key := e.ProviderByEnvironment()
	m := acctest.NewModule(t, provider+e.Name(everything))
	log := t.TempDir() + "/log"
	m.Env = append(m.Env, key...)
	m.Env = append(m.Env, "TF_LOG=TRACE", "TF_LOG_PATH="+log)
	out := m.MustRun("plan", "-out=plan", "-input=false") + m.MustRun("apply", "-input=false", "plan") + m.MustRun("show", "-json")
	trace, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(trace), "CREATE POLICY") {
		t.Error("the log has no statements, so it proves nothing")
	}
	secrets := append([]string{"SCRAM-SHA-256$"}, e.Secrets(t, "§reader")...)
	for where, text := range map[string]string{
		"output": out, "log": string(trace), "state": m.Read("terraform.tfstate"), "plan": m.Read("plan"),
	} {
		for _, secret := range secrets {
			if strings.Contains(text, secret) {
				t.Errorf("%s has the secret %q", where, secret)
			}
		}
	}
	m.MustRun("destroy", "-auto-approve", "-input=false")
}

func TestManyGrantsAtOnce(t *testing.T) {
	both(t, func(t *testing.T, e *acctest.Env) {
		e.SQLAsProvider(t, "CREATE SCHEMA s", "CREATE TABLE s.t (a int)")
		m := acctest.NewModule(t, e.Config(fmt.Sprintf(`
resource "datatable_role" "it" {
  count = %[1]d
  name  = "§r${count.index}"
}
resource "datatable" "main" {
  database     = "§db"
  access       = "roles"
  default_role = "none"
  tenants      = { for r in datatable_role.it : r.name => ["*"] }
}
resource "datatable_grant" "schema" {
  count       = %[1]d
  datatable   = datatable.main.name
  role        = datatable_role.it[count.index].name
  object_type = "schema"
  schema      = "s"
  privileges  = ["USAGE"]
}
resource "datatable_grant" "table" {
  count       = %[1]d
  datatable   = datatable.main.name
  role        = datatable_role.it[count.index].name
  schema      = "s"
  all_objects = true
  privileges  = ["SELECT"]
}`, 30)))
		m.MustRun("apply", "-auto-approve", "-input=false", "-parallelism=30")
		e.Login(t, "§r17").Works(t, "SELECT * FROM s.t")
		if out, err := m.Run("plan", "-detailed-exitcode", "-input=false"); err != nil {
			t.Errorf("the second plan is not empty:\n%s", out)
		}
		m.MustRun("destroy", "-auto-approve", "-input=false", "-parallelism=30")
		if left := e.Leftovers(t); len(left) > 0 {
			t.Errorf("left over: %q", left)
		}
	})
}
