package datatable

import (
	"context"

	"github.com/datatable-io/terraform-provider-datatable/internal/catalog"
	"github.com/datatable-io/terraform-provider-datatable/internal/postgres"
	"github.com/datatable-io/terraform-provider-datatable/internal/privilege"
	"github.com/datatable-io/terraform-provider-datatable/internal/resolve"
)

// grantChange is one change of a claim, from what the ledger has to next.
type grantChange struct {
	prior, next *Grant
	foreseen    privilege.Difference
	datatable   catalog.Datatable
	known       map[string]string // ids of the catalog's roles
	connecting  privilege.Set

	claims map[string]claim
	roles  map[string]postgres.Role
	*postgres.Holdings
	seen GrantSeen
}

func (c *grantChange) run(ctx context.Context, tx *postgres.Tx) error {
	if err := c.look(ctx, tx); err != nil {
		return err
	}
	var written *privilege.Claim
	if c.prior != nil {
		if found, ok := c.claims[c.prior.ID]; ok && !found.Orphan {
			written = &found.Claim.Claim
		}
		delete(c.claims, c.prior.ID)
	}
	next := c.next.claim(c.datatable.Owner)
	var write postgres.Query
	if next == nil {
		write = catalog.DeleteClaim(c.prior.ID)
	} else {
		row, err := c.row()
		if err != nil {
			return err
		}
		write = catalog.PutClaim(row)
	}
	others := privilege.Set{}
	others.AddAll(c.connecting)
	for _, other := range c.claims {
		others.AddAll(other.atoms(c.Inventory))
	}
	needed := privilege.Between(written, next, others, c.Held, c.Inventory)
	if err := unplanned(needed, c.foreseen.Settle(c.Inventory), c.datatable.Database); err != nil {
		return err
	}
	if next != nil {
		c.seen = GrantSeen{
			Database: c.datatable.Database, Owner: c.datatable.Owner,
			Seen: privilege.Look(*next, others, c.Held.Union(needed.Grant).Minus(needed.Revoke), c.Inventory),
		}
	}
	return carryOut(ctx, tx, needed, c.Holdings, c.wholes(), c.datatable.Database, write)
}

// look reads the claims that could want the same, and what is held.
func (c *grantChange) look(ctx context.Context, tx *postgres.Tx) error {
	c.claims, c.roles, c.Holdings = map[string]claim{}, map[string]postgres.Role{}, postgres.NewHoldings(tx.Version())
	var schemas, names, ids, grantees []string
	mine := map[string]claim{}
	for name, g := range map[string]*Grant{"prior": c.prior, "next": c.next} {
		if g != nil {
			schemas, ids = append(schemas, g.Schema), append(ids, g.ID)
			names = append(append(names, g.Grantee), g.CreatedBy...)
			mine[name] = claim{Claim: catalog.Claim{Claim: g.Claim}}
			// Empty for PUBLIC. The grantee of a claim that is there already need
			// not be known by this name.
			if id, ok := c.known[g.Grantee]; ok || g.Grantee == privilege.Public {
				grantees = append(grantees, id)
			}
		}
	}
	err := tx.Batch(ctx,
		catalog.ClaimsOn(schemas, grantees, ids, func(found catalog.Claim) {
			it := claim{found, found.CreatedBy}
			it.own(c.datatable.Owner)
			c.claims[it.ID] = it
		}),
		postgres.Roles(names, nil, func(r postgres.Role) { c.roles[r.Name] = r }))
	if err != nil {
		return err
	}
	if err := told(c.claims); err != nil {
		return err
	}
	if c.prior != nil {
		mine["written"] = c.claims[c.prior.ID]
	}
	// Objects that other claims name are of no interest, but how they spell
	// the functions that are is.
	inSchemas, signatures := signaturesOf(c.claims)
	ownSchemas, ownSignatures := signaturesOf(mine)
	return tx.Batch(ctx,
		postgres.Objects(scopeOf(mine, nil), c.Holdings),
		postgres.Functions(append(inSchemas, ownSchemas...), append(signatures, ownSignatures...), c.Holdings))
}

// row is the claim as the ledger shall have it. It refuses roles that are not
// in the catalog, and objects that are not there.
func (c *grantChange) row() (catalog.Claim, error) {
	row := catalog.Claim{Claim: c.next.Claim, DatatableID: c.datatable.ID, Datatable: c.datatable.Key.String()}
	var err error
	if c.next.Grantee != privilege.Public {
		if row.RoleID, err = c.roleID("role", c.next.Grantee); err != nil {
			return row, err
		}
	}
	for _, name := range c.next.CreatedBy {
		id := resolve.RoleAdmin
		if name != resolve.RoleAdmin {
			if id, err = c.roleID("created_by", name); err != nil {
				return row, err
			}
		}
		row.CreatorIDs = append(row.CreatorIDs, id)
	}
	if c.next.Schema != "" {
		if err := resolve.CheckSchema(c.next.Schema); err != nil {
			return row, &InputError{Field: "schema", Message: err.Error()}
		}
	}
	return row, c.exists()
}

// roleID finds the catalog's id of a role. The login has to carry its mark now,
// under the lock, and a mark alone is not enough: others can write comments.
func (c *grantChange) roleID(field, name string) (string, error) {
	id, ok := catalog.Marked(c.roles[name].Comment)
	if ok = ok && c.known[name] == id; !ok {
		return "", inputError(field, "role %q is not in the catalog. Declare it, and refer to it (datatable_role.%s.name) so that it is made first", name, name)
	}
	return id, nil
}

// exists refuses a grant on what is not there.
func (c *grantChange) exists() error {
	absent := c.next.Absent(c.Inventory)
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
	all := map[privilege.Object][]string{}
	for _, g := range []*Grant{c.prior, c.next} {
		if g == nil || !g.Whole {
			continue
		}
		var names []string
		for _, o := range c.Within(g.Type, g.Schema) {
			names = append(names, o.Name)
		}
		for whole, of := range wholes(g, names) {
			all[whole] = of
		}
	}
	return all
}
