package privilege

import (
	"encoding/json"
	"fmt"
	"maps"
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
	grantees    = []string{"a", "b", Public}
	creatorList = []string{"m", "n"}
	schemas     = []string{"s", "t"}
	tableNames  = []string{"x", "y", "z"}
	columnNames = []string{"c", "d"}

	// serials are the sequences that columns of tables own; q is nobody's.
	serials       = map[string][]string{"x": {"x_c_seq"}, "y": {"y_c_seq", "y_d_seq"}}
	sequenceNames = []string{"q", "x_c_seq", "y_c_seq"}

	// spellings of functions, as Postgres prints them and as people write them.
	spellings      = map[string]string{"f(text)": "f(text)", "f(TEXT)": "f(text)", "g(integer)": "g(integer)", "g(int)": "g(integer)", "h()": "h()"}
	signatureNames = slices.Sorted(maps.Keys(spellings))

	anyGrantee  = rapid.SampledFrom(grantees)
	anySchema   = rapid.SampledFrom(schemas)
	anyCreators = rapid.SliceOfNDistinct(rapid.SampledFrom(creatorList), 1, 2, rapid.ID[string])
	anyColumns  = rapid.SliceOfNDistinct(rapid.SampledFrom(columnNames), 1, 2, rapid.ID[string])

	// anyClaim is mostly on tables, which is where claims meet.
	anyClaim = rapid.Custom(func(t *rapid.T) Claim {
		c := Claim{
			Grantee: anyGrantee.Draw(t, "grantee"),
			Type:    rapid.SampledFrom([]string{Database, Schema, Table, Table, Table, Table, Sequence, Sequence, Function}).Draw(t, "type"),
			Option:  rapid.IntRange(0, 3).Draw(t, "option") == 0,
		}
		if c.Type != Database {
			c.Schema = anySchema.Draw(t, "schema")
		}
		on(t, &c)
		c.Privileges = anyPrivileges(c.Type, len(c.Columns) > 0).Draw(t, "privileges")
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
				s.apply(t, Between(nil, &c, s.others(id), s.actual, s.inv))
			}
		}
		for range rapid.IntRange(0, 6).Draw(t, "changes by hand") {
			s.changeByHand(t)
		}
		return s
	})
)

// on draws what a claim of a type and schema is on.
func on(t *rapid.T, c *Claim) {
	c.Whole, c.Future, c.Objects, c.Columns, c.CreatedBy = false, false, nil, nil, nil
	names := map[string][]string{Table: tableNames, Sequence: sequenceNames, Function: signatureNames}[c.Type]
	if names == nil {
		return
	}
	if c.Whole = rapid.Bool().Draw(t, "whole"); c.Whole {
		if c.Future = rapid.Bool().Draw(t, "future"); c.Future {
			c.CreatedBy = anyCreators.Draw(t, "created by")
		}
		return
	}
	c.Objects = rapid.SliceOfNDistinct(rapid.SampledFrom(names), 1, 3, rapid.ID[string]).Draw(t, "objects")
	if c.Type == Table && rapid.IntRange(0, 2).Draw(t, "of columns") == 0 {
		c.Columns = anyColumns.Draw(t, "columns")
	}
}

// anyPrivileges of a type are all of them, or a few.
func anyPrivileges(kind string, columns bool) *rapid.Generator[[]string] {
	names := every(kind, columns, 16)
	names = names[:min(len(names), 3)]
	return rapid.OneOf(rapid.Just([]string{All}), rapid.SliceOfNDistinct(rapid.SampledFrom(names), 1, min(len(names), 2), rapid.ID[string]))
}

// every privilege of a type, as Postgres's manual has it.
func every(kind string, columns bool, version int) []string {
	switch kind {
	case Database:
		return []string{"CREATE", "CONNECT", "TEMPORARY"}
	case Schema:
		return []string{"CREATE", "USAGE"}
	case Sequence:
		return []string{"USAGE", "SELECT", "UPDATE"}
	case Function:
		return []string{"EXECUTE"}
	}
	if columns {
		return []string{"SELECT", "INSERT", "UPDATE", "REFERENCES"}
	}
	names := []string{"SELECT", "INSERT", "UPDATE", "DELETE", "TRUNCATE", "REFERENCES", "TRIGGER"}
	if version == 0 || version >= 17 {
		names = append(names, "MAINTAIN")
	}
	return names
}

