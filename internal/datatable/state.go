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
	claims map[string]catalog.Claim
	// wants counts for each atom the claims and data tables that want it.
	wants     map[privilege.Atom]int
	inventory privilege.Inventory
	held      privilege.Set

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
			st, err = readState(ctx, tx, connects(w.Snapshot, database, resolve.Key{}))
			return err
		})
		return st, err
	})
}

// readState reads what the ledger names, in two round trips. Connecting are
// the atoms that data tables want on the database.
func readState(ctx context.Context, tx *postgres.Tx, connecting privilege.Set) (*state, error) {
	st := &state{
		claims:   map[string]catalog.Claim{},
		wants:    map[privilege.Atom]int{},
		held:     privilege.Set{},
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
			catalog.Claims(nil, nil, func(c catalog.Claim) { st.claims[c.ID] = c }),
			catalog.PolicyTexts(postgres.TableName{}, func(p catalog.PolicyText) {
				st.texts[policyKey{p.Schema, p.Table, p.Name}] = p
			}),
			catalog.EnabledHere(func(t postgres.TableName) { st.here[t] = true }),
			catalog.TakenFromPublic(st.taken))
		if err != nil {
			return nil, err
		}
	}
	scope := scopeOf(st.claims, connecting)
	var tables []postgres.TableName
	seen := map[postgres.TableName]bool{}
	for key := range st.texts {
		if t := key.tableName(); !seen[t] {
			seen[t] = true
			tables = append(tables, t)
		}
	}
	st.inventory.Version = tx.Version()
	err = tx.Batch(ctx,
		postgres.Objects(scope, &st.inventory, st.held),
		postgres.Tables(tables, func(t postgres.TableState) { st.tables[t.TableName] = t }),
		postgres.Policies(tables, func(p postgres.Policy) { st.policies[keyOf(p)] = p }))
	if err != nil {
		return nil, err
	}
	for _, c := range st.claims {
		if !c.Orphan {
			for a := range c.Expand(st.inventory) {
				st.wants[a]++
			}
		}
	}
	for a := range connecting {
		st.wants[a]++
	}
	return st, nil
}

// scopeOf is where the atoms of claims can be. A whole-schema claim needs all
// objects of every schema, since names are filtered over all schemas at once.
func scopeOf(claims map[string]catalog.Claim, connecting privilege.Set) postgres.Scope {
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
func (st *state) shared(c catalog.Claim) privilege.Set {
	own := 1
	if c.Orphan {
		own = 0
	}
	others := privilege.Set{}
	for a := range c.Expand(st.inventory) {
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
