package provider_test

import (
	"context"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"

	"github.com/datatable-io/terraform-provider-datatable/internal/acctest"
)

// twoRoles is a data table with two roles that hold one table each; bob may
// use both.
const twoRoles = `
resource "datatable_workspace" "acme" {
  name    = "acme"
  members = { bob = { email = "bob@acme.test" }, zoe = { email = "zoe@acme.test" } }
  groups  = { emea = ["bob"] }
}
resource "datatable_role" "app" {
  name = "§app"
}
resource "datatable_role" "emea" {
  name    = VAR_NAME
  enabled = VAR_ENABLED
}
resource "datatable" "main" {
  database     = "§db"
  access       = "roles"
  default_role = datatable_role.app.name
  tenants      = {
    (datatable_role.app.name)  = ["*"]
    (datatable_role.emea.name) = ["g/emea"]
  }
}
resource "datatable_grant" "app" {
  datatable  = datatable.main.name
  role       = datatable_role.app.name
  schema     = "public"
  objects    = ["a"]
  privileges = ["SELECT"]
}
resource "datatable_grant" "emea" {
  datatable  = datatable.main.name
  role       = datatable_role.emea.name
  schema     = "public"
  objects    = ["b"]
  privileges = ["SELECT"]
}
`

func twoRolesWith(e *acctest.Env, name, enabled string) string {
	return e.Config(replace(twoRoles, "VAR_NAME", `"`+name+`"`, "VAR_ENABLED", enabled))
}

func TestRoleLivesAsALogin(t *testing.T) {
	both(t, func(t *testing.T, e *acctest.Env) {
		e.SQLAsProvider(t, "CREATE TABLE a (a int)", "CREATE TABLE b (a int)")
		const address = "datatable_role.emea"
		var set, old acctest.Login
		same := statecheck.CompareValue(unchanged)
		e.Test(
			t,
			resource.TestStep{
				Config: twoRolesWith(e, "§emea", "true"),
				ConfigPlanChecks: acctest.Plan(e.Statements(address,
					`CREATE ROLE "§emea" LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION NOBYPASSRLS INHERIT`,
					`ALTER ROLE "§emea" PASSWORD '…'`,
					`COMMENT ON ROLE "§emea" IS 'datatable role …'`)),
				ConfigStateChecks: []statecheck.StateCheck{same.AddStateValue(address, tfjsonpath.New("id"))},
				Check: acctest.Check(t, func(t *testing.T) {
					e.Login(t, "§emea").Works(t, "SELECT * FROM b")
					e.Login(t, "§emea").Denied(t, "SELECT * FROM a")
					set = e.Open(t, "acme", "datatable", "bob", "bob")
					set.Works(t, "SELECT * FROM a, b")
					set.Denied(t, "INSERT INTO a VALUES (1)")
					if again := e.Open(t, "acme", "datatable", "bob", "bob"); again != set {
						t.Errorf("the set opens as %q and then as %q, or with another password", set.Name, again.Name)
					}
				}),
			},
			resource.TestStep{
				ResourceName: address, ImportState: true, ImportStateVerify: true, ImportStateId: e.Name("§emea"),
				ImportStateVerifyIgnore: []string{"statements"},
			},
			resource.TestStep{
				// Grants, tenants and the set follow a rename; nothing is granted anew.
				PreConfig: func() { old = e.Login(t, "§emea") },
				Config:    twoRolesWith(e, "§renamed", "true"),
				ConfigPlanChecks: acctest.Plan(
					plancheck.ExpectResourceAction(address, plancheck.ResourceActionUpdate),
					e.Statements(address, `ALTER ROLE "§emea" RENAME TO "§renamed"`),
					e.Statements("datatable_grant.emea",
						`GRANT USAGE ON SCHEMA "public" TO "§renamed"`,
						`GRANT SELECT ON TABLE "public"."b" TO "§renamed"`,
						`REVOKE SELECT ON TABLE "public"."b" FROM "§emea"`,
						`REVOKE USAGE ON SCHEMA "public" FROM "§emea"`)),
				ConfigStateChecks: []statecheck.StateCheck{same.AddStateValue(address, tfjsonpath.New("id"))},
				Check: acctest.Check(t, func(t *testing.T) {
					old.Locked(t)
					e.Login(t, "§renamed").Works(t, "SELECT * FROM b")
					if again := e.Open(t, "acme", "datatable", "bob", "bob"); again != set {
						t.Errorf("a rename moved the set from %q to %q", set.Name, again.Name)
					}
				}),
			},
			resource.TestStep{
				Config:           twoRolesWith(e, "§renamed", "false"),
				ConfigPlanChecks: acctest.Plan(e.Statements(address, `ALTER ROLE "§renamed" NOLOGIN`)),
				Check: acctest.Check(t, func(t *testing.T) {
					e.Login(t, "§renamed").Locked(t)
					set.Locked(t)
					// What is left is the default role's own login.
					if l := e.Open(t, "acme", "datatable", "bob", "bob"); l.Name != e.Name("§app") {
						t.Errorf("with its role disabled the set opens as %q", l.Name)
					}
				}),
			},
			resource.TestStep{
				Config:           twoRolesWith(e, "§renamed", "true"),
				ConfigPlanChecks: acctest.Plan(e.Statements(address, `ALTER ROLE "§renamed" LOGIN`)),
				Check: acctest.Check(t, func(t *testing.T) {
					e.Login(t, "§renamed").Works(t, "SELECT * FROM b")
					set.Locked(t) // its password is not the old one
					again := e.Open(t, "acme", "datatable", "bob", "bob")
					again.Works(t, "SELECT * FROM a, b")
					if again.Name != set.Name {
						t.Errorf("the set is %q and was %q", again.Name, set.Name)
					}
				}),
			},
		)
	})
}

