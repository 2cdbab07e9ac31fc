package provider_test

import (
	"strings"
	"testing"

	"github.com/datatable-io/terraform-provider-datatable/internal/acctest"
	"github.com/datatable-io/terraform-provider-datatable/internal/datatable"
)

// named is a data table whose only role is named in every way there is. The
// role's arguments and the rest that names it are given.
func named(e *acctest.Env, role, rest string) string {
	return e.Name(`
resource "datatable_workspace" "acme" {
  name    = "acme"
  members = { bob = { email = "bob@acme.test" } }
}
` + role + rest)
}

const (
	namingRole = `
resource "datatable_role" "reader" {
  name = "§reader"
  VAR_MORE
}
`
	namingRest = `
resource "datatable" "main" {
  database     = "§db"
  access       = "roles"
  default_role = datatable_role.reader.name
  tenants      = { (datatable_role.reader.name) = ["*"] }
}
resource "datatable_grant" "t" {
  datatable  = datatable.main.name
  role       = datatable_role.reader.name
  schema     = "public"
  objects    = ["t"]
  privileges = ["SELECT"]
}
resource "datatable_policy" "roles" {
  datatable = datatable.main.name
  name      = "by roles"
  table     = "t"
  roles     = [datatable_role.reader.name]
  using     = "a > 0"
}
resource "datatable_policy" "text" {
  datatable   = datatable.main.name
  name        = "by text"
  table       = "t"
  restrictive = true
  using       = provider::datatable::member_of(datatable_role.reader.name)
}
resource "datatable_policy" "neither" {
  datatable = datatable.main.name
  name      = "neither"
  table     = "t"
  using     = "b = '§reader_'"
}
`
)

func TestAPlanSaysWhatNamesARole(t *testing.T) {
	e := acctest.New(t)
	e.SQL(t, "CREATE TABLE t (a int, b text)", "INSERT INTO t VALUES (0, ''), (1, '')")
	p, module := counted(t, e)
	config := func(name, more string) string {
		return named(e, replace(namingRole, "§reader", name, "VAR_MORE", more), namingRest)
	}
	m := module(config("§reader", ""))
	provider, _, _ := strings.Cut(m.Read("main.tf"), "\nresource")
	m.MustRun("apply", "-auto-approve", "-input=false")
	cost := func(args ...string) (string, int) {
		p.Reset()
		return m.MustRun(append(args, "-input=false")...), p.Counts().Statements
	}
	_, unchanged := cost("plan")
	const on = `on "public"."t" of database "§db"`
	silent := func(out string, texts ...string) {
		t.Helper()
		for _, text := range texts {
			if strings.Contains(unwrapped(out), e.Name(text)) {
				t.Errorf("output has %q:\n%s", text, out)
			}
		}
	}
	says := func(out string, texts ...string) {
		t.Helper()
		for _, text := range texts {
			contains(t, out, e.Name(text))
		}
		silent(out, `of policy "neither" on`, "is not known")
	}

	m.Write("main.tf", provider+config("§reader", "comment = \"x\""))
	out, _ := cost("plan")
	silent(out, "concerns what names it", "breaks policies")

	out, statements := cost("plan", "-destroy")
	says(out, `Dropping role "§reader" concerns what names it`, "Data table acme/main lists it in tenants, and will list it no more.",
		"Data table acme/main has it as its default role, and will have none.", `Among the roles of policy "by roles" `+on+", which is dropped with it where it is for no other role.",
		`In the text of policy "by text" `+on+", and where that means the role, as in pg_has_role, who reads the table is refused from then on")
	silent(out, `Among the roles of policy "by text"`, `In the text of policy "by roles"`)
	if statements > 2*unchanged { // Terraform refreshes with one provider, and plans to destroy with another
		t.Errorf("a plan that warns costs %d statements, and one that does not %d", statements, unchanged)
	}

	m.Write("main.tf", provider+config("§reader", "enabled = false"))
	out, statements = cost("plan")
	says(out, `Disabling role "§reader" concerns what names it`, "Data table acme/main lists it in tenants, and nobody gets it while it is disabled.",
		"Data table acme/main has it as its default role, and who names no role gets nothing from it while it is disabled.",
		`Among the roles of policy "by roles" `+on+", which stays, and is for nobody", `In the text of policy "by text" `+on+", which stays")
	if statements > unchanged {
		t.Errorf("a plan that warns costs %d statements, and one that does not %d", statements, unchanged)
	}

	// Renamed, what is written with a reference follows; so does who it is for.
	m.Write("main.tf", provider+config("§renamed", ""))
	out, _ = cost("plan")
	says(out, `Renaming role "§reader" breaks policies that name it by text`, `In the text of policy "by text" `+on)
	silent(out, "Data table acme/main lists it", `of policy "by roles" on`)
	m.MustRun("apply", "-auto-approve", "-input=false")
	if got := strings.Join(e.Login(t, "§renamed").Texts(t, "SELECT a::text FROM t"), ","); got != "1" {
		t.Errorf("after the rename the role sees %q", got)
	}
	if changesPlanned(m) {
		t.Error("the plan after a rename is not empty")
	}

	// A database that cannot be read is no reason not to plan.
	e.SQL(t, "CREATE DATABASE §two ALLOW_CONNECTIONS false",
		"INSERT INTO datatable_catalog.datatable (workspace, name, database, access, default_admin, tenants_given, unnamed_roles_from, revoke_public, unmanaged_grants, accept_replication) "+
			"VALUES ('acme', 'two', '§two', 'roles', true, true, 'viewer', true, 'ignore', '{}')")
	out, _ = cost("plan", "-destroy")
	contains(t, out, e.Name(`Not every policy that names role "§renamed" is known`), e.Name(`Database "§two" cannot be read`), `Among the roles of policy "by roles"`)
	e.SQL(t, "DELETE FROM datatable_catalog.datatable WHERE name = 'two'", "DROP DATABASE §two")
	destroyed(t, e, m)
}

