package provider_test

import (
	"fmt"
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
		"datatable_grant.it":       e.Name("acme/main/§reader/table/public/nothing"),
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

func TestManyGrantsAtOnce(t *testing.T) {
	e := acctest.NewOwner(t)
	e.SQLAsProvider(t, "CREATE SCHEMA s", "CREATE TABLE s.t (a int)")
	thirtyRoles(t, e)
}

// thirtyRoles applies a grant on a schema and one on its tables for each of
// thirty roles, all at once.
func thirtyRoles(t *testing.T, e *acctest.Env) {
	t.Helper()
	m := acctest.NewModule(t, e.Config(`
resource "datatable_role" "it" {
  count = 30
  name  = "§r${count.index}"
}
resource "datatable" "main" {
  database     = "§db"
  access       = "roles"
  default_role = "none"
  tenants      = { for r in datatable_role.it : r.name => ["*"] }
}
resource "datatable_grant" "schema" {
  count       = 30
  datatable   = datatable.main.name
  role        = datatable_role.it[count.index].name
  object_type = "schema"
  schema      = "s"
  privileges  = ["USAGE"]
}
resource "datatable_grant" "table" {
  count       = 30
  datatable   = datatable.main.name
  role        = datatable_role.it[count.index].name
  schema      = "s"
  all_objects = true
  privileges  = ["SELECT"]
}`))
	m.MustRun("apply", "-auto-approve", "-input=false", "-parallelism=30")
	e.Login(t, "§r17").Works(t, "SELECT * FROM s.t")
	if out, err := m.Run("plan", "-detailed-exitcode", "-input=false"); err != nil {
		t.Errorf("the second plan is not empty:\n%s", out)
	}
	m.MustRun("destroy", "-auto-approve", "-input=false", "-parallelism=30")
	if left := e.Leftovers(t); len(left) > 0 {
		t.Errorf("left over: %q", left)
	}
}

// Every repair is planned as often as it is needed, also where it is word for
// word what was run last.
func TestTheSameDriftIsPlannedEachTime(t *testing.T) {
	e := acctest.New(t)
	e.SQL(t, "CREATE TABLE t (a int)", "CREATE SCHEMA s")
	m := acctest.NewModule(t, e.Config(replace(everything, `access       = "roles"`, "access = \"roles\"\n  unmanaged_grants = \"revoke\"")+`
resource "datatable_grant" "schema" {
  datatable   = datatable.main.name
  role        = datatable_role.reader.name
  object_type = "schema"
  schema      = "s"
  privileges  = ["USAGE"]
}`))
	m.MustRun("apply", "-auto-approve", "-input=false")
	for drift, repair := range map[string]string{
		`REVOKE USAGE ON SCHEMA s FROM "§reader"`:         `GRANT USAGE ON SCHEMA \"s\" TO`,
		`ALTER TABLE t DISABLE ROW LEVEL SECURITY`:        `ALTER TABLE \"public\".\"t\" ENABLE ROW LEVEL SECURITY`,
		`GRANT CONNECT ON DATABASE "§db" TO PUBLIC`:       `REVOKE CONNECT ON DATABASE`,
		`REVOKE INSERT ON t FROM "§reader"`:               `GRANT INSERT ON TABLE`,
		`GRANT DELETE ON t TO "§reader"`:                  `REVOKE DELETE ON TABLE`,
		`ALTER ROLE "§reader" NOLOGIN`:                    `ALTER ROLE \"§reader\" LOGIN`,
		`ALTER ROLE "§reader" CREATEDB`:                   `ALTER ROLE \"§reader\" NOCREATEDB`,
		`ALTER POLICY p ON t USING (true)`:                `ALTER POLICY \"p\" ON \"public\".\"t\" USING (( a ) > 1)`,
		`DROP TABLE t; CREATE TABLE t (a int)`:            `CREATE POLICY \"p\"`,
		`REVOKE CONNECT ON DATABASE "§db" FROM "§reader"`: `GRANT CONNECT ON DATABASE`,
	} {
		for range 2 {
			e.SQL(t, drift)
			out, err := m.Run("plan", "-detailed-exitcode", "-input=false", "-out=plan")
			if err == nil {
				t.Fatalf("after %s the plan is empty", drift)
			}
			if !strings.Contains(out, "+ \""+e.Name(repair)) {
				t.Errorf("after %s the plan does not show %s:\n%s", drift, repair, out)
			}
			m.MustRun("apply", "-input=false", "plan")
			if out, err := m.Run("plan", "-detailed-exitcode", "-input=false"); err != nil {
				t.Fatalf("after %s and an apply the plan is not empty:\n%s", drift, out)
			}
		}
	}
	m.MustRun("destroy", "-auto-approve", "-input=false")
}

// A replacement shows what goes as well as what comes.
func TestReplacementShowsWhatItTakes(t *testing.T) {
	e := acctest.New(t)
	e.SQL(t, "CREATE TABLE t (a int)", "CREATE TABLE u (a int)")
	config := func(table string) string {
		return e.Config(oneRole + `
resource "datatable_policy" "it" {
  datatable         = datatable.main.name
  name              = "p"
  table             = "` + table + `"
  using             = "a > 1"
  when_last_removed = "disable"
}`)
	}
	m := acctest.NewModule(t, config("t"))
	m.MustRun("apply", "-auto-approve", "-input=false")
	m.Write("main.tf", config("u"))
	contains(t, m.MustRun("plan", "-input=false"),
		`-/+ resource "datatable_policy" "it"`, "forces replacement", `DROP POLICY "p" ON "public"."t"`, `ALTER TABLE "public"."t" DISABLE ROW LEVEL SECURITY`,
		`Row-level security of "public"."t" of data table acme/main is turned off with its last policy`,
		`CREATE POLICY \"p\" ON \"public\".\"u\"`)
	m.MustRun("apply", "-auto-approve", "-input=false")
	m.Write("main.tf", strings.Replace(config("u"), `workspace      = "acme"`, `workspace      = "other"`, 1))
	contains(t, m.MustRun("plan", "-input=false"), `-/+ resource "datatable" "main"`, "Destroying data table acme/main", `"acme" -> "other"`)
	m.Write("main.tf", config("u"))
	m.MustRun("destroy", "-auto-approve", "-input=false")
}

func TestKeysThatWouldMixAreRefused(t *testing.T) {
	e := acctest.New(t)
	role := func(name string) string {
		return e.Name("resource \"datatable_role\" \"" + name + "\" {\n  name = \"§" + name + "\"\n}\n")
	}
	m := acctest.NewModule(t, e.Provider()+role("one"))
	m.MustRun("apply", "-auto-approve", "-input=false")
	m.Write("main.tf", fmt.Sprintf("provider \"datatable\" {\n  url = %q\n  encryption_key = \"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\"\n}\n", e.URL())+role("one")+role("two"))
	oneError(t, fails(t, m, "apply", "-auto-approve"), "is not the key that the catalog's passwords were encrypted with")
	m.Write("main.tf", e.Provider()+role("one"))
	m.MustRun("destroy", "-auto-approve", "-input=false")
}

// memberships checks of which roles the provider's login is a member that it can
// use, the way in which CREATEROLE makes one from PostgreSQL 16 left out.
func memberships(t *testing.T, e *acctest.Env, want string) {
	t.Helper()
	got := e.Value(t, `SELECT coalesce(string_agg(DISTINCT r.rolname, ','), '') FROM pg_auth_members m
		JOIN pg_roles r ON r.oid = m.roleid JOIN pg_roles u ON u.oid = m.member
		WHERE u.rolname = '`+e.User()+`' AND starts_with(r.rolname, '§')
			AND (to_jsonb(m)->>'inherit_option' IS DISTINCT FROM 'false' OR to_jsonb(m)->>'set_option' IS DISTINCT FROM 'false')`)
	if got != want {
		t.Errorf("the provider's login is a member of %q, and should be of %q", got, want)
	}
}

func TestGrantsOnWhatRolesOwn(t *testing.T) {
	both(t, func(t *testing.T, e *acctest.Env) {
		e.SQLAsProvider(t, "CREATE SCHEMA s")
		config := e.Config(oneRole + `
resource "datatable_role" "maker" {
  name = "§maker"
}
resource "datatable_grant" "connect" {
  datatable   = datatable.main.name
  role        = datatable_role.maker.name
  object_type = "database"
  privileges  = ["CONNECT"]
}
resource "datatable_grant" "make" {
  datatable   = datatable.main.name
  role        = datatable_role.maker.name
  object_type = "schema"
  schema      = "s"
  privileges  = ["ALL"]
}
resource "datatable_grant" "it" {
  datatable   = datatable.main.name
  role        = datatable_role.reader.name
  schema      = "s"
  all_objects = true
  privileges  = ["SELECT"]
}`)
		m := acctest.NewModule(t, config)
		m.MustRun("apply", "-auto-approve", "-input=false")
		if _, err := e.Login(t, "§maker").Connect(t).Exec(t.Context(), "CREATE TABLE s.mine (a int)"); err != nil {
			t.Fatal(err)
		}
		m.MustRun("apply", "-auto-approve", "-input=false")
		e.Login(t, "§reader").Works(t, "SELECT * FROM s.mine")
		memberships(t, e, "")

		// A membership that was there before stays.
		e.SQL(t, `DO $$ BEGIN EXECUTE 'GRANT "§maker" TO "`+e.User()+`"' ||
			CASE WHEN current_setting('server_version_num')::int >= 160000 THEN ' WITH INHERIT TRUE, SET TRUE' ELSE '' END; END $$`)
		if _, err := e.Login(t, "§maker").Connect(t).Exec(t.Context(), "CREATE TABLE s.more (a int)"); err != nil {
			t.Fatal(err)
		}
		m.MustRun("apply", "-auto-approve", "-input=false")
		e.Login(t, "§reader").Works(t, "SELECT * FROM s.more")
		memberships(t, e, e.Name("§maker"))
		if out, err := m.Run("plan", "-detailed-exitcode", "-input=false"); err != nil {
			t.Errorf("the second plan is not empty:\n%s", out)
		}
		m.MustRun("destroy", "-auto-approve", "-input=false")
		if left := e.Leftovers(t); len(left) > 0 {
			t.Errorf("left over: %q", left)
		}
	})
}
