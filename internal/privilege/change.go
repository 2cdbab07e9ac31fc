package privilege

import (
	"maps"
	"slices"
	"strings"
)

// A Change is one statement's worth of granting or revoking: privileges on
// objects, to or from one grantee. Objects are all of one type and extent; of
// the extents Whole and Future there is one.
type Change struct {
	Revoke     bool
	Grantee    string
	Privileges []OnColumns
	Objects    []Object
	// Option grants with the option to grant on, or revokes that option alone.
	Option bool
	// Shared marks a revoke of what another claim wanted when it was planned:
	// it is carried out only if none wants it any more.
	Shared bool
}

// OnColumns is a privilege, on the whole object or on columns of it.
type OnColumns struct {
	Privilege string
	Columns   []string
}

// Changes folds a difference into few changes, grants first, so that nobody
// is without a privilege that one atom takes and another gives; grants go from
// the outermost objects to the innermost, and revokes back. Revokes of what is
// shared stand on their own. Where a difference has an atom for every object
// that a whole-schema claim covers, name the schema in wholes.
func (d Difference) Changes(shared Set, wholes map[Object][]string) []Change {
	changes := folding{wholes: wholes}.changes(d.Grant)
	changes = append(changes, folding{wholes: wholes, like: Change{Revoke: true}}.changes(d.Revoke.Minus(shared))...)
	changes = append(changes, folding{wholes: wholes, like: Change{Revoke: true, Shared: true}}.changes(d.Revoke.Intersect(shared))...)
	return append(changes, folding{}.changes(d.Restore)...)
}

// folding makes changes like a given one of the atoms of a set.
type folding struct {
	wholes map[Object][]string
	like   Change
}

// changes groups atoms by grantee, option and type, and then objects that have
// the same privileges. The order is by grantee and first object.
func (f folding) changes(set Set) []Change {
	type group struct {
		grantee string
		option  bool
	}
	groups := map[group]map[Object][]Atom{}
	for _, a := range set.Sorted() {
		option := a
		option.Option = true
		// Granting with the option grants, and revoking revokes the option.
		if f.like.Revoke && a.Option && set.Has(a.base()) || !f.like.Revoke && !a.Option && set.Has(option) {
			continue
		}
		g := group{a.Grantee, a.Option}
		if groups[g] == nil {
			groups[g] = map[Object][]Atom{}
		}
		groups[g][a.Object] = append(groups[g][a.Object], a)
	}
	var changes []Change
	for _, g := range slices.SortedFunc(maps.Keys(groups), func(a, b group) int {
		if c := strings.Compare(a.grantee, b.grantee); c != 0 {
			return c
		}
		return boolean(a.option) - boolean(b.option)
	}) {
		like := f.like
		like.Grantee, like.Option = g.grantee, g.option
		changes = append(changes, f.fold(groups[g], like)...)
	}
	return changes
}

func (f folding) fold(atoms map[Object][]Atom, like Change) []Change {
	f.widen(atoms)
	type key struct {
		objectType string
		extent     Extent
		privileges string
	}
	var changes []Change
	at := map[key]int{}
	for _, o := range slices.SortedFunc(maps.Keys(atoms), Object.compare) {
		for _, privileges := range sayable(onColumns(o.Type, atoms[o])) {
			k := key{o.Type, o.Extent, text(privileges)}
			if i, ok := at[k]; ok {
				changes[i].Objects = append(changes[i].Objects, o)
				continue
			}
			c := like
			c.Privileges, c.Objects = privileges, []Object{o}
			changes = append(changes, c)
			if o.Extent == One || o.Extent == Owned {
				at[k] = len(changes) - 1
			}
		}
	}
	if like.Revoke {
		slices.Reverse(changes)
	}
	return changes
}

// sayable splits privileges on an object into those that a statement can say
// at once: ALL suffers nothing beside it.
func sayable(privileges []OnColumns) [][]OnColumns {
	var parts [][]OnColumns
	for i, p := range privileges {
		if p.Privilege != All {
			return append(parts, privileges[i:])
		}
		parts = append(parts, privileges[i:i+1])
	}
	return parts
}

// widen puts a whole schema in the place of its objects where each of them is
// there with the same privileges. What the whole schema is there with already
// stays.
func (f folding) widen(atoms map[Object][]Atom) {
	for whole, names := range f.wholes {
		if len(names) < 2 {
			continue
		}
		named := func(name string) []Atom { return atoms[Object{Type: whole.Type, Schema: whole.Schema, Name: name}] }
		first := text(onColumns(whole.Type, named(names[0])))
		if slices.ContainsFunc(names, func(name string) bool { return text(onColumns(whole.Type, named(name))) != first }) || first == "" {
			continue
		}
		atoms[whole] = append(atoms[whole], named(names[0])...)
		for _, name := range names {
			delete(atoms, Object{Type: whole.Type, Schema: whole.Schema, Name: name})
		}
	}
}

// onColumns gathers an object's atoms by privilege, as the manual lists them.
// Where [All] is among them, it stands for the rest.
func onColumns(objectType string, atoms []Atom) []OnColumns {
	columns := map[string][]string{}
	for _, a := range atoms {
		columns[a.Privilege] = append(columns[a.Privilege], a.Column)
	}
	t, _ := TypeOf(objectType)
	var gathered []OnColumns
	for _, name := range append([]string{All}, t.Names(0)...) {
		// The whole object, and columns of it, are two things.
		on := slices.Compact(slices.Sorted(slices.Values(columns[name])))
		if name != All {
			on = slices.DeleteFunc(on, func(column string) bool { return slices.Contains(columns[All], column) })
		}
		if slices.Contains(on, "") {
			gathered = append(gathered, OnColumns{Privilege: name})
			on = slices.DeleteFunc(on, func(column string) bool { return column == "" })
		}
		if len(on) > 0 {
			gathered = append(gathered, OnColumns{Privilege: name, Columns: on})
		}
	}
	return gathered
}

func text(privileges []OnColumns) string {
	var b strings.Builder
	for _, p := range privileges {
		b.WriteString(p.Privilege + "\x00" + strings.Join(p.Columns, "\x00") + "\x01")
	}
	return b.String()
}