func newServer(t *rapid.T) *server {
	s := &server{
		inv: Inventory{
			Version: rapid.SampledFrom([]int{13, 17}).Draw(t, "version"), Objects: map[Object]bool{database: true},
			Owned: map[Object][]Object{}, Alias: map[Object]Object{},
		},
		actual: Set{}, claims: map[string]Claim{}, byHand: Set{},
	}
	for _, name := range schemas {
		if rapid.IntRange(0, 5).Draw(t, "no schema") == 0 {
			continue
		}
		s.inv.Objects[schema(name)] = true
		for _, o := range contents(name) {
			if rapid.Bool().Draw(t, "there") {
				s.create(o)
			}
		}
	}
	return s
}

// contents are what can be made in a schema, sequences of tables left out.
func contents(schemaName string) []Object {
	objects := []Object{sequence(schemaName, "q")}
	for _, name := range tableNames {
		objects = append(objects, table(schemaName, name))
	}
	for _, name := range signatureNames {
		if name == spellings[name] {
			objects = append(objects, function(schemaName, name))
		}
	}
	return objects
}

func (s *server) create(o Object) {
	if s.inv.Objects[o] {
		return
	}
	s.inv.Objects[schema(o.Schema)] = true
	s.inv.Objects[o] = true
	switch o.Type {
	case Table:
		for _, name := range serials[o.Name] {
			s.inv.Objects[sequence(o.Schema, name)] = true
			s.inv.Owned[o] = append(s.inv.Owned[o], sequence(o.Schema, name))
		}
	case Function:
		for written, known := range spellings {
			if known == o.Name {
				s.inv.Alias[function(o.Schema, written)] = o
			}
		}
	}
}

func (s *server) drop(o Object) {
	for _, owned := range s.inv.Owned[o] {
		s.drop(owned)
	}
	delete(s.inv.Owned, o)
	maps.DeleteFunc(s.inv.Alias, func(_, known Object) bool { return known == o })
	delete(s.inv.Objects, o)
	there := func(a Atom) bool { return a.Object != o }
	s.actual, s.byHand = s.actual.filter(there), s.byHand.filter(there)
}

func (s *server) dropSchema(name string) {
	for _, o := range contents(name) {
		s.drop(o)
	}
	s.drop(schema(name))
	there := func(a Atom) bool { return a.Object.Schema != name }
	s.actual, s.byHand = s.actual.filter(there), s.byHand.filter(there) // default privileges
}

// changeByHand does what nobody declared.
func (s *server) changeByHand(t *rapid.T) {
	name := anySchema.Draw(t, "schema")
	switch rapid.SampledFrom([]string{"grant", "grant", "revoke", "revoke", "make", "drop", "drop schema"}).Draw(t, "by hand") {
	case "grant":
		a := Atom{Grantee: anyGrantee.Draw(t, "grantee"), Object: rapid.SampledFrom(s.objects()).Draw(t, "object")}
		if a.Object.Type == Table && a.Object.Extent == One && rapid.Bool().Draw(t, "of a column") {
			a.Column = rapid.SampledFrom(columnNames).Draw(t, "column")
		}
		a.Privilege = rapid.SampledFrom(every(a.Object.Type, a.Column != "", s.inv.Version)).Draw(t, "privilege")
		a.Option = rapid.IntRange(0, 3).Draw(t, "to grant on") == 0
		for _, a := range []Atom{a, a.base()} {
			s.actual.Add(a)
			s.byHand.Add(a)
		}
	case "revoke":
		if len(s.actual) > 0 {
			s.revoke(rapid.SampledFrom(s.actual.Sorted()).Draw(t, "atom"))
		}
	case "make":
		s.create(rapid.SampledFrom(contents(name)).Draw(t, "new"))
	case "drop":
		s.drop(rapid.SampledFrom(contents(name)).Draw(t, "old"))
	case "drop schema":
		s.dropSchema(name)
	}
}

