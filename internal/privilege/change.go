package privilege

import (
	"maps"
	"slices"
	"strings"
)

// A Change is one statement's worth of granting or revoking: every privilege
// on every object, to or from one grantee. Objects are all of one type, and
// either named ones or a single Whole.
type Change struct {
	Revoke     bool
	Grantee    string
	Privileges []string
	Objects    []Object
	// Shared marks a revoke of what another claim wanted when it was planned:
	// it is carried out only if none wants it any more.
	Shared bool
}

// Changes folds a difference into few changes, grants first, so that nobody
// is without a privilege that one atom takes and another gives; grants go from
// the outermost objects to the innermost, and revokes back. Revokes of what is
// shared stand on their own. Where a difference has an atom for every
// object that a whole-schema claim covers, name the schema in wholes.
func (d Difference) Changes(shared Set, wholes map[Object][]string) []Change {
	changes := fold(d.Grant, wholes, Change{})
	changes = append(changes, fold(d.Revoke.Minus(shared), wholes, Change{Revoke: true})...)
	changes = append(changes, fold(d.Revoke.Intersect(shared), wholes, Change{Revoke: true, Shared: true})...)
	return changes
}

// fold groups atoms by grantee and type, and then objects that have the same
// privileges in the set. The order is by grantee, type, and first object.
func fold(set Set, wholes map[Object][]string, like Change) []Change {
	type key struct{ grantee, objectType, privileges string }
	byObject := map[string]map[Object][]string{}
	for _, a := range set.Sorted() {
		if byObject[a.Grantee] == nil {
			byObject[a.Grantee] = map[Object][]string{}
		}
		byObject[a.Grantee][a.Object] = append(byObject[a.Grantee][a.Object], a.Privilege)
	}
	var changes []Change
	for _, grantee := range slices.Sorted(maps.Keys(byObject)) {
		at := map[key]int{}
		objects := widen(byObject[grantee], wholes)
		for _, o := range slices.SortedFunc(maps.Keys(objects), Object.compare) {
			privileges := inOrder(o.Type, objects[o])
			k := key{grantee, o.Type, strings.Join(privileges, ",")}
			if i, ok := at[k]; ok && !o.Whole {
				changes[i].Objects = append(changes[i].Objects, o)
				continue
			}
			c := like
			c.Grantee, c.Privileges, c.Objects = grantee, privileges, []Object{o}
			changes = append(changes, c)
			if !o.Whole {
				at[k] = len(changes) - 1
			}
		}
	}
	if like.Revoke {
		slices.Reverse(changes)
	}
	return changes
}

// widen puts a whole schema in the place of its objects where each of them is
// there with the same privileges.
func widen(objects map[Object][]string, wholes map[Object][]string) map[Object][]string {
	for whole, names := range wholes {
		if len(names) < 2 {
			continue
		}
		var privileges []string
		same := true
		for i, name := range names {
			has, ok := objects[Object{Type: whole.Type, Schema: whole.Schema, Name: name}]
			if i == 0 {
				privileges = has
			}
			if !ok || !slices.Equal(has, privileges) {
				same = false
				break
			}
		}
		if !same {
			continue
		}
		for _, name := range names {
			delete(objects, Object{Type: whole.Type, Schema: whole.Schema, Name: name})
		}
		// What is there for the schema itself stays: a plan has some atoms of
		// the whole and others of each object.
		objects[whole] = append(objects[whole], privileges...)
	}
	return objects
}

// inOrder sorts privileges as the manual lists them.
func inOrder(objectType string, privileges []string) []string {
	if slices.Contains(privileges, All) {
		return []string{All}
	}
	t, _ := TypeOf(objectType)
	var sorted []string
	for _, v := range t.Privileges {
		if slices.Contains(privileges, v.Privilege) {
			sorted = append(sorted, v.Privilege)
		}
	}
	return sorted
}
