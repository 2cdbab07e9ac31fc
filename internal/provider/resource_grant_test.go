package provider_test

import (
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"

	"github.com/datatable-io/terraform-provider-datatable/internal/acctest"
)

// both runs a test as a superuser, and as a login with CREATEROLE that owns
// the database.
func both(t *testing.T, test func(t *testing.T, e *acctest.Env)) {
	t.Helper()
	t.Run("superuser", func(t *testing.T) { test(t, acctest.New(t)) })
	t.Run("owner", func(t *testing.T) { test(t, acctest.NewOwner(t)) })
}

// oneRole is a data table under roles with one role that everyone may use.
const oneRole = `
resource "datatable_workspace" "acme" {
  name    = "acme"
  members = { bob = { email = "bob@acme.test" } }
}
resource "datatable_role" "reader" {
  name = "§reader"
}
resource "datatable" "main" {
  database     = "§db"
  access       = "roles"
  default_role = datatable_role.reader.name
  tenants      = { (datatable_role.reader.name) = ["*"] }
}
`

func TestGrantOnTablesChangesInPlace(t *testing.T) {
	both(t, func(t *testing.T, e *acctest.Env) {
		e.SQLAsProvider(t, "CREATE SCHEMA s", "CREATE TABLE s.t1 (a int)", "CREATE TABLE s.t2 (a int)")
		grant := func(arguments string) string {
			return e.Config(oneRole + `
resource "datatable_grant" "it" {
  datatable = datatable.main.name
  role      = datatable_role.reader.name
  schema    = "s"
  ` + arguments + `
}`)
		}
		const address = "datatable_grant.it"
		reader := func(t *testing.T) acctest.Login { return e.Login(t, "§reader") }
		e.Test(
			t,
			resource.TestStep{
				Config: grant(`objects = ["t1"]
  privileges = ["SELECT"]`),
				ConfigPlanChecks: acctest.Plan(e.Statements(address,
					`GRANT USAGE ON SCHEMA "s" TO "§reader"`,
					`GRANT SELECT ON TABLE "s"."t1" TO "§reader"`)),
				Check: acctest.Check(t, func(t *testing.T) {
					reader(t).Works(t, "SELECT * FROM s.t1")
					reader(t).Denied(t, "SELECT * FROM s.t2", "INSERT INTO s.t1 VALUES (1)", "CREATE TABLE s.t3 (a int)")
				}),
			},
			resource.TestStep{
				Config: grant(`objects = ["t1", "t2"]
  privileges = ["SELECT", "INSERT"]`),
				ConfigPlanChecks: acctest.Plan(
					plancheck.ExpectResourceAction(address, plancheck.ResourceActionUpdate),
					e.Statements(address,
						`GRANT INSERT ON TABLE "s"."t1" TO "§reader"`,
						`GRANT SELECT, INSERT ON TABLE "s"."t2" TO "§reader"`,
						`GRANT USAGE ON SEQUENCE … TO "§reader" -- of serial columns of "s"."t1", "s"."t2"`)),
				Check: acctest.Check(t, func(t *testing.T) {
					reader(t).Works(t, "SELECT * FROM s.t1, s.t2", "INSERT INTO s.t2 VALUES (1)")
					reader(t).Denied(t, "UPDATE s.t1 SET a = 1", "DELETE FROM s.t2")
				}),
			},
			resource.TestStep{
				Config: grant(`all_objects = true
  privileges = ["SELECT"]`),
				ConfigPlanChecks: acctest.Plan(e.Statements(address,
					`GRANT SELECT ON ALL TABLES IN SCHEMA "s" TO "§reader"`,
					`REVOKE USAGE ON SEQUENCE … FROM "§reader" -- of serial columns of "s"."t1", "s"."t2"`,
					`REVOKE INSERT ON TABLE "s"."t1", "s"."t2" FROM "§reader"`)),
				Check: acctest.Check(t, func(t *testing.T) {
					reader(t).Works(t, "SELECT * FROM s.t1, s.t2")
					reader(t).Denied(t, "INSERT INTO s.t2 VALUES (1)")
				}),
			},
			resource.TestStep{
				// A table made since is planned, and nothing else.
				PreConfig: func() { e.SQLAsProvider(t, "CREATE TABLE s.t3 (a int)") },
				Config: grant(`all_objects = true
  privileges = ["SELECT"]`),
				ConfigPlanChecks: acctest.Plan(e.Statements(address, `GRANT SELECT ON TABLE "s"."t3" TO "§reader"`)),
				Check: acctest.Check(t, func(t *testing.T) {
					reader(t).Works(t, "SELECT * FROM s.t3")
				}),
			},
			resource.TestStep{
				Config: grant(`objects = ["t2"]
  privileges = ["SELECT"]`),
				ConfigPlanChecks: acctest.Plan(e.Statements(address, `REVOKE SELECT ON TABLE "s"."t1", "s"."t3" FROM "§reader"`)),
				Check: acctest.Check(t, func(t *testing.T) {
					reader(t).Works(t, "SELECT * FROM s.t2")
					reader(t).Denied(t, "SELECT * FROM s.t1", "SELECT * FROM s.t3")
				}),
			},
			resource.TestStep{
				Config: grant(`objects = ["t2"]
  privileges = ["ALL"]`),
				Check: acctest.Check(t, func(t *testing.T) {
					reader(t).Works(t, "DELETE FROM s.t2", "TRUNCATE s.t2")
				}),
			},
			resource.TestStep{
				ResourceName: address, ImportState: true, ImportStateVerify: true,
				ImportStateVerifyIgnore: []string{"statements"},
				ImportStateId:           e.Name("acme/main/§reader/table/s/t2"),
			},
			resource.TestStep{
				Config: e.Config(oneRole),
				Check: acctest.Check(t, func(t *testing.T) {
					reader(t).Denied(t, "SELECT * FROM s.t2")
				}),
			},
		)
	})
}