func TestDisablingARoleEndsSessionsOfItsSets(t *testing.T) {
	both(t, func(t *testing.T, e *acctest.Env) {
		e.SQLAsProvider(t, "CREATE TABLE a (a int)", "CREATE TABLE b (a int)")
		alive := func(l acctest.Login) func() bool {
			conn := l.Connect(t)
			return func() bool { _, err := conn.Exec(context.Background(), "SELECT 1"); return err == nil }
		}
		var set, own, other func() bool
		e.Test(
			t,
			resource.TestStep{Config: twoRolesWith(e, "§emea", "true"), Check: acctest.Check(t, func(t *testing.T) {
				set, own, other = alive(e.Open(t, "acme", "datatable", "bob", "bob")), alive(e.Login(t, "§emea")), alive(e.Login(t, "§app"))
				if !set() || !own() || !other() {
					t.Error("a session is not usable")
				}
			})},
			resource.TestStep{Config: twoRolesWith(e, "§emea", "false"), Check: acctest.Check(t, func(t *testing.T) {
				if set() || own() || !other() {
					t.Errorf("sessions after disabling: of the set %t, of the role %t, of another role %t", set(), own(), other())
				}
			})},
		)
	})
}

func TestRoleDriftIsPlanned(t *testing.T) {
	e := acctest.New(t)
	config := e.Config(`
resource "datatable_role" "it" {
  name = "§it"
}`)
	const address = "datatable_role.it"
	e.Test(
		t,
		resource.TestStep{Config: config},
		resource.TestStep{
			PreConfig: func() { e.SQL(t, `ALTER ROLE "§it" SUPERUSER BYPASSRLS NOINHERIT`) },
			Config:    config, ConfigPlanChecks: acctest.Plan(e.Statements(address, `ALTER ROLE "§it" NOSUPERUSER NOBYPASSRLS INHERIT`)),
		},
		resource.TestStep{
			PreConfig: func() { e.SQL(t, `ALTER ROLE "§it" NOLOGIN`) },
			Config:    config, ConfigPlanChecks: acctest.Plan(e.Statements(address, `ALTER ROLE "§it" LOGIN`)),
			Check: acctest.Check(t, func(t *testing.T) { e.Login(t, "§it").Works(t, "SELECT 1") }),
		},
		resource.TestStep{
			// Dropped by hand it is made again, with a new password.
			PreConfig: func() { e.SQL(t, `DROP ROLE "§it"`) },
			Config:    config, ConfigPlanChecks: acctest.Plan(plancheck.ExpectResourceAction(address, plancheck.ResourceActionCreate)),
			Check: acctest.Check(t, func(t *testing.T) { e.Login(t, "§it").Works(t, "SELECT 1") }),
		},
	)
}

