package datatable

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/google/uuid"

	"github.com/datatable-io/terraform-provider-datatable/internal/catalog"
	"github.com/datatable-io/terraform-provider-datatable/internal/postgres"
	"github.com/datatable-io/terraform-provider-datatable/internal/privilege"
	"github.com/datatable-io/terraform-provider-datatable/internal/resolve"
)

// A Grant is a claim on the objects of a data table. Its Grantee is a role of
// the catalog, or privilege.Public.
type Grant struct {
	Datatable resolve.Key
	privilege.Claim
}

// GrantSeen is what a refresh saw of a grant.
type GrantSeen struct {
	// Database that the data table is.
	Database string
	privilege.Seen
}

func (g *Grant) claim() *privilege.Claim {
	if g == nil {
		return nil
	}
	return &g.Claim
}

// PreviewGrant tells what a change from prior to next will run; either may be
// nil. The database has to be given for a grant on the database itself.
func PreviewGrant(prior, next *Grant, seen GrantSeen) Preview {
	foreseen := privilege.Foresee(prior.claim(), next.claim(), seen.Seen)
	shared := privilege.SetOf(seen.Shared...)
	p := Preview{Statements: postgres.AllPrivileges(foreseen.Changes(shared, wholes(next, seen.Objects)), seen.Database)}
	if next == nil {
		p.takesAway(fmt.Sprintf("Destroying the grant of %s on %s of data table %s to %s",
			strings.Join(prior.Privileges, ", "), describeAll(prior.Targets()), prior.Datatable, prior.Grantee))
		return p
	}
	if prior != nil {
		for _, o := range absent(seen, next) {
			p.warn("objects", fmt.Sprintf("%s does not exist", describe(o)),
				fmt.Sprintf("The grant to %s names it. Make it again, or take it out of the grant.", next.Grantee))
		}
	}
	return p
}

// absent tells the objects that are missing because they do not exist: every
// privilege the claim wants on them is missing, and they are named.
func absent(seen GrantSeen, g *Grant) []privilege.Object {
	var objects []privilege.Object
	for _, o := range g.Targets() {
		if o.Name != "" && slices.Contains(seen.Absent, o) {
			objects = append(objects, o)
		}
	}
	return objects
}

func describeAll(objects []privilege.Object) string {
	texts := make([]string, len(objects))
	for i, o := range objects {
		texts[i] = describe(o)
	}
	return strings.Join(texts, ", ")
}

func describe(o privilege.Object) string {
	switch {
	case o.Whole:
		return fmt.Sprintf("every %s in schema %q", o.Type, o.Schema)
	case o.Name != "":
		return fmt.Sprintf("%s %q.%q", o.Type, o.Schema, o.Name)
	case o.Schema != "":
		return fmt.Sprintf("%s %q", o.Type, o.Schema)
	}
	return o.Type
}

// wholes tells which names stand for a whole schema in a claim that is so wide.
func wholes(g *Grant, names []string) map[privilege.Object][]string {
	if g == nil || !g.Whole {
		return nil
	}
	return map[privilege.Object][]string{{Type: g.Type, Schema: g.Schema, Whole: true}: names}
}

// Grant reads a grant by its claim's id.
func (s *Service) Grant(ctx context.Context, key resolve.Key, id string) (Grant, GrantSeen, bool, error) {
	d, st, err := s.lookAt(ctx, key)
	if err != nil || st == nil {
		return Grant{}, GrantSeen{}, false, err
	}
	c, ok := st.claims[id]
	if !ok || c.DatatableID != d.ID {
		return Grant{}, GrantSeen{}, false, nil
	}
	return Grant{Datatable: key, Claim: c.Claim}, seenOf(d.Database, c, st), true, nil
}

// FindGrants returns the claims on a data table that are like the given one
// but for id and privileges.
func (s *Service) FindGrants(ctx context.Context, like Grant) ([]Grant, error) {
	d, st, err := s.lookAt(ctx, like.Datatable)
	if err != nil || st == nil {
		return nil, err
	}
	var found []Grant
	for _, c := range st.claims {
		if c.DatatableID == d.ID && c.Grantee == like.Grantee && c.Type == like.Type && c.Schema == like.Schema &&
			c.Whole == like.Whole && sameNames(c.Objects, like.Objects) {
			found = append(found, Grant{Datatable: like.Datatable, Claim: c.Claim})
		}
	}
	return found, nil
}

