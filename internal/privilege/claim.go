package privilege

import "slices"

// A Claim is what one declared grant wants.
type Claim struct {
	// ID tells claims apart; a claim keeps it when what it wants changes.
	ID string
	// Grantee is the present name of a role, or [Public].
	Grantee string
	// Type is the name of an object type.
	Type string
	// Schema the objects are in, or that is granted on; empty for a database.
	Schema string
	// Objects named one by one, or Whole for all of the type in the schema.
	Objects []string
	Whole   bool
	// Privileges are keywords of the type, or [All] alone.
	Privileges []string
}

// An Inventory is what exists and matters to claims at hand.
type Inventory struct {
	// Version of the server, its major number.
	Version int
	// Objects that exist, none of them Whole.
	Objects map[Object]bool
}

// Within returns the objects of a type in a schema, sorted by name.
func (inv Inventory) Within(objectType, schema string) []Object {
	var found []Object
	for o := range inv.Objects {
		if o.Type == objectType && o.Schema == schema {
			found = append(found, o)
		}
	}
	slices.SortFunc(found, Object.compare)
	return found
}

// Targets returns the objects the claim names, as it names them.
func (c Claim) Targets() []Object {
	t, _ := TypeOf(c.Type)
	switch {
	case !t.Contained():
		return []Object{{Type: c.Type, Schema: c.Schema}}
	case c.Whole:
		return []Object{{Type: c.Type, Schema: c.Schema, Whole: true}}
	}
	objects := make([]Object, len(c.Objects))
	for i, name := range c.Objects {
		objects[i] = Object{Type: c.Type, Schema: c.Schema, Name: name}
	}
	return objects
}

// Atoms returns what the claim wants as it is declared: [All] and Whole stand
// for themselves. It needs no look at the server, so a plan can show it.
func (c Claim) Atoms() Set { return c.atoms(c.Targets(), c.Privileges) }

// Expand returns what the claim wants of the objects that exist, one atom for
// each object and privilege. A named object that does not exist has none.
func (c Claim) Expand(inv Inventory) Set {
	var objects []Object
	for _, o := range c.Targets() {
		switch {
		case o.Whole:
			objects = append(objects, inv.Within(o.Type, o.Schema)...)
		case inv.Objects[o]:
			objects = append(objects, o)
		}
	}
	set := c.atoms(objects, expandAll(c.Type, c.Privileges, inv.Version))
	// What surrounds the objects is wanted even where there are none yet: the
	// first one made in the schema has to be reachable.
	for a := range c.needs(c.Targets()) {
		if inv.Objects[a.Object] {
			set.Add(a)
		}
	}
	return set
}

// Absent returns what the claim names and the inventory lacks: its named
// objects, or the schema that should hold them.
func (c Claim) Absent(inv Inventory) []Object {
	var absent []Object
	for _, o := range c.Targets() {
		around := Object{Type: Schema, Schema: o.Schema}
		switch {
		case o.Schema != "" && !inv.Objects[around]:
			if !slices.Contains(absent, around) {
				absent = append(absent, around)
			}
		case !o.Whole && !inv.Objects[o]:
			absent = append(absent, o)
		}
	}
	return absent
}

func (c Claim) atoms(objects []Object, privileges []string) Set {
	set := c.needs(objects)
	for _, o := range objects {
		for _, p := range privileges {
			set.Add(Atom{Grantee: c.Grantee, Object: o, Privilege: p})
		}
	}
	return set
}

func (c Claim) needs(objects []Object) Set {
	set := Set{}
	t, _ := TypeOf(c.Type)
	if t.Implies == nil {
		return set
	}
	for _, o := range objects {
		for _, n := range t.Implies(o) {
			set.Add(Atom{Grantee: c.Grantee, Object: n.Object, Privilege: n.Privilege})
		}
	}
	return set
}

func expandAll(objectType string, privileges []string, version int) []string {
	if !slices.Contains(privileges, All) {
		return privileges
	}
	t, _ := TypeOf(objectType)
	return t.Names(version)
}
