package provider_test

import (
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"

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
						`GRANT SELECT, INSERT ON TABLE "s"."t2" TO "§reader"`)),
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
					// Which database it is cannot be told before the data table is.
					plancheck.ExpectUnknownValue("datatable_grant.database", statementsAt)),
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
	e := acctest.New(t)
	e.SQL(t, "CREATE TABLE public.t (a int)")
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
}

func TestGrantDriftIsPlanned(t *testing.T) {
	e := acctest.New(t)
	e.SQL(t, "CREATE SCHEMA s", "CREATE TABLE s.t (a int)", "CREATE VIEW s.v AS SELECT 1 AS a", "CREATE TABLE s.gone (a int)")
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
			PreConfig:        func() { e.SQL(t, "CREATE TABLE s.gone (a int)") },
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
}

func TestGrantToPublic(t *testing.T) {
	e := acctest.New(t)
	e.SQL(t, "CREATE SCHEMA s", "CREATE TABLE s.t (a int)")
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
}

func TestGrantStopsWhenMoreIsNeededThanPlanned(t *testing.T) {
	e := acctest.New(t)
	e.SQL(t, "CREATE SCHEMA s", "CREATE TABLE s.a (a int)", "CREATE TABLE s.b (a int)")
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
}

func TestNamesOfEveryKindSurvive(t *testing.T) {
	e := acctest.New(t)
	e.SQL(t, `CREATE SCHEMA "Sch.ema 1/%"`,
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
}
