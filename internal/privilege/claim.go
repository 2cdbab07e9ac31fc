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
	// Columns of the tables that are named, where it is not the tables.
	Columns []string
	// Future takes in what the roles in CreatedBy make later. Only with Whole.
	Future    bool
	CreatedBy []string
	// Privileges are keywords of the type, or [All] alone.
	Privileges []string
	// Option wants each privilege with the option to grant it on.
	Option bool
}

// An Inventory is what exists and matters to claims at hand.
type Inventory struct {
	// Version of the server, its major number.
	Version int
	// Objects that exist, each of extent One. Functions have the signature that
	// Postgres prints.
	Objects map[Object]bool
	// Owned gives for a table the sequences that its columns own.
	Owned map[Object][]Object
	// Alias gives for a function as a claim writes it the function it is.
	Alias map[Object]Object
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

// object is what a claim's object really is.
func (inv Inventory) object(o Object) Object {
	if known, ok := inv.Alias[o]; ok {
		return known
	}
	return o
}

// sequences are those that an object of extent Owned stands for.
func (inv Inventory) sequences(o Object) []Object {
	if o.Name != "" {
		return inv.Owned[Object{Type: Table, Schema: o.Schema, Name: o.Name}]
	}
	var all []Object
	for table, owned := range inv.Owned {
		if table.Schema == o.Schema {
			all = append(all, owned...)
		}
	}
	return all
}

// Targets returns the objects the claim names, as it names them.
func (c Claim) Targets() []Object {
	t, _ := TypeOf(c.Type)
	switch {
	case !t.Contained():
		return []Object{{Type: c.Type, Schema: c.Schema}}
	case c.Whole:
		return []Object{{Type: c.Type, Schema: c.Schema, Extent: Whole}}
	}
	objects := make([]Object, len(c.Objects))
	for i, name := range c.Objects {
		objects[i] = Object{Type: c.Type, Schema: c.Schema, Name: name}
	}
	return objects
}

// Atoms returns what the claim wants as it is declared: [All] and extents stand
// for themselves. It needs no look at the server, so a plan can show it.
func (c Claim) Atoms() Set {
	set := Set{}
	for _, o := range c.Targets() {
		c.add(set, o, c.Privileges)
		c.surround(set, o)
	}
	c.future(set, c.Privileges)
	return set
}

// Expand returns what the claim wants of the objects that exist, one atom for
// each object, column and privilege. A named object that does not exist has
// none, nor have later objects of a schema that does not.
func (c Claim) Expand(inv Inventory) Set {
	set := Set{}
	privileges := c.explicit(inv.Version)
	around := Set{}
	for _, target := range c.Targets() {
		objects := []Object{inv.object(target)}
		if target.Extent == Whole {
			objects = inv.Within(target.Type, target.Schema)
		}
		for _, o := range objects {
			if inv.Objects[o] {
				c.add(set, o, privileges)
				c.surround(around, o)
			}
		}
		// What surrounds the objects is wanted even where there are none yet:
		// the first one made in the schema has to be reachable.
		c.surround(around, target)
	}
	if inv.Objects[Object{Type: Schema, Schema: c.Schema}] {
		c.future(set, privileges)
	}
	set.AddAll(around.settle(inv).filter(func(a Atom) bool { return inv.Objects[a.Object] }))
	return set
}

// settle puts the objects that exist in the place of those that a set can name
// without looking: sequences by their table, functions by another spelling.
func (s Set) settle(inv Inventory) Set {
	settled := Set{}
	for a := range s {
		if a.Object.Extent != Owned {
			a.Object = inv.object(a.Object)
			settled.Add(a)
			continue
		}
		for _, a.Object = range inv.sequences(a.Object) {
			settled.Add(a)
		}
	}
	return settled
}

// Absent returns what the claim names and the inventory lacks: its named
// objects, or the schema that should hold them.
func (c Claim) Absent(inv Inventory) []Object {
	var absent []Object
	for _, o := range c.Targets() {
		switch {
		case o.Schema != "" && !inv.Objects[o.schema()]:
			if !slices.Contains(absent, o.schema()) {
				absent = append(absent, o.schema())
			}
		case o.Extent == One && !inv.Objects[inv.object(o)]:
			absent = append(absent, o)
		}
	}
	return absent
}

// HeldOnAll returns which of the claim's privileges the grantee holds on every
// one of its objects.
func (c Claim) HeldOnAll(held Set, inv Inventory) []string {
	var privileges []string
	for _, p := range c.explicit(inv.Version) {
		one := c
		one.Privileges, one.Future, one.Option = []string{p}, false, false
		wanted := one.Expand(inv).filter(func(a Atom) bool { return a.Object.Type == c.Type && a.Privilege == p })
		if len(wanted) > 0 && len(wanted.Minus(held)) == 0 {
			privileges = append(privileges, p)
		}
	}
	return privileges
}

// add puts the claim's privileges on an object into a set.
func (c Claim) add(set Set, o Object, privileges []string) {
	columns := c.Columns
	if len(columns) == 0 {
		columns = []string{""}
	}
	for _, column := range columns {
		for _, p := range privileges {
			a := Atom{Grantee: c.Grantee, Object: o, Column: column, Privilege: p}
			set.Add(a)
			if c.Option {
				a.Option = true
				set.Add(a)
			}
		}
	}
}

// surround adds what an object is of no use without: USAGE on its schema, and
// for INSERT into a table USAGE on the sequences that its columns own.
func (c Claim) surround(set Set, o Object) {
	if t, _ := TypeOf(o.Type); !t.Contained() {
		return
	}
	set.Add(Atom{Grantee: c.Grantee, Object: o.schema(), Privilege: "USAGE"})
	if o.Type == Table && c.inserts() {
		set.Add(Atom{Grantee: c.Grantee, Object: Object{Type: Sequence, Schema: o.Schema, Name: o.Name, Extent: Owned}, Privilege: "USAGE"})
	}
}

func (c Claim) inserts() bool {
	return slices.Contains(c.Privileges, "INSERT") || slices.Contains(c.Privileges, All)
}

// future adds what the claim wants of objects that are made later.
func (c Claim) future(set Set, privileges []string) {
	if !c.Future {
		return
	}
	for _, creator := range c.CreatedBy {
		c.add(set, Object{Type: c.Type, Schema: c.Schema, Name: creator, Extent: Future}, privileges)
		if c.Type == Table && c.inserts() {
			set.Add(Atom{Grantee: c.Grantee, Object: Object{Type: Sequence, Schema: c.Schema, Name: creator, Extent: Future}, Privilege: "USAGE"})
		}
	}
}

func (c Claim) explicit(version int) []string {
	return explicit(c.Type, len(c.Columns) > 0, c.Privileges, version)
}

// explicit puts every privilege of the type in the place of [All].
func explicit(objectType string, columns bool, privileges []string, version int) []string {
	if !slices.Contains(privileges, All) {
		return privileges
	}
	t, _ := TypeOf(objectType)
	if columns {
		return t.OfColumns
	}
	return t.Names(version)
}
