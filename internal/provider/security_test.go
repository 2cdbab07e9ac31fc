package provider_test

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/datatable-io/terraform-provider-datatable/internal/acctest"
	"github.com/datatable-io/terraform-provider-datatable/internal/datatable"
	"github.com/datatable-io/terraform-provider-datatable/internal/postgres"
	"github.com/datatable-io/terraform-provider-datatable/internal/privilege"
	"github.com/datatable-io/terraform-provider-datatable/internal/resolve"
)

// makers is a data table in which both roles may make objects in schema s.
// Mallory may use both, so she has a login of her own for the two. The second
// role is "on", "off" or "gone".
func makers(e *acctest.Env, second string, more ...string) string {
	text, tenants := `
resource "datatable_workspace" "acme" {
  name    = "acme"
  members = { mallory = { email = "mallory@acme.test" }, zoe = { email = "zoe@acme.test" } }
}
resource "datatable_role" "app" {
  name = "§app"
}
resource "datatable_grant" "app" {
  datatable   = datatable.main.name
  role        = datatable_role.app.name
  object_type = "schema"
  schema      = "s"
  privileges  = ["USAGE", "CREATE"]
}
`, ""
	if second != "gone" {
		tenants = `(datatable_role.emea.name) = ["u/mallory"]`
		text += `
resource "datatable_role" "emea" {
  name    = "§emea"
  enabled = ` + strconv.FormatBool(second == "on") + `
}
resource "datatable_grant" "emea" {
  datatable   = datatable.main.name
  role        = datatable_role.emea.name
  object_type = "schema"
  schema      = "s"
  privileges  = ["USAGE", "CREATE"]
}
`
	}
	return e.Provider(`lock_timeout = "10s"`) + e.Name(text+`
resource "datatable" "main" {
  database     = "§db"
  access       = "roles"
  default_role = datatable_role.app.name
  tenants = {
    (datatable_role.app.name) = ["*"]
    `+tenants+`
  }
}
`+strings.Join(more, "\n"))
}

// made is a module with the configuration, applied.
func made(t *testing.T, config string) *acctest.Module {
	t.Helper()
	m := acctest.NewModule(t, config)
	m.MustRun("apply", "-auto-approve", "-input=false")
	return m
}

// apply applies another configuration.
func apply(m *acctest.Module, config string) string {
	m.Write("main.tf", config)
	return m.MustRun("apply", "-auto-approve", "-input=false")
}

// refused checks that a command fails with all of the texts.
func refused(t *testing.T, m *acctest.Module, args []string, texts ...string) string {
	t.Helper()
	out, err := m.Run(append(args, "-input=false")...)
	if err == nil {
		t.Errorf("%s succeeded:\n%s", strings.Join(args, " "), out)
	}
	contains(t, out, texts...)
	return out
}

var applying, planning = []string{"apply", "-auto-approve"}, []string{"plan"}

// destroyed destroys everything, and nothing may be left over.
func destroyed(t *testing.T, e *acctest.Env, m *acctest.Module) {
	t.Helper()
	m.MustRun("destroy", "-auto-approve", "-input=false")
	if left := e.Leftovers(t); len(left) > 0 {
		t.Errorf("left over after destroy: %s", strings.Join(left, "; "))
	}
}

// do runs statements in a session.
func do(t *testing.T, c *pgx.Conn, e *acctest.Env, statements ...string) {
	t.Helper()
	for _, sql := range statements {
		if _, err := c.Exec(context.Background(), e.Name(sql)); err != nil {
			t.Fatalf("%s: %v", e.Name(sql), err)
		}
	}
}

// is checks what a query for one text returns to the superuser.
func is(t *testing.T, e *acctest.Env, want, sql string) {
	t.Helper()
	if got := e.Value(t, sql); got != e.Name(want) {
		t.Errorf("%s is %q, want %q", sql, got, e.Name(want))
	}
}