// objects are what can be granted on, default privileges among them.
func (s *server) objects() []Object {
	var objects []Object
	for o := range s.inv.Objects {
		objects = append(objects, o)
		if o.Type != Schema {
			continue
		}
		for _, creator := range creatorList {
			for _, kind := range []string{Table, Sequence, Function} {
				objects = append(objects, Object{Type: kind, Schema: o.Schema, Name: creator, Extent: Future})
			}
		}
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

// apply carries a difference out as Postgres does its statements.
func (s *server) apply(t *rapid.T, d Difference) {
	wholes := s.wholes()
	if rapid.Bool().Draw(t, "in full") {
		wholes = nil
	}
	for _, c := range d.Changes(nil, wholes) {
		for a := range s.on(c.atoms()) {
			if c.Revoke {
				s.revoke(a)
				continue
			}
			s.actual.Add(a)
			s.actual.Add(a.base())
		}
	}
}

// revoke takes with a privilege the option to grant it, and with one on a
// table those on its columns.
func (s *server) revoke(a Atom) {
	s.actual = s.actual.filter(func(held Atom) bool {
		same := held.Grantee == a.Grantee && held.Object == a.Object && held.Privilege == a.Privilege
		return !same || a.Column != "" && held.Column != a.Column || a.Option && !held.Option
	})
}

// draw returns a claim that is there, or a new one.
func (s *server) draw(t *rapid.T, label string) *Claim {
	ids := slices.Sorted(maps.Keys(s.claims))
	if len(ids) == 0 {
		return nil
	}
	c := s.claims[rapid.SampledFrom(ids).Draw(t, label)]
	return &c
}

// near is another claim, or one that differs from the given one in little.
func near(t *rapid.T, c Claim) Claim {
	next := anyClaim.Draw(t, "next")
	switch rapid.IntRange(0, 6).Draw(t, "differs") {
	case 0: // in all
	case 1:
		next = c
		next.Grantee = anyGrantee.Draw(t, "new grantee")
	case 2:
		next = c
		next.Privileges = anyPrivileges(c.Type, len(c.Columns) > 0).Draw(t, "new privileges")
	case 3:
		next = c
		next.Option = !c.Option
	default: // in what it is on
		next = c
		on(t, &next)
		if len(next.Columns) > 0 {
			allowed := every(Table, true, 0)
			next.Privileges = slices.DeleteFunc(slices.Clone(c.Privileges), func(p string) bool { return p != All && !slices.Contains(allowed, p) })
			if len(next.Privileges) == 0 {
				next.Privileges = allowed[:1]
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

// on spells a set out over what exists: ALL, and extents but Future, for their
// parts.
func (s *server) on(set Set) Set {
	parts := Set{}
	for a := range set {
		privileges := []string{a.Privilege}
		if a.Privilege == All {
			privileges = every(a.Object.Type, a.Column != "", s.inv.Version)
		}
		for _, a.Object = range s.meant(a.Object) {
			for _, a.Privilege = range privileges {
				parts.Add(a)
			}
		}
	}
	return parts
}

// meant are the objects that one stands for.
func (s *server) meant(o Object) (objects []Object) {
	if known, ok := s.inv.Alias[o]; ok {
		o = known
	}
	switch o.Extent {
	case Future:
		if s.inv.Objects[schema(o.Schema)] {
			return []Object{o}
		}
	case One:
		if s.inv.Objects[o] {
			return []Object{o}
		}
	case Whole:
		for p := range s.inv.Objects {
			if p.Type == o.Type && p.Schema == o.Schema {
				objects = append(objects, p)
			}
		}
	case Owned:
		for of, owned := range s.inv.Owned {
			if of.Schema == o.Schema && (o.Name == "" || o.Name == of.Name) {
				objects = append(objects, owned...)
			}
		}
	}
	return objects
}

// wholes names all whole schemas.
func (s *server) wholes() map[Object][]string {
	names := map[Object][]string{}
	for o := range s.inv.Objects {
		if kind, _ := TypeOf(o.Type); kind.Contained() {
			names[o.whole()] = append(names[o.whole()], o.Name)
		}
	}
	for _, of := range names {
		slices.Sort(of)
	}
	return names
}

// stored is what a plan gets of what a refresh saw.
func stored(t *rapid.T, seen Seen) (again Seen) {
	text, err := json.Marshal(seen)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &again); err != nil {
		t.Fatal(err)
	}
	return again
}
