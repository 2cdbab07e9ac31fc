package datatable

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/datatable-io/terraform-provider-datatable/internal/postgres"
)

// RoleDependents warns of what names a role that is to be dropped (next is
// nil), disabled or renamed: the tenants and defaults of data tables, and row
// policies. It costs the reads that a plan shares, and tells what they say now:
// the same plan may change any of it.
func (s *Service) RoleDependents(ctx context.Context, prior Role, next *Role) []Warning {
	drops, disables, renames := next == nil, next != nil && prior.Enabled && !next.Enabled, next != nil && prior.Name != next.Name
	if !drops && !disables && !renames {
		return nil
	}
	w, err := s.catalog(ctx)
	if err != nil {
		return []Warning{{Summary: fmt.Sprintf("What depends on role %q is not known", prior.Name), Detail: err.Error()}}
	}
	r, ok := w.RoleByID(prior.ID)
	if !ok {
		return nil
	}
	var p Preview
	policies, unread := s.policiesNaming(ctx, w, r.Name)
	switch {
	case drops:
		p.dependents("", fmt.Sprintf("Dropping role %q concerns what names it", prior.Name), slices.Concat(
			listing(w, r.Name, "and will list it no more", "and will have none"),
			mentions("Among the roles", policies.byRoles, "which is dropped with it where it is for no other role"),
			mentions("In the text", policies.byText, failing)))
	case disables:
		p.dependents("enabled", fmt.Sprintf("Disabling role %q concerns what names it", prior.Name), slices.Concat(
			listing(w, r.Name, "and nobody gets it while it is disabled", "and who names no role gets nothing from it while it is disabled"),
			mentions("Among the roles", policies.byRoles, "which stays, and is for nobody while the role is disabled"),
			mentions("In the text", policies.byText, "which stays, and where that means the role nobody holds it while it is disabled")))
	}
	if renames && len(policies.byText) > 0 {
		p.dependents("name", fmt.Sprintf("Renaming role %q breaks policies that name it by text", prior.Name), append(
			mentions("In the text", policies.byText, failing),
			"Write the name as a reference to the role, such as ${provider::datatable::member_of(datatable_role.it.name)}: then the policy changes in the same apply, right after the role."))
	}
	if len(unread) > 0 {
		p.dependents("", fmt.Sprintf("Not every policy that names role %q is known", prior.Name), unread)
	}
	return p.Warnings
}

// failing is what becomes of a policy's text that names a role no longer there.
const failing = "and where that means the role, as in pg_has_role, who reads the table is refused from then on: Postgres knows no role of that name"

func (p *Preview) dependents(field, summary string, lines []string) {
	if len(lines) > 0 {
		p.warn(field, summary, strings.Join(lines, "\n"))
	}
}

// listing tells which data tables list a role, and of which it is the default.
func listing(w *world, role, listed, isDefault string) (lines []string) {
	for _, d := range w.Datatables {
		if _, ok := d.Tenants[role]; ok {
			lines = append(lines, fmt.Sprintf("Data table %s lists it in tenants, %s.", d.Key, listed))
		}
		if d.DefaultRole == role {
			lines = append(lines, fmt.Sprintf("Data table %s has it as its default role, %s.", d.Key, isDefault))
		}
	}
	return lines
}

// policiesNaming are the row policies that name a role, as databases and their
// ledgers have them. Unread are the databases that cannot be read, and why.
func (s *Service) policiesNaming(ctx context.Context, w *world, role string) (found naming, unread []string) {
	databases := map[string]bool{}
	for _, d := range w.Datatables {
		if d.Owner != "" {
			databases[d.Database] = true
		}
	}
	literal := postgres.Literal(role)
	for _, database := range slices.Sorted(maps.Keys(databases)) {
		st, err := s.look(ctx, database)
		if err != nil {
			unread = append(unread, fmt.Sprintf("Database %q cannot be read: %v", database, err))
			continue
		}
		for _, key := range slices.SortedFunc(maps.Keys(st.policies), policyKey.compare) {
			live, text := st.policies[key], st.texts[key]
			what := fmt.Sprintf("policy %q on %q.%q of database %q", key.name, key.schema, key.table, database)
			if slices.Contains(live.Roles, role) {
				found.byRoles = append(found.byRoles, what)
			}
			if slices.ContainsFunc([]*string{live.Using, live.Check, text.UsingWritten, text.CheckWritten}, func(expression *string) bool {
				return expression != nil && strings.Contains(*expression, literal)
			}) {
				found.byText = append(found.byText, what)
			}
		}
	}
	return found, unread
}

// naming are policies that name a role: by what they are for, and as a literal
// in an expression.
type naming struct{ byRoles, byText []string }

// mentions says of policies what becomes of them.
func mentions(where string, policies []string, effect string) (lines []string) {
	for _, what := range policies {
		lines = append(lines, fmt.Sprintf("%s of %s, %s.", where, what, effect))
	}
	return lines
}

func (k policyKey) compare(other policyKey) int {
	return slices.Compare([]string{k.schema, k.table, k.name}, []string{other.schema, other.table, other.name})
}
