package privilege

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var database = Object{Type: Database}

func schema(name string) Object        { return Object{Type: Schema, Schema: name} }
func table(schema, name string) Object { return Object{Type: Table, Schema: schema, Name: name} }
func whole(schema string) Object       { return Object{Type: Table, Schema: schema, Extent: Whole} }

func sequence(schema, name string) Object { return Object{Type: Sequence, Schema: schema, Name: name} }

func function(schema, name string) Object { return Object{Type: Function, Schema: schema, Name: name} }

func owned(schema, name string) Object {
	return Object{Type: Sequence, Schema: schema, Name: name, Extent: Owned}
}

func later(schema, creator string) Object {
	return Object{Type: Table, Schema: schema, Name: creator, Extent: Future}
}

func atom(grantee, privilege string, o Object) Atom {
	return Atom{Grantee: grantee, Object: o, Privilege: privilege}
}

// atoms of a grantee on some objects.
func atoms(grantee string, privileges []string, objects ...Object) Set {
	set := Set{}
	for _, o := range objects {
		for _, p := range privileges {
			set.Add(atom(grantee, p, o))
		}
	}
	return set
}

func column(grantee, privilege, name string, o Object) Atom {
	return Atom{Grantee: grantee, Object: o, Column: name, Privilege: privilege}
}

func option(a Atom) Atom {
	a.Option = true
	return a
}

// options are atoms, each with the option to grant it on.
func options(set Set) Set {
	all := set.Union(nil)
	for a := range set {
		all.Add(option(a))
	}
	return all
}

func TestCoversTakesTheWholeForItsParts(t *testing.T) {
	t.Parallel()
	x := atom("r", "SELECT", table("s", "x"))
	for name, test := range map[string]struct {
		set  Set
		of   Atom
		want bool
	}{
		"nothing":                         {Set{}, x, false},
		"itself":                          {SetOf(x), x, true},
		"another grantee":                 {SetOf(atom("q", "SELECT", table("s", "x"))), x, false},
		"another table":                   {SetOf(atom("r", "SELECT", table("s", "y"))), x, false},
		"another privilege":               {SetOf(atom("r", "INSERT", table("s", "x"))), x, false},
		"its schema":                      {SetOf(atom("r", "SELECT", whole("s"))), x, true},
		"another schema":                  {SetOf(atom("r", "SELECT", whole("t"))), x, false},
		"every privilege":                 {SetOf(atom("r", All, table("s", "x"))), x, true},
		"every privilege of its schema":   {SetOf(atom("r", All, whole("s"))), x, true},
		"a schema by its table":           {SetOf(x), atom("r", "SELECT", whole("s")), false},
		"all by one":                      {SetOf(x), atom("r", All, table("s", "x")), false},
		"all of a table by all":           {SetOf(atom("r", All, whole("s"))), atom("r", All, table("s", "x")), true},
		"one of the schema by all of it":  {SetOf(atom("r", All, whole("s"))), atom("r", "SELECT", whole("s")), true},
		"the schema object by its tables": {SetOf(atom("r", "USAGE", whole("s"))), atom("r", "USAGE", schema("s")), false},
		"a privilege of a schema by all":  {SetOf(atom("r", All, schema("s"))), atom("r", "USAGE", schema("s")), true},
		"a privilege of the database":     {SetOf(atom("r", All, database)), atom("r", "CONNECT", database), true},
		"a column by its table":           {SetOf(x), column("r", "SELECT", "c", table("s", "x")), false},
		"a table by its column":           {SetOf(column("r", "SELECT", "c", table("s", "x"))), x, false},
		"a column by every privilege":     {SetOf(column("r", All, "c", table("s", "x"))), column("r", "SELECT", "c", table("s", "x")), true},
		"another column":                  {SetOf(column("r", All, "c", table("s", "x"))), column("r", "SELECT", "d", table("s", "x")), false},
		"an option by the privilege":      {SetOf(x), option(x), false},
		"a privilege by the option":       {SetOf(option(x)), x, false},
		"an option by the schema's":       {SetOf(option(atom("r", All, whole("s")))), option(x), true},
		"later tables by the schema":      {SetOf(atom("r", "SELECT", whole("s"))), atom("r", "SELECT", later("s", "m")), false},
		"a table by later ones":           {SetOf(atom("r", "SELECT", later("s", "x"))), x, false},
		"later tables by every privilege": {SetOf(atom("r", All, later("s", "m"))), atom("r", "SELECT", later("s", "m")), true},
		"a table's sequences by all":      {SetOf(atom("r", "USAGE", owned("s", ""))), atom("r", "USAGE", owned("s", "x")), true},
		"all sequences by a table's":      {SetOf(atom("r", "USAGE", owned("s", "x"))), atom("r", "USAGE", owned("s", "")), false},
		"a sequence by those of tables":   {SetOf(atom("r", "USAGE", owned("s", ""))), atom("r", "USAGE", sequence("s", "x")), false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := test.set.Covers(test.of); got != test.want {
				t.Errorf("%v covers %v: %v", test.set, test.of, got)
			}
		})
	}
}

func TestSetsAreTakenApartAndPutTogether(t *testing.T) {
	t.Parallel()
	x, y, z := atom("r", "SELECT", table("s", "x")), atom("r", "SELECT", table("s", "y")), atom("r", "SELECT", table("t", "z"))
	all := SetOf(x, y, z)
	for name, test := range map[string]struct{ got, want Set }{
		"minus one":             {all.Minus(SetOf(y)), SetOf(x, z)},
		"minus a schema":        {all.Minus(SetOf(atom("r", "SELECT", whole("s")))), SetOf(z)},
		"minus every privilege": {all.Minus(SetOf(atom("r", All, table("t", "z")))), SetOf(x, y)},
		"minus nothing":         {all.Minus(nil), all},
		"in common":             {all.Intersect(SetOf(y, atom("q", "SELECT", table("s", "x")))), SetOf(y)},
		"in common by schema":   {all.Intersect(SetOf(atom("r", All, whole("s")))), SetOf(x, y)},
		"nothing in common":     {all.Intersect(nil), Set{}},
		"together":              {SetOf(x).Union(SetOf(x, z)), SetOf(x, z)},
		"with nothing":          {Set(nil).Union(SetOf(y)), SetOf(y)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(test.want, test.got); diff != "" {
				t.Error(diff)
			}
		})
	}
	if len(all) != 3 {
		t.Errorf("the operations changed their set: %v", all)
	}
}

func TestAtomsAreSortedByGranteeThenObjectThenPrivilegeThenColumn(t *testing.T) {
	t.Parallel()
	want := []Atom{
		atom("a", "CONNECT", database),
		atom("a", "USAGE", schema("s")),
		atom("a", "INSERT", table("s", "x")),
		option(atom("a", "INSERT", table("s", "x"))),
		column("a", "INSERT", "c", table("s", "x")),
		column("a", "INSERT", "d", table("s", "x")),
		atom("a", "SELECT", table("s", "x")),
		atom("b", "CREATE", database),
	}
	if got := SetOf(want...).Sorted(); !slices.Equal(got, want) {
		t.Errorf("got %v", got)
	}
}