func TestGrantOnSchemaAndDatabase(t *testing.T) {
	both(t, func(t *testing.T, e *acctest.Env) {
		e.SQLAsProvider(t, "CREATE SCHEMA s")
		config := func(schema, database string) string {
			return e.Config(oneRole + `
resource "datatable_grant" "schema" {
  datatable   = datatable.main.name
  role        = datatable_role.reader.name
  object_type = "schema"
  schema      = "s"
  privileges  = ` + schema + `
}
resource "datatable_grant" "database" {
  datatable   = datatable.main.name
  role        = datatable_role.reader.name
  object_type = "database"
  privileges  = ` + database + `
}`)
		}
		e.Test(
			t,
			resource.TestStep{
				Config: config(`["USAGE", "CREATE"]`, `["CREATE"]`),
				ConfigPlanChecks: acctest.Plan(
					e.Statements("datatable_grant.schema", `GRANT CREATE, USAGE ON SCHEMA "s" TO "§reader"`),
					// Which database it is only the catalog tells.
					e.Statements("datatable_grant.database", `GRANT CREATE ON DATABASE … TO "§reader"`)),
				Check: acctest.Check(t, func(t *testing.T) {
					e.Login(t, "§reader").Works(t, "CREATE TABLE s.mine (a int)", "CREATE SCHEMA mine")
				}),
			},
			resource.TestStep{
				Config: config(`["USAGE"]`, `["ALL"]`),
				ConfigPlanChecks: acctest.Plan(
					e.Statements("datatable_grant.schema", `REVOKE CREATE ON SCHEMA "s" FROM "§reader"`),
					e.Statements("datatable_grant.database", `GRANT ALL ON DATABASE "§db" TO "§reader"`)),
				Check: acctest.Check(t, func(t *testing.T) {
					e.Login(t, "§reader").Denied(t, "CREATE TABLE s.mine (a int)")
					e.Login(t, "§reader").Works(t, "CREATE SCHEMA mine")
				}),
			},
			resource.TestStep{
				// The data table wants CONNECT too, so it stays when the grant goes.
				Config: e.Config(oneRole),
				Check: acctest.Check(t, func(t *testing.T) {
					e.Login(t, "§reader").Works(t, "SELECT 1")
					e.Login(t, "§reader").Denied(t, "CREATE SCHEMA mine")
				}),
			},
		)
	})
}

func TestGrantsThatOverlapLiveTogether(t *testing.T) {
	both(t, func(t *testing.T, e *acctest.Env) {
		e.SQLAsProvider(t, "CREATE TABLE public.t (a int)")
		grant := func(name, privileges string) string {
			return `
resource "datatable_grant" "` + name + `" {
  datatable  = datatable.main.name
  role       = datatable_role.reader.name
  schema     = "public"
  objects    = ["t"]
  privileges = ` + privileges + `
}`
		}
		read, write := grant("read", `["SELECT"]`), grant("write", `["SELECT", "INSERT"]`)
		works := func(statements ...string) resource.TestCheckFunc {
			return acctest.Check(t, func(t *testing.T) { e.Login(t, "§reader").Works(t, statements...) })
		}
		e.Test(
			t,
			resource.TestStep{Config: e.Config(oneRole + read + write), Check: works("SELECT * FROM t", "INSERT INTO t VALUES (1)")},
			resource.TestStep{Config: e.Config(oneRole + write), Check: works("SELECT * FROM t", "INSERT INTO t VALUES (1)")},
			resource.TestStep{Config: e.Config(oneRole + read + write), Check: works("SELECT * FROM t", "INSERT INTO t VALUES (1)")},
			resource.TestStep{
				Config: e.Config(oneRole + read),
				Check: resource.ComposeTestCheckFunc(works("SELECT * FROM t"), acctest.Check(t, func(t *testing.T) {
					e.Login(t, "§reader").Denied(t, "INSERT INTO t VALUES (1)")
				})),
			},
			// Both go at once: whichever is last takes what they shared.
			resource.TestStep{Config: e.Config(oneRole + read + write)},
			resource.TestStep{
				Config: e.Config(oneRole),
				Check: acctest.Check(t, func(t *testing.T) {
					e.Login(t, "§reader").Denied(t, "SELECT * FROM t", "INSERT INTO t VALUES (1)")
				}),
			},
		)
	})
}

