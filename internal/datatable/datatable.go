package datatable

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/google/uuid"

	"github.com/datatable-io/terraform-provider-datatable/internal/catalog"
	"github.com/datatable-io/terraform-provider-datatable/internal/postgres"
	"github.com/datatable-io/terraform-provider-datatable/internal/privilege"
	"github.com/datatable-io/terraform-provider-datatable/internal/resolve"
)

// Datatable is an entry of the catalog, as a resource declares it.
type Datatable = catalog.Datatable

// EntrySeen is what a refresh saw of a data table.
type EntrySeen struct {
	// Missing are the wanted CONNECT privileges that are not held.
	Missing []privilege.Atom
	// Open is what PUBLIC holds and should not.
	Open []privilege.Atom
	// Taken was taken from PUBLIC, and goes back when nothing wants it gone.
	Taken []privilege.Atom
	// Unmanaged is what is held and nothing declares.
	Unmanaged []privilege.Atom
}

// Lines tells in words what is held and nothing declares.
func (s EntrySeen) Lines() []string { return describeAtoms(s.Unmanaged) }

// permissioned says whether the entry's own arguments decide who may connect.
func permissioned(d Datatable) bool {
	return d.GovernedBy == nil && (d.Access == resolve.AccessRoles || d.Access == resolve.AccessPrincipals)
}

// connectAtoms is what a data table wants on its database: each role that it
// lists may connect.
func connectAtoms(d Datatable) privilege.Set {
	atoms := privilege.Set{}
	if d.GovernedBy == nil && d.Access == resolve.AccessRoles {
		for role := range d.Tenants {
			if role != resolve.RoleAdmin {
				atoms.Add(privilege.Atom{Grantee: role, Object: privilege.Object{Type: privilege.Database}, Privilege: "CONNECT"})
			}
		}
	}
	return atoms
}

// closedAtoms is what a data table wants PUBLIC not to hold.
func closedAtoms(d Datatable) privilege.Set {
	if !permissioned(d) || !d.RevokePublic {
		return privilege.Set{}
	}
	return privilege.SetOf(
		privilege.Atom{Grantee: privilege.Public, Object: privilege.Object{Type: privilege.Database}, Privilege: "CONNECT"},
		privilege.Atom{Grantee: privilege.Public, Object: privilege.Object{Type: privilege.Schema, Schema: publicSchema}, Privilege: "CREATE"})
}

// foreseeDatatable tells the difference that a plan announces.
func foreseeDatatable(prior, next *Datatable, seen EntrySeen) privilege.Difference {
	connectBefore, connectAfter, closedBefore, closedAfter := privilege.Set{}, privilege.Set{}, privilege.Set{}, privilege.Set{}
	if prior != nil {
		connectBefore, closedBefore = connectAtoms(*prior), closedAtoms(*prior)
	}
	if next != nil {
		connectAfter, closedAfter = connectAtoms(*next), closedAtoms(*next)
	}
	d := privilege.Difference{
		Grant:  connectAfter.Minus(connectBefore.Minus(privilege.SetOf(seen.Missing...))),
		Revoke: connectBefore.Minus(connectAfter).Union(closedAfter.Minus(closedBefore.Minus(privilege.SetOf(seen.Open...)))),
	}
	if len(closedBefore) > 0 && len(closedAfter) == 0 {
		d.Grant.AddAll(privilege.SetOf(seen.Taken...))
	}
	if next != nil && watches(*next) && next.UnmanagedGrants == Revoke {
		d.Revoke.AddAll(privilege.SetOf(seen.Unmanaged...))
	}
	return d
}