func sameNames(a, b []string) bool {
	return slices.Equal(slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b)))
}

// lookAt reads the database of a data table; the state is nil where either is
// gone, so that what was declared in it is gone too.
func (s *Service) lookAt(ctx context.Context, key resolve.Key) (catalog.Datatable, *state, error) {
	w, err := s.catalog(ctx)
	if err != nil {
		return catalog.Datatable{}, nil, err
	}
	d, ok := w.Datatable(key)
	if !ok || d.Owner == "" {
		return d, nil, nil
	}
	st, err := s.look(ctx, d.Database)
	return d, st, err
}

func seenOf(database string, c catalog.Claim, st *state) GrantSeen {
	actual := st.held
	if c.Orphan {
		// Another role may have the name by now; what it holds is not this
		// claim's.
		actual = privilege.Set{}
	}
	return GrantSeen{Database: database, Seen: privilege.Look(c.Claim, st.shared(c), actual, st.inventory)}
}

// CreateGrant records a claim and grants what it wants.
func (s *Service) CreateGrant(ctx context.Context, g Grant) (Grant, GrantSeen, error) {
	g.ID = uuid.NewString()
	seen, err := s.changeGrant(ctx, nil, &g, GrantSeen{})
	return g, seen, err
}

// UpdateGrant changes a claim in place: what is new is granted before what is
// no longer wanted is revoked.
func (s *Service) UpdateGrant(ctx context.Context, prior, next Grant, seen GrantSeen) (GrantSeen, error) {
	next.ID = prior.ID
	return s.changeGrant(ctx, &prior, &next, seen)
}

// DeleteGrant removes a claim, and revokes what no other wants.
func (s *Service) DeleteGrant(ctx context.Context, g Grant, seen GrantSeen) error {
	w, err := s.catalog(ctx)
	if err != nil {
		return err
	}
	if d, ok := w.Datatable(g.Datatable); !ok || d.Owner == "" {
		return nil // with its database or its data table the claim is gone
	}
	_, err = s.changeGrant(ctx, &g, nil, seen)
	return err
}

func (s *Service) changeGrant(ctx context.Context, prior, next *Grant, seen GrantSeen) (GrantSeen, error) {
	foreseen := privilege.Foresee(prior.claim(), next.claim(), seen.Seen)
	g := next
	if g == nil {
		g = prior
	}
	d, err := s.datatable(ctx, g.Datatable)
	if err != nil {
		return GrantSeen{}, err
	}
	c := &grantChange{prior: prior, next: next, foreseen: foreseen, datatable: d}
	change := func() error {
		return s.inLedger(ctx, d.Database, func(tx *postgres.Tx) error { return c.run(ctx, tx) })
	}
	if g.Type == privilege.Database || (prior != nil && prior.Type == privilege.Database) {
		// A privilege on the database is a matter of the whole cluster, and
		// data tables want some too.
		err = s.inCatalog(ctx, func(tx *postgres.Tx) error {
			snapshot, err := catalog.Load(ctx, tx)
			if err != nil {
				return err
			}
			c.connecting = connects(snapshot, d.Database, resolve.Key{})
			return change()
		})
	} else {
		err = change()
	}
	return c.seen, err
}

// grantChange is one change of a claim, from what the ledger has to next.
type grantChange struct {
	prior, next *Grant
	foreseen    privilege.Difference
	datatable   catalog.Datatable
	connecting  privilege.Set

	claims map[string]catalog.Claim
	roles  map[string]postgres.Role
	inv    privilege.Inventory
	held   privilege.Set
	seen   GrantSeen
}