func TestGrantDriftIsPlanned(t *testing.T) {
	both(t, func(t *testing.T, e *acctest.Env) {
		e.SQLAsProvider(t, "CREATE SCHEMA s", "CREATE TABLE s.t (a int)", "CREATE VIEW s.v AS SELECT 1 AS a", "CREATE TABLE s.gone (a int)")
		config := e.Config(oneRole + `
resource "datatable_grant" "it" {
  datatable  = datatable.main.name
  role       = datatable_role.reader.name
  schema     = "s"
  objects    = ["t", "v", "gone"]
  privileges = ["SELECT", "UPDATE"]
}`)
		const address = "datatable_grant.it"
		e.Test(
			t,
			resource.TestStep{Config: config},
			resource.TestStep{
				PreConfig:        func() { e.SQL(t, `REVOKE UPDATE ON s.t, s.v FROM "§reader"`) },
				Config:           config,
				ConfigPlanChecks: acctest.Plan(e.Statements(address, `GRANT UPDATE ON TABLE "s"."t", "s"."v" TO "§reader"`)),
				Check:            acctest.Check(t, func(t *testing.T) { e.Login(t, "§reader").Works(t, "UPDATE s.t SET a = 1") }),
			},
			resource.TestStep{
				PreConfig: func() { e.SQL(t, `REVOKE ALL ON SCHEMA s FROM "§reader"`) },
				Config:    config,
				ConfigPlanChecks: acctest.Plan(e.Statements(address,
					`GRANT USAGE ON SCHEMA "s" TO "§reader"`)),
				Check: acctest.Check(t, func(t *testing.T) { e.Login(t, "§reader").Works(t, "SELECT * FROM s.t") }),
			},
			resource.TestStep{
				// What is gone is named by the plan, and granted when it is back.
				PreConfig: func() { e.SQL(t, "DROP TABLE s.gone") },
				Config:    config, PlanOnly: true, ExpectNonEmptyPlan: true,
			},
			resource.TestStep{
				Config: config, ExpectError: match(`Table "s"."gone" does not exist`),
			},
			resource.TestStep{
				PreConfig:        func() { e.SQLAsProvider(t, "CREATE TABLE s.gone (a int)") },
				Config:           config,
				ConfigPlanChecks: acctest.Plan(e.Statements(address, `GRANT SELECT, UPDATE ON TABLE "s"."gone" TO "§reader"`)),
			},
			resource.TestStep{
				// The claim itself is gone: it is made again, with nothing to revoke.
				PreConfig: func() { e.SQL(t, "DELETE FROM datatable_ledger.claim") },
				Config:    config,
				ConfigPlanChecks: acctest.Plan(
					plancheck.ExpectResourceAction(address, plancheck.ResourceActionCreate)),
			},
			resource.TestStep{
				PreConfig: func() { e.SQL(t, "DROP SCHEMA s CASCADE") },
				Config:    e.Config(oneRole),
			},
		)
	})
}

func TestGrantToPublic(t *testing.T) {
	both(t, func(t *testing.T, e *acctest.Env) {
		e.SQLAsProvider(t, "CREATE SCHEMA s", "CREATE TABLE s.t (a int)")
		public := `
resource "datatable_grant" "it" {
  datatable  = datatable.main.name
  role       = "public"
  schema     = "s"
  objects    = ["t"]
  privileges = ["SELECT"]
}`
		e.Test(
			t,
			resource.TestStep{
				Config: e.Config(oneRole + public),
				ConfigPlanChecks: acctest.Plan(e.Statements("datatable_grant.it",
					`GRANT USAGE ON SCHEMA "s" TO PUBLIC`, `GRANT SELECT ON TABLE "s"."t" TO PUBLIC`)),
				Check: acctest.Check(t, func(t *testing.T) { e.Login(t, "§reader").Works(t, "SELECT * FROM s.t") }),
			},
			resource.TestStep{
				ResourceName: "datatable_grant.it", ImportState: true, ImportStateVerify: true,
				ImportStateVerifyIgnore: []string{"statements"}, ImportStateId: "acme/main/public/table/s/t",
			},
			resource.TestStep{
				Config: e.Config(oneRole),
				Check:  acctest.Check(t, func(t *testing.T) { e.Login(t, "§reader").Denied(t, "SELECT * FROM s.t") }),
			},
		)
	})
}

func TestGrantStopsWhenMoreIsNeededThanPlanned(t *testing.T) {
	both(t, func(t *testing.T, e *acctest.Env) {
		e.SQLAsProvider(t, "CREATE SCHEMA s", "CREATE TABLE s.a (a int)", "CREATE TABLE s.b (a int)")
		grant := func(objects string) string {
			return e.Config(oneRole + `
resource "datatable_grant" "it" {
  datatable  = datatable.main.name
  role       = datatable_role.reader.name
  schema     = "s"
  objects    = ` + objects + `
  privileges = ["SELECT"]
}`)
		}
		m := acctest.NewModule(t, grant(`["a"]`))
		m.MustRun("apply", "-auto-approve", "-input=false")
		m.Write("main.tf", grant(`["a", "b"]`))
		m.MustRun("plan", "-out=plan", "-input=false")
		e.SQL(t, `REVOKE SELECT ON s.a FROM "§reader"`)
		out, err := m.Run("apply", "-input=false", "plan")
		if err == nil {
			t.Fatalf("a stale plan was applied:\n%s", out)
		}
		contains(t, out, `GRANT SELECT ON TABLE "s"."a" TO "`+e.Name("§reader")+`"`, "Plan again", "Nothing was changed")
		e.Login(t, "§reader").Denied(t, "SELECT * FROM s.b")

		// Needing less is fine.
		m.MustRun("plan", "-out=plan", "-input=false")
		e.SQL(t, `GRANT SELECT ON s.a TO "§reader"`)
		m.MustRun("apply", "-input=false", "plan")
		e.Login(t, "§reader").Works(t, "SELECT * FROM s.a, s.b")
		m.MustRun("destroy", "-auto-approve", "-input=false")
		if left := e.Leftovers(t); len(left) > 0 {
			t.Errorf("left over: %q", left)
		}
	})
}