func TestPolicyCallsNothingThatARoleMade(t *testing.T) {
	both(t, func(t *testing.T, e *acctest.Env) {
		e.SQLAsProvider(t, "CREATE SCHEMA s", "CREATE TABLE s.t (region varchar(10))", "INSERT INTO s.t VALUES ('emea'), ('amer')")
		policy := func(using string) string {
			return makers(e, "on", `
resource "datatable_grant" "t" {
  datatable  = datatable.main.name
  role       = datatable_role.app.name
  schema     = "s"
  objects    = ["t"]
  privileges = ["SELECT"]
}`, using)
		}
		using := func(expression string) string {
			return policy(`
resource "datatable_policy" "p" {
  datatable = datatable.main.name
  name      = "p"
  schema    = "s"
  table     = "t"
  using     = "` + expression + `"
}`)
		}
		m := made(t, policy(""))
		app := e.Login(t, "§app")
		do(t, app.Connect(t), e, "CREATE FUNCTION s.pg_has_role(name, text, text) RETURNS bool LANGUAGE sql AS 'SELECT true'",
			"CREATE FUNCTION s.eq(varchar, varchar) RETURNS bool LANGUAGE sql AS 'SELECT true'",
			"CREATE OPERATOR s.= (FUNCTION = s.eq, LEFTARG = varchar, RIGHTARG = varchar)")
		e.SQLAsProvider(t, "CREATE TABLE public.members (name text)", "CREATE DOMAIN public.region AS text")
		do(t, app.Connect(t), e, "CREATE TABLE s.members (name text)", "CREATE DOMAIN s.region AS text CHECK (true)", "GRANT SELECT ON s.members TO PUBLIC")
		const ofRole, ofOperator = "function s.pg_has_role(name,text,text), which belongs to ", "operator s.=(character varying,character varying), which belongs to "
		for expression, texts := range map[string][]string{
			"pg_has_role(current_user, '§emea', 'member')":                          {ofRole + `"` + e.Name("§app") + `"`, "pg_catalog.pg_has_role"},
			"region = 'emea'::varchar":                                              {ofOperator + `"` + e.Name("§app") + `"`, "OPERATOR(pg_catalog.=)"},
			"exists (select from members m where m.name = current_user)":            {`table s.members, which belongs to "` + e.Name("§app") + `"`},
			"region::region is not null":                                            {`type s.region, which belongs to "` + e.Name("§app") + `"`},
			"region = 'a'::varchar or pg_has_role(current_user, '§emea', 'member')": {ofRole, ofOperator},
		} {
			m.Write("main.tf", using(expression))
			refused(t, m, applying, texts...)
			is(t, e, "0", "SELECT count(*)::text FROM pg_policies WHERE tablename = 't'")
			is(t, e, "false", "SELECT relrowsecurity::text FROM pg_class WHERE oid = 's.t'::regclass")
			is(t, e, "0", "SELECT count(*)::text FROM datatable_ledger.policy")
		}

		apply(m, using("region operator(pg_catalog.=) 'emea' and ${provider::datatable::member_of(datatable_role.emea.name)}"))
		const sees = "SELECT count(*)::text || coalesce(min(region), '') FROM s.t"
		set := e.Open(t, "acme", "datatable", "mallory", "mallory")
		for l, want := range map[acctest.Login]string{app: "0", set: "1emea"} {
			if got := l.Texts(t, sees)[0]; got != want {
				t.Errorf("%s sees %q, want %q", l.Name, got, want)
			}
		}

		// A policy that stands is not made to call it either.
		m.Write("main.tf", using("region = 'emea'::varchar"))
		refused(t, m, applying, ofOperator)
		if got := app.Texts(t, sees)[0]; got != "0" {
			t.Errorf("after a change that was refused, %s sees %q", app.Name, got)
		}
		e.SQL(t, "DROP FUNCTION s.eq CASCADE", "DROP FUNCTION s.pg_has_role")
		destroyed(t, e, m)
	})
}

// squats are ways to run code when a store is read or written.
var squats = []struct{ name, sql string }{
	{"a schema of another login", "CREATE SCHEMA VAR_STORE AUTHORIZATION §boss"},
	{"a table of another login", "CREATE SCHEMA VAR_STORE; CREATE TABLE VAR_STORE.x (a int); ALTER TABLE VAR_STORE.x OWNER TO §boss"},
	{"a view", "CREATE SCHEMA VAR_STORE; CREATE VIEW VAR_STORE.migration AS SELECT trap.f() AS version"},
	{"a trigger", "CREATE SCHEMA VAR_STORE; CREATE TABLE VAR_STORE.migration (version int); " +
		"CREATE TRIGGER x AFTER INSERT ON VAR_STORE.migration EXECUTE FUNCTION trap.g()"},
	{"a rule", "CREATE SCHEMA VAR_STORE; CREATE TABLE VAR_STORE.migration (version int); " +
		"CREATE RULE x AS ON INSERT TO VAR_STORE.migration DO ALSO SELECT trap.f()"},
}

