package provider_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"

	"github.com/datatable-io/terraform-provider-datatable/internal/acctest"
)

// ordersGrant lets the role read and write the table orders.
const ordersGrant = `
resource "datatable_grant" "orders" {
  datatable  = datatable.main.name
  role       = datatable_role.reader.name
  schema     = "public"
  objects    = ["orders"]
  privileges = ["SELECT", "INSERT", "UPDATE", "DELETE"]
}
`

func orders(t *testing.T, e *acctest.Env) {
	t.Helper()
	e.SQLAsProvider(t, "CREATE TABLE orders (id int, region text)", "INSERT INTO orders VALUES (1, 'emea'), (2, 'amer')")
}

func regions(t *testing.T, l acctest.Login) string {
	t.Helper()
	return strings.Join(l.Texts(t, "SELECT region FROM orders ORDER BY id"), ",")
}

func TestPolicyChangesInPlace(t *testing.T) {
	both(t, func(t *testing.T, e *acctest.Env) {
		orders(t, e)
		const address = "datatable_policy.it"
		config := func(arguments string) string {
			return e.Config(oneRole + ordersGrant + "resource \"datatable_policy\" \"it\" {\n  datatable = datatable.main.name\n  table = \"orders\"\n" + arguments + "\n}")
		}
		sees := func(want string) resource.TestCheckFunc {
			return acctest.Check(t, func(t *testing.T) {
				if got := regions(t, e.Login(t, "§reader")); got != want {
					t.Errorf("the role sees %q, want %q", got, want)
				}
			})
		}
		imports := func(name string) resource.TestStep {
			return resource.TestStep{
				ResourceName: address, ImportState: true, ImportStateVerify: true, ImportStateId: "acme/main/public/orders/" + name,
				ImportStateVerifyIdentifierAttribute: "name", ImportStateVerifyIgnore: []string{"statements"},
			}
		}
		e.Test(
			t,
			resource.TestStep{
				Config: config(`name = "p"
  command = "SELECT"
  using = "region = 'emea'"`),
				ConfigPlanChecks: acctest.Plan(e.Statements(address,
					`CREATE POLICY "p" ON "public"."orders" AS PERMISSIVE FOR SELECT TO PUBLIC USING (region = 'emea')`,
					`ALTER TABLE "public"."orders" ENABLE ROW LEVEL SECURITY`)),
				Check: sees("emea"),
			},
			imports("p"),
			resource.TestStep{
				Config: config(`name = "q"
  command = "SELECT"
  roles = [datatable_role.reader.name]
  using = "region in ('emea', 'amer') -- both"`),
				ConfigPlanChecks: acctest.Plan(
					plancheck.ExpectResourceAction(address, plancheck.ResourceActionUpdate),
					e.Statements(address,
						`ALTER POLICY "p" ON "public"."orders" RENAME TO "q"`,
						"ALTER POLICY \"q\" ON \"public\".\"orders\" TO \"§reader\" USING (region in ('emea', 'amer') -- both\n)")),
				Check: sees("emea,amer"),
			},
			imports("q"),
			resource.TestStep{
				// The command cannot be altered.
				Config: config(`name = "q"
  using = "region = 'amer'"
  with_check = "id > 10"`),
				ConfigPlanChecks: acctest.Plan(
					plancheck.ExpectResourceAction(address, plancheck.ResourceActionUpdate),
					e.Statements(address,
						`DROP POLICY "q" ON "public"."orders"`,
						`CREATE POLICY "q" ON "public"."orders" AS PERMISSIVE FOR ALL TO PUBLIC USING (region = 'amer') WITH CHECK (id > 10)`)),
				Check: resource.ComposeTestCheckFunc(sees("amer"), acctest.Check(t, func(t *testing.T) {
					e.Login(t, "§reader").Works(t, "INSERT INTO orders VALUES (11, 'amer')")
					e.Login(t, "§reader").Denied(t, "INSERT INTO orders VALUES (1, 'amer')", "ALTER TABLE orders DISABLE ROW LEVEL SECURITY", "DROP POLICY q ON orders")
				})),
			},
			imports("q"),
			resource.TestStep{
				Config: config(`name = "q"
  using = "region = 'amer'"`),
				ConfigPlanChecks: acctest.Plan(e.Statements(address,
					`DROP POLICY "q" ON "public"."orders"`,
					`CREATE POLICY "q" ON "public"."orders" AS PERMISSIVE FOR ALL TO PUBLIC USING (region = 'amer')`)),
			},
			resource.TestStep{
				Config: config(`name = "q"
  restrictive = true
  using = "region = 'amer'"`),
				Check: sees(""), // nothing permits a row any more
			},
			imports("q"),
			resource.TestStep{
				Config: config(`name = "q"
  command = "INSERT"
  with_check = "region = 'amer'"`),
				Check: acctest.Check(t, func(t *testing.T) {
					e.Login(t, "§reader").Works(t, "INSERT INTO orders VALUES (3, 'amer')")
					e.Login(t, "§reader").Denied(t, "INSERT INTO orders VALUES (3, 'emea')")
				}),
			},
			resource.TestStep{
				// Row-level security stays on with the last policy gone.
				Config: e.Config(oneRole + ordersGrant),
				Check:  sees(""),
			},
		)
	})
}