func TestNamesOfEveryKindSurvive(t *testing.T) {
	both(t, func(t *testing.T, e *acctest.Env) {
		e.SQLAsProvider(t, `CREATE SCHEMA "Sch.ema 1/%"`,
			`CREATE TABLE "Sch.ema 1/%"."üm""läut@x,y" (a int)`,
			`CREATE TABLE "Sch.ema 1/%"."0123456789012345678901234567890123456789012345678901234567890ab" (a int)`)
		config := e.Config(oneRole + `
resource "datatable_grant" "it" {
  datatable  = datatable.main.name
  role       = datatable_role.reader.name
  schema     = "Sch.ema 1/%"
  objects    = ["üm\"läut@x,y", "0123456789012345678901234567890123456789012345678901234567890ab"]
  privileges = ["SELECT"]
}
resource "datatable_policy" "it" {
  datatable = datatable.main.name
  name      = "pöl.icy \"1\""
  schema    = "Sch.ema 1/%"
  table     = "üm\"läut@x,y"
  using     = "a > 0"
}`)
		e.Test(
			t,
			resource.TestStep{Config: config, Check: acctest.Check(t, func(t *testing.T) {
				e.Login(t, "§reader").Works(t, `SELECT * FROM "Sch.ema 1/%"."üm""läut@x,y"`)
			})},
			resource.TestStep{
				ResourceName: "datatable_grant.it", ImportState: true, ImportStateVerify: true,
				ImportStateVerifyIgnore: []string{"statements"},
				ImportStateId: e.Name("acme/main/§reader/table/Sch.ema%201%2F%25/" +
					"0123456789012345678901234567890123456789012345678901234567890ab,%C3%BCm%22l%C3%A4ut%40x%2Cy"),
			},
			resource.TestStep{
				ResourceName: "datatable_policy.it", ImportState: true, ImportStateVerify: true,
				ImportStateVerifyIgnore: []string{"statements"}, ImportStateVerifyIdentifierAttribute: "name",
				ImportStateId: "acme/main/Sch.ema%201%2F%25/%C3%BCm%22l%C3%A4ut%40x%2Cy/p%C3%B6l.icy%20%221%22",
			},
		)
	})
}

func TestGrantOnColumns(t *testing.T) {
	both(t, func(t *testing.T, e *acctest.Env) {
		e.SQLAsProvider(t, `CREATE TABLE t (a int, b int, "C d" int)`)
		grant := func(name, arguments string) string {
			return "resource \"datatable_grant\" \"" + name + "\" {\n  datatable = datatable.main.name\n  role = datatable_role.reader.name\n  schema = \"public\"\n  objects = [\"t\"]\n  " + arguments + "\n}\n"
		}
		reader := func() acctest.Login { return e.Login(t, "§reader") }
		columns := grant("columns", `columns = ["a", "C d"]
  privileges = ["SELECT", "UPDATE"]`)
		e.Test(
			t,
			resource.TestStep{
				Config: e.Config(oneRole + columns),
				ConfigPlanChecks: acctest.Plan(e.Statements("datatable_grant.columns",
					`GRANT USAGE ON SCHEMA "public" TO "§reader"`,
					`GRANT SELECT ("C d", "a"), UPDATE ("C d", "a") ON TABLE "public"."t" TO "§reader"`)),
				Check: acctest.Check(t, func(t *testing.T) {
					reader().Works(t, `SELECT a, "C d" FROM t`, "UPDATE t SET a = 1")
					reader().Denied(t, "SELECT b FROM t", "SELECT * FROM t", "UPDATE t SET b = 1", "INSERT INTO t (a) VALUES (1)")
				}),
			},
			resource.TestStep{
				PreConfig:        func() { e.SQL(t, `REVOKE UPDATE (a) ON t FROM "§reader"`) },
				Config:           e.Config(oneRole + columns),
				ConfigPlanChecks: acctest.Plan(e.Statements("datatable_grant.columns", `GRANT UPDATE ("a") ON TABLE "public"."t" TO "§reader"`)),
			},
			resource.TestStep{
				Config: e.Config(oneRole + columns + grant("table", `privileges = ["SELECT"]`)),
				Check:  acctest.Check(t, func(t *testing.T) { reader().Works(t, "SELECT * FROM t") }),
			},
			resource.TestStep{
				// Revoking on the table takes the columns along, which are granted again.
				Config: e.Config(oneRole + columns),
				Check: acctest.Check(t, func(t *testing.T) {
					reader().Works(t, `SELECT a, "C d" FROM t`, "UPDATE t SET a = 1")
					reader().Denied(t, "SELECT b FROM t")
				}),
			},
			resource.TestStep{
				Config: e.Config(oneRole + grant("columns", `columns = ["b"]
  privileges = ["ALL"]`)),
				Check: acctest.Check(t, func(t *testing.T) {
					reader().Works(t, "SELECT b FROM t", "INSERT INTO t (b) VALUES (1)")
					reader().Denied(t, "SELECT a FROM t", "UPDATE t SET a = 1")
				}),
			},
			resource.TestStep{Config: e.Config(oneRole), Check: acctest.Check(t, func(t *testing.T) { reader().Denied(t, "SELECT b FROM t") })},
		)
	})
}