func TestRoleLeavesOtherPostgresRolesAlone(t *testing.T) {
	e := acctest.New(t)
	e.SQL(t, `CREATE ROLE "§theirs"`)
	e.Test(
		t,
		resource.TestStep{
			Config:      e.Config("resource \"datatable_role\" \"it\" {\n  name = \"§theirs\"\n}"),
			ExpectError: match("does not belong to this catalog, and it is left alone"),
		},
		resource.TestStep{Config: e.Config("resource \"datatable_role\" \"it\" {\n  name = \"§mine\"\n}")},
		resource.TestStep{
			Config:      e.Config("resource \"datatable_role\" \"it\" {\n  name = \"§theirs\"\n}"),
			ExpectError: match("has a role \"" + e.Name("§theirs") + "\" already"),
		},
		resource.TestStep{
			// Without its mark it is nobody's, and is made anew only when the name is free.
			PreConfig:   func() { e.SQL(t, `COMMENT ON ROLE "§mine" IS 'mine'`) },
			Config:      e.Config("resource \"datatable_role\" \"it\" {\n  name = \"§mine\"\n}"),
			ExpectError: match("does not belong to this catalog, and it is left alone"),
		},
		resource.TestStep{
			PreConfig: func() { e.SQL(t, `DROP ROLE "§mine"`) },
			Config:    e.Config("resource \"datatable_role\" \"it\" {\n  name = \"§mine\"\n}"),
		},
	)
}

func TestDroppedRoleLeavesItsObjectsToTheOwner(t *testing.T) {
	both(t, func(t *testing.T, e *acctest.Env) {
		e.SQLAsProvider(t, "CREATE SCHEMA s", "CREATE TABLE a (a int)", "CREATE TABLE b (a int)")
		config := func(emea bool) string {
			text := `
resource "datatable_workspace" "acme" {
  name    = "acme"
  members = { bob = { email = "bob@acme.test" } }
}
resource "datatable_role" "app" {
  name = "§app"
}
`
			tenants := "(datatable_role.app.name) = [\"*\"]"
			if emea {
				tenants += "\n    (datatable_role.emea.name) = [\"*\"]"
				text += `
resource "datatable_role" "emea" {
  name = "§emea"
}
resource "datatable_grant" "make" {
  datatable   = datatable.main.name
  role        = datatable_role.emea.name
  object_type = "schema"
  schema      = "s"
  privileges  = ["ALL"]
}
`
			}
			return e.Config(text + `
resource "datatable" "main" {
  database     = "§db"
  access       = "roles"
  default_role = datatable_role.app.name
  tenants = {
    ` + tenants + `
  }
}`)
		}
		e.Test(
			t,
			resource.TestStep{Config: config(true), Check: acctest.Check(t, func(t *testing.T) {
				for i, l := range []acctest.Login{e.Login(t, "§emea"), e.Open(t, "acme", "datatable", "bob", "bob")} {
					conn := l.Connect(t)
					if _, err := conn.Exec(context.Background(), "CREATE TABLE s.made_"+string(rune('a'+i))+" (a int)"); err != nil {
						t.Error(err)
					}
				}
			})},
			resource.TestStep{Config: config(false), Check: acctest.Check(t, func(t *testing.T) {
				owner := e.Value(t, "SELECT pg_get_userbyid(datdba)::text FROM pg_database WHERE datname = current_database()")
				for _, table := range []string{"s.made_a", "s.made_b"} {
					if got := e.Value(t, "SELECT pg_get_userbyid(relowner)::text FROM pg_class WHERE oid = '"+table+"'::regclass"); got != owner {
						t.Errorf("%s belongs to %q, not to the database's owner %q", table, got, owner)
					}
				}
				inherited := "SELECT count(*)::text FROM pg_roles r JOIN pg_roles u ON u.rolname = '" + owner + "' AND NOT u.rolsuper " +
					"WHERE starts_with(r.rolname, '§') AND r.oid <> u.oid AND pg_has_role(u.oid, r.oid, 'USAGE')"
				if n := e.Value(t, inherited); n != "0" {
					t.Errorf("the provider's login is left a member of %s roles", n)
				}
			})},
		)
	})
}

func TestRoleIDSurvivesInState(t *testing.T) {
	e := acctest.New(t)
	e.Test(t, resource.TestStep{
		Config: e.Config("resource \"datatable_role\" \"it\" {\n  name = \"§it\"\n}"),
		ConfigStateChecks: []statecheck.StateCheck{
			statecheck.ExpectKnownValue("datatable_role.it", tfjsonpath.New("id"), knownvalue.StringFunc(func(id string) error {
				if want := e.Value(t, "SELECT id::text FROM datatable_catalog.role"); id != want {
					t.Errorf("id is %q in state and %q in the catalog", id, want)
				}
				return nil
			})),
		},
	})
}
