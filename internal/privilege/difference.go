package privilege

// A Difference is what has to be granted and revoked.
type Difference struct {
	Grant  Set
	Revoke Set
}

// Empty says whether there is nothing to do.
func (d Difference) Empty() bool { return len(d.Grant) == 0 && len(d.Revoke) == 0 }

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
	return Difference{
		Grant:  wanted.Minus(actual),
		Revoke: expand(prior, inv).Minus(wanted).Minus(others).Intersect(actual),
	}
}

// Exceeds returns what d needs and the planned difference did not announce.
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
	Objects []string
	// Missing atoms: wanted by the claim and not held, or on a named object
	// that does not exist.
	Missing []Atom
	// Absent objects: named by the claim, or the schema of what it names, and
	// not there.
	Absent []Object
	// Shared atoms: wanted by the claim and by another one.
	Shared []Atom
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
	seen.Shared = wanted.Intersect(others).Sorted()
	missing := wanted.Minus(actual)
	seen.Absent = c.Absent(inv)
	for _, o := range seen.Absent {
		if o.Type != c.Type {
			// The schema itself is gone, and all that was in it.
			missing = missing.Union(c.Atoms())
			break
		}
		missing = missing.Union(c.atoms([]Object{o}, expandAll(c.Type, c.Privileges, inv.Version)).Minus(actual))
	}
	seen.Missing = missing.Sorted()
	return seen
}

// Foresee returns the difference that a plan announces for a change from prior
// to next; either may be nil. It uses nothing but the claims and what was seen
// of prior, so a later call with the same arguments gives the same answer.
// Atoms may be whole schemas and [All]; what is done in the end is covered by
// them or is not done.
func Foresee(prior, next *Claim, seen Seen) Difference {
	var before, after Set
	if prior != nil {
		before = prior.Atoms()
	}
	if next != nil {
		after = next.Atoms()
	}
	grant := after.Minus(before)
	for _, a := range seen.Missing {
		if after.Covers(a) && !grant.Covers(a) {
			grant.Add(a)
		}
	}
	revoke := Set{}
	for a := range before.Minus(after) {
		for _, part := range split(a, after, seen) {
			revoke.Add(part)
		}
	}
	return Difference{Grant: grant, Revoke: revoke}
}

// split takes from an atom that stands for many what the claim keeps of it.
// Where it keeps nothing the atom stays whole.
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
		if b.Grantee != a.Grantee || b.Object.Type != a.Object.Type || b.Object.Schema != a.Object.Schema {
			continue
		}
		object := b.Object == a.Object || a.Object.Whole || b.Object.Whole
		privilege := b.Privilege == a.Privilege || a.Privilege == All || b.Privilege == All
		if object && privilege {
			return true
		}
	}
	return false
}

func (a Atom) privileges(version int) []Atom {
	var parts []Atom
	for _, p := range expandAll(a.Object.Type, []string{a.Privilege}, version) {
		b := a
		b.Privilege = p
		parts = append(parts, b)
	}
	return parts
}

func (a Atom) objects(names []string) []Atom {
	if !a.Object.Whole {
		return []Atom{a}
	}
	parts := make([]Atom, 0, len(names))
	for _, name := range names {
		b := a
		b.Object.Whole, b.Object.Name = false, name
		parts = append(parts, b)
	}
	return parts
}

func expand(c *Claim, inv Inventory) Set {
	if c == nil {
		return Set{}
	}
	return c.Expand(inv)
}