func TestGrantOnSequencesAndSerialColumns(t *testing.T) {
	both(t, func(t *testing.T, e *acctest.Env) {
		e.SQLAsProvider(t, "CREATE SEQUENCE s", "CREATE TABLE t (id serial, a int)", "CREATE TABLE i (id int GENERATED ALWAYS AS IDENTITY, a int)")
		grant := func(name, arguments string) string {
			return "resource \"datatable_grant\" \"" + name + "\" {\n  datatable = datatable.main.name\n  role = datatable_role.reader.name\n  schema = \"public\"\n  " + arguments + "\n}\n"
		}
		reader := func() acctest.Login { return e.Login(t, "§reader") }
		e.Test(
			t,
			resource.TestStep{
				Config: e.Config(oneRole + grant("s", `object_type = "sequence"
  objects = ["s"]
  privileges = ["USAGE"]`) + grant("t", `objects = ["t", "i"]
  privileges = ["INSERT"]`)),
				ConfigPlanChecks: acctest.Plan(e.Statements("datatable_grant.s",
					`GRANT USAGE ON SCHEMA "public" TO "§reader"`, `GRANT USAGE ON SEQUENCE "public"."s" TO "§reader"`)),
				Check: acctest.Check(t, func(t *testing.T) {
					reader().Works(t, "SELECT nextval('s')", "INSERT INTO t (a) VALUES (1)", "INSERT INTO i (a) VALUES (1)")
					reader().Denied(t, "SELECT * FROM s", "SELECT * FROM t", "SELECT setval('s', 9)")
				}),
			},
			resource.TestStep{
				PreConfig: func() { e.SQL(t, `REVOKE ALL ON SEQUENCE t_id_seq FROM "§reader"`) },
				Config: e.Config(oneRole + grant("s", `object_type = "sequence"
  all_objects = true
  privileges = ["ALL"]`) + grant("t", `objects = ["t", "i"]
  privileges = ["INSERT"]`)),
				ConfigPlanChecks: acctest.Plan(e.Statements("datatable_grant.t", `GRANT USAGE ON SEQUENCE "public"."t_id_seq" TO "§reader"`)),
				Check:            acctest.Check(t, func(t *testing.T) { reader().Works(t, "SELECT setval('s', 9)", "INSERT INTO t (a) VALUES (1)") }),
			},
			resource.TestStep{
				Config: e.Config(oneRole + grant("t", `objects = ["t", "i"]
  privileges = ["INSERT"]`)),
				Check: acctest.Check(t, func(t *testing.T) {
					reader().Works(t, "INSERT INTO t (a) VALUES (1)")
					reader().Denied(t, "SELECT nextval('s')", "SELECT setval('t_id_seq', 9)")
				}),
			},
			resource.TestStep{
				Config: e.Config(oneRole + grant("t", `objects = ["t", "i"]
  privileges = ["SELECT"]`)),
				Check: acctest.Check(t, func(t *testing.T) { reader().Denied(t, "SELECT nextval('t_id_seq')", "INSERT INTO t (a) VALUES (1)") }),
			},
		)
	})
}

func TestGrantOnFunctions(t *testing.T) {
	both(t, func(t *testing.T, e *acctest.Env) {
		e.SQLAsProvider(t, "CREATE SCHEMA s", "CREATE TYPE s.mood AS ENUM ('a')",
			"CREATE FUNCTION s.f(text, character) RETURNS int LANGUAGE sql AS 'SELECT 1'",
			"CREATE FUNCTION s.f(text) RETURNS int LANGUAGE sql AS 'SELECT 2'",
			"CREATE FUNCTION s.f(numeric(10,2)) RETURNS int LANGUAGE sql AS 'SELECT 3'",
			`CREATE FUNCTION s."My f"(s.mood, int[]) RETURNS int LANGUAGE sql AS 'SELECT 4'`,
			"CREATE PROCEDURE s.p(int) LANGUAGE sql AS 'SELECT 5'",
			"REVOKE EXECUTE ON ALL ROUTINES IN SCHEMA s FROM PUBLIC")
		grant := func(objects string) string {
			return e.Config(oneRole + `
resource "datatable_grant" "it" {
  datatable   = datatable.main.name
  role        = datatable_role.reader.name
  object_type = "function"
  schema      = "s"
  ` + objects + `
  privileges  = ["EXECUTE"]
}`)
		}
		reader := func() acctest.Login { return e.Login(t, "§reader") }
		const one, two, three, four, five = "SELECT s.f('a', 'b'::character)", "SELECT s.f('a')", "SELECT s.f(1.5)", `SELECT s."My f"('a', '{1}')`, "CALL s.p(1)"
		e.Test(
			t,
			resource.TestStep{
				Config: grant(`objects = ["f(text, character)"]`),
				ConfigPlanChecks: acctest.Plan(e.Statements("datatable_grant.it",
					`GRANT USAGE ON SCHEMA "s" TO "§reader"`, `GRANT EXECUTE ON ROUTINE "s".f(text, character) TO "§reader"`)),
				Check: acctest.Check(t, func(t *testing.T) {
					reader().Works(t, one)
					reader().Denied(t, two, three, four, five)
				}),
			},
			resource.TestStep{
				Config: grant(`objects = ["f(numeric(10,2))", "\"My f\"(s.mood, int[])", "p(int)"]`),
				Check: acctest.Check(t, func(t *testing.T) {
					reader().Works(t, three, four, five)
					reader().Denied(t, one, two)
				}),
			},
			resource.TestStep{
				PreConfig:        func() { e.SQL(t, `REVOKE EXECUTE ON FUNCTION s.f(numeric) FROM "§reader"`) },
				Config:           grant(`objects = ["f(numeric(10,2))", "\"My f\"(s.mood, int[])", "p(int)"]`),
				ConfigPlanChecks: acctest.Plan(e.Statements("datatable_grant.it", `GRANT EXECUTE ON ROUTINE "s".f(numeric(10,2)) TO "§reader"`)),
				Check:            acctest.Check(t, func(t *testing.T) { reader().Works(t, three) }),
			},
			resource.TestStep{
				Config: grant(`all_objects = true`),
				Check:  acctest.Check(t, func(t *testing.T) { reader().Works(t, one, two, three, four, five) }),
			},
			resource.TestStep{Config: grant(`objects = ["g(text)"]`), ExpectError: match(`Function "s".g(text) does not exist`)},
			resource.TestStep{Config: e.Config(oneRole), Check: acctest.Check(t, func(t *testing.T) { reader().Denied(t, one, two, three, four, five) })},
		)
	})
}

