package privilege

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// shop has two schemas, the second without a table. A column of x owns a
// sequence, q belongs to none, and there is one function.
func shop(version int) Inventory {
	inv := Inventory{Version: version, Objects: map[Object]bool{}}
	for _, o := range []Object{
		database, schema("s"), schema("empty"), table("s", "x"), table("s", "y"),
		sequence("s", "x_seq"), sequence("s", "q"), function("s", "f(integer)"),
	} {
		inv.Objects[o] = true
	}
	inv.Owned = map[Object][]Object{table("s", "x"): {sequence("s", "x_seq")}}
	inv.Alias = map[Object]Object{function("s", "f(int)"): function("s", "f(integer)"), function("s", "f(integer)"): function("s", "f(integer)")}
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
			expand: atoms("r", []string{"SELECT", "INSERT"}, table("s", "x"), table("s", "y")).Union(usage("s")).
				Union(atoms("r", []string{"USAGE"}, sequence("s", "x_seq"))),
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
				Union(usage("s")).Union(atoms("r", []string{"USAGE"}, sequence("s", "x_seq"))),
		},
		"every privilege with MAINTAIN": {
			claim:   Claim{Grantee: "r", Type: Table, Schema: "s", Objects: []string{"x"}, Privileges: []string{All}},
			version: 17,
			targets: []Object{table("s", "x")},
			atoms:   atoms("r", []string{All}, table("s", "x")).Union(usage("s")).Union(serial("x")),
			expand: atoms("r", []string{"SELECT", "INSERT", "UPDATE", "DELETE", "TRUNCATE", "REFERENCES", "TRIGGER", "MAINTAIN"}, table("s", "x")).
				Union(usage("s")).Union(atoms("r", []string{"USAGE"}, sequence("s", "x_seq"))),
		},
		"columns": {
			claim:   Claim{Grantee: "r", Type: Table, Schema: "s", Objects: []string{"x"}, Columns: []string{"c", "d"}, Privileges: []string{"SELECT"}},
			targets: []Object{table("s", "x")},
			atoms:   SetOf(column("r", "SELECT", "c", table("s", "x")), column("r", "SELECT", "d", table("s", "x"))).Union(usage("s")),
			expand:  SetOf(column("r", "SELECT", "c", table("s", "x")), column("r", "SELECT", "d", table("s", "x"))).Union(usage("s")),
		},
		"every privilege of a column": {
			claim:   Claim{Grantee: "r", Type: Table, Schema: "s", Objects: []string{"x"}, Columns: []string{"c"}, Privileges: []string{All}},
			version: 17,
			targets: []Object{table("s", "x")},
			atoms:   SetOf(column("r", All, "c", table("s", "x"))).Union(usage("s")).Union(serial("x")),
			expand: SetOf(column("r", "SELECT", "c", table("s", "x")), column("r", "INSERT", "c", table("s", "x")),
				column("r", "UPDATE", "c", table("s", "x")), column("r", "REFERENCES", "c", table("s", "x")),
				atom("r", "USAGE", sequence("s", "x_seq"))).Union(usage("s")),
		},
		"the option to grant on, which what surrounds it has not": {
			claim:   Claim{Grantee: "r", Type: Table, Schema: "s", Objects: []string{"x"}, Privileges: []string{"INSERT"}, Option: true},
			targets: []Object{table("s", "x")},
			atoms:   options(atoms("r", []string{"INSERT"}, table("s", "x"))).Union(usage("s")).Union(serial("x")),
			expand:  options(atoms("r", []string{"INSERT"}, table("s", "x"))).Union(usage("s")).Union(atoms("r", []string{"USAGE"}, sequence("s", "x_seq"))),
		},
		"a sequence": {
			claim:   Claim{Grantee: "r", Type: Sequence, Schema: "s", Objects: []string{"q", "gone"}, Privileges: []string{All}},
			targets: []Object{sequence("s", "q"), sequence("s", "gone")},
			atoms:   atoms("r", []string{All}, sequence("s", "q"), sequence("s", "gone")).Union(usage("s")),
			expand:  atoms("r", []string{"USAGE", "SELECT", "UPDATE"}, sequence("s", "q")).Union(usage("s")),
			absent:  []Object{sequence("s", "gone")},
		},
		"all sequences": {
			claim:   Claim{Grantee: "r", Type: Sequence, Schema: "s", Whole: true, Privileges: []string{"USAGE"}},
			targets: []Object{sequence("s", "").whole()},
			atoms:   atoms("r", []string{"USAGE"}, sequence("s", "").whole()).Union(usage("s")),
			expand:  atoms("r", []string{"USAGE"}, sequence("s", "q"), sequence("s", "x_seq")).Union(usage("s")),
		},
		"functions in whichever spelling": {
			claim:   Claim{Grantee: "r", Type: Function, Schema: "s", Objects: []string{"f(int)", "g(int)"}, Privileges: []string{All}},
			targets: []Object{function("s", "f(int)"), function("s", "g(int)")},
			atoms:   atoms("r", []string{All}, function("s", "f(int)"), function("s", "g(int)")).Union(usage("s")),
			expand:  atoms("r", []string{"EXECUTE"}, function("s", "f(integer)")).Union(usage("s")),
			absent:  []Object{function("s", "g(int)")},
		},
		"later tables, and the sequences of their serial columns": {
			claim: Claim{
				Grantee: "r", Type: Table, Schema: "s", Whole: true, Future: true, CreatedBy: []string{"m", "n"}, Privileges: []string{"INSERT"}, Option: true,
			},
			targets: []Object{whole("s")},
			atoms: options(atoms("r", []string{"INSERT"}, whole("s"), later("s", "m"), later("s", "n"))).Union(usage("s")).Union(serial("")).
				Union(atoms("r", []string{"USAGE"}, laterSequence("s", "m"), laterSequence("s", "n"))),
			expand: options(atoms("r", []string{"INSERT"}, table("s", "x"), table("s", "y"), later("s", "m"), later("s", "n"))).Union(usage("s")).
				Union(atoms("r", []string{"USAGE"}, sequence("s", "x_seq"), laterSequence("s", "m"), laterSequence("s", "n"))),
		},
		"later tables of an empty schema": {
			claim:   Claim{Grantee: "r", Type: Table, Schema: "empty", Whole: true, Future: true, CreatedBy: []string{"m"}, Privileges: []string{"SELECT"}},
			targets: []Object{whole("empty")},
			atoms:   atoms("r", []string{"SELECT"}, whole("empty"), later("empty", "m")).Union(usage("empty")),
			expand:  atoms("r", []string{"SELECT"}, later("empty", "m")).Union(usage("empty")),
		},
		"every privilege on later functions": {
			claim:   Claim{Grantee: "r", Type: Function, Schema: "empty", Whole: true, Future: true, CreatedBy: []string{"m"}, Privileges: []string{All}},
			targets: []Object{function("empty", "").whole()},
			atoms:   atoms("r", []string{All}, function("empty", "").whole(), laterOf(Function, "empty", "m")).Union(usage("empty")),
			expand:  atoms("r", []string{"EXECUTE"}, laterOf(Function, "empty", "m")).Union(usage("empty")),
		},
		"later tables of a schema that is not there": {
			claim:   Claim{Grantee: "r", Type: Table, Schema: "gone", Whole: true, Future: true, CreatedBy: []string{"m"}, Privileges: []string{"SELECT"}},
			targets: []Object{whole("gone")},
			atoms:   atoms("r", []string{"SELECT"}, whole("gone"), later("gone", "m")).Union(usage("gone")),
			expand:  Set{},
			absent:  []Object{schema("gone")},
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

func laterOf(kind, schema, creator string) Object {
	return Object{Type: kind, Schema: schema, Name: creator, Extent: Future}
}

func laterSequence(schema, creator string) Object { return laterOf(Sequence, schema, creator) }

func TestWhatIsHeldOnEachObjectCanBeAdopted(t *testing.T) {
	t.Parallel()
	on := func(kind string, names ...string) Claim {
		return Claim{Grantee: "r", Type: kind, Schema: "s", Objects: names, Whole: names == nil, Privileges: []string{All}}
	}
	x, y := table("s", "x"), table("s", "y")
	columns := on(Table, "x")
	columns.Columns = []string{"c", "d"}
	future := on(Table)
	future.Future, future.CreatedBy = true, []string{"m"}
	option := on(Table, "x")
	option.Option = true
	for name, test := range map[string]struct {
		claim Claim
		held  Set
		want  []string
	}{
		"nothing":                     {on(Table, "x"), Set{}, nil},
		"some":                        {on(Table, "x"), atoms("r", []string{"DELETE", "SELECT"}, x), []string{"SELECT", "DELETE"}},
		"what is held on each":        {on(Table), atoms("r", []string{"SELECT", "INSERT"}, x).Union(atoms("r", []string{"SELECT"}, y)), []string{"SELECT"}},
		"somebody else's":             {on(Table, "x"), atoms("q", []string{"SELECT"}, x), nil},
		"without what surrounds it":   {on(Table, "x"), atoms("r", []string{"INSERT"}, x), []string{"INSERT"}},
		"columns, each of them":       {columns, SetOf(column("r", "SELECT", "c", x), column("r", "SELECT", "d", x), column("r", "UPDATE", "c", x)), []string{"SELECT"}},
		"the table, and not columns":  {columns, atoms("r", []string{"SELECT"}, x), nil},
		"a schema without tables":     {Claim{Grantee: "r", Type: Table, Schema: "empty", Whole: true, Privileges: []string{All}}, Set{}, nil},
		"though later ones are not":   {future, atoms("r", []string{"SELECT"}, x, y), []string{"SELECT"}},
		"though the option is not":    {option, atoms("r", []string{"SELECT"}, x), []string{"SELECT"}},
		"a function as it is written": {on(Function, "f(int)"), atoms("r", []string{"EXECUTE"}, function("s", "f(integer)")), []string{"EXECUTE"}},
		"sequences":                   {on(Sequence), atoms("r", []string{"USAGE", "UPDATE"}, sequence("s", "q"), sequence("s", "x_seq")), []string{"USAGE", "UPDATE"}},
		"no sequence for its table's": {on(Sequence, "q"), atoms("r", []string{"USAGE"}, sequence("s", "x_seq")), nil},
		"one that does not exist":     {on(Table, "gone"), atoms("r", []string{"SELECT"}, table("s", "gone")), nil},
	} {
		if diff := cmp.Diff(test.want, test.claim.HeldOnAll(test.held, shop(17))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