// PreviewDatatable tells what a change from prior to next will run; either may
// be nil.
func PreviewDatatable(prior, next *Datatable, seen EntrySeen) Preview {
	d := next
	if d == nil {
		d = prior
	}
	foreseen := foreseeDatatable(prior, next, seen)
	p := Preview{Statements: postgres.AllPrivileges(foreseen.Changes(nil, nil), d.Database)}
	if next == nil {
		p.takesAway(fmt.Sprintf("Destroying data table %s", d.Key))
		return p
	}
	if next.GovernedBy == nil && next.Access == resolve.AccessRoles && next.DefaultRole == resolve.RoleAdmin {
		p.warn("default_role", fmt.Sprintf("Data table %s still hands out its owner", d.Key),
			"Under access \"roles\" its default role is \"admin\": a connection that names no role is the owner, which ignores grants and "+
				"row-level security, for every tenant of admin. Set default_role to a role or to \"none\".")
	}
	if len(seen.Unmanaged) > 0 && watches(*next) && next.UnmanagedGrants == Report {
		p.warn("unmanaged_grants", fmt.Sprintf("Data table %s has privileges that no grant declares", d.Key),
			abridged(seen.Lines())+"\nDeclare them, revoke them, or set unmanaged_grants to \"ignore\" or \"revoke\".")
	}
	if prior != nil && permissioned(*prior) && !permissioned(*next) && next.GovernedBy == nil {
		p.warn("access", fmt.Sprintf("Data table %s is opened to everyone in workspace %s", d.Key, d.Workspace),
			"Its access is no longer by roles: each connection is the owner, which ignores grants and row-level security.")
	}
	if restored := foreseen.Grant.Intersect(privilege.SetOf(seen.Taken...)); len(restored) > 0 {
		p.warn("revoke_public", fmt.Sprintf("PUBLIC gets back what data table %s took from it", d.Key),
			"Every login of the cluster will hold these again.")
	}
	return p
}

// Datatable reads a data table.
func (s *Service) Datatable(ctx context.Context, key resolve.Key) (Datatable, EntrySeen, bool, error) {
	d, st, err := s.lookAt(ctx, key)
	if err != nil || d.ID == "" {
		return d, EntrySeen{}, false, err
	}
	if st == nil {
		return d, EntrySeen{}, true, nil // its database is gone; Owner is empty
	}
	seen := EntrySeen{
		Missing: connectAtoms(d).Minus(st.Held).Sorted(),
		Open:    closedAtoms(d).Intersect(st.Held).Minus(claimedByPublic(st)).Sorted(),
		Taken:   st.taken.Sorted(),
	}
	if watches(d) {
		seen.Unmanaged = st.unmanaged().Sorted()
	}
	return d, seen, true, nil
}

// claimedByPublic is what a declared grant gives PUBLIC, against which closing
// the database does not fight.
func claimedByPublic(st *state) privilege.Set {
	atoms := privilege.Set{}
	for a := range st.wants {
		if a.Grantee == privilege.Public {
			atoms.Add(a)
		}
	}
	return atoms
}

// PutDatatable makes or changes a data table: prior is nil for a new one.
func (s *Service) PutDatatable(ctx context.Context, prior *Datatable, next Datatable, seen EntrySeen) (Datatable, EntrySeen, error) {
	next.ID = uuid.NewString()
	foreseen := foreseeDatatable(prior, &next, seen)
	err := s.inCatalog(ctx, func(tx *postgres.Tx) error {
		snapshot, err := catalog.Load(ctx, tx)
		if err != nil {
			return err
		}
		written, exists := snapshot.Datatable(next.Key)
		switch {
		case exists && prior == nil && !sameEntry(written, next):
			return inputError("name", "data table %s is in the catalog already. Import it with id %q, or choose another name", next.Key, next.Key.String())
		case exists:
			next.ID = written.ID
		}
		roleIDs, err := rolesOf(snapshot, next)
		if err != nil {
			return err
		}
		next.Owner = ""
		err = tx.Batch(ctx, postgres.Owners([]string{next.Database}, func(_, owner string) { next.Owner = owner }))
		if err != nil {
			return err
		}
		if next.Owner == "" {
			return inputError("database", "database %q does not exist, or takes no connections. Make it first, or name one that exists", next.Database)
		}
		c := &datatableChange{next: &next, snapshot: snapshot, foreseen: foreseen}
		if exists {
			c.written = &written
		}
		if err := s.inLedger(ctx, next.Database, func(tx *postgres.Tx) error { return c.run(ctx, tx) }); err != nil {
			return err
		}
		seen = c.seen
		return tx.Batch(ctx, catalog.PutDatatable(next, roleIDs)...)
	})
	return next, seen, err
}

