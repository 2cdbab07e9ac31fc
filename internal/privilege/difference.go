package privilege

// A Difference is what has to be granted and revoked.
type Difference struct {
	Grant  Set
	Revoke Set
	// Restore are privileges on columns, held or just granted, that go with one
	// on their table, since a REVOKE on a table takes its columns along, and that
	// are granted again in the same transaction.
	Restore Set
}

// Empty says whether there is nothing to do.
func (d Difference) Empty() bool { return len(d.Grant)+len(d.Revoke)+len(d.Restore) == 0 }

// Between returns what takes a database from the claim as it was to the claim
// as it shall be; either may be nil. All atoms are of objects that exist.
//
//	grant  = atoms(next) − actual
//	revoke = (atoms(prior) − atoms(next) − others) ∩ actual
//
// So nothing that is held is granted again, nothing that another claim wants
// is revoked, and running it twice changes nothing.
func Between(prior, next *Claim, others, actual Set, inv Inventory) Difference {
	wanted := expand(next, inv)
	d := Difference{
		Grant:  wanted.Minus(actual),
		Revoke: expand(prior, inv).Minus(wanted).Minus(others).Intersect(actual),
	}
	d.Restore = d.restore(actual.Union(d.Grant))
	return d
}

// restore tells which privileges on columns of the held ones the revokes take
// along.
func (d Difference) restore(held Set) Set {
	return held.filter(func(a Atom) bool {
		if a.Column == "" || d.Revoke.Has(a) {
			return false
		}
		table := a
		table.Column = ""
		return overlaps(table, d.Revoke) || overlaps(table.base(), d.Revoke)
	})
}

// Settle puts objects that exist in the place of those that a difference can
// name without looking at the server.
func (d Difference) Settle(inv Inventory) Difference {
	return Difference{Grant: d.Grant.settle(inv), Revoke: d.Revoke.settle(inv), Restore: d.Restore}
}

// Exceeds returns what d needs and the planned difference did not announce.
// What is restored was held before and is held after, so it needs no announcing;
// a plan to destroy cannot always tell, since Terraform plans the destruction of
// what has left the configuration by what an earlier refresh saw.
func (d Difference) Exceeds(planned Difference) Difference {
	return Difference{Grant: d.Grant.Minus(planned.Grant), Revoke: d.Revoke.Minus(planned.Revoke)}
}

// Seen is what the last look at the server told about a claim. It is kept
// between a refresh and the plans made from it, so that planning again gives
// the same answer.
type Seen struct {
	// Version of the server, its major number.
	Version int
	// Objects of the claim's type in its schema, where the claim is for the
	// whole schema.
	Objects []string `json:",omitempty"`
	// Missing atoms: wanted by the claim and not held, or on a named object
	// that does not exist.
	Missing []Atom `json:",omitempty"`
	// Absent objects: named by the claim, or the schema of what it names, and
	// not there.
	Absent []Object `json:",omitempty"`
	// Shared atoms: wanted by the claim and by another one.
	Shared []Atom `json:",omitempty"`
	// Columns are the privileges on single columns that the grantee holds on
	// tables of the claim.
	Columns []Atom `json:",omitempty"`
}

// Look compares a claim with the server.
func Look(c Claim, others, actual Set, inv Inventory) Seen {
	seen := Seen{Version: inv.Version}
	if c.Whole {
		for _, o := range inv.Within(c.Type, c.Schema) {
			seen.Objects = append(seen.Objects, o.Name)
		}
	}
	wanted := c.Expand(inv)
	shared := c.spell(wanted.Intersect(others), inv)
	for a := range c.Atoms() {
		// Sequences that columns own a plan names by their table.
		if sequences := SetOf(a).settle(inv); a.Object.Extent == Owned && len(sequences) > 0 && len(sequences.Minus(others)) == 0 {
			shared.Add(a)
		}
	}
	seen.Shared = shared.Sorted()
	missing := wanted.Minus(actual)
	seen.Absent = c.Absent(inv)
	for _, o := range seen.Absent {
		if o.Type != c.Type {
			// The schema itself is gone, and all that was in it.
			missing = missing.Union(c.Atoms())
			break
		}
		c.add(missing, o, c.explicit(inv.Version))
	}
	seen.Missing = c.spell(missing, inv).Sorted()
	if c.Type == Table {
		seen.Columns = actual.filter(func(a Atom) bool {
			return a.Column != "" && a.Grantee == c.Grantee && c.names(a.Object)
		}).Sorted()
	}
	return seen
}