// trap makes code of another login that says when it ran.
func trap(t *testing.T, e *acctest.Env) {
	t.Helper()
	e.SQL(t, "CREATE ROLE §boss LOGIN PASSWORD 'x'", "CREATE SCHEMA trap AUTHORIZATION §boss", "GRANT CREATE, CONNECT ON DATABASE §db TO §boss", "GRANT USAGE ON SCHEMA trap TO PUBLIC",
		"CREATE FUNCTION trap.f() RETURNS int LANGUAGE plpgsql AS $$BEGIN RAISE EXCEPTION 'it ran as %', current_user; END$$",
		"CREATE FUNCTION trap.g() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN RAISE EXCEPTION 'it ran as %', current_user; END$$",
		"ALTER FUNCTION trap.f() OWNER TO §boss", "ALTER FUNCTION trap.g() OWNER TO §boss")
}

func TestAStoreThatOthersCouldChangeIsNotUsed(t *testing.T) {
	for _, store := range []string{"datatable_catalog", "datatable_ledger"} {
		t.Run(store, func(t *testing.T) {
			both(t, func(t *testing.T, e *acctest.Env) {
				e.SQLAsProvider(t, "CREATE SCHEMA s")
				trap(t, e)
				m := made(t, makers(e, "on"))
				for _, squat := range squats {
					e.SQL(t, "DROP SCHEMA "+store+" CASCADE")
					run, texts := e.SQLAsProvider, []string{store + " has ", "is not used"}
					if squat.name == "a schema of another login" {
						run = e.SQL
						if e.Value(t, "SELECT rolsuper::text FROM pg_roles WHERE rolname = '"+e.User()+"'") == "false" {
							texts = []string{store + " was made by another login than the provider's"} // and is closed to it
						}
					}
					sql := replace(squat.sql, "VAR_STORE", store)
					create, owner, passed := strings.Cut(sql, "; ALTER")
					run(t, create)
					if passed {
						e.SQL(t, "ALTER"+owner)
					}
					for _, command := range [][]string{planning, applying} {
						out := refused(t, m, command, texts...)
						if strings.Contains(out, "it ran as") {
							t.Errorf("%s, %s: what another login made ran:\n%s", squat.name, command[0], out)
						}
					}
				}
			})
		})
	}
}

func TestAStoreThatWasMadeBeforehandIsNotUsed(t *testing.T) {
	for _, store := range []string{"datatable_catalog", "datatable_ledger"} {
		t.Run(store, func(t *testing.T) {
			both(t, func(t *testing.T, e *acctest.Env) {
				e.SQLAsProvider(t, "CREATE SCHEMA s")
				trap(t, e)
				do(t, e.WithPassword("§boss", "x").Connect(t), e, "CREATE SCHEMA "+store,
					"CREATE VIEW "+store+".migration AS SELECT trap.f() AS version", "GRANT ALL ON SCHEMA "+store+" TO PUBLIC", "GRANT ALL ON "+store+".migration TO PUBLIC")
				m := acctest.NewModule(t, makers(e, "on"))
				out := refused(t, m, applying, store+" has ", "of "+e.Name("§boss"), "is not used", "Drop the schema")
				if strings.Contains(out, "it ran as") {
					t.Errorf("what another login made ran:\n%s", out)
				}
				e.SQL(t, "DROP SCHEMA "+store+" CASCADE")
				apply(m, makers(e, "on"))
				destroyed(t, e, m)
			})
		})
	}
}

// closed are schemas that nothing is granted in.
var closed = []string{"pg_catalog", "pg_toast", "information_schema", "datatable_catalog", "datatable_ledger"}

func TestValidateRefusesSchemasThatAreForNobody(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	for i, schema := range closed {
		on := fmt.Sprintf("  datatable = \"d\"\n  schema = %q\n", schema)
		for _, arguments := range []string{"objects = [\"t\"]", "all_objects = true", "object_type = \"schema\""} {
			fmt.Fprintf(&b, "resource \"datatable_grant\" \"g%d_%d\" {\n%s  role = \"r\"\n  privileges = [\"ALL\"]\n  %s\n}\n", i, len(arguments), on, arguments)
		}
		fmt.Fprintf(&b, "resource \"datatable_policy\" \"p%d\" {\n%s  name = \"p\"\n  table = \"t\"\n  using = \"true\"\n}\n", i, on)
	}
	found := map[string]int{}
	for _, d := range acctest.NewModule(t, b.String()).Validate() {
		_, schema, _ := strings.Cut(d.Snippet.Code, "= ")
		if strings.Contains(unwrapped(d.Detail), "chema "+schema+" is Postgres's or the provider's own, and nobody is let into it") {
			found[strings.Trim(schema, `"`)]++
		}
	}
	for _, schema := range closed {
		if found[schema] != 4 {
			t.Errorf("%d of 4 blocks on schema %q are refused", found[schema], schema)
		}
	}
}

