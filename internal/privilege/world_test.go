package privilege

import (
	"fmt"
	"slices"
	"strconv"

	"pgregory.net/rapid"
)

// A server as far as privileges go: what exists, what is held, and the claims
// that were made on it. Few words, so that what is drawn often meets.
type server struct {
	inv    Inventory
	actual Set
	claims map[string]Claim
	// byHand are the atoms that somebody granted beside every claim.
	byHand Set
	made   int // claims
}

var (
	grantees   = []string{"a", "b", Public}
	schemas    = []string{"s", "t"}
	tableNames = []string{"x", "y", "z"}

	anyGrantee = rapid.SampledFrom(grantees)
	anySchema  = rapid.SampledFrom(schemas)

	// anyClaim is mostly on tables, which is where claims meet.
	anyClaim = rapid.Custom(func(t *rapid.T) Claim {
		c := Claim{Grantee: anyGrantee.Draw(t, "grantee"), Type: rapid.SampledFrom([]string{Database, Schema, Table, Table, Table, Table}).Draw(t, "type")}
		if c.Type != Database {
			c.Schema = anySchema.Draw(t, "schema")
		}
		if c.Type == Table {
			if c.Whole = rapid.Bool().Draw(t, "whole"); !c.Whole {
				c.Objects = rapid.SliceOfNDistinct(rapid.SampledFrom(tableNames), 1, 3, rapid.ID[string]).Draw(t, "objects")
			}
		}
		c.Privileges = anyPrivileges(c.Type).Draw(t, "privileges")
		return c
	})

	// anyServer has claims of which some were granted in full, some in part.
	anyServer = rapid.Custom(func(t *rapid.T) *server {
		s := newServer(t)
		for i := range rapid.IntRange(0, 3).Draw(t, "claims") {
			id := strconv.Itoa(i)
			c := anyClaim.Draw(t, "claim")
			c.ID = id
			s.claims[id] = c
			if rapid.IntRange(0, 3).Draw(t, "applied") > 0 {
				s.apply(Between(nil, &c, s.others(id), s.actual, s.inv))
			}
		}
		for range rapid.IntRange(0, 6).Draw(t, "changes by hand") {
			s.changeByHand(t)
		}
		return s
	})
)

// anyPrivileges of a type are all of them, or a few.
func anyPrivileges(kind string) *rapid.Generator[[]string] {
	ofKind, _ := TypeOf(kind)
	names := ofKind.Names(16)
	names = names[:min(len(names), 3)]
	return rapid.OneOf(rapid.Just([]string{All}), rapid.SliceOfNDistinct(rapid.SampledFrom(names), 1, 2, rapid.ID[string]))
}

func newServer(t *rapid.T) *server {
	s := &server{
		inv:    Inventory{Version: rapid.SampledFrom([]int{13, 17}).Draw(t, "version"), Objects: map[Object]bool{database: true}},
		actual: Set{}, claims: map[string]Claim{}, byHand: Set{},
	}
	for _, name := range schemas {
		if rapid.IntRange(0, 5).Draw(t, "no schema") == 0 {
			continue
		}
		s.inv.Objects[schema(name)] = true
		for _, tableName := range tableNames {
			if rapid.Bool().Draw(t, "table") {
				s.inv.Objects[table(name, tableName)] = true
			}
		}
	}
	return s
}

// changeByHand does what nobody declared.
func (s *server) changeByHand(t *rapid.T) {
	name := anySchema.Draw(t, "schema")
	o := table(name, rapid.SampledFrom(tableNames).Draw(t, "table"))
	switch rapid.SampledFrom([]string{"grant", "grant", "revoke", "revoke", "make", "drop", "drop schema"}).Draw(t, "by hand") {
	case "grant":
		existing := s.objects()
		o := rapid.SampledFrom(existing).Draw(t, "object")
		kind, _ := TypeOf(o.Type)
		a := atom(anyGrantee.Draw(t, "grantee"), rapid.SampledFrom(kind.Names(s.inv.Version)).Draw(t, "privilege"), o)
		s.actual.Add(a)
		s.byHand.Add(a)
	case "revoke":
		if len(s.actual) > 0 {
			delete(s.actual, rapid.SampledFrom(s.actual.Sorted()).Draw(t, "atom"))
		}
	case "make":
		s.inv.Objects[schema(name)] = true
		s.inv.Objects[o] = true
	case "drop":
		s.drop(o)
	case "drop schema":
		for _, o := range s.inv.Within(Table, name) {
			s.drop(o)
		}
		s.drop(schema(name))
	}
}

