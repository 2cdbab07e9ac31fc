package privilege

import (
	"cmp"
	"slices"
	"strings"
)

// An Atom is the smallest thing that is granted: one privilege on one object
// to one grantee.
type Atom struct {
	Grantee   string
	Object    Object
	Privilege string
}

func (a Atom) compare(b Atom) int {
	return cmp.Or(
		strings.Compare(a.Grantee, b.Grantee),
		a.Object.compare(b.Object),
		strings.Compare(a.Privilege, b.Privilege),
	)
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

// Has says whether exactly this atom is in the set.
func (s Set) Has(a Atom) bool {
	_, ok := s[a]
	return ok
}

// Covers says whether the set holds the atom, or one that includes it: a whole
// schema includes each object in it, [All] each privilege.
func (s Set) Covers(a Atom) bool {
	whole := a
	whole.Object.Name, whole.Object.Whole = "", true
	for _, b := range []Atom{a, whole} {
		if s.Has(b) {
			return true
		}
		b.Privilege = All
		if s.Has(b) {
			return true
		}
	}
	return false
}

// Union returns the atoms of both sets.
func (s Set) Union(t Set) Set {
	u := make(Set, len(s)+len(t))
	for a := range s {
		u.Add(a)
	}
	for a := range t {
		u.Add(a)
	}
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
