package provider_test

import (
	"fmt"
	"testing"

	"github.com/datatable-io/terraform-provider-datatable/internal/acctest"
)

// reads is how often a reader reads during each change, at the least.
const reads = 2000

// two is a data table with two roles that bob may both use.
const two = `
resource "datatable_workspace" "acme" {
  name    = "acme"
  members = { bob = { email = "bob@acme.test" } }
}
resource "datatable_role" "a" {
  name = "§a"
}
resource "datatable_role" "b" {
  name = "§b"
}
resource "datatable" "main" {
  database     = "§db"
  access       = "roles"
  default_role = datatable_role.a.name
  tenants = {
    (datatable_role.a.name) = ["*"]
    (datatable_role.b.name) = ["*"]
  }
}
`

func TestNoChangeOfAGrantLeavesAGap(t *testing.T) {
	both(t, func(t *testing.T, e *acctest.Env) {
		e.SQLAsProvider(t, "CREATE SCHEMA s", "CREATE SCHEMA other", "CREATE TABLE s.t (a int)", "CREATE TABLE s.u (a int)", "CREATE TABLE other.t (a int)")
		grant := func(address, arguments string) string {
			return e.Name("resource \"datatable_grant\" \"" + address + "\" {\n  datatable = datatable.main.name\n" + arguments + "\n}\n")
		}
		role := func(name, more string) string {
			return "  role = datatable_role." + name + ".name\n  schema = \"s\"\n  privileges = [\"SELECT\"]\n" + more
		}
		named := grant("it", role("a", `  objects = ["t"]`))
		m := acctest.NewModule(t, e.Config(two)+named)
		apply := func(hcl string) func() {
			return func() {
				m.Write("main.tf", e.Config(two)+hcl)
				m.MustRun("apply", "-auto-approve", "-input=false")
			}
		}
		apply(named)()
		reader := e.Open(t, "acme", "datatable", "bob", "bob").StartReader(t, "SELECT * FROM s.t")
		for _, change := range []struct{ what, hcl string }{
			{"another object", grant("it", role("a", `  objects = ["t", "u"]`))},
			{"one object less", named},
			{"all objects", grant("it", role("a", "  all_objects = true"))},
			{"all objects and later ones", grant("it", role("a", "  all_objects = true\n  future = true"))},
			{"named objects again", named},
			{"more privileges", grant("it", "  role = datatable_role.a.name\n  schema = \"s\"\n  objects = [\"t\"]\n  privileges = [\"SELECT\", \"INSERT\", \"UPDATE\"]")},
			{"all privileges", grant("it", "  role = datatable_role.a.name\n  schema = \"s\"\n  objects = [\"t\"]\n  privileges = [\"ALL\"]")},
			{"few privileges again", named},
			{"the grant option", grant("it", role("a", "  objects = [\"t\"]\n  with_grant_option = true"))},
			{"no grant option", named},
			{"another role", grant("it", role("b", `  objects = ["t"]`))},
			{"the first role again", named},
			{"a second grant on it", named + grant("more", role("a", `  objects = ["t"]`))},
			{"another schema, the second grant stays", grant("it", "  role = datatable_role.a.name\n  schema = \"other\"\n  objects = [\"t\"]\n  privileges = [\"SELECT\"]") + grant("more", role("a", `  objects = ["t"]`))},
			{"columns beside the table", grant("it", role("a", "  objects = [\"t\"]\n  columns = [\"a\"]")) + grant("more", role("a", `  objects = ["t"]`))},
			{"the columns alone", grant("it", role("a", "  objects = [\"t\"]\n  columns = [\"a\"]"))},
			{"the table again", named},
			{"another address", grant("moved", role("a", `  objects = ["t"]`))},
			{"a for_each", grant("moved", "  for_each = toset([\"x\"])\n"+role("a", `  objects = ["t"]`))},
			{"another key", grant("moved", "  for_each = toset([\"y\"])\n"+role("a", `  objects = ["t"]`))},
		} {
			reader.During(reads, change.what, apply(change.hcl))
			if t.Failed() {
				return
			}
		}
		replaced := grant("moved", "  for_each = toset([\"y\"])\n"+role("a", "  objects = [\"t\"]\n  lifecycle {\n    create_before_destroy = true\n  }"))
		apply(replaced)()
		reader.During(reads, "a replacement that creates before it destroys", func() {
			m.MustRun("apply", "-auto-approve", "-input=false", `-replace=datatable_grant.moved["y"]`)
		})
		m.MustRun("destroy", "-auto-approve", "-input=false")
	})
}

func TestThirtyRolesAtOnceInFreshDatabases(t *testing.T) {
	for i := range 10 {
		t.Run(fmt.Sprintf("run %d", i), func(t *testing.T) {
			e := acctest.New(t)
			e.SQL(t, "CREATE SCHEMA s", "CREATE TABLE s.t (a int)")
			thirtyRoles(t, e)
		})
	}
}