func TestPolicyMayTurnRowSecurityOffAtTheEnd(t *testing.T) {
	e := acctest.New(t)
	orders(t, e)
	e.SQL(t, "CREATE TABLE before (id int)", "ALTER TABLE before ENABLE ROW LEVEL SECURITY")
	policy := func(table, name string) string {
		return `
resource "datatable_policy" "` + table + "_" + name + `" {
  datatable         = datatable.main.name
  table             = "` + table + `"
  name              = "` + name + `"
  using             = "id = 1"
  when_last_removed = "disable"
}`
	}
	on := func(table string, want bool) resource.TestCheckFunc {
		return acctest.Check(t, func(t *testing.T) {
			if got := e.Value(t, "SELECT relrowsecurity::text FROM pg_class WHERE oid = '"+table+"'::regclass"); (got == "true") != want {
				t.Errorf("row-level security of %s is %s, want %t", table, got, want)
			}
		})
	}
	e.Test(
		t,
		resource.TestStep{
			Config: e.Config(oneRole + policy("orders", "p") + policy("orders", "q") + policy("before", "p")),
			Check:  resource.ComposeTestCheckFunc(on("orders", true), on("before", true)),
		},
		resource.TestStep{Config: e.Config(oneRole + policy("orders", "p")), Check: on("orders", true)},
		resource.TestStep{
			// What was on before stays on.
			Config: e.Config(oneRole), Check: resource.ComposeTestCheckFunc(on("orders", false), on("before", true)),
		},
	)
}

func TestPolicyExpressionsMakeNoDiff(t *testing.T) {
	e := acctest.New(t)
	e.SQL(t, `CREATE TABLE t (id int, region text, "Mixed Case" text, day date, tags text[])`,
		"CREATE FUNCTION mine() RETURNS text LANGUAGE sql STABLE AS 'SELECT ''x''::text'")
	expressions := []string{
		`((region) = ('emea'))`, `region IN ('a', 'b')`, `region LIKE 'a%'`, `region::text = 'a'::text`, `"Mixed Case" = 'x'`,
		`region = (SELECT 'a')`, `CASE WHEN id > 1 THEN true ELSE region IS NULL END`, "region = 'a' -- why\n  AND id > 0", `region = 'a' /* why */`,
		`id BETWEEN 1 AND 2 OR NOT (id <> 3)`, `day > '2024-01-01'`, `region = ANY (tags)`, `region = mine()`, `EXISTS (SELECT FROM t AS u WHERE u.id = t.id)`,
		`pg_has_role(current_user, '§reader', 'member')`, `(id % 2) = 0 AND region ~ '^\w+$'`, `region = 'it''s'`, `coalesce(region, '') <> ''`,
	}
	var b strings.Builder
	for i, x := range expressions {
		b.WriteString("\nresource \"datatable_policy\" \"p" + string(rune('a'+i)) + "\" {\n  datatable = datatable.main.name\n  table = \"t\"\n  name = \"p" +
			string(rune('a'+i)) + "\"\n  using = <<-X\n" + x + "\n  X\n  with_check = <<-X\n" + x + "\n  X\n}")
	}
	// The step's own second plan is the check: it has to be empty.
	e.Test(t, resource.TestStep{Config: e.Config(oneRole + b.String())})
}

