package datatable

import (
	"context"

	"github.com/datatable-io/terraform-provider-datatable/internal/catalog"
	"github.com/datatable-io/terraform-provider-datatable/internal/postgres"
	"github.com/datatable-io/terraform-provider-datatable/internal/privilege"
	"github.com/datatable-io/terraform-provider-datatable/internal/resolve"
)

// state is a data table's database as far as its ledger names it.
type state struct {
	claims map[string]claim
	// wants counts for each atom the claims and data tables that want it.
	wants map[privilege.Atom]int
	*postgres.Holdings

	texts    map[policyKey]catalog.PolicyText
	policies map[policyKey]postgres.Policy
	tables   map[postgres.TableName]postgres.TableState
	here     map[postgres.TableName]bool // row-level security turned on here
	taken    privilege.Set               // from PUBLIC
}

type policyKey struct{ schema, table, name string }

func keyOf(p postgres.Policy) policyKey { return policyKey{p.Schema, p.Table, p.Name} }

func (k policyKey) tableName() postgres.TableName {
	return postgres.TableName{Schema: k.schema, Name: k.table}
}

// publicSchema is the schema that every database has, and that PUBLIC may
// create in before PostgreSQL 15.
const publicSchema = "public"

// look reads a database once for all who ask.
func (s *Service) look(ctx context.Context, database string) (*state, error) {
	w, err := s.catalog(ctx)
	if err != nil {
		return nil, err
	}
	return s.sharedState(database).get(func() (*state, error) {
		var st *state
		err := s.cluster.Read(ctx, database, func(tx *postgres.Tx) (err error) {
			r := reading{owner: w.ownerOf(database), connecting: connects(w.Snapshot, database, resolve.Key{})}
			if watched(w.Snapshot, database) {
				r.grantees, r.everywhere = w.Logins(), true
			}
			st, err = r.state(ctx, tx)
			return err
		})
		return st, err
	})
}

// A reading is what has to be known of a database to read its state.
type reading struct {
	// owner of the database.
	owner string
	// connecting are the atoms that data tables want on it.
	connecting privilege.Set
	// grantees are of interest besides those of the claims, and everywhere says
	// that all schemas are besides theirs.
	grantees   []string
	everywhere bool
}

// state reads what the ledger names, in two round trips.
func (r reading) state(ctx context.Context, tx *postgres.Tx) (*state, error) {
	st := &state{
		claims:   map[string]claim{},
		wants:    map[privilege.Atom]int{},
		Holdings: postgres.NewHoldings(tx.Version()),
		texts:    map[policyKey]catalog.PolicyText{},
		policies: map[policyKey]postgres.Policy{},
		tables:   map[postgres.TableName]postgres.TableState{},
		here:     map[postgres.TableName]bool{},
		taken:    privilege.Set{},
	}
	version, err := catalog.Ledger.Version(ctx, tx)
	if err != nil {
		return nil, err
	}
	if version > 0 {
		err = tx.Batch(ctx,
			catalog.Claims(func(c catalog.Claim) { st.claims[c.ID] = claim{c, c.CreatedBy} }),
			catalog.PolicyTexts(postgres.TableName{}, func(p catalog.PolicyText) {
				st.texts[policyKey{p.Schema, p.Table, p.Name}] = p
			}),
			catalog.EnabledHere(func(t postgres.TableName) { st.here[t] = true }),
			catalog.TakenFromPublic(st.taken))
		if err != nil {
			return nil, err
		}
		if err := told(st.claims); err != nil {
			return nil, err
		}
	}
	scope := scopeOf(st.claims, r.connecting)
	scope.Grantees = append(scope.Grantees, r.grantees...)
	if r.everywhere {
		scope.Schemas, scope.Objects = nil, nil
	}
	var tables []postgres.TableName
	seen := map[postgres.TableName]bool{}
	for key := range st.texts {
		if t := key.tableName(); !seen[t] {
			seen[t] = true
			tables = append(tables, t)
		}
	}
	schemas, signatures := signaturesOf(st.claims)
	err = tx.Batch(ctx,
		postgres.Objects(scope, st.Holdings),
		postgres.Functions(schemas, signatures, st.Holdings),
		postgres.Tables(tables, func(t postgres.TableState) { st.tables[t.TableName] = t }),
		postgres.Policies(tables, func(p postgres.Policy) { st.policies[keyOf(p)] = p }))
	if err != nil {
		return nil, err
	}
	for id, c := range st.claims {
		c.own(r.owner)
		st.claims[id] = c
		for a := range c.atoms(st.Inventory) {
			st.wants[a]++
		}
	}
	for a := range r.connecting {
		st.wants[a]++
	}
	return st, nil
}

