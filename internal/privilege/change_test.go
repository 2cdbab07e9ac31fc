package privilege

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// onAll are privileges on whole objects.
func onAll(privileges []string) []OnColumns {
	all := make([]OnColumns, len(privileges))
	for i, p := range privileges {
		all[i].Privilege = p
	}
	return all
}

// atoms are what a change is about, without what its statement takes along.
func (c Change) atoms() Set {
	set := Set{}
	for _, o := range c.Objects {
		for _, p := range c.Privileges {
			a := Atom{Grantee: c.Grantee, Object: o, Privilege: p.Privilege, Option: c.Option}
			if len(p.Columns) == 0 {
				set.Add(a)
			}
			for _, a.Column = range p.Columns {
				set.Add(a)
			}
		}
	}
	return set
}

func TestChangesAreFewAndInOrder(t *testing.T) {
	t.Parallel()
	read, write := []string{"SELECT"}, []string{"SELECT", "INSERT"}
	x, y, z := table("s", "x"), table("s", "y"), table("t", "z")
	wholes := map[Object][]string{whole("s"): {"x", "y"}}
	grant := func(grantee string, privileges []string, objects ...Object) Change {
		return Change{Grantee: grantee, Privileges: onAll(privileges), Objects: objects}
	}
	revoke := func(grantee string, privileges []string, objects ...Object) Change {
		return Change{Revoke: true, Grantee: grantee, Privileges: onAll(privileges), Objects: objects}
	}
	for name, test := range map[string]struct {
		grant, revoke, shared, restore Set
		wholes                         map[Object][]string
		want                           []Change
	}{
		"nothing": {},
		"many objects are one change": {
			grant: atoms("r", read, z, y, x),
			want:  []Change{grant("r", read, x, y, z)},
		},
		"many privileges are one change, in the manual's order": {
			grant: atoms("r", []string{"TRIGGER", "INSERT", "SELECT"}, x),
			want:  []Change{grant("r", []string{"SELECT", "INSERT", "TRIGGER"}, x)},
		},
		"all privileges stand for each": {
			grant: atoms("r", []string{"SELECT", All}, x),
			want:  []Change{grant("r", []string{All}, x)},
		},
		"objects with other privileges stand apart": {
			grant: atoms("r", read, x, z).Union(atoms("r", write, y)),
			want:  []Change{grant("r", read, x, z), grant("r", write, y)},
		},
		"grantees stand apart": {
			grant: atoms("r", read, x).Union(atoms("q", read, x)).Union(atoms("a", read, x)).Union(atoms(Public, read, x)),
			want:  []Change{grant("a", read, x), grant(Public, read, x), grant("q", read, x), grant("r", read, x)},
		},
		"grants go inwards and before revokes, which go outwards": {
			grant:  atoms("r", read, x).Union(atoms("r", []string{"USAGE"}, schema("s"))).Union(atoms("r", []string{"CONNECT"}, database)),
			revoke: atoms("q", read, y).Union(atoms("q", []string{"USAGE"}, schema("s"))).Union(atoms("q", []string{"CONNECT"}, database)),
			want: []Change{
				grant("r", []string{"CONNECT"}, database), grant("r", []string{"USAGE"}, schema("s")), grant("r", read, x),
				revoke("q", read, y), revoke("q", []string{"USAGE"}, schema("s")), revoke("q", []string{"CONNECT"}, database),
			},
		},
		"a schema stands for its tables where each is there": {
			grant: atoms("r", write, x, y), wholes: wholes,
			want: []Change{grant("r", write, whole("s"))},
		},
		"and in revokes": {
			revoke: atoms("r", write, x, y), wholes: wholes,
			want: []Change{revoke("r", write, whole("s"))},
		},
		"not where one is missing": {
			grant: atoms("r", read, y), wholes: wholes,
			want: []Change{grant("r", read, y)},
		},
		"not where they differ": {
			grant: atoms("r", read, x).Union(atoms("r", write, y)), wholes: wholes,
			want: []Change{grant("r", read, x), grant("r", write, y)},
		},
		"not for a single table": {
			grant: atoms("r", read, z), wholes: map[Object][]string{whole("t"): {"z"}},
			want: []Change{grant("r", read, z)},
		},
		"not for other tables": {
			grant: atoms("r", read, x, y, z), wholes: wholes,
			want: []Change{grant("r", read, whole("s")), grant("r", read, z)},
		},
		"a schema does not join tables of another": {
			grant: atoms("r", read, table("a", "z"), whole("s"), whole("t")),
			want:  []Change{grant("r", read, table("a", "z")), grant("r", read, whole("s")), grant("r", read, whole("t"))},
		},
		"a schema and each of its tables are one": {
			grant: atoms("r", []string{"INSERT"}, whole("s")).Union(atoms("r", read, x, y)), wholes: wholes,
			want: []Change{grant("r", write, whole("s"))},
		},
		"revokes of what is shared stand apart, at the end": {
			revoke: atoms("r", write, x), shared: atoms("r", read, x, y),
			want: []Change{
				revoke("r", []string{"INSERT"}, x),
				{Revoke: true, Shared: true, Grantee: "r", Privileges: onAll(read), Objects: []Object{x}},
			},
		},
		"grants of what is shared do not": {
			grant: atoms("r", write, x), shared: atoms("r", read, x),
			want: []Change{grant("r", write, x)},
		},
		"columns beside the table": {
			grant: SetOf(atom("r", "SELECT", x), column("r", "SELECT", "d", x), column("r", "SELECT", "c", x), column("r", "UPDATE", "c", x)),
			want: []Change{{Grantee: "r", Objects: []Object{x}, Privileges: []OnColumns{
				{Privilege: "SELECT"}, {Privilege: "SELECT", Columns: []string{"c", "d"}}, {Privilege: "UPDATE", Columns: []string{"c"}},
			}}},
		},
		"tables with other columns stand apart": {
			grant: SetOf(column("r", "SELECT", "c", x), column("r", "SELECT", "d", y)),
			want: []Change{
				{Grantee: "r", Objects: []Object{x}, Privileges: []OnColumns{{Privilege: "SELECT", Columns: []string{"c"}}}},
				{Grantee: "r", Objects: []Object{y}, Privileges: []OnColumns{{Privilege: "SELECT", Columns: []string{"d"}}}},
			},
		},
		"ALL suffers nothing beside it": {
			grant: SetOf(column("r", All, "c", x), column("r", "SELECT", "d", x), column("r", "SELECT", "c", x), atom("r", All, y), column("r", All, "c", y)),
			want: []Change{
				{Grantee: "r", Objects: []Object{x, y}, Privileges: []OnColumns{{Privilege: All, Columns: []string{"c"}}}},
				{Grantee: "r", Objects: []Object{x}, Privileges: []OnColumns{{Privilege: "SELECT", Columns: []string{"d"}}}},
				grant("r", []string{All}, y),
			},
		},
		"granting with the option grants": {
			grant: options(atoms("r", read, x)).Union(atoms("r", read, y)),
			want:  []Change{grant("r", read, y), {Grantee: "r", Option: true, Privileges: onAll(read), Objects: []Object{x}}},
		},
		"revoking revokes the option": {
			revoke: options(atoms("r", read, x)).Union(SetOf(option(atom("r", "SELECT", y)))),
			want:   []Change{revoke("r", read, x), {Revoke: true, Grantee: "r", Option: true, Privileges: onAll(read), Objects: []Object{y}}},
		},
		"an option whose privilege is shared": {
			revoke: options(atoms("r", read, x)), shared: atoms("r", read, x),
			want: []Change{
				{Revoke: true, Grantee: "r", Option: true, Privileges: onAll(read), Objects: []Object{x}},
				{Revoke: true, Shared: true, Grantee: "r", Privileges: onAll(read), Objects: []Object{x}},
			},
		},
		"later objects stand apart by their creator": {
			grant: atoms("r", read, later("s", "m"), later("s", "n"), laterSequence("s", "m"), x),
			want:  []Change{grant("r", read, x), grant("r", read, later("s", "m")), grant("r", read, later("s", "n")), grant("r", read, laterSequence("s", "m"))},
		},
		"sequences of tables are one, and apart from others": {
			grant: atoms("r", []string{"USAGE"}, owned("s", "y"), owned("s", "x"), sequence("s", "q")),
			want:  []Change{grant("r", []string{"USAGE"}, sequence("s", "q")), grant("r", []string{"USAGE"}, owned("s", "x"), owned("s", "y"))},
		},
		"a schema stands for its functions": {
			grant:  atoms("r", []string{"EXECUTE"}, function("s", "f()"), function("s", "g()")),
			wholes: map[Object][]string{function("s", "").whole(): {"f()", "g()"}},
			want:   []Change{grant("r", []string{"EXECUTE"}, function("s", "").whole())},
		},
		"what is restored comes last": {
			grant: atoms("r", []string{"INSERT"}, x), revoke: atoms("r", read, x), restore: options(SetOf(column("r", "SELECT", "c", x))),
			want: []Change{
				grant("r", []string{"INSERT"}, x), revoke("r", read, x),
				{Grantee: "r", Option: true, Objects: []Object{x}, Privileges: []OnColumns{{Privilege: "SELECT", Columns: []string{"c"}}}},
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := Difference{Grant: test.grant, Revoke: test.revoke, Restore: test.restore}.Changes(test.shared, test.wholes)
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestFoldingLosesNothingAndAddsNothing(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s, others, prior, next, seen := foresight(t)
		for name, d := range map[string]Difference{
			"planned": Foresee(prior, next, seen),
			"needed":  Between(prior, next, others, s.actual, s.inv),
		} {
			for _, wholes := range []map[Object][]string{nil, s.wholes()} {
				s.foldsTo(t, name, d, d.Changes(others, wholes), others)
				s.foldsTo(t, name, d, d.Changes(SetOf(seen.Shared...), wholes), SetOf(seen.Shared...))
			}
		}
	})
}

// foldsTo checks changes against the difference they are of.
func (s *server) foldsTo(t *rapid.T, name string, d Difference, changes []Change, shared Set) {
	t.Helper()
	grant, revoke, restore := Set{}, Set{}, Set{}
	phase := 0 // grants, revokes, revokes of what is shared, what is restored
	for _, c := range changes {
		s.wellFormed(t, c, shared)
		now := 0
		switch {
		case c.Shared:
			now = 2
		case c.Revoke:
			now = 1
		case phase > 0:
			now = 3
		}
		if now < phase {
			t.Fatalf("out of order: %+v", changes)
		}
		phase = now
		[]Set{grant, revoke, revoke, restore}[now].AddAll(s.on(c.atoms()))
	}
	if len(d.Revoke) == 0 && len(d.Restore) > 0 {
		t.Fatalf("restores where nothing is revoked: %+v", d)
	}
	what := fmt.Sprintf("%s, by %+v", name, changes)
	same(t, what+": granted", withBase(s.on(d.Grant)), withBase(grant))
	same(t, what+": revoked", withoutOption(s.on(d.Revoke)), withoutOption(revoke))
	same(t, what+": restored", withBase(s.on(d.Restore)), withBase(restore))
}

// withBase is what is held once a set is granted: with an option the privilege.
func withBase(set Set) Set {
	all := set.Union(nil)
	for a := range set {
		all.Add(a.base())
	}
	return all
}

// withoutOption leaves out options that go with their privilege.
func withoutOption(set Set) Set {
	return set.filter(func(a Atom) bool { return !a.Option || !set.Has(a.base()) })
}

// wellFormed fails the test where no statement can say a change.
func (s *server) wellFormed(t *rapid.T, c Change, shared Set) {
	t.Helper()
	if len(c.Objects) == 0 || len(c.Privileges) == 0 || ((c.Objects[0].Extent == Whole || c.Objects[0].Extent == Future) && len(c.Objects) > 1) {
		t.Fatalf("no statement can say this: %+v", c)
	}
	if !slices.IsSortedFunc(c.Objects, Object.compare) {
		t.Fatalf("objects in any order: %+v", c)
	}
	for i, o := range c.Objects {
		if o.Type != c.Objects[0].Type || o.Extent != c.Objects[0].Extent || slices.Contains(c.Objects[:i], o) {
			t.Fatalf("no statement can say this: %+v", c)
		}
	}
	for _, p := range c.Privileges {
		if p.Privilege == All && len(c.Privileges) > 1 {
			t.Fatalf("ALL stands alone: %+v", c)
		}
		if p.Privilege != All && !slices.Contains(every(c.Objects[0].Type, len(p.Columns) > 0, 0), p.Privilege) {
			t.Fatalf("there is no such privilege: %+v", c)
		}
		if len(p.Columns) > 0 && (c.Objects[0].Type != Table || c.Objects[0].Extent == Future) {
			t.Fatalf("it has no columns: %+v", c)
		}
		if slices.Contains(p.Columns, "") || !slices.IsSorted(p.Columns) || len(slices.Compact(slices.Clone(p.Columns))) != len(p.Columns) {
			t.Fatalf("columns: %+v", c)
		}
	}
	// A schema that stands for its tables is shared where each of them is.
	all := s.on(c.atoms())
	switch {
	case c.Shared:
		same(t, fmt.Sprintf("not wanted by others in %+v", c), Set{}, all.Minus(s.on(shared)))
	case c.Revoke && (c.Objects[0].Extent == One || c.Objects[0].Extent == Future) && c.Privileges[0].Privilege != All:
		same(t, fmt.Sprintf("wanted by others in %+v", c), Set{}, c.atoms().Intersect(shared))
	}
	if c.Shared && !c.Revoke {
		t.Fatalf("a shared grant: %+v", c)
	}
}

// One statement a privilege set, whatever the number of tables.
func TestAThousandTablesAreFewChanges(t *testing.T) {
	t.Parallel()
	set := Set{}
	names := []string{}
	for i := range 1000 {
		names = append(names, fmt.Sprintf("t%d", i))
		set.Add(atom("r", "SELECT", table("s", names[i])))
	}
	set.Add(atom("r", "USAGE", schema("s")))
	for count, wholes := range map[string]map[Object][]string{"named": nil, "whole": {whole("s"): names}} {
		changes := Difference{Grant: set, Revoke: set}.Changes(nil, wholes)
		if len(changes) != 4 {
			t.Errorf("%s: %d changes", count, len(changes))
		}
	}
}
