package privilege

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// shop has two schemas, the second without a table.
func shop(version int) Inventory {
	inv := Inventory{Version: version, Objects: map[Object]bool{}}
	for _, o := range []Object{database, schema("s"), schema("empty"), table("s", "x"), table("s", "y")} {
		inv.Objects[o] = true
	}
	return inv
}

func TestWhatAClaimMeans(t *testing.T) {
	t.Parallel()
	usage := func(schemaName string) Set { return atoms("r", []string{"USAGE"}, schema(schemaName)) }
	serial := func(names ...string) Set { // sequences that stand for those of tables in s
		set := Set{}
		for _, name := range names {
			set.Add(atom("r", "USAGE", owned("s", name)))
		}
		return set
	}
	for name, test := range map[string]struct {
		claim   Claim
		version int
		targets []Object
		atoms   Set // as declared
		expand  Set // on the shop
		absent  []Object
	}{
		"the database": {
			claim:   Claim{Grantee: "r", Type: Database, Privileges: []string{"CONNECT"}},
			targets: []Object{database},
			atoms:   atoms("r", []string{"CONNECT"}, database),
			expand:  atoms("r", []string{"CONNECT"}, database),
		},
		"a schema": {
			claim:   Claim{Grantee: Public, Type: Schema, Schema: "s", Privileges: []string{All}},
			targets: []Object{schema("s")},
			atoms:   atoms(Public, []string{All}, schema("s")),
			expand:  atoms(Public, []string{"CREATE", "USAGE"}, schema("s")),
		},
		"a schema that is not there": {
			claim:   Claim{Grantee: "r", Type: Schema, Schema: "gone", Privileges: []string{"USAGE"}},
			targets: []Object{schema("gone")},
			atoms:   atoms("r", []string{"USAGE"}, schema("gone")),
			expand:  Set{},
			absent:  []Object{schema("gone")},
		},
		"two tables": {
			claim:   Claim{Grantee: "r", Type: Table, Schema: "s", Objects: []string{"y", "x"}, Privileges: []string{"SELECT", "INSERT"}},
			targets: []Object{table("s", "y"), table("s", "x")},
			atoms:   atoms("r", []string{"SELECT", "INSERT"}, table("s", "x"), table("s", "y")).Union(usage("s")).Union(serial("x", "y")),
			expand:  atoms("r", []string{"SELECT", "INSERT"}, table("s", "x"), table("s", "y")).Union(usage("s")),
		},
		"a table that is not there, beside one that is": {
			claim:   Claim{Grantee: "r", Type: Table, Schema: "s", Objects: []string{"gone", "x"}, Privileges: []string{"SELECT"}},
			targets: []Object{table("s", "gone"), table("s", "x")},
			atoms:   atoms("r", []string{"SELECT"}, table("s", "gone"), table("s", "x")).Union(usage("s")),
			expand:  atoms("r", []string{"SELECT"}, table("s", "x")).Union(usage("s")),
			absent:  []Object{table("s", "gone")},
		},
		"only tables that are not there, whose schema is reachable all the same": {
			claim:   Claim{Grantee: "r", Type: Table, Schema: "s", Objects: []string{"gone"}, Privileges: []string{"SELECT"}},
			targets: []Object{table("s", "gone")},
			atoms:   atoms("r", []string{"SELECT"}, table("s", "gone")).Union(usage("s")),
			expand:  usage("s"),
			absent:  []Object{table("s", "gone")},
		},
		"tables of a schema that is not there": {
			claim:   Claim{Grantee: "r", Type: Table, Schema: "gone", Objects: []string{"x", "y"}, Privileges: []string{"SELECT"}},
			targets: []Object{table("gone", "x"), table("gone", "y")},
			atoms:   atoms("r", []string{"SELECT"}, table("gone", "x"), table("gone", "y")).Union(usage("gone")),
			expand:  Set{},
			absent:  []Object{schema("gone")},
		},
		"all tables": {
			claim:   Claim{Grantee: "r", Type: Table, Schema: "s", Whole: true, Privileges: []string{"SELECT"}},
			targets: []Object{whole("s")},
			atoms:   atoms("r", []string{"SELECT"}, whole("s")).Union(usage("s")),
			expand:  atoms("r", []string{"SELECT"}, table("s", "x"), table("s", "y")).Union(usage("s")),
		},
		"all tables of an empty schema": {
			claim:   Claim{Grantee: "r", Type: Table, Schema: "empty", Whole: true, Privileges: []string{All}},
			targets: []Object{whole("empty")},
			atoms:   atoms("r", []string{All}, whole("empty")).Union(usage("empty")).Union(atoms("r", []string{"USAGE"}, owned("empty", ""))),
			expand:  usage("empty"),
		},
		"all tables of a schema that is not there": {
			claim:   Claim{Grantee: "r", Type: Table, Schema: "gone", Whole: true, Privileges: []string{"SELECT"}},
			targets: []Object{whole("gone")},
			atoms:   atoms("r", []string{"SELECT"}, whole("gone")).Union(usage("gone")),
			expand:  Set{},
			absent:  []Object{schema("gone")},
		},
		"every privilege before MAINTAIN": {
			claim:   Claim{Grantee: "r", Type: Table, Schema: "s", Objects: []string{"x"}, Privileges: []string{All}},
			version: 16,
			targets: []Object{table("s", "x")},
			atoms:   atoms("r", []string{All}, table("s", "x")).Union(usage("s")).Union(serial("x")),
			expand: atoms("r", []string{"SELECT", "INSERT", "UPDATE", "DELETE", "TRUNCATE", "REFERENCES", "TRIGGER"}, table("s", "x")).
				Union(usage("s")),
		},
		"every privilege with MAINTAIN": {
			claim:   Claim{Grantee: "r", Type: Table, Schema: "s", Objects: []string{"x"}, Privileges: []string{All}},
			version: 17,
			targets: []Object{table("s", "x")},
			atoms:   atoms("r", []string{All}, table("s", "x")).Union(usage("s")).Union(serial("x")),
			expand: atoms("r", []string{"SELECT", "INSERT", "UPDATE", "DELETE", "TRUNCATE", "REFERENCES", "TRIGGER", "MAINTAIN"}, table("s", "x")).
				Union(usage("s")),
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inv := shop(test.version)
			if diff := cmp.Diff(test.targets, test.claim.Targets()); diff != "" {
				t.Errorf("targets (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(test.atoms, test.claim.Atoms()); diff != "" {
				t.Errorf("atoms (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(test.expand, test.claim.Expand(inv)); diff != "" {
				t.Errorf("expanded (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(test.absent, test.claim.Absent(inv)); diff != "" {
				t.Errorf("absent (-want +got):\n%s", diff)
			}
		})
	}
}

func TestWithinListsASchemasObjectsByName(t *testing.T) {
	t.Parallel()
	inv := shop(17)
	inv.Objects[table("empty", "z")] = true
	inv.Objects[table("s", "A")] = true
	if diff := cmp.Diff([]Object{table("s", "A"), table("s", "x"), table("s", "y")}, inv.Within(Table, "s")); diff != "" {
		t.Error(diff)
	}
}