func (s *server) drop(o Object) {
	delete(s.inv.Objects, o)
	s.actual = s.actual.filter(func(a Atom) bool { return a.Object != o })
	s.byHand = s.byHand.filter(func(a Atom) bool { return a.Object != o })
}

func (s *server) objects() []Object {
	var objects []Object
	for o := range s.inv.Objects {
		objects = append(objects, o)
	}
	slices.SortFunc(objects, Object.compare)
	return objects
}

// others is what every claim but one wants.
func (s *server) others(but string) Set {
	set := Set{}
	for id, c := range s.claims {
		if id != but {
			set = set.Union(c.Expand(s.inv))
		}
	}
	return set
}

func (s *server) apply(d Difference) {
	for a := range d.Grant {
		s.actual.Add(a)
	}
	for a := range d.Revoke {
		delete(s.actual, a)
	}
}

// draw returns a claim that is there, or a new one.
func (s *server) draw(t *rapid.T, label string) *Claim {
	var ids []string
	for id := range s.claims {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	if len(ids) == 0 {
		return nil
	}
	c := s.claims[rapid.SampledFrom(ids).Draw(t, label)]
	return &c
}

// near is another claim, or one that differs from the given one in little.
func near(t *rapid.T, c Claim) Claim {
	next := anyClaim.Draw(t, "next")
	switch rapid.IntRange(0, 4).Draw(t, "differs") {
	case 0: // in all
	case 1:
		next = c
		next.Grantee = anyGrantee.Draw(t, "new grantee")
	case 2:
		next = c
		next.Privileges = anyPrivileges(c.Type).Draw(t, "new privileges")
	default: // in what it is on
		if c.Type == Table {
			next.Grantee, next.Type, next.Schema, next.Privileges = c.Grantee, Table, c.Schema, c.Privileges
			if next.Whole = rapid.Bool().Draw(t, "whole now"); next.Whole {
				next.Objects = nil
			} else {
				next.Objects = rapid.SliceOfNDistinct(rapid.SampledFrom(tableNames), 1, 3, rapid.ID[string]).Draw(t, "new objects")
			}
		}
	}
	next.ID = c.ID
	return next
}

// change draws a change of one claim: made, altered or removed.
func (s *server) change(t *rapid.T) (id string, prior, next *Claim) {
	prior = s.draw(t, "prior")
	kind := rapid.SampledFrom([]string{"make", "alter", "alter", "alter", "remove", "same"}).Draw(t, "change")
	if prior == nil || kind == "make" {
		made := anyClaim.Draw(t, "made")
		s.made++
		made.ID = fmt.Sprintf("new %d", s.made)
		return made.ID, nil, &made
	}
	switch kind {
	case "alter":
		altered := near(t, *prior)
		next = &altered
	case "same":
		same := *prior
		next = &same
	}
	return prior.ID, prior, next
}

// on spells a set out over what exists: whole schemas and ALL for their parts.
func (s *server) on(set Set) Set {
	parts := Set{}
	for a := range set {
		for _, p := range a.privileges(s.inv.Version) {
			if a.Object.Extent != Whole {
				if s.inv.Objects[a.Object] {
					parts.Add(p)
				}
				continue
			}
			for _, o := range s.inv.Within(a.Object.Type, a.Object.Schema) {
				p.Object = o
				parts.Add(p)
			}
		}
	}
	return parts
}

// unfold spells changes out likewise.
func (s *server) unfold(changes []Change) Difference {
	d := Difference{Grant: Set{}, Revoke: Set{}}
	for _, c := range changes {
		set := c.atoms()
		if c.Revoke {
			d.Revoke = d.Revoke.Union(s.on(set))
		} else {
			d.Grant = d.Grant.Union(s.on(set))
		}
	}
	return d
}

// wholes names all whole schemas.
func (s *server) wholes() map[Object][]string {
	names := map[Object][]string{}
	for _, name := range schemas {
		for _, o := range s.inv.Within(Table, name) {
			names[whole(name)] = append(names[whole(name)], o.Name)
		}
	}
	return names
}