func TestPolicyDriftIsPlanned(t *testing.T) {
	e := acctest.New(t)
	orders(t, e)
	const address = "datatable_policy.it"
	config := e.Config(oneRole + ordersGrant + `
resource "datatable_policy" "it" {
  datatable = datatable.main.name
  table     = "orders"
  name      = "p"
  roles     = [datatable_role.reader.name]
  using     = "region = 'emea'"
}`)
	sees := acctest.Check(t, func(t *testing.T) {
		if got := regions(t, e.Login(t, "§reader")); got != "emea" {
			t.Errorf("the role sees %q", got)
		}
	})
	drift := func(sql string, checks ...plancheck.PlanCheck) resource.TestStep {
		return resource.TestStep{PreConfig: func() { e.SQL(t, sql) }, Config: config, ConfigPlanChecks: acctest.Plan(checks...), Check: sees}
	}
	e.Test(
		t,
		resource.TestStep{Config: config, Check: sees},
		drift("ALTER TABLE orders DISABLE ROW LEVEL SECURITY", e.Statements(address, `ALTER TABLE "public"."orders" ENABLE ROW LEVEL SECURITY`)),
		drift("ALTER POLICY p ON orders USING (true)", e.Statements(address, `ALTER POLICY "p" ON "public"."orders" USING (region = 'emea')`)),
		drift("ALTER POLICY p ON orders TO public", e.Statements(address, `ALTER POLICY "p" ON "public"."orders" TO "§reader"`)),
		drift("DROP POLICY p ON orders", plancheck.ExpectResourceAction(address, plancheck.ResourceActionCreate)),
		drift("ALTER POLICY p ON orders WITH CHECK (true)",
			e.Statements(address, `DROP POLICY "p" ON "public"."orders"`, `CREATE POLICY "p" ON "public"."orders" AS PERMISSIVE FOR ALL TO "§reader" USING (region = 'emea')`)),
		resource.TestStep{PreConfig: func() { e.SQL(t, "DROP TABLE orders") }, Config: e.Config(oneRole)},
	)
}