func TestApplyRefusesSchemasThatAreForNobody(t *testing.T) {
	both(t, func(t *testing.T, e *acctest.Env) {
		e.SQLAsProvider(t, "CREATE SCHEMA s")
		m := made(t, makers(e, "on"))
		for schema, table := range map[string]string{"pg_catalog": "pg_authid", "information_schema": "tables", "datatable_catalog": "role", "datatable_ledger": "claim"} {
			m.Write("main.tf", makers(e, "on", `
resource "terraform_data" "later" {
  input = "`+schema+`"
}
resource "datatable_grant" "objects" {
  datatable  = datatable.main.name
  role       = datatable_role.app.name
  schema     = terraform_data.later.output
  objects    = ["`+table+`"]
  privileges = ["ALL"]
}
resource "datatable_grant" "schema" {
  datatable   = datatable.main.name
  role        = datatable_role.app.name
  object_type = "schema"
  schema      = terraform_data.later.output
  privileges  = ["ALL"]
}
resource "datatable_policy" "p" {
  datatable = datatable.main.name
  name      = "p"
  schema    = terraform_data.later.output
  table     = "`+table+`"
  using     = "true"
}`))
			const own = "is Postgres's or the provider's own, and nobody is let into it"
			out := refused(t, m, applying, schema, own)
			if n := strings.Count(unwrapped(out), own); n != 3 {
				t.Errorf("%d of 3 on schema %s are refused:\n%s", n, schema, out)
			}
			// Terraform validates again with what it knows by then; the service does not count on it.
			key := resolve.Key{Workspace: "acme", Datatable: "main"}
			_, _, err := e.Service(t).CreateGrant(context.Background(), datatable.Grant{Datatable: key, Claim: privilege.Claim{
				Grantee: e.Name("§app"), Type: privilege.Table, Schema: schema, Objects: []string{table}, Privileges: []string{"SELECT"},
			}})
			if err == nil || !strings.Contains(err.Error(), own) {
				t.Errorf("a grant in schema %s: %v", schema, err)
			}
			_, err = e.Service(t).CreatePolicy(context.Background(), datatable.Policy{Datatable: key, WhenLastRemoved: datatable.Keep, Policy: postgres.Policy{
				Schema: schema, Table: table, Name: "p", Command: "ALL", Roles: []string{privilege.Public}, Using: &table,
			}})
			if err == nil || !strings.Contains(err.Error(), own) {
				t.Errorf("a policy in schema %s: %v", schema, err)
			}
			for _, privilege := range []string{"SELECT", "INSERT", "UPDATE"} {
				want := strconv.FormatBool(schema == "information_schema" && privilege == "SELECT") // PUBLIC's
				is(t, e, want, "SELECT has_table_privilege('§app', '"+schema+"."+table+"', '"+privilege+"')::text")
			}
			is(t, e, "false", "SELECT has_schema_privilege('§app', '"+schema+"', 'CREATE')::text")
			is(t, e, "0", "SELECT count(*)::text FROM pg_policy WHERE polrelid = '"+schema+"."+table+"'::regclass")
			apply(m, makers(e, "on"))
		}
		e.Login(t, "§app").Denied(t, "SELECT * FROM datatable_catalog.role", "SELECT * FROM datatable_ledger.claim", "SELECT * FROM pg_authid")
		destroyed(t, e, m)
	})
}

