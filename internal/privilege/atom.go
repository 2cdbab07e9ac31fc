package privilege

import (
	"cmp"
	"slices"
	"strings"
)

// An Atom is the smallest thing that is granted: to one grantee one privilege
// on one object, or on one column of it, or the option to grant that on.
type Atom struct {
	Grantee   string
	Object    Object
	Column    string `json:",omitempty"`
	Privilege string
	// Option is the right to grant the privilege to others. Who holds it holds
	// the atom without Option too.
	Option bool `json:",omitempty"`
}

func (a Atom) compare(b Atom) int {
	return cmp.Or(
		strings.Compare(a.Grantee, b.Grantee),
		a.Object.compare(b.Object),
		strings.Compare(a.Privilege, b.Privilege),
		strings.Compare(a.Column, b.Column),
		boolean(a.Option)-boolean(b.Option),
	)
}

func boolean(b bool) int {
	if b {
		return 1
	}
	return 0
}

// base is the atom without the option.
func (a Atom) base() Atom {
	a.Option = false
	return a
}

// A Set of atoms.
type Set map[Atom]struct{}

// SetOf returns the set of the given atoms.
func SetOf(atoms ...Atom) Set {
	s := make(Set, len(atoms))
	for _, a := range atoms {
		s.Add(a)
	}
	return s
}

// Add puts an atom into the set.
func (s Set) Add(a Atom) { s[a] = struct{}{} }

// AddAll puts every atom of another set into the set.
func (s Set) AddAll(t Set) {
	for a := range t {
		s.Add(a)
	}
}

// Has says whether exactly this atom is in the set.
func (s Set) Has(a Atom) bool {
	_, ok := s[a]
	return ok
}

// Covers says whether the set holds the atom, or one that includes it: a whole
// schema includes each object in it, [All] each privilege. A privilege on a
// table does not include the one on its column: Postgres keeps them apart.
func (s Set) Covers(a Atom) bool {
	extents := []Object{a.Object}
	switch a.Object.Extent {
	case One:
		extents = append(extents, a.Object.whole())
	case Owned:
		extents = append(extents, Object{Type: a.Object.Type, Schema: a.Object.Schema, Extent: Owned})
	case Whole, Future:
	}
	for _, a.Object = range extents {
		b := a
		b.Privilege = All
		if s.Has(a) || s.Has(b) {
			return true
		}
	}
	return false
}

// Union returns the atoms of both sets.
func (s Set) Union(t Set) Set {
	u := make(Set, len(s)+len(t))
	u.AddAll(s)
	u.AddAll(t)
	return u
}

// Minus returns the atoms of s that t does not cover.
func (s Set) Minus(t Set) Set {
	return s.filter(func(a Atom) bool { return !t.Covers(a) })
}

// Intersect returns the atoms of s that t covers.
func (s Set) Intersect(t Set) Set { return s.filter(t.Covers) }

func (s Set) filter(keep func(Atom) bool) Set {
	kept := Set{}
	for a := range s {
		if keep(a) {
			kept.Add(a)
		}
	}
	return kept
}

// Sorted returns the atoms in an order that depends on nothing but them.
func (s Set) Sorted() []Atom {
	atoms := make([]Atom, 0, len(s))
	for a := range s {
		atoms = append(atoms, a)
	}
	slices.SortFunc(atoms, Atom.compare)
	return atoms
}