// A claim is one of the ledger as it holds in its database: in its CreatedBy
// the owner stands by name. declared is as it is written.
type claim struct {
	catalog.Claim
	declared []string
}

// told refuses claims of which it cannot be told whose they are.
func told(claims map[string]claim) error {
	for _, c := range claims {
		if c.SharedMark != "" {
			return catalog.SharedMarkError(c.SharedMark)
		}
	}
	return nil
}

func (c *claim) own(owner string) { c.CreatedBy = creators(c.declared, owner) }

// atoms is what the claim wants of what there is.
func (c claim) atoms(inv privilege.Inventory) privilege.Set {
	if c.Orphan {
		return privilege.Set{}
	}
	return c.Expand(inv)
}

// creators puts the owner's name in the place of admin.
func creators(declared []string, owner string) []string {
	names := make([]string, len(declared))
	for i, name := range declared {
		names[i] = name
		if name == resolve.RoleAdmin {
			names[i] = owner
		}
	}
	return names
}

// signaturesOf are the functions that claims name, in parallel with their
// schemas.
func signaturesOf(claims map[string]claim) (schemas, signatures []string) {
	schemas, signatures = []string{}, []string{}
	for _, c := range claims {
		if c.Type == privilege.Function {
			for _, signature := range c.Objects {
				schemas, signatures = append(schemas, c.Schema), append(signatures, signature)
			}
		}
	}
	return schemas, signatures
}

// scopeOf is where the atoms of claims can be. A whole-schema claim needs all
// objects of every schema, since names are filtered over all schemas at once.
func scopeOf(claims map[string]claim, connecting privilege.Set) postgres.Scope {
	scope := postgres.Scope{Schemas: []string{publicSchema}, Objects: []string{}, Grantees: []string{privilege.Public}}
	schemas, objects, grantees := map[string]bool{publicSchema: true}, map[string]bool{}, map[string]bool{privilege.Public: true}
	whole := false
	for _, c := range claims {
		addOnce(schemas, &scope.Schemas, c.Schema)
		addOnce(grantees, &scope.Grantees, c.Grantee)
		for _, name := range c.Objects {
			addOnce(objects, &scope.Objects, name)
		}
		whole = whole || c.Whole
	}
	for a := range connecting {
		addOnce(grantees, &scope.Grantees, a.Grantee)
	}
	if whole {
		scope.Objects = nil
	}
	return scope
}

func addOnce(seen map[string]bool, list *[]string, value string) {
	if !seen[value] {
		seen[value] = true
		*list = append(*list, value)
	}
}

// shared returns the atoms of a claim that another one, or a data table, wants.
func (st *state) shared(c claim) privilege.Set {
	own := 1
	if c.Orphan {
		own = 0
	}
	others := privilege.Set{}
	for a := range c.Expand(st.Inventory) {
		if st.wants[a] > own {
			others.Add(a)
		}
	}
	return others
}

// connects returns the atoms that data tables in a database want on it: their
// roles may connect. But is left out.
func connects(snapshot *catalog.Snapshot, database string, but resolve.Key) privilege.Set {
	atoms := privilege.Set{}
	for _, d := range snapshot.Datatables {
		if d.Database == database && d.Key != but {
			atoms = atoms.Union(connectAtoms(d))
		}
	}
	return atoms
}
