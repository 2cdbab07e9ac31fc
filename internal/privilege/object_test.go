package privilege

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestEachTypeOfTheTableIsComplete(t *testing.T) {
	t.Parallel()
	if names := TypeNames(); !slices.Equal(names, []string{Database, Schema, Table, Sequence, Function}) {
		t.Errorf("types, outermost first, are %q", names)
	}
	for i, name := range TypeNames() {
		kind, ok := TypeOf(name)
		if !ok || kind.Name != name {
			t.Fatalf("TypeOf(%q) is %q, %v", name, kind.Name, ok)
		}
		if rank(name) != i {
			t.Errorf("%s ranks %d, and is in place %d", name, rank(name), i)
		}
		if kind.Keyword == "" || len(kind.Privileges) == 0 {
			t.Errorf("%s lacks a keyword or privileges: %+v", name, kind)
		}
		seen := map[string]bool{All: true}
		for _, v := range kind.Privileges {
			if seen[v.Privilege] {
				t.Errorf("%s lists %s twice, or it means all", name, v.Privilege)
			}
			seen[v.Privilege] = true
			if !kind.Has(v.Privilege) {
				t.Errorf("%s does not have its own %s", name, v.Privilege)
			}
		}
		if kind.Has(All) || kind.Has("select") || kind.Has("") {
			t.Errorf("%s has what is no privilege", name)
		}
	}
	if kind, ok := TypeOf("view"); ok {
		t.Errorf("there is a type %+v", kind)
	}
}

func TestPrivilegesDependOnTheServersVersion(t *testing.T) {
	t.Parallel()
	old := []string{"SELECT", "INSERT", "UPDATE", "DELETE", "TRUNCATE", "REFERENCES", "TRIGGER"}
	for _, test := range []struct {
		kind    string
		version int
		want    []string
	}{
		{Database, 13, []string{"CREATE", "CONNECT", "TEMPORARY"}},
		{Schema, 13, []string{"CREATE", "USAGE"}},
		{Table, 13, old},
		{Table, 16, old},
		{Table, 17, append(slices.Clone(old), "MAINTAIN")},
		{Table, 18, append(slices.Clone(old), "MAINTAIN")},
		{Table, 0, append(slices.Clone(old), "MAINTAIN")},
	} {
		kind, _ := TypeOf(test.kind)
		if diff := cmp.Diff(test.want, kind.Names(test.version)); diff != "" {
			t.Errorf("%s on %d (-want +got):\n%s", test.kind, test.version, diff)
		}
	}
}

func TestObjectsAreOrderedFromTheOutermost(t *testing.T) {
	t.Parallel()
	want := []Object{
		database, schema("a"), schema("b"), table("a", "x"), table("a", "y"), later("a", "m"), whole("a"), table("b", "A"), sequence("a", "x"), owned("a", ""), owned("a", "x"),
		function("a", "f()"), function("a", "f(text)"),
	}
	for i, a := range want {
		for j, b := range want {
			if got := a.compare(b); (got < 0) != (i < j) || (got > 0) != (i > j) {
				t.Errorf("%+v compared with %+v is %d", a, b, got)
			}
		}
	}
}

func TestWhatASchemaContainsIsGrantedOneByOneOrAllAtOnce(t *testing.T) {
	t.Parallel()
	contained := []string{Table, Sequence, Function}
	for _, name := range TypeNames() {
		kind, _ := TypeOf(name)
		if kind.Contained() != slices.Contains(contained, name) {
			t.Errorf("%s is contained: %v", name, kind.Contained())
		}
		// What lives in a schema is out of reach without its USAGE.
		usage := atom("r", "USAGE", schema("s"))
		c := Claim{Grantee: "r", Type: name, Schema: "s", Objects: []string{"x"}, Privileges: []string{kind.Privileges[0].Privilege}}
		want := atoms("r", c.Privileges, c.Targets()...)
		if kind.Contained() {
			want.Add(usage)
		}
		if diff := cmp.Diff(want, c.Atoms()); diff != "" {
			t.Errorf("what a %s implies (-want +got):\n%s", name, diff)
		}
		if kind.Signature != (name == Function) {
			t.Errorf("%s is named by signature: %v", name, kind.Signature)
		}
		for _, p := range kind.OfColumns {
			if name != Table || !kind.Has(p) {
				t.Errorf("%s can be granted on columns of a %s", p, name)
			}
		}
	}
}