func TestGrantOnFutureObjects(t *testing.T) {
	both(t, func(t *testing.T, e *acctest.Env) {
		e.SQLAsProvider(t, "CREATE SCHEMA s", "CREATE TABLE s.before (a int)")
		config := func(arguments string) string {
			return e.Config(oneRole + `
resource "datatable_role" "maker" {
  name = "§maker"
}
resource "datatable_grant" "make" {
  datatable   = datatable.main.name
  role        = datatable_role.maker.name
  object_type = "schema"
  schema      = "s"
  privileges  = ["ALL"]
}
resource "datatable_grant" "connect" {
  datatable   = datatable.main.name
  role        = datatable_role.maker.name
  object_type = "database"
  privileges  = ["CONNECT"]
}
` + arguments)
		}
		future := func(more string) string {
			return config(`
resource "datatable_grant" "it" {
  datatable   = datatable.main.name
  role        = datatable_role.reader.name
  schema      = "s"
  all_objects = true
  future      = true
  privileges  = ["SELECT", "INSERT"]
  ` + more + `
}`)
		}
		reader := func() acctest.Login { return e.Login(t, "§reader") }
		makeTable := func(name string) {
			conn := e.Login(t, "§maker").Connect(t)
			if _, err := conn.Exec(t.Context(), "CREATE TABLE s."+name+" (id serial, a int)"); err != nil {
				t.Error(err)
			}
		}
		e.Test(
			t,
			resource.TestStep{Config: config("")},
			resource.TestStep{
				Config: future(""),
				ConfigPlanChecks: acctest.Plan(e.Statements("datatable_grant.it",
					`GRANT USAGE ON SCHEMA "s" TO "§reader"`,
					`ALTER DEFAULT PRIVILEGES FOR ROLE … IN SCHEMA "s" GRANT SELECT, INSERT ON TABLES TO "§reader"`,
					`GRANT SELECT, INSERT ON ALL TABLES IN SCHEMA "s" TO "§reader"`,
					`ALTER DEFAULT PRIVILEGES FOR ROLE … IN SCHEMA "s" GRANT USAGE ON SEQUENCES TO "§reader"`,
					`GRANT USAGE ON SEQUENCE … TO "§reader" -- of serial columns of tables in "s"`)),
				Check: acctest.Check(t, func(t *testing.T) {
					e.SQLAsProvider(t, "CREATE TABLE s.after (id serial, a int)")
					makeTable("theirs")
					reader().Works(t, "SELECT * FROM s.before", "SELECT * FROM s.after", "INSERT INTO s.after (a) VALUES (1)")
					reader().Denied(t, "SELECT * FROM s.theirs")
				}),
				// What another role made is missing, as the next plan tells.
				ExpectNonEmptyPlan: true,
			},
			resource.TestStep{
				Config: future(`created_by = ["admin", datatable_role.maker.name]`),
				Check: acctest.Check(t, func(t *testing.T) {
					makeTable("theirs_too")
					reader().Works(t, "SELECT * FROM s.theirs", "SELECT * FROM s.theirs_too", "INSERT INTO s.theirs_too (a) VALUES (1)")
				}),
			},
			resource.TestStep{
				PreConfig: func() {
					e.SQL(t, `ALTER DEFAULT PRIVILEGES FOR ROLE "§maker" IN SCHEMA s REVOKE INSERT ON TABLES FROM "§reader"`)
				},
				Config: future(`created_by = ["admin", datatable_role.maker.name]`),
				ConfigPlanChecks: acctest.Plan(e.Statements("datatable_grant.it",
					`ALTER DEFAULT PRIVILEGES FOR ROLE "§maker" IN SCHEMA "s" GRANT INSERT ON TABLES TO "§reader"`)),
			},
			resource.TestStep{
				Config: config(""),
				Check: acctest.Check(t, func(t *testing.T) {
					makeTable("last")
					reader().Denied(t, "SELECT * FROM s.last", "SELECT * FROM s.before")
					if n := e.Value(t, "SELECT count(*)::text FROM pg_default_acl"); n != "0" {
						t.Errorf("%s default privileges are left", n)
					}
				}),
			},
		)
	})
}

func TestGrantWithOption(t *testing.T) {
	both(t, func(t *testing.T, e *acctest.Env) {
		e.SQLAsProvider(t, "CREATE TABLE t (a int)")
		e.SQL(t, `CREATE ROLE "§other"`)
		grant := func(option string) string {
			return e.Config(oneRole + `
resource "datatable_grant" "it" {
  datatable         = datatable.main.name
  role              = datatable_role.reader.name
  schema            = "public"
  objects           = ["t"]
  privileges        = ["SELECT"]
  with_grant_option = ` + option + `
}`)
		}
		const address, give = "datatable_grant.it", `GRANT SELECT ON t TO "§other"`
		var granted bool
		e.Test(
			t,
			resource.TestStep{
				Config: grant("true"),
				ConfigPlanChecks: acctest.Plan(e.Statements(address,
					`GRANT USAGE ON SCHEMA "public" TO "§reader"`, `GRANT SELECT ON TABLE "public"."t" TO "§reader" WITH GRANT OPTION`)),
				Check: acctest.Check(t, func(t *testing.T) { e.Login(t, "§reader").Works(t, e.Name(give)) }),
			},
			resource.TestStep{
				PreConfig:        func() { e.SQL(t, `REVOKE GRANT OPTION FOR SELECT ON t FROM "§reader"`) },
				Config:           grant("true"),
				ConfigPlanChecks: acctest.Plan(e.Statements(address, `GRANT SELECT ON TABLE "public"."t" TO "§reader" WITH GRANT OPTION`)),
			},
			resource.TestStep{
				// What was granted on has to go first.
				PreConfig: func() {
					if _, err := e.Login(t, "§reader").Connect(t).Exec(t.Context(), e.Name(give)); err != nil {
						t.Error(err)
					}
					granted = true
				},
				Config: grant("false"), ExpectError: match(e.Name(`Revoke first what it granted: SELECT on table public.t to §other`)),
			},
			resource.TestStep{
				PreConfig: func() {
					if granted {
						e.SQL(t, `SET ROLE "§reader"`, "RESET ROLE", `REVOKE GRANT OPTION FOR SELECT ON t FROM "§reader" CASCADE`, `GRANT SELECT ON t TO "§reader" WITH GRANT OPTION`)
					}
				},
				Config:           grant("false"),
				ConfigPlanChecks: acctest.Plan(e.Statements(address, `REVOKE GRANT OPTION FOR SELECT ON TABLE "public"."t" FROM "§reader"`)),
				Check: acctest.Check(t, func(t *testing.T) {
					e.Login(t, "§reader").Works(t, "SELECT * FROM t")
				}),
			},
		)
	})
}