// sameEntry says whether an entry that is found where a new one shall be made
// is one that was made before without being heard of.
func sameEntry(a, b Datatable) bool {
	governed := a.GovernedBy == nil && b.GovernedBy == nil || a.GovernedBy != nil && b.GovernedBy != nil && *a.GovernedBy == *b.GovernedBy
	return governed && a.Database == b.Database && a.Access == b.Access && a.DefaultRole == b.DefaultRole &&
		a.UnnamedRolesFrom == b.UnnamedRolesFrom && a.RevokePublic == b.RevokePublic && a.UnmanagedGrants == b.UnmanagedGrants &&
		(a.Tenants == nil) == (b.Tenants == nil) && maps.EqualFunc(a.Tenants, b.Tenants, sameNames)
}

// rolesOf finds the ids of the roles that an entry names.
func rolesOf(snapshot *catalog.Snapshot, d Datatable) (map[string]string, error) {
	ids := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(d.Tenants)) {
		if name == resolve.RoleAdmin {
			continue
		}
		role, ok := snapshot.Role(name)
		if !ok {
			return nil, inputError("tenants", "role %q is not in the catalog. Declare it, and write the key as (datatable_role.%s.name) so that it is made first", name, name)
		}
		ids[name] = role.ID
	}
	return ids, nil
}

// DeleteDatatable removes a data table. Claims and policies that stand on it
// are a *StandingError.
func (s *Service) DeleteDatatable(ctx context.Context, d Datatable, seen EntrySeen) error {
	foreseen := foreseeDatatable(&d, nil, seen)
	return s.inCatalog(ctx, func(tx *postgres.Tx) error {
		snapshot, err := catalog.Load(ctx, tx)
		if err != nil {
			return err
		}
		written, ok := snapshot.Datatable(d.Key)
		if !ok {
			return nil
		}
		if written.Owner != "" {
			c := &datatableChange{written: &written, snapshot: snapshot, foreseen: foreseen}
			if err := s.inLedger(ctx, written.Database, func(tx *postgres.Tx) error { return c.run(ctx, tx) }); err != nil {
				return err
			}
		}
		return tx.Batch(ctx, catalog.DeleteDatatable(d.Key))
	})
}

// datatableChange is one change of a data table's database, from what the
// catalog has to next. It runs while the catalog is locked.
type datatableChange struct {
	written, next *Datatable
	snapshot      *catalog.Snapshot
	foreseen      privilege.Difference
	seen          EntrySeen
}

