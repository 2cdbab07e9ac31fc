package main

import (
	"context"
	"fmt"
)

// A large object is measured at two sizes, to show that it grows in proportion.
type large struct {
	what   string
	sizes  [2]int
	tables bool // whether size is a number of tables that exist
	config func(size int) string
}

const openTable = `
resource "datatable_role" "it" {
  name = "bench_reader"
}
resource "datatable" "it" {
  database     = "bench"
  access       = "roles"
  default_role = "none"
}
`

var larges = []large{
	{"one grant over tables", [2]int{100, 1000}, true, func(size int) string {
		return openTable + fmt.Sprintf(`
resource "datatable_grant" "it" {
  datatable  = datatable.it.name
  role       = datatable_role.it.name
  schema     = "public"
  objects    = [for i in range(%d) : "t${i}"]
  privileges = ["SELECT", "INSERT"]
}`, size)
	}},
	{"one workspace of members, a twentieth as many groups", [2]int{1000, 10000}, false, func(size int) string {
		return fmt.Sprintf(`
locals {
  twenty = range(20)
  groups = range(%d)
}
resource "datatable_workspace" "it" {
  name    = "large"
  members = merge([for g in local.groups : { for i in local.twenty : "m${g * 20 + i}" => { email = "m${g * 20 + i}@acme.example" } }]...)
  groups  = { for g in local.groups : "g${g}" => [for i in local.twenty : "m${g * 20 + i}"] }
}`, size/20)
	}},
	{"all tables of a schema", [2]int{1000, 10000}, true, func(int) string {
		return openTable + `
resource "datatable_grant" "it" {
  datatable   = datatable.it.name
  role        = datatable_role.it.name
  schema      = "public"
  all_objects = true
  privileges  = ["SELECT", "INSERT"]
}`
	}},
}

func (b *bench) large(ctx context.Context) error {
	fmt.Print("\nLarge objects: seconds, and peak memory of the provider\n\n")
	fmt.Println("| object | size | plan | apply | no-op plan | destroy | statements of apply | peak memory |")
	fmt.Println("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
	for i, l := range larges {
		for _, size := range l.sizes {
			statements := []string{"CREATE TABLE t (a int)"}
			if l.tables {
				statements = []string{fmt.Sprintf("DO $$ BEGIN FOR i IN 0..%d LOOP EXECUTE 'CREATE TABLE t' || i || ' (a int)'; IF i %% 1000 = 0 THEN COMMIT; END IF; END LOOP; END $$", size-1)}
			}
			if err := b.database(ctx, "bench", statements...); err != nil {
				return err
			}
			f, err := b.folder(fmt.Sprintf("large-%d-%d", i, size), "real", b.header("bench")+l.config(size))
			if err != nil {
				return err
			}
			var costs []cost
			var memory int64
			for _, s := range steps {
				c, err := f.run(ctx, s.args...)
				if err != nil {
					return err
				}
				costs, memory = append(costs, c), max(memory, c.memory)
			}
			fmt.Printf("| %s | %d | %s | %s | %s | %s | %d | %s |\n", l.what, size, seconds(costs[0].wall), seconds(costs[1].wall),
				seconds(costs[2].wall), seconds(costs[3].wall), costs[1].counts.Statements, megabytes(memory))
		}
	}
	return nil
}