func TestRevokeOfWhatAnotherRoleGranted(t *testing.T) {
	both(t, func(t *testing.T, e *acctest.Env) {
		e.SQLAsProvider(t, "CREATE TABLE t (a int)")
		config := func(grant string) string {
			return e.Config(oneRole + "resource \"datatable_role\" \"giver\" {\n  name = \"§giver\"\n}\n" + `
resource "datatable_grant" "giver" {
  datatable         = datatable.main.name
  role              = datatable_role.giver.name
  schema            = "public"
  objects           = ["t"]
  privileges        = ["SELECT"]
  with_grant_option = true
}
resource "datatable_grant" "connect" {
  datatable   = datatable.main.name
  role        = datatable_role.giver.name
  object_type = "database"
  privileges  = ["CONNECT"]
}
` + grant)
		}
		e.Test(
			t,
			resource.TestStep{Config: config("")},
			resource.TestStep{
				PreConfig: func() {
					if _, err := e.Login(t, "§giver").Connect(t).Exec(t.Context(), e.Name(`GRANT SELECT ON t TO "§reader"`)); err != nil {
						t.Error(err)
					}
				},
				Config: config(`
resource "datatable_grant" "it" {
  datatable  = datatable.main.name
  role       = datatable_role.reader.name
  schema     = "public"
  objects    = ["t"]
  privileges = ["SELECT"]
}`),
				Check: acctest.Check(t, func(t *testing.T) { e.Login(t, "§reader").Works(t, "SELECT * FROM t") }),
			},
			resource.TestStep{
				Config: config(""),
				Check:  acctest.Check(t, func(t *testing.T) { e.Login(t, "§reader").Denied(t, "SELECT * FROM t") }),
			},
		)
	})
}

func TestGrantAdoptsWhatIsHeld(t *testing.T) {
	both(t, func(t *testing.T, e *acctest.Env) {
		e.SQLAsProvider(t, "CREATE TABLE t (a int)", "CREATE TABLE u (a int)")
		m := acctest.NewModule(t, e.Config(oneRole))
		m.MustRun("apply", "-auto-approve", "-input=false")
		e.SQL(t, `GRANT USAGE ON SCHEMA public TO "§reader"`, `GRANT SELECT, INSERT ON t, u TO "§reader"`, `GRANT DELETE ON t TO "§reader"`)
		m.Write("main.tf", e.Config(oneRole+`
resource "datatable_grant" "it" {
  datatable  = datatable.main.name
  role       = datatable_role.reader.name
  schema     = "public"
  objects    = ["t", "u"]
  privileges = ["SELECT", "INSERT"]
}`))
		before := e.Value(t, "SELECT string_agg(relacl::text || xmin::text, ',' ORDER BY relname) FROM pg_class WHERE relname IN ('t', 'u')")
		m.MustRun("import", "-input=false", "datatable_grant.it", e.Name("acme/main/§reader/table/public/t,u"))
		if out, err := m.Run("plan", "-detailed-exitcode", "-input=false", "-target=datatable_grant.it"); err != nil {
			t.Errorf("the plan after the import is not empty:\n%s", out)
		}
		if after := e.Value(t, "SELECT string_agg(relacl::text || xmin::text, ',' ORDER BY relname) FROM pg_class WHERE relname IN ('t', 'u')"); after != before {
			t.Errorf("importing changed privileges from %s to %s", before, after)
		}
		m.MustRun("destroy", "-auto-approve", "-input=false")
	})
}