func TestANameWithControlCharactersIsGrantedAndDoesNothingToATerminal(t *testing.T) {
	both(t, func(t *testing.T, e *acctest.Env) {
		e.SQLAsProvider(t, "CREATE SCHEMA s", "CREATE TABLE s.t (a int)")
		all := func(privileges string) string {
			return makers(e, "on", `
resource "datatable_grant" "all" {
  datatable   = datatable.main.name
  role        = datatable_role.emea.name
  schema      = "s"
  all_objects = true
  privileges  = [`+privileges+`]
}
resource "datatable_grant" "functions" {
  datatable   = datatable.main.name
  role        = datatable_role.emea.name
  object_type = "function"
  schema      = "s"
  all_objects = true
  privileges  = ["EXECUTE"]
}`)
		}
		quiet := func(out string) {
			t.Helper()
			if strings.ContainsAny(out, "\x1b\u009b") {
				t.Errorf("the terminal is sent an escape: %q", out)
			}
		}
		m := made(t, all(`"SELECT"`))
		table := "s." + pgx.Identifier{"x\"; ALTER ROLE " + e.Name("§app") + " SUPERUSER; --\n\x1b[31m\\001bApply complete!"}.Sanitize()
		function := "s." + pgx.Identifier{"f\"\x1b[31m\u009b"}.Sanitize()
		do(t, e.Login(t, "§app").Connect(t), e, "CREATE TABLE "+table+" (a int)",
			"CREATE FUNCTION "+function+"() RETURNS int LANGUAGE sql AS 'SELECT 1'", "REVOKE ALL ON FUNCTION "+function+"() FROM PUBLIC")
		quiet(m.MustRun("plan", "-input=false"))
		quiet(apply(m, all(`"SELECT", "INSERT"`)))
		e.Login(t, "§emea").Works(t, "SELECT * FROM "+table, "INSERT INTO "+table+" VALUES (1)", "SELECT "+function+"()")
		e.Login(t, "§emea").Denied(t, "DELETE FROM "+table)
		is(t, e, "false", "SELECT rolsuper::text FROM pg_roles WHERE rolname = '§app'")
		quiet(m.MustRun("plan", "-input=false"))
		quiet(apply(m, makers(e, "on")))
		e.Login(t, "§emea").Denied(t, "SELECT * FROM "+table, "SELECT "+function+"()")
		e.SQL(t, "DROP TABLE "+table, "DROP FUNCTION "+function+"()")
		destroyed(t, e, m)
	})
}

func TestAnErrorThatNamesWhatARoleMadeDoesNothingToATerminal(t *testing.T) {
	e := acctest.New(t)
	e.SQLAsProvider(t, "CREATE SCHEMA s", "CREATE TABLE s.t (a int)")
	m := made(t, makers(e, "on"))
	function := "s." + pgx.Identifier{"f\x1b[31m\r"}.Sanitize()
	do(t, e.Login(t, "§emea").Connect(t), e, "CREATE FUNCTION "+function+"() RETURNS int SECURITY DEFINER LANGUAGE sql AS 'SELECT 1'")
	m.Write("main.tf", makers(e, "gone"))
	if out := refused(t, m, applying, "made code that would run with the rights of"); strings.ContainsAny(out, "\x1b\r") {
		t.Errorf("the terminal is sent an escape: %q", out)
	}
	e.SQL(t, "DROP FUNCTION "+function+"()")
	destroyed(t, e, m)
}

func TestAnEmailOfOtherLettersIsAnotherPerson(t *testing.T) {
	e := acctest.New(t)
	m := made(t, e.Config(`
resource "datatable_workspace" "parent" {
  name    = "parent"
  members = { mike = { email = "mike@acme.test", admin = true } }
}
resource "datatable_workspace" "child" {
  name    = "child"
  members = { eve = { email = "eve@acme.test" }, mike = { email = "MIKE@acme.test" } }
  parent  = datatable_workspace.parent.name
}
resource "datatable" "parent" {
  workspace    = datatable_workspace.parent.name
  database     = "§db"
  access       = "roles"
  default_role = "admin"
  tenants      = {}
}
resource "datatable" "child" {
  workspace   = datatable_workspace.child.name
  name        = "child"
  database    = "§db"
  governed_by = { workspace = "parent", datatable = datatable.parent.name }
}`))
	// Terraform itself turns the Kelvin sign of a configuration into a K; who
	// asks for a connection by other ways can have it.
	const kelvin = "mi\u212Ae@acme.test"
	e.SQL(t, "UPDATE datatable_catalog.member SET email = '"+kelvin+"' WHERE username = 'eve'")
	for user, allowed := range map[string]bool{"mike": true, "MIKE@acme.test": true, "eve": false, kelvin: false} {
		c, err := e.Service(t).ResolveText(context.Background(), "datatable://child", resolve.Request{Workspace: "child", Identity: resolve.Person{User: user}})
		if err != nil {
			t.Fatal(err)
		}
		if c.Allowed() != allowed {
			t.Errorf("%q is allowed: %t, want %t: %v", user, c.Allowed(), allowed, c.Trace)
		}
	}
	destroyed(t, e, m)
}