func TestARoleThatIsGoneIsMadeAgain(t *testing.T) {
	both(t, func(t *testing.T, e *acctest.Env) {
		e.SQLAsProvider(t, "CREATE TABLE t (a int, b text)", "INSERT INTO t VALUES (0, ''), (1, '')")
		config := func(more string) string {
			return e.Provider() + named(e, replace(namingRole, "VAR_MORE", more), namingRest)
		}
		m := made(t, config("password_version = 3"))
		const id = "SELECT id::text FROM datatable_catalog.role"
		before, old := e.Value(t, id), e.Login(t, "§reader")
		works := func() {
			t.Helper()
			old.Locked(t)
			if got := strings.Join(e.Login(t, "§reader").Texts(t, "SELECT a::text FROM t"), ","); got != "1" {
				t.Errorf("the role that was made again sees %q", got)
			}
			if l := e.Open(t, "acme", "datatable", "bob", ""); l.Name != e.Name("§reader") {
				t.Errorf("bob is %s", l.Name)
			}
			if out, err := m.Run("plan", "-detailed-exitcode", "-input=false"); err != nil {
				t.Errorf("the plan after it is not empty:\n%s", out)
			}
		}

		// Its login is dropped by hand, and the entry of the catalog is there yet.
		e.SQL(t, "DROP OWNED BY §reader", "DROP ROLE §reader")
		out := m.MustRun("apply", "-auto-approve", "-input=false")
		contains(t, out, "datatable_role.reader: Creation complete")
		if strings.Contains(out, "datatable.main: Creat") {
			t.Errorf("the data table is made anew:\n%s", out)
		}
		is(t, e, before, id)
		is(t, e, "3", "SELECT password_version::text FROM datatable_catalog.role")
		works()

		// It was renamed by hand: with a second one of its mark nothing could be told.
		old = e.Login(t, "§reader")
		e.SQL(t, "ALTER ROLE §reader RENAME TO §moved")
		refused(t, m, applying, `marks role "`+e.Name("§reader")+`" on role "`+e.Name("§moved")+`"`, `run ALTER ROLE "`+e.Name("§moved")+`" RENAME TO "`+e.Name("§reader")+`"`)
		is(t, e, "0", "SELECT count(*)::text FROM pg_roles WHERE rolname = '§reader'")
		e.SQL(t, "ALTER ROLE §moved RENAME TO §reader")
		m.MustRun("import", "-input=false", "datatable_role.reader", e.Name("§reader"))
		m.MustRun("apply", "-auto-approve", "-input=false")
		old.Works(t, "SELECT * FROM t")

		// Its row is gone, and whose the login is cannot be told any more.
		old = e.Login(t, "§reader")
		e.SQL(t, "DELETE FROM datatable_catalog.role")
		refused(t, m, applying, "does not belong to this catalog, and it is left alone", "adopt = true")
		m.Write("main.tf", config("adopt = true"))
		refused(t, m, applying, `its comment "datatable role `+before+`" marks it`, `run COMMENT ON ROLE "`+e.Name("§reader")+`" IS NULL`)
		e.SQL(t, "COMMENT ON ROLE §reader IS NULL")
		m.MustRun("apply", "-auto-approve", "-input=false")
		works()
		destroyed(t, e, m)
	})
}