func TestPolicyRefusesWhatCannotWork(t *testing.T) {
	e := acctest.New(t)
	orders(t, e)
	e.SQL(t, "CREATE VIEW v AS SELECT * FROM orders", "CREATE POLICY theirs ON orders USING (id = 1)")
	policy := func(arguments string) string {
		return e.Config(oneRole + "resource \"datatable_policy\" \"it\" {\n  datatable = datatable.main.name\n" + arguments + "\n}")
	}
	e.Test(
		t,
		resource.TestStep{Config: policy("name = \"p\"\n  table = \"nothing\"\n  using = \"true\""), ExpectError: match(`Table "public"."nothing" does not exist`)},
		resource.TestStep{Config: policy("name = \"p\"\n  table = \"v\"\n  using = \"true\""), ExpectError: match(`is a view or a foreign table`)},
		resource.TestStep{Config: policy("name = \"p\"\n  table = \"orders\"\n  using = \"nope = 1\""), ExpectError: match(`column "nope" does not exist`)},
		resource.TestStep{Config: policy("name = \"p\"\n  table = \"orders\"\n  using = \"true\"\n  roles = [\"§missing\"]"), ExpectError: match(`Role "` + e.Name("§missing") + `" is not in the catalog`)},
		resource.TestStep{Config: policy("name = \"theirs\"\n  table = \"orders\"\n  using = \"id = 1\""), ExpectError: match(`has a policy "theirs" already, which nothing declares`)},
		resource.TestStep{
			// Adopted by an import, it is the configuration's from then on.
			Config:       policy("name = \"theirs\"\n  table = \"orders\"\n  using = \"(id = 1)\""),
			ResourceName: "datatable_policy.it", ImportState: true, ImportStatePersist: true, ImportStateId: "acme/main/public/orders/theirs",
			ImportStateVerifyIdentifierAttribute: "name",
		},
		resource.TestStep{
			Config:           policy("name = \"theirs\"\n  table = \"orders\"\n  using = \"(id = 1)\""),
			ConfigPlanChecks: acctest.Plan(e.Statements("datatable_policy.it", `ALTER TABLE "public"."orders" ENABLE ROW LEVEL SECURITY`)),
		},
	)
	if e.Value(t, "SELECT relrowsecurity::text FROM pg_class WHERE oid = 'orders'::regclass") != "true" {
		t.Error("row-level security is off though its policy was kept")
	}
}

func TestViewerSeesTheRegionsOfTheirRoles(t *testing.T) {
	e := acctest.New(t)
	orders(t, e)
	config := e.Config(`
resource "datatable_workspace" "acme" {
  name = "acme"
  members = {
    ada = { email = "ada@acme.test", admin = true }
    bob = { email = "bob@acme.test" }
    carol = { email = "carol@acme.test" }
    dan = { email = "dan@acme.test" }
    erin = { email = "erin@acme.test" }
  }
  groups = { emea = ["bob", "dan"], amer = ["carol", "dan"] }
}
resource "datatable_role" "reader" {
  name = "§reader"
}
resource "datatable_role" "emea" {
  name = "§emea"
}
resource "datatable_role" "amer" {
  name = "§amer"
}
resource "datatable" "main" {
  database     = "§db"
  access       = "roles"
  default_role = datatable_role.reader.name
  tenants = {
    (datatable_role.reader.name) = ["*"]
    (datatable_role.emea.name)   = ["g/emea"]
    (datatable_role.amer.name)   = ["g/amer"]
  }
}
resource "datatable_policy" "emea" {
  datatable = datatable.main.name
  table     = "orders"
  name      = "emea"
  command   = "SELECT"
  using     = "region = 'emea' and ${provider::datatable::member_of(datatable_role.emea.name)}"
}
resource "datatable_policy" "amer" {
  datatable = datatable.main.name
  table     = "orders"
  name      = "amer"
  command   = "SELECT"
  using     = "region = 'amer' and ${provider::datatable::member_of(datatable_role.amer.name)}"
}
` + ordersGrant)
	e.Test(t, resource.TestStep{Config: config, Check: acctest.Check(t, func(t *testing.T) {
		var logins []string
		for viewer, want := range map[string]string{"bob": "emea", "carol": "amer", "dan": "emea,amer", "erin": "", "": ""} {
			l := e.Open(t, "acme", "datatable", "ada", viewer)
			if got := regions(t, l); got != want {
				t.Errorf("viewer %q sees %q, want %q", viewer, got, want)
			}
			// Narrowing is all that SET ROLE can do.
			l.Denied(t, "SET ROLE "+e.Value(t, "SELECT current_user"), "SELECT * FROM datatable_catalog.role", "SELECT * FROM datatable_ledger.claim", "CREATE TABLE public.x (a int)")
			logins = append(logins, l.Name)
		}
		slices.Sort(logins)
		if n := len(slices.Compact(logins)); n != 4 {
			t.Errorf("%d logins for four sets of roles", n)
		}
	})})
}