func TestALoginReachesNothingThatItWasNotGiven(t *testing.T) {
	both(t, func(t *testing.T, e *acctest.Env) {
		// Privileges that were left lying about for whatever is made later.
		e.SQL(t, "CREATE ROLE §stranger LOGIN PASSWORD 'x'")
		e.SQLAsProvider(t, "CREATE SCHEMA s", "CREATE TABLE s.t (a int)", "ALTER DEFAULT PRIVILEGES GRANT ALL ON TABLES TO PUBLIC",
			"ALTER DEFAULT PRIVILEGES GRANT ALL ON SCHEMAS TO PUBLIC", "ALTER DEFAULT PRIVILEGES GRANT ALL ON TABLES TO §stranger")
		m := made(t, makers(e, "on", `
resource "datatable_role" "third" {
  name = "§third"
}
resource "datatable_policy" "p" {
  datatable = datatable.main.name
  name      = "p"
  schema    = "s"
  table     = "t"
  using     = "true"
}`))
		e.SQL(t, "GRANT CONNECT ON DATABASE §db TO §stranger", "GRANT USAGE ON SCHEMA s TO §stranger")
		owner := e.Value(t, "SELECT quote_ident(pg_get_userbyid(datdba)) FROM pg_database WHERE datname = current_database()")
		for _, l := range []acctest.Login{e.Login(t, "§app"), e.Login(t, "§emea"), e.Open(t, "acme", "datatable", "mallory", "mallory"), e.WithPassword("§stranger", "x")} {
			l.Works(t, "SELECT 1")
			for _, sql := range []string{
				"SELECT * FROM datatable_catalog.role", "SELECT * FROM datatable_catalog.role_set", "INSERT INTO datatable_catalog.tenant DEFAULT VALUES",
				"SELECT * FROM datatable_ledger.claim", "DELETE FROM datatable_ledger.policy", "DROP SCHEMA datatable_ledger CASCADE", "DROP SCHEMA datatable_catalog CASCADE",
				"CREATE TABLE datatable_ledger.x ()", "ALTER TABLE datatable_catalog.role DISABLE TRIGGER ALL",
				"LOCK TABLE datatable_catalog.migration IN EXCLUSIVE MODE", "LOCK TABLE datatable_ledger.migration IN ACCESS SHARE MODE",
				"SET ROLE " + owner, "SET SESSION AUTHORIZATION " + owner, "SET ROLE §third", "SET SESSION AUTHORIZATION §app",
				"CREATE TABLE public.x (a int)", "CREATE FUNCTION public.f() RETURNS int LANGUAGE sql AS 'SELECT 1'", "CREATE SCHEMA x",
				"ALTER POLICY p ON s.t USING (false)", "DROP POLICY p ON s.t", "ALTER TABLE s.t DISABLE ROW LEVEL SECURITY",
				"CREATE ROLE §evil", "GRANT §third TO " + l.Name, "GRANT SELECT ON pg_authid TO " + l.Name, "GRANT CREATE ON SCHEMA public TO " + l.Name,
				"SELECT * FROM pg_authid", "SELECT passwd FROM pg_shadow", "ALTER ROLE " + l.Name + " SUPERUSER", "ALTER ROLE " + l.Name + " BYPASSRLS", "ALTER ROLE §third PASSWORD 'x'",
				"COMMENT ON ROLE §third IS 'mine'",
			} {
				if l.Name == e.Name("§app") && sql == "SET SESSION AUTHORIZATION §app" {
					continue // it is that
				}
				if sql == "GRANT CREATE ON SCHEMA public TO "+l.Name {
					// Postgres warns of it, and grants nothing.
					_, _ = l.Connect(t).Exec(context.Background(), sql)
					is(t, e, "false", "SELECT has_schema_privilege('"+l.Name+"', 'public', 'CREATE')::text")
					continue
				}
				l.Denied(t, e.Name(sql))
			}
		}
		e.SQL(t, "REVOKE ALL ON SCHEMA s FROM §stranger", "REVOKE CONNECT ON DATABASE §db FROM §stranger")
		destroyed(t, e, m)
		e.SQLAsProvider(t, "ALTER DEFAULT PRIVILEGES REVOKE ALL ON TABLES FROM PUBLIC, §stranger", "ALTER DEFAULT PRIVILEGES REVOKE ALL ON SCHEMAS FROM PUBLIC")
	})
}