// spell puts the claim's own spelling of functions in the place of Postgres's,
// so that what was seen compares with what is declared.
func (c Claim) spell(set Set, inv Inventory) Set {
	written := map[Object]Object{}
	for _, o := range c.Targets() {
		written[inv.object(o)] = o
	}
	spelled := Set{}
	for a := range set {
		if o, ok := written[a.Object]; ok {
			a.Object = o
		}
		spelled.Add(a)
	}
	return spelled
}

// names says whether an object is one of the claim's.
func (c Claim) names(o Object) bool {
	for _, target := range c.Targets() {
		if target == o || target == o.whole() {
			return true
		}
	}
	return false
}

// Foresee returns the difference that a plan announces for a change from prior
// to next; either may be nil. It uses nothing but the claims and what was seen
// of prior, so a later call with the same arguments gives the same answer.
// Atoms may have extents and [All]; what is done in the end is covered by them
// or is not done.
func Foresee(prior, next *Claim, seen Seen) Difference {
	var before, after Set
	if prior != nil {
		before = prior.Atoms()
	}
	if next != nil {
		after = next.Atoms()
	}
	d := Difference{Grant: after.Minus(before), Revoke: Set{}}
	for _, a := range seen.Missing {
		// What sequences a table's columns own is not in a claim's atoms. Those
		// of a table that is no longer in it cannot be told apart.
		implied := prior != nil && prior.Type == Table && next != nil && next.Type == Table && next.inserts() &&
			next.Grantee == a.Grantee && next.Schema == a.Object.Schema && a.Object.Type == Sequence && a.Object.Extent == One
		if (implied || after.Covers(a)) && !d.Grant.Covers(a) {
			d.Grant.Add(a)
		}
		// A function of a whole schema may be one that next names, in another
		// spelling.
		for b := range after {
			if a.Object.Type == Function && b.Object.Type == Function && b.Object.Extent == One && !after.Covers(a) && !before.Has(b) {
				d.Grant.Add(b)
			}
		}
	}
	for a := range before.Minus(after) {
		for _, part := range split(a, after, seen) {
			d.Revoke.Add(part)
		}
	}
	d.Restore = d.restore(SetOf(seen.Columns...).Union(d.Grant))
	return d
}

// split takes from an atom that stands for many what the claim keeps of it.
// Where it keeps nothing, or it cannot be told what it stands for, the atom
// stays whole.
func split(a Atom, keep Set, seen Seen) []Atom {
	if !overlaps(a, keep) {
		return []Atom{a}
	}
	var left []Atom
	for _, p := range a.privileges(seen.Version) {
		for _, b := range p.objects(seen.Objects) {
			if !keep.Covers(b) {
				left = append(left, b)
			}
		}
	}
	return left
}

// overlaps says whether keep has a part of what the atom stands for.
func overlaps(a Atom, keep Set) bool {
	for b := range keep {
		if b.Grantee != a.Grantee || b.Column != a.Column || b.Option != a.Option ||
			b.Object.Type != a.Object.Type || b.Object.Schema != a.Object.Schema {
			continue
		}
		privilege := b.Privilege == a.Privilege || a.Privilege == All || b.Privilege == All
		if privilege && (b.Object == a.Object || a.Object.includes(b.Object) || b.Object.includes(a.Object)) {
			return true
		}
	}
	return false
}

func (a Atom) privileges(version int) []Atom {
	var parts []Atom
	for _, p := range explicit(a.Object.Type, a.Column != "", []string{a.Privilege}, version) {
		b := a
		b.Privilege = p
		parts = append(parts, b)
	}
	return parts
}

func (a Atom) objects(names []string) []Atom {
	var parts []Atom
	for _, name := range names {
		b := a
		if b.Object.Name = name; b.Object.Extent == Whole {
			b.Object.Extent = One
		}
		if a.Object.includes(b.Object) {
			parts = append(parts, b)
		}
	}
	if parts == nil && a.Object.Extent != Whole {
		return []Atom{a}
	}
	return parts
}

func expand(c *Claim, inv Inventory) Set {
	if c == nil {
		return Set{}
	}
	return c.Expand(inv)
}
