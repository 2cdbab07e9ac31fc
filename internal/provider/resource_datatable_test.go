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

const datatableRoles = `
resource "datatable_role" "a" {
  name = "§a"
}
resource "datatable_role" "b" {
  name = "§b"
}
`

func TestDatatableChangesInPlace(t *testing.T) {
	both(t, func(t *testing.T, e *acctest.Env) {
		const address = "datatable.main"
		config := func(arguments string) string {
			return e.Config(datatableRoles + "resource \"datatable\" \"main\" {\n  database = \"§db\"\n" + arguments + "\n}")
		}
		imports := resource.TestStep{
			ResourceName: address, ImportState: true, ImportStateVerify: true, ImportStateId: "acme/main",
			ImportStateVerifyIdentifierAttribute: "name", ImportStateVerifyIgnore: []string{"statements"},
		}
		stranger := "§stranger"
		e.SQL(t, `CREATE ROLE "§stranger" LOGIN PASSWORD 'x'`)
		e.Test(
			t,
			resource.TestStep{
				Config:           config(""),
				ConfigPlanChecks: acctest.Plan(e.Statements(address)),
				ConfigStateChecks: []statecheck.StateCheck{
					statecheck.ExpectKnownValue(address, tfjsonpath.New("owner"), knownvalue.StringExact(
						e.Value(t, "SELECT pg_get_userbyid(datdba)::text FROM pg_database WHERE datname = current_database()"))),
				},
				Check: acctest.Check(t, func(t *testing.T) { e.WithPassword(stranger, "x").Works(t, "SELECT 1") }),
			},
			imports,
			resource.TestStep{
				Config: config(`access = "roles"
  default_role = "none"
  tenants = { admin = ["u/ada"], (datatable_role.a.name) = ["*"] }
  unnamed_roles_from = "identity"`),
				ConfigPlanChecks: acctest.Plan(
					plancheck.ExpectResourceAction(address, plancheck.ResourceActionUpdate),
					e.Statements(address,
						`GRANT CONNECT ON DATABASE "§db" TO "§a"`,
						`REVOKE CREATE ON SCHEMA "public" FROM PUBLIC`,
						`REVOKE CONNECT ON DATABASE "§db" FROM PUBLIC`)),
				Check: acctest.Check(t, func(t *testing.T) {
					e.Login(t, "§a").Works(t, "SELECT 1")
					e.Login(t, "§a").Denied(t, "CREATE TABLE public.mine (a int)")
					e.Login(t, "§b").Locked(t)
					e.WithPassword(stranger, "x").Locked(t)
				}),
			},
			imports,
			resource.TestStep{
				Config: config(`access = "roles"
  default_role = datatable_role.b.name
  tenants = { (datatable_role.b.name) = ["g/x", "f/y"] }`),
				ConfigPlanChecks: acctest.Plan(e.Statements(address,
					`GRANT CONNECT ON DATABASE "§db" TO "§b"`,
					`REVOKE CONNECT ON DATABASE "§db" FROM "§a"`)),
				Check: acctest.Check(t, func(t *testing.T) {
					e.Login(t, "§b").Works(t, "SELECT 1")
					e.Login(t, "§a").Locked(t)
				}),
			},
			resource.TestStep{
				PreConfig: func() {
					e.SQL(t, `REVOKE CONNECT ON DATABASE "§db" FROM "§b"`, `GRANT CONNECT ON DATABASE "§db" TO PUBLIC`)
				},
				Config: config(`access = "roles"
  default_role = datatable_role.b.name
  tenants = { (datatable_role.b.name) = ["g/x", "f/y"] }`),
				ConfigPlanChecks: acctest.Plan(e.Statements(address,
					`GRANT CONNECT ON DATABASE "§db" TO "§b"`,
					`REVOKE CONNECT ON DATABASE "§db" FROM PUBLIC`)),
			},
			resource.TestStep{
				Config: config(`access = "roles"
  revoke_public = false
  default_role = datatable_role.b.name
  tenants = { (datatable_role.b.name) = [], admin = [] }`),
				Check: acctest.Check(t, func(t *testing.T) { e.WithPassword(stranger, "x").Works(t, "SELECT 1") }),
			},
			imports,
			resource.TestStep{
				Config: config(`access = "roles"
  default_role = "none"
  tenants = {}`),
				Check: acctest.Check(t, func(t *testing.T) {
					e.Login(t, "§b").Locked(t)
					e.WithPassword(stranger, "x").Locked(t)
				}),
			},
			imports,
			resource.TestStep{
				Config: config(`governed_by = { workspace = "other", datatable = "main" }`),
				Check:  acctest.Check(t, func(t *testing.T) { e.WithPassword(stranger, "x").Works(t, "SELECT 1") }),
			},
			imports,
			resource.TestStep{
				Config: config(""),
				Check:  acctest.Check(t, func(t *testing.T) { e.WithPassword(stranger, "x").Works(t, "SELECT 1") }),
			},
		)
		if got := e.Value(t, "SELECT coalesce(datacl::text, 'default') FROM pg_database WHERE datname = current_database()"); !match("=Tc/").MatchString(got) {
			t.Errorf("PUBLIC did not get CONNECT back: %s", got)
		}
	})
}

