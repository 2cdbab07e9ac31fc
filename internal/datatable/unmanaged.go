package datatable

import (
	"fmt"
	"slices"
	"strings"

	"github.com/datatable-io/terraform-provider-datatable/internal/catalog"
	"github.com/datatable-io/terraform-provider-datatable/internal/postgres"
	"github.com/datatable-io/terraform-provider-datatable/internal/privilege"
)

// What is done about privileges that no grant declares.
const (
	Ignore = "ignore"
	Report = "report"
	Revoke = "revoke"
)

// watched says whether a data table wants to know of every privilege in a
// database.
func watched(snapshot *catalog.Snapshot, database string) bool {
	return slices.ContainsFunc(snapshot.Datatables, func(d Datatable) bool { return d.Database == database && watches(d) })
}

func watches(d Datatable) bool { return permissioned(d) && d.UnmanagedGrants != Ignore }

// unmanaged is what is held and nothing wants. What a role owns is its own,
// what an extension made is the extension's, and what Postgres gives PUBLIC in
// every new database opens no data: TEMPORARY, USAGE on schema public, and what
// revoke_public is for, CONNECT and CREATE on schema public.
func (st *state) unmanaged() privilege.Set {
	found := privilege.Set{}
	for a := range st.Held {
		if st.wants[a] == 0 && st.Owners[a.Object] != a.Grantee && !st.Extension[a.Object] && !given(a) {
			found.Add(a)
		}
	}
	return found
}

func given(a privilege.Atom) bool {
	if a.Grantee != privilege.Public {
		return false
	}
	switch a.Object {
	case privilege.Object{Type: privilege.Database}:
		return a.Privilege == "TEMPORARY" || a.Privilege == "CONNECT"
	case privilege.Object{Type: privilege.Schema, Schema: publicSchema}:
		return a.Privilege == "USAGE" || a.Privilege == "CREATE"
	}
	return false
}

// describeAtoms tells privileges in words, one line each.
func describeAtoms(atoms []privilege.Atom) []string {
	lines := make([]string, len(atoms))
	for i, a := range atoms {
		name := a.Privilege
		if a.Column != "" {
			name += " (" + postgres.Ident(a.Column) + ")"
		}
		if a.Option {
			name = "grant option for " + name
		}
		lines[i] = postgres.Legible(fmt.Sprintf("%s on %s to %s", name, describe(a.Object), a.Grantee))
	}
	return lines
}

// shown is how many lines of a long list a warning has.
const shown = 20

func abridged(lines []string) string {
	if len(lines) > shown {
		lines = append(lines[:shown:shown], fmt.Sprintf("and %d more", len(lines)-shown))
	}
	return strings.Join(lines, "\n")
}
