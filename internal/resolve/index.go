package resolve

import "maps"

// Index is a catalog arranged for resolving: what a decision costs depends on
// the roles and groups of the people asked about, not on what the catalog
// holds. It does not change, so any number of goroutines may resolve with it.
//
// A catalog that breaks its own rules is taken at its narrowest: what is
// ambiguous or malformed has a flaw and counts as absent.
type Index struct {
	cluster    string
	workspaces map[string]*directory
	roles      map[string]*indexedRole
	datatables map[Key]*entry
	logins     map[string]bool
}

type indexedRole struct {
	Role
	flaw string // why it counts as absent, or empty
}

// entry is a data table with its tenant lists turned around.
type entry struct {
	Datatable
	flaw    string
	tenancy map[tenancy]bool
	rolesOf map[string][]string // pattern → roles, admin left out: it is never a further role
	listed  map[string]bool     // roles that are a key of tenants
}

// tenancy is one entry of one tenant list.
type tenancy struct{ role, pattern string }

// NewIndex arranges a catalog. It keeps no part of c that c's owner could
// change later.
func NewIndex(c Catalog) *Index {
	return &Index{
		cluster:    c.Cluster,
		workspaces: indexWorkspaces(c.Workspaces),
		roles:      indexRoles(c.Roles),
		datatables: indexDatatables(c.Datatables),
		logins:     maps.Clone(c.PrincipalLogins),
	}
}

func indexRoles(roles []Role) map[string]*indexedRole {
	holders := map[string]int{}
	for _, r := range roles {
		holders[r.ID]++
	}
	index := make(map[string]*indexedRole, len(roles))
	for _, r := range roles {
		role := &indexedRole{Role: r}
		switch {
		case index[r.Name] != nil:
			role.flaw = "is in it twice"
		case CheckRoleName(r.Name) != nil:
			role.flaw = "has a name that no role may have"
		case r.ID == "":
			role.flaw = "has no id in it"
		case holders[r.ID] > 1: // two sets of roles would share a login
			role.flaw = "shares its id with another role"
		}
		index[r.Name] = role
	}
	return index
}

func indexDatatables(datatables []Datatable) map[Key]*entry {
	index := make(map[Key]*entry, len(datatables))
	for _, d := range datatables {
		e := newEntry(d)
		if index[d.Key] != nil {
			e.flaw = "is in the catalog twice"
		}
		index[d.Key] = e
	}
	return index
}

func newEntry(d Datatable) *entry {
	lists := d.tenants()
	e := &entry{
		Datatable: d,
		tenancy:   map[tenancy]bool{},
		rolesOf:   map[string][]string{},
		listed:    make(map[string]bool, len(lists)),
	}
	e.Tenants = nil // what counts is below
	if d.GovernedBy != nil {
		governor := *d.GovernedBy
		e.GovernedBy = &governor
	}
	for role, patterns := range lists {
		e.listed[role] = true
		for _, pattern := range patterns {
			if CheckTenant(pattern) != nil {
				continue
			}
			e.tenancy[tenancy{role, pattern}] = true
			if role != RoleAdmin {
				e.rolesOf[pattern] = append(e.rolesOf[pattern], role)
			}
		}
	}
	return e
}

// tenant gives the first pattern of a role's tenant list that names a person,
// or "". Nobody (nil) is a tenant of nothing.
func (e *entry) tenant(role string, m *member) string {
	if m != nil {
		for _, pattern := range m.patterns {
			if e.tenancy[tenancy{role, pattern}] {
				return pattern
			}
		}
	}
	return ""
}
