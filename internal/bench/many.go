package main

import (
	"context"
	"fmt"
	"time"
)

// tables that the grants are spread over.
const tables = 10

// manyGrants is a configuration of n grants, and a tenth as many roles and
// policies, and a fifth as many connections.
func manyGrants(n int) string {
	return fmt.Sprintf(`
locals {
  grants = %d
  roles  = %d
}
resource "datatable_workspace" "it" {
  name    = "acme"
  members = { bob = { email = "bob@acme.example" } }
}
resource "datatable_role" "it" {
  count = local.roles
  name  = "bench_r${count.index}"
}
resource "datatable" "it" {
  workspace    = datatable_workspace.it.name
  database     = "bench"
  access       = "roles"
  default_role = datatable_role.it[0].name
  tenants      = { for r in datatable_role.it : r.name => ["*"] }
}
resource "datatable_grant" "it" {
  count      = local.grants
  workspace  = datatable.it.workspace
  datatable  = datatable.it.name
  role       = datatable_role.it[count.index %% local.roles].name
  schema     = "public"
  objects    = ["t${floor(count.index / local.roles)}"]
  privileges = ["SELECT"]
}
resource "datatable_policy" "it" {
  count     = local.roles
  workspace = datatable.it.workspace
  datatable = datatable.it.name
  table     = "t${count.index %% %d}"
  name      = "p${count.index}"
  roles     = [datatable_role.it[count.index].name]
  using     = "a > ${count.index}"
}
data "datatable_connection" "it" {
  count      = local.roles * 2
  workspace  = "acme"
  reference  = "datatable://main?role=bench_r${count.index %% local.roles}"
  identity   = { user = "bob" }
  depends_on = [datatable.it]
}
`, n, max(1, n/tables), tables)
}

type step struct {
	name string
	args []string
	// repeat it, and count the fastest
	repeat bool
}

var steps = []step{
	{"plan", []string{"plan", "-input=false", "-out=plan"}, false},
	{"apply", []string{"apply", "-input=false", "plan"}, false},
	{"no-op plan", []string{"plan", "-input=false", "-detailed-exitcode"}, true},
	{"destroy", []string{"destroy", "-input=false", "-auto-approve"}, false},
}

// many measures n grants and what is beside them, in turn under each provider.
func (b *bench) many(ctx context.Context, n int) error {
	statements := make([]string, tables)
	for i := range statements {
		statements[i] = fmt.Sprintf("CREATE TABLE t%d (a int)", i)
	}
	if err := b.database(ctx, "bench", statements...); err != nil {
		return err
	}
	roles := max(1, n/tables)
	resources := n + 2*roles + 2
	config := b.header("bench") + manyGrants(n)
	data := fmt.Sprintf("resource \"terraform_data\" \"it\" {\n  count = %d\n  input = \"t${count.index}\"\n}\n", resources)
	var folders [3]folder
	for i, f := range []struct{ name, provider, config string }{
		{"real", "real", config}, {"idle", "idle", config}, {"data", "real", data},
	} {
		var err error
		if folders[i], err = b.folder(fmt.Sprintf("%s-%d", f.name, n), f.provider, f.config); err != nil {
			return err
		}
	}
	fmt.Printf("\n%d grants, %d roles, %d policies, %d connections\n\n", n, roles, roles, 2*roles)
	fmt.Println("| step | statements | round trips | connections (at once) | seconds | do-nothing provider | terraform_data | ratio to do-nothing | peak memory | of do-nothing |")
	fmt.Println("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
	for _, s := range steps {
		var best [3]cost
		for range s.times(b.repeat) {
			for i, f := range folders {
				c, err := f.run(ctx, s.args...)
				if err != nil {
					return err
				}
				if best[i].wall == 0 || c.wall < best[i].wall {
					c.memory = max(c.memory, best[i].memory)
					best[i] = c
				}
			}
		}
		ours, idle := best[0], best[1]
		fmt.Printf("| %s | %d | %d | %d (%d) | %s | %s | %s | %.2f | %s | %s |\n", s.name,
			ours.counts.Statements, ours.counts.RoundTrips, ours.counts.Total, ours.counts.Peak,
			seconds(ours.wall), seconds(idle.wall), seconds(best[2].wall), ours.wall.Seconds()/idle.wall.Seconds(), megabytes(ours.memory), megabytes(idle.memory))
	}
	return nil
}

func (s step) times(repeat int) int {
	if s.repeat {
		return repeat
	}
	return 1
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.2f", d.Seconds()) }

func megabytes(n int64) string {
	if n == 0 {
		return "–"
	}
	return fmt.Sprintf("%d MB", n>>20)
}