func TestDroppingARoleStopsAtADatabaseThatCannotBeReached(t *testing.T) {
	both(t, func(t *testing.T, e *acctest.Env) {
		e.SQLAsProvider(t, "CREATE SCHEMA s")
		e.SQL(t, `CREATE DATABASE "§two" OWNER "`+e.User()+`"`, `CREATE DATABASE "§zoo" OWNER "`+e.User()+`"`)
		t.Cleanup(func() {
			e.SQL(t, `DROP DATABASE IF EXISTS "§two" WITH (FORCE)`, `DROP DATABASE IF EXISTS "§zoo" WITH (FORCE)`)
		})
		const others = `
resource "datatable" "two" {
  name          = "two"
  database      = "§two"
  access        = "roles"
  default_role  = "none"
  tenants       = {}
  revoke_public = false
}
resource "datatable" "zoo" {
  name          = "zoo"
  database      = "§zoo"
  access        = "roles"
  default_role  = "none"
  tenants       = {}
  revoke_public = false
}`
		m := made(t, makers(e, "on", e.Name(others)))
		emea, set := e.Login(t, "§emea"), e.Open(t, "acme", "datatable", "mallory", "mallory")
		databases := []string{e.Database(), e.Name("§two"), e.Name("§zoo")}
		for _, database := range databases[1:] {
			do(t, elsewhere(t, e.Provided(), database), e, "CREATE SCHEMA s", `GRANT CREATE, USAGE ON SCHEMA s TO "§emea"`)
		}
		for _, database := range databases {
			do(t, elsewhere(t, emea, database), e, "CREATE TABLE s.t (a int)")
		}
		do(t, set.Connect(t), e, "CREATE TABLE s.made_by_set (a int)")
		session := emea.Connect(t)
		id := e.Value(t, "SELECT id::text FROM datatable_catalog.role WHERE name = '§emea'")
		e.SQL(t, "UPDATE datatable_catalog.datatable SET default_role_id = '"+id+"', default_admin = false WHERE name = 'main'")
		e.SQL(t, `ALTER DATABASE "§two" ALLOW_CONNECTIONS false`)

		role := datatable.Role{ID: id, Name: e.Name("§emea"), Enabled: true}
		for range 2 { // it is no other the second time
			err := e.Service(t).DropRole(t.Context(), role)
			if err == nil {
				t.Fatal("a role is dropped though a database where it owns a table cannot be reached")
			}
			contains(t, err.Error(), e.Name(`role "§emea"`), e.Name(`database "§two"`))
			ended(t, session)
			emea.Locked(t)
			set.Locked(t)
			is(t, e, "1", "SELECT count(*)::text FROM datatable_catalog.role WHERE name = '§emea'")
			is(t, e, "0", "SELECT count(*)::text FROM datatable_catalog.role_set")
			is(t, e, "0", orphans)
		}
		if got, _, ok, err := e.Service(t).Role(t.Context(), id); err != nil || !ok || got.Enabled {
			t.Errorf("read is %+v, %v, %v", got, ok, err)
		}

		e.SQL(t, `ALTER DATABASE "§two" ALLOW_CONNECTIONS true`)
		for range 2 { // nor is dropping what is dropped
			if err := e.Service(t).DropRole(t.Context(), role); err != nil {
				t.Fatal(err)
			}
		}
		for _, database := range databases {
			var owner string
			const query = "SELECT pg_get_userbyid(relowner)::text FROM pg_class WHERE oid = 's.t'::regclass"
			if err := elsewhere(t, e.Provided(), database).QueryRow(t.Context(), query).Scan(&owner); err != nil || owner != e.User() {
				t.Errorf("the table in %s belongs to %q, %v", database, owner, err)
			}
		}
		is(t, e, e.User(), "SELECT pg_get_userbyid(relowner)::text FROM pg_class WHERE oid = 's.made_by_set'::regclass")
		is(t, e, "0", "SELECT count(*)::text FROM pg_roles WHERE rolname = '§emea'")
		is(t, e, "none", "SELECT CASE WHEN default_admin THEN 'admin' WHEN default_role_id IS NULL THEN 'none' ELSE 'a role' END FROM datatable_catalog.datatable WHERE name = 'main'")
		is(t, e, "1", "SELECT count(*)::text FROM datatable_catalog.tenant") // app's
		memberships(t, e, "")
		apply(m, makers(e, "gone", e.Name(others)))
		destroyed(t, e, m)
	})
}