func (c *grantChange) run(ctx context.Context, tx *postgres.Tx) error {
	if err := c.look(ctx, tx); err != nil {
		return err
	}
	var row *catalog.Claim
	var written *privilege.Claim
	if c.prior != nil {
		if found, ok := c.claims[c.prior.ID]; ok && !found.Orphan {
			written = &found.Claim
		}
		delete(c.claims, c.prior.ID)
	}
	if c.next != nil {
		roleID, err := c.granteeID()
		if err != nil {
			return err
		}
		if err := c.exists(); err != nil {
			return err
		}
		row = &catalog.Claim{
			Claim: c.next.Claim, RoleID: roleID,
			DatatableID: c.datatable.ID, Datatable: c.datatable.Key.String(),
		}
	}
	others := c.connecting
	for _, claim := range c.claims {
		if !claim.Orphan {
			others = others.Union(claim.Expand(c.inv))
		}
	}
	needed := privilege.Between(written, c.next.claim(), others, c.held, c.inv)
	if err := unplanned(needed, c.foreseen, c.datatable.Database); err != nil {
		return err
	}
	statements := postgres.AllPrivileges(needed.Changes(nil, c.wholes()), c.datatable.Database)
	if row == nil {
		return tx.Run(ctx, statements, catalog.DeleteClaim(c.prior.ID))
	}
	held := c.held.Union(needed.Grant)
	c.seen = GrantSeen{Database: c.datatable.Database, Seen: privilege.Look(row.Claim, others, held, c.inv)}
	return tx.Run(ctx, statements, catalog.PutClaim(*row))
}

// look reads the claims that could want the same, and what is held.
func (c *grantChange) look(ctx context.Context, tx *postgres.Tx) error {
	c.claims, c.roles, c.held = map[string]catalog.Claim{}, map[string]postgres.Role{}, privilege.Set{}
	c.inv.Version = tx.Version()
	var schemas, grantees, ids []string
	mine := map[string]catalog.Claim{}
	for name, g := range map[string]*Grant{"prior": c.prior, "next": c.next} {
		if g != nil {
			schemas, grantees, ids = append(schemas, g.Schema), append(grantees, g.Grantee), append(ids, g.ID)
			mine[name] = catalog.Claim{Claim: g.Claim}
		}
	}
	err := tx.Batch(ctx,
		catalog.Claims(schemas, ids, func(claim catalog.Claim) { c.claims[claim.ID] = claim }),
		postgres.Roles(grantees, nil, func(r postgres.Role) { c.roles[r.Name] = r }))
	if err != nil {
		return err
	}
	if c.prior != nil {
		mine["written"] = c.claims[c.prior.ID]
	}
	scope := scopeOf(mine, nil)
	// Objects that other claims name are of no interest here, but what they
	// want of those that are is.
	return tx.Batch(ctx, postgres.Objects(scope, &c.inv, c.held))
}

// granteeID finds the catalog's id of the role that is granted to.
func (c *grantChange) granteeID() (string, error) {
	name := c.next.Grantee
	if name == privilege.Public {
		return "", nil
	}
	id, ok := catalog.Marked(c.roles[name].Comment)
	if !ok {
		return "", inputError("role", "role %q is not in the catalog. Declare it, and refer to it (datatable_role.%s.name) so that it is made first", name, name)
	}
	return id, nil
}

// exists refuses a grant on what is not there.
func (c *grantChange) exists() error {
	absent := c.next.Absent(c.inv)
	if len(absent) == 0 {
		return nil
	}
	field, verb := "objects", "does"
	if absent[0].Name == "" {
		field = "schema"
	}
	if len(absent) > 1 {
		verb = "do"
	}
	return inputError(field, "%s %s not exist in database %q. Make it before the grant, or take it out", describeAll(absent), verb, c.datatable.Database)
}

func (c *grantChange) wholes() map[privilege.Object][]string {
	whole := map[privilege.Object][]string{}
	for _, g := range []*Grant{c.prior, c.next} {
		if g == nil || !g.Whole {
			continue
		}
		var names []string
		for _, o := range c.inv.Within(g.Type, g.Schema) {
			names = append(names, o.Name)
		}
		whole[privilege.Object{Type: g.Type, Schema: g.Schema, Whole: true}] = names
	}
	return whole
}