func TestDatatableWarnsBeforeItOpens(t *testing.T) {
	e := acctest.New(t)
	config := func(arguments string) string {
		return e.Config(datatableRoles + "resource \"datatable\" \"main\" {\n  database = \"§db\"\n" + arguments + "\n}")
	}
	m := acctest.NewModule(t, config(`access = "roles"`))
	contains(t, m.MustRun("plan", "-input=false"), "Data table acme/main still hands out its owner")
	m.Write("main.tf", config(`access = "roles"
  default_role = "none"`))
	out := m.MustRun("apply", "-auto-approve", "-input=false")
	if match("still hands out its owner").MatchString(out) {
		t.Errorf("a default role that is not admin is warned of:\n%s", out)
	}
	m.Write("main.tf", config(""))
	contains(t, m.MustRun("plan", "-input=false"), "Data table acme/main is opened to everyone in workspace acme",
		"PUBLIC gets back what data table acme/main took from it")
	out = m.MustRun("plan", "-input=false", "-destroy")
	contains(t, out, "Destroying data table acme/main", `GRANT CONNECT ON DATABASE "`+e.Database()+`" TO PUBLIC`,
		`Dropping role "`+e.Name("§a")+`"`, `DROP ROLE "`+e.Name("§b")+`"`)
	m.MustRun("destroy", "-auto-approve", "-input=false")
}

func TestDatatableIsKeptWhileSomethingStandsOnIt(t *testing.T) {
	e := acctest.New(t)
	e.SQL(t, "CREATE TABLE t (a int)")
	roles := datatableRoles + `
resource "datatable" "other" {
  name     = "other"
  database = "§db"
}
`
	grant := `
resource "datatable_grant" "it" {
  datatable  = "main" # on purpose without a reference
  role       = datatable_role.a.name
  schema     = "public"
  objects    = ["t"]
  privileges = ["SELECT", "INSERT"]
}
resource "datatable_policy" "it" {
  datatable = "main"
  name      = "mine"
  table     = "t"
  using     = "true"
}`
	main := `
resource "datatable" "main" {
  database = "§db"
}
`
	e.Test(
		t,
		resource.TestStep{Config: e.Config(roles + main)},
		resource.TestStep{Config: e.Config(roles + main + grant)},
		resource.TestStep{
			Config:      e.Config(roles + grant),
			ExpectError: match(`the grant of INSERT, SELECT on table "public"."t" to ` + e.Name("§a")),
		},
		resource.TestStep{
			Config: e.Config(roles + main + grant),
			Check:  acctest.Check(t, func(t *testing.T) { e.Login(t, "§a").Works(t, "SELECT * FROM t") }),
		},
		resource.TestStep{Config: e.Config(roles + main)},
	)
}

