package datatable

import (
	"context"
	"errors"
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
// the catalog, or privilege.Public; its CreatedBy are roles of the catalog, or
// "admin" for the owner of the database.
type Grant struct {
	Datatable resolve.Key
	privilege.Claim
}

// GrantSeen is what a refresh saw of a grant.
type GrantSeen struct {
	// Database that the data table is, and its owner; empty before the grant
	// is made, and then a plan leaves them out.
	Database, Owner string
	privilege.Seen
}

// claim is the grant in a database of that owner.
func (g *Grant) claim(owner string) *privilege.Claim {
	if g == nil {
		return nil
	}
	c := g.Claim
	c.CreatedBy = creators(c.CreatedBy, owner)
	return &c
}

func foreseeGrant(prior, next *Grant, seen GrantSeen) privilege.Difference {
	return privilege.Foresee(prior.claim(seen.Owner), next.claim(seen.Owner), seen.Seen)
}

// PreviewGrant tells what a change from prior to next will run; either may be
// nil.
func PreviewGrant(prior, next *Grant, seen GrantSeen) Preview {
	changes := foreseeGrant(prior, next, seen).Changes(privilege.SetOf(seen.Shared...), wholes(next, seen.Objects))
	p := Preview{Statements: postgres.AllPrivileges(changes, seen.Database)}
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
	case o.Extent == privilege.Whole:
		return fmt.Sprintf("every %s in schema %q", o.Type, o.Schema)
	case o.Extent == privilege.Future:
		return fmt.Sprintf("every %s that %s makes in schema %q", o.Type, o.Name, o.Schema)
	case o.Type == privilege.Function:
		return fmt.Sprintf("%s %q.%s", o.Type, o.Schema, o.Name)
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
	return map[privilege.Object][]string{{Type: g.Type, Schema: g.Schema, Extent: privilege.Whole}: names}
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
	return c.grant(key), seenOf(d, c, st), true, nil
}

// grant is the claim as it is declared.
func (c claim) grant(key resolve.Key) Grant {
	g := Grant{Datatable: key, Claim: c.Claim.Claim}
	g.CreatedBy = c.declared
	return g
}

// FindGrants returns the claims on a data table that are for the same grantee
// and objects as the given one.
func (s *Service) FindGrants(ctx context.Context, like Grant) ([]Grant, error) {
	d, st, err := s.lookAt(ctx, like.Datatable)
	if err != nil || st == nil {
		return nil, err
	}
	var found []Grant
	for _, c := range st.claims {
		if c.DatatableID == d.ID && c.Grantee == like.Grantee && c.Type == like.Type && c.Schema == like.Schema &&
			c.Whole == like.Whole && sameNames(c.Objects, like.Objects) {
			found = append(found, c.grant(like.Datatable))
		}
	}
	return found, nil
}

func sameNames(a, b []string) bool {
	return slices.Equal(slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b)))
}

// AdoptGrant records a claim on privileges that are held already and that
// nothing declares, so that it can be imported. It is for what the grantee holds
// on each of the objects; nothing is granted or revoked.
func (s *Service) AdoptGrant(ctx context.Context, g Grant) (Grant, error) {
	d, err := s.datatable(ctx, g.Datatable)
	if err != nil {
		return g, err
	}
	known, err := s.roleIDs(ctx)
	if err != nil {
		return g, err
	}
	g.ID = uuid.NewString()
	c := &grantChange{next: &g, datatable: d, known: known}
	err = s.inLedger(ctx, d.Database, func(tx *postgres.Tx) error {
		if err := c.look(ctx, tx); err != nil {
			return err
		}
		g.Privileges = []string{privilege.All}
		wanted := g.claim(d.Owner)
		row, err := c.row()
		if err != nil {
			return err
		}
		g.Privileges = wanted.HeldOnAll(c.Held, c.Inventory)
		if len(g.Privileges) == 0 {
			return fmt.Errorf("%s holds no privilege on all of %s, so there is nothing to import", g.Grantee, describeAll(g.Targets()))
		}
		row.Privileges = g.Privileges
		return tx.Batch(ctx, catalog.PutClaim(row))
	})
	return g, err
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

func seenOf(d catalog.Datatable, c claim, st *state) GrantSeen {
	actual := st.Held
	if c.Orphan {
		// Another role may have the name by now; what it holds is not this
		// claim's.
		actual = privilege.Set{}
	}
	return GrantSeen{Database: d.Database, Owner: d.Owner, Seen: privilege.Look(c.Claim.Claim, st.shared(c), actual, st.Inventory)}
}

// CreateGrant records a claim and grants what it wants.
func (s *Service) CreateGrant(ctx context.Context, g Grant) (Grant, GrantSeen, error) {
	defer s.quiet.granting()()
	g.ID = uuid.NewString()
	seen, err := s.changeGrant(ctx, nil, &g, GrantSeen{})
	return g, seen, err
}

// UpdateGrant changes a claim in place: what is new is granted before what is
// no longer wanted is revoked.
func (s *Service) UpdateGrant(ctx context.Context, prior, next Grant, seen GrantSeen) (GrantSeen, error) {
	defer s.quiet.granting()()
	next.ID = prior.ID
	return s.changeGrant(ctx, &prior, &next, seen)
}

// DeleteGrant removes a claim, and revokes what no other wants, nor one that is
// made at the same time.
func (s *Service) DeleteGrant(ctx context.Context, g Grant, seen GrantSeen) error {
	s.quiet.wait(ctx)
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
	g := next
	if g == nil {
		g = prior
	}
	d, err := s.datatable(ctx, g.Datatable)
	if err != nil {
		return GrantSeen{}, err
	}
	seen.Owner = d.Owner
	known, err := s.roleIDs(ctx)
	if err != nil {
		return GrantSeen{}, err
	}
	c := &grantChange{prior: prior, next: next, foreseen: foreseeGrant(prior, next, seen), datatable: d, known: known}
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
	var dependent *DependentError
	if errors.As(err, &dependent) && prior != nil {
		look := s.cluster.Read(ctx, d.Database, func(tx *postgres.Tx) error {
			return tx.Batch(ctx, postgres.GrantedOn(prior.Grantee, prior.Schema, func(what string) { dependent.Chain = append(dependent.Chain, what) }))
		})
		err = errors.Join(err, look)
	}
	return c.seen, err
}