func TestUnmanagedGrants(t *testing.T) {
	both(t, func(t *testing.T, e *acctest.Env) {
		e.SQLAsProvider(t, "CREATE SCHEMA s", "CREATE TABLE s.t (a int)", "CREATE TABLE s.u (a int)",
			"CREATE FUNCTION s.f() RETURNS int LANGUAGE sql AS 'SELECT 1'", "REVOKE EXECUTE ON FUNCTION s.f() FROM PUBLIC")
		config := func(what string) string {
			return e.Config(replace(oneRole, `access       = "roles"`, "access = \"roles\"\n  unmanaged_grants = \""+what+"\"") + `
resource "datatable_grant" "it" {
  datatable  = datatable.main.name
  role       = datatable_role.reader.name
  schema     = "s"
  objects    = ["t"]
  privileges = ["SELECT"]
}`)
		}
		unmanaged := func(lines ...string) statecheck.StateCheck {
			checks := make([]knownvalue.Check, len(lines))
			for i, line := range lines {
				checks[i] = knownvalue.StringExact(e.Name(line))
			}
			return statecheck.ExpectKnownValue("datatable.main", tfjsonpath.New("unmanaged"), knownvalue.ListExact(checks))
		}
		byHand := []string{
			`GRANT SELECT, INSERT ON s.t, s.u TO "§reader"`, `GRANT SELECT ON s.u TO PUBLIC`, `GRANT UPDATE (a) ON s.u TO "§reader" WITH GRANT OPTION`,
			`GRANT EXECUTE ON FUNCTION s.f() TO PUBLIC`,
		}
		lines := []string{
			`SELECT on table "s"."u" to public`, `EXECUTE on function "s".f() to public`,
			`INSERT on table "s"."t" to §reader`, `INSERT on table "s"."u" to §reader`, `SELECT on table "s"."u" to §reader`,
			`UPDATE ("a") on table "s"."u" to §reader`, `grant option for UPDATE ("a") on table "s"."u" to §reader`,
		}
		e.Test(
			t,
			resource.TestStep{Config: config("report"), ConfigStateChecks: []statecheck.StateCheck{unmanaged()}},
			resource.TestStep{
				PreConfig: func() { e.SQLAsProvider(t, byHand...) },
				Config:    config("report"), ConfigStateChecks: []statecheck.StateCheck{unmanaged(lines...)},
				Check: acctest.Check(t, func(t *testing.T) { e.Login(t, "§reader").Works(t, "INSERT INTO s.t VALUES (1)") }),
			},
			resource.TestStep{Config: config("ignore"), ConfigStateChecks: []statecheck.StateCheck{unmanaged()}},
			resource.TestStep{Config: config("report"), ConfigStateChecks: []statecheck.StateCheck{unmanaged(lines...)}},
			resource.TestStep{
				Config: config("revoke"),
				ConfigPlanChecks: acctest.Plan(e.Statements("datatable.main",
					`REVOKE EXECUTE ON ROUTINE "s".f() FROM PUBLIC`,
					`REVOKE SELECT ON TABLE "s"."u" FROM PUBLIC`,
					`REVOKE SELECT, INSERT, UPDATE ("a") ON TABLE "s"."u" FROM "§reader"`,
					`REVOKE INSERT ON TABLE "s"."t" FROM "§reader"`)),
				ConfigStateChecks: []statecheck.StateCheck{unmanaged()},
				Check: acctest.Check(t, func(t *testing.T) {
					e.Login(t, "§reader").Works(t, "SELECT * FROM s.t")
					e.Login(t, "§reader").Denied(t, "INSERT INTO s.t VALUES (1)", "SELECT * FROM s.u", "SELECT s.f()")
				}),
			},
			resource.TestStep{
				// By hand again, under revoke: planned without any change in the configuration.
				PreConfig:        func() { e.SQLAsProvider(t, `GRANT DELETE ON s.t TO "§reader"`) },
				Config:           config("revoke"),
				ConfigPlanChecks: acctest.Plan(e.Statements("datatable.main", `REVOKE DELETE ON TABLE "s"."t" FROM "§reader"`)),
				Check:            acctest.Check(t, func(t *testing.T) { e.Login(t, "§reader").Denied(t, "DELETE FROM s.t") }),
			},
			resource.TestStep{
				// What is declared in the same apply is not fought, in whichever order.
				PreConfig: func() { e.SQLAsProvider(t, `GRANT DELETE, UPDATE ON s.t TO "§reader"`) },
				Config: config("revoke") + e.Name(`
resource "datatable_grant" "referring" {
  datatable  = datatable.main.name
  role       = datatable_role.reader.name
  schema     = "s"
  objects    = ["t"]
  privileges = ["DELETE"]
}
resource "datatable_grant" "apart" {
  datatable  = "main"
  role       = "§reader"
  schema     = "s"
  objects    = ["t"]
  privileges = ["UPDATE"]
}`),
				Check: acctest.Check(t, func(t *testing.T) { e.Login(t, "§reader").Works(t, "DELETE FROM s.t", "UPDATE s.t SET a = 1") }),
			},
			resource.TestStep{Config: config("revoke")},
		)
	})
}

func TestGrantTakesEveryKindOfTable(t *testing.T) {
	both(t, func(t *testing.T, e *acctest.Env) {
		e.SQL(t, "CREATE FOREIGN DATA WRAPPER w", "CREATE SERVER s FOREIGN DATA WRAPPER w", e.Name(`GRANT USAGE ON FOREIGN SERVER s TO `)+e.User())
		e.SQLAsProvider(t, "CREATE SCHEMA s", "CREATE TABLE s.plain (a int)", "CREATE VIEW s.view AS SELECT 1 AS a",
			"CREATE MATERIALIZED VIEW s.matview AS SELECT 1 AS a", "CREATE TABLE s.parted (a int) PARTITION BY LIST (a)",
			"CREATE TABLE s.part PARTITION OF s.parted FOR VALUES IN (1)", "CREATE FOREIGN TABLE s.remote (a int) SERVER s")
		config := e.Config(oneRole + `
resource "datatable_grant" "it" {
  datatable   = datatable.main.name
  role        = datatable_role.reader.name
  schema      = "s"
  all_objects = true
  privileges  = ["SELECT"]
}`)
		kinds := []string{"matview", "part", "parted", "plain", "remote", "view"}
		steps := []resource.TestStep{{
			Config: config,
			Check: acctest.Check(t, func(t *testing.T) {
				for _, kind := range kinds {
					if got := e.Value(t, "SELECT has_table_privilege('§reader', 's."+kind+"', 'SELECT')::text"); got != "true" {
						t.Errorf("the role may not select from s.%s", kind)
					}
				}
				e.Login(t, "§reader").Works(t, "SELECT * FROM s.plain, s.view, s.matview, s.parted, s.part")
				e.Login(t, "§reader").Denied(t, "INSERT INTO s.parted VALUES (1)")
			}),
		}}
		for _, kind := range kinds {
			steps = append(steps, resource.TestStep{
				PreConfig:        func() { e.SQL(t, `REVOKE SELECT ON s.`+kind+` FROM "§reader"`) },
				Config:           config,
				ConfigPlanChecks: acctest.Plan(e.Statements("datatable_grant.it", `GRANT SELECT ON TABLE "s"."`+kind+`" TO "§reader"`)),
			})
		}
		e.Test(t, steps...)
	})
}