func TestDatatablesThatShareADatabase(t *testing.T) {
	e := acctest.New(t)
	table := func(name, tenants string) string {
		return `
resource "datatable" "` + name + `" {
  name         = "` + name + `"
  database     = "§db"
  access       = "roles"
  default_role = "none"
  tenants      = { ` + tenants + ` }
}`
	}
	one, two := table("one", "(datatable_role.a.name) = [\"*\"]"), table("two", "(datatable_role.a.name) = [\"*\"], (datatable_role.b.name) = [\"*\"]")
	public := func(t *testing.T) string {
		return e.Value(t, "SELECT (SELECT count(*) FROM aclexplode(datacl) WHERE grantee = 0 AND privilege_type = 'CONNECT')::text FROM pg_database WHERE datname = current_database()")
	}
	e.Test(
		t,
		resource.TestStep{Config: e.Config(datatableRoles + one + two)},
		resource.TestStep{
			Config: e.Config(datatableRoles + one),
			Check: acctest.Check(t, func(t *testing.T) {
				e.Login(t, "§a").Works(t, "SELECT 1")
				e.Login(t, "§b").Locked(t)
				if public(t) != "0" {
					t.Error("PUBLIC may connect while a data table under roles is left")
				}
			}),
		},
		resource.TestStep{
			Config: e.Config(datatableRoles),
			Check: acctest.Check(t, func(t *testing.T) {
				if public(t) != "1" {
					t.Error("PUBLIC may not connect though no data table is left")
				}
			}),
		},
	)
}

func TestDatatableDefaultIsNoneWhenItsRoleGoes(t *testing.T) {
	e := acctest.New(t)
	m := acctest.NewModule(t, e.Config(datatableRoles+`
resource "datatable" "main" {
  database     = "§db"
  access       = "roles"
  default_role = datatable_role.a.name
  tenants      = { (datatable_role.a.name) = ["*"] }
}`))
	m.MustRun("apply", "-auto-approve", "-input=false")
	// Somebody drops the role from another configuration.
	other := acctest.NewModule(t, e.Config("resource \"datatable_role\" \"a\" {\n  name = \"§a\"\n}"))
	other.MustRun("import", "datatable_role.a", e.Name("§a"))
	other.MustRun("destroy", "-auto-approve", "-input=false")
	out := m.MustRun("plan", "-input=false")
	contains(t, out, `default_role = "none" -> "`+e.Name("§a")+`"`)
	if got := e.Value(t, "SELECT (default_admin OR default_role_id IS NOT NULL)::text FROM datatable_catalog.datatable"); got != "false" {
		t.Error("the default is not none")
	}
	m.MustRun("apply", "-auto-approve", "-input=false")
	m.MustRun("destroy", "-auto-approve", "-input=false")
}

func TestDatatableRefusesWhatCannotWork(t *testing.T) {
	e := acctest.New(t)
	e.SQL(t, "CREATE TABLE t (a int)")
	e.Test(
		t,
		resource.TestStep{
			Config:      e.Config("resource \"datatable\" \"main\" {\n  database = \"§nowhere\"\n}"),
			ExpectError: match("Database \"" + e.Name("§nowhere") + "\" does not exist, or takes no connections"),
		},
		resource.TestStep{
			Config:      e.Config("resource \"datatable\" \"main\" {\n  database = \"§db\"\n  access = \"roles\"\n  tenants = { \"§missing\" = [\"*\"] }\n}"),
			ExpectError: match("Role \"" + e.Name("§missing") + "\" is not in the catalog"),
		},
		resource.TestStep{
			PreConfig:   func() { e.SQL(t, "CREATE PUBLICATION out FOR TABLE t") },
			Config:      e.Config("resource \"datatable\" \"main\" {\n  database = \"§db\"\n  access = \"roles\"\n}"),
			ExpectError: match("Rows of database \"" + e.Database() + "\" leave it by publication \"out\""),
		},
		resource.TestStep{
			Config: e.Config("resource \"datatable\" \"main\" {\n  database = \"§db\"\n  access = \"roles\"\n  accept_replication = [\"out\"]\n}"),
		},
		resource.TestStep{
			Config:      e.Config("resource \"datatable\" \"main\" {\n  database = \"§db\"\n  access = \"roles\"\n  accept_replication = [\"out\"]\n}\nresource \"datatable\" \"again\" {\n  database = \"§db\"\n}"),
			ExpectError: match("Data table acme/main is in the catalog already"),
		},
	)
}

func TestDatatableDisappears(t *testing.T) {
	e := acctest.New(t)
	config := e.Config("resource \"datatable\" \"main\" {\n  database = \"§db\"\n}")
	e.Test(
		t,
		resource.TestStep{Config: config},
		resource.TestStep{
			PreConfig: func() { e.SQL(t, "DELETE FROM datatable_catalog.datatable") },
			Config:    config, ConfigPlanChecks: acctest.Plan(plancheck.ExpectResourceAction("datatable.main", plancheck.ResourceActionCreate)),
		},
	)
}