func (c *datatableChange) run(ctx context.Context, tx *postgres.Tx) error {
	d, before, after := c.next, privilege.Set{}, privilege.Set{}
	if c.written != nil {
		before = connectAtoms(*c.written)
		d = c.written
	}
	if c.next != nil {
		after = connectAtoms(*c.next)
		d = c.next
		if err := checkReplication(ctx, tx, *c.next); err != nil {
			return err
		}
	}
	others := connects(c.snapshot, d.Database, d.Key)
	r := reading{owner: d.Owner, connecting: others.Union(after)}
	for a := range before {
		r.grantees = append(r.grantees, a.Grantee)
	}
	if c.next != nil && watches(*c.next) {
		r.grantees, r.everywhere = append(r.grantees, c.snapshot.Logins()...), true
	}
	st, err := r.state(ctx, tx)
	if err != nil {
		return err
	}
	if c.next == nil {
		if standing := standingOn(st, d.ID); len(standing) > 0 {
			return &StandingError{Datatable: d.Key, Standing: standing}
		}
	}
	wanted := privilege.Set{}
	wanted.AddAll(others)
	for _, c := range st.claims {
		wanted.AddAll(c.atoms(st.Inventory))
	}
	closed, taken := c.closed(d), st.taken
	needed := privilege.Difference{
		Grant:  after.Minus(st.Held),
		Revoke: before.Minus(after).Minus(wanted).Intersect(st.Held).Union(closed.Minus(wanted).Intersect(st.Held)),
	}
	if len(closed) == 0 {
		needed.Grant.AddAll(taken.Minus(st.Held))
		taken = privilege.Set{}
	} else {
		taken = taken.Union(closed.Intersect(needed.Revoke))
	}
	if err := unplanned(needed, c.foreseen, d.Database); err != nil {
		return err
	}
	c.seen = EntrySeen{Taken: taken.Sorted()}
	if r.everywhere {
		unmanaged := st.unmanaged().Minus(needed.Revoke)
		if c.next.UnmanagedGrants == Revoke {
			// What came since the plan stays, and the next plan shows it.
			announced := unmanaged.Intersect(c.foreseen.Revoke)
			needed.Revoke.AddAll(announced)
			unmanaged = unmanaged.Minus(announced)
		}
		c.seen.Unmanaged = unmanaged.Sorted()
	}
	return carryOut(ctx, tx, needed, st.Holdings, nil, d.Database, append(catalog.SetTakenFromPublic(taken), catalog.ForgetGone()...)...)
}

// closed is what PUBLIC must not hold on the database after the change: what
// this data table or any other one in it wants.
func (c *datatableChange) closed(d *Datatable) privilege.Set {
	closed := privilege.Set{}
	for _, other := range c.snapshot.Datatables {
		if other.Database == d.Database && other.Key != d.Key {
			closed = closed.Union(closedAtoms(other))
		}
	}
	if c.next != nil {
		closed = closed.Union(closedAtoms(*c.next))
	}
	return closed
}

// standingOn describes the claims and policies of a data table.
func standingOn(st *state, datatableID string) []string {
	var standing []string
	for _, c := range st.claims {
		if c.DatatableID == datatableID {
			standing = append(standing, fmt.Sprintf("the grant of %s on %s to %s", strings.Join(c.Privileges, ", "), describeAll(c.Targets()), c.Grantee))
		}
	}
	for key, p := range st.texts {
		if _, exists := st.policies[key]; exists && p.DatatableID == datatableID {
			standing = append(standing, fmt.Sprintf("policy %q on table %q.%q", p.Name, p.Schema, p.Table))
		}
	}
	slices.Sort(standing)
	return standing
}

// checkReplication refuses permissions on a database whose rows leave it by
// replication, which asks neither grants nor policies, unless each way out is
// accepted by name.
func checkReplication(ctx context.Context, tx *postgres.Tx, d Datatable) error {
	if !permissioned(d) {
		return nil
	}
	var ways []string
	err := tx.Batch(ctx, postgres.Replication(func(kind, name string) {
		if !slices.Contains(d.AcceptReplication, name) {
			ways = append(ways, fmt.Sprintf("%s %q", kind, name))
		}
	}))
	if err != nil || len(ways) == 0 {
		return err
	}
	return inputError("accept_replication", "rows of database %q leave it by %s, and a replication stream reads every row, "+
		"whatever roles and policies say. Drop it, or accept it by name in accept_replication", d.Database, joined(ways))
}

func joined(parts []string) string {
	slices.Sort(parts)
	text := ""
	for i, part := range parts {
		switch {
		case i == 0:
		case i == len(parts)-1:
			text += " and "
		default:
			text += ", "
		}
		text += part
	}
	return text
}
