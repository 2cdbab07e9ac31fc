package datatable

import (
	"context"
	"fmt"
	"slices"

	"github.com/datatable-io/terraform-provider-datatable/internal/catalog"
	"github.com/datatable-io/terraform-provider-datatable/internal/postgres"
	"github.com/datatable-io/terraform-provider-datatable/internal/privilege"
	"github.com/datatable-io/terraform-provider-datatable/internal/resolve"
)

// What happens to row-level security when the last policy of a table goes.
const (
	// Keep leaves it on: nobody but the owner sees a row.
	Keep = "keep"
	// Disable turns it off where it was turned on here.
	Disable = "disable"
)

// A Policy is a row policy of a data table, as a resource declares it.
type Policy struct {
	Datatable resolve.Key
	postgres.Policy
	// WhenLastRemoved is Keep or Disable.
	WhenLastRemoved string
}

// PolicySeen is what a refresh saw of a policy's table.
type PolicySeen struct {
	// RowSecurity says that row-level security was on.
	RowSecurity bool
	// Here says that it was turned on by this product.
	Here bool
}

// PreviewPolicy tells what a change from prior to next will run; either may be
// nil.
func PreviewPolicy(prior, next *Policy, seen PolicySeen) Preview {
	p := Preview{Statements: foreseePolicy(prior, next, seen)}
	if next != nil {
		return p
	}
	on := fmt.Sprintf("%q.%q of data table %s", prior.Schema, prior.Table, prior.Datatable)
	p.takesAway(fmt.Sprintf("Dropping policy %q on %s", prior.Name, on))
	if prior.Restrictive {
		p.warn("restrictive", fmt.Sprintf("Without policy %q more rows of %s can be seen", prior.Name, on),
			"It is restrictive: what it kept out is let in when it goes, unless another policy keeps it out.")
	}
	if prior.WhenLastRemoved == Disable && seen.Here {
		p.warn("when_last_removed", fmt.Sprintf("Row-level security of %s is turned off with its last policy", on),
			"Whoever holds SELECT on the table then reads every row. Set when_last_removed to \"keep\" to leave it on.")
	}
	return p
}

func foreseePolicy(prior, next *Policy, seen PolicySeen) []postgres.Statement {
	switch {
	case prior == nil:
		return []postgres.Statement{postgres.CreatePolicy(next.Policy), postgres.RowSecurity(next.Schema, next.Table, true)}
	case next == nil:
		statements := []postgres.Statement{postgres.DropPolicy(prior.Policy)}
		if prior.WhenLastRemoved == Disable && seen.Here {
			statements = append(statements, postgres.RowSecurity(prior.Schema, prior.Table, false))
		}
		return statements
	}
	statements := alterPolicy(prior.Policy, next.Policy)
	if !seen.RowSecurity {
		statements = append(statements, postgres.RowSecurity(next.Schema, next.Table, true))
	}
	return statements
}

// alterPolicy changes a policy in place where Postgres can, and else replaces
// it: in one transaction, so the table is never without it.
func alterPolicy(prior, next postgres.Policy) []postgres.Statement {
	lostUsing := prior.Using != nil && next.Using == nil
	lostCheck := prior.Check != nil && next.Check == nil
	if prior.Command != next.Command || prior.Restrictive != next.Restrictive || lostUsing || lostCheck {
		return []postgres.Statement{postgres.DropPolicy(prior), postgres.CreatePolicy(next)}
	}
	var statements []postgres.Statement
	if prior.Name != next.Name {
		statements = append(statements, postgres.RenamePolicy(prior, next.Name))
	}
	roles, using, check := !sameNames(prior.Roles, next.Roles), !sameText(prior.Using, next.Using), !sameText(prior.Check, next.Check)
	if roles || using || check {
		statements = append(statements, postgres.AlterPolicy(next, roles, using, check))
	}
	return statements
}

func sameText(a, b *string) bool {
	return a == nil && b == nil || a != nil && b != nil && *a == *b
}

// Policy reads a policy. Its expressions are as they were written where
// Postgres prints them as it did then, and else as it prints them now.
func (s *Service) Policy(ctx context.Context, p Policy) (Policy, PolicySeen, bool, error) {
	d, st, err := s.lookAt(ctx, p.Datatable)
	if err != nil || st == nil {
		return Policy{}, PolicySeen{}, false, err
	}
	key := keyOf(p.Policy)
	text, declared := st.texts[key]
	live, exists := st.policies[key]
	if !declared || !exists || text.DatatableID != d.ID {
		return Policy{}, PolicySeen{}, false, nil
	}
	table := key.tableName()
	return asDeclared(p.Datatable, live, text), PolicySeen{RowSecurity: st.tables[table].RowSecurity, Here: st.here[table]}, true, nil
}

func asDeclared(key resolve.Key, live postgres.Policy, text catalog.PolicyText) Policy {
	p := Policy{Datatable: key, Policy: live, WhenLastRemoved: text.WhenLastRemoved}
	if sameText(live.Using, text.UsingPrinted) {
		p.Using = text.UsingWritten
	}
	if sameText(live.Check, text.CheckPrinted) {
		p.Check = text.CheckWritten
	}
	return p
}

// AdoptPolicy records a policy that exists and that nothing declares, so that
// it can be imported. It changes nothing about the policy.
func (s *Service) AdoptPolicy(ctx context.Context, p Policy) error {
	d, err := s.datatable(ctx, p.Datatable)
	if err != nil {
		return err
	}
	return s.inLedger(ctx, d.Database, func(tx *postgres.Tx) error {
		c := &policyChange{datatable: d}
		if err := c.look(ctx, tx, p); err != nil {
			return err
		}
		live, exists := c.policies[keyOf(p.Policy)]
		if _, declared := c.texts[keyOf(p.Policy)]; declared || !exists {
			return nil
		}
		p.Policy, p.WhenLastRemoved = live, Keep
		return tx.Batch(ctx, catalog.PutPolicyText(c.text(p)))
	})
}

// CreatePolicy makes a policy and turns row-level security on.
func (s *Service) CreatePolicy(ctx context.Context, p Policy) (PolicySeen, error) {
	return s.changePolicy(ctx, nil, &p, PolicySeen{})
}

// UpdatePolicy changes a policy in place.
func (s *Service) UpdatePolicy(ctx context.Context, prior, next Policy, seen PolicySeen) (PolicySeen, error) {
	return s.changePolicy(ctx, &prior, &next, seen)
}

// DeletePolicy drops a policy. Row-level security stays on, unless it was the
// last one and says otherwise.
func (s *Service) DeletePolicy(ctx context.Context, p Policy, seen PolicySeen) error {
	_, st, err := s.lookAt(ctx, p.Datatable)
	if err != nil || st == nil {
		return err // with its database or its data table the policy is gone
	}
	_, err = s.changePolicy(ctx, &p, nil, seen)
	return err
}

func (s *Service) changePolicy(ctx context.Context, prior, next *Policy, seen PolicySeen) (PolicySeen, error) {
	p := next
	if p == nil {
		p = prior
	}
	d, err := s.datatable(ctx, p.Datatable)
	if err != nil {
		return PolicySeen{}, err
	}
	known, err := s.roleIDs(ctx)
	if err != nil {
		return PolicySeen{}, err
	}
	c := &policyChange{datatable: d, known: known, prior: prior, next: next, foreseen: foreseePolicy(prior, next, seen)}
	err = s.inLedger(ctx, d.Database, func(tx *postgres.Tx) error {
		if err := c.look(ctx, tx, *p); err != nil {
			return err
		}
		return c.run(ctx, tx)
	})
	return c.seen, err
}

// policyChange is one change of a policy, under the ledger's lock.
type policyChange struct {
	datatable   catalog.Datatable
	known       map[string]string // ids of the catalog's roles
	prior, next *Policy
	foreseen    []postgres.Statement

	table    *postgres.TableState
	policies map[policyKey]postgres.Policy
	texts    map[policyKey]catalog.PolicyText
	here     bool
	roles    map[string]postgres.Role
	seen     PolicySeen
}

func (c *policyChange) look(ctx context.Context, tx *postgres.Tx, p Policy) error {
	c.table, c.here = nil, false
	c.policies, c.texts, c.roles = map[policyKey]postgres.Policy{}, map[policyKey]catalog.PolicyText{}, map[string]postgres.Role{}
	name := postgres.TableName{Schema: p.Schema, Name: p.Table}
	return tx.Batch(ctx,
		postgres.Tables([]postgres.TableName{name}, func(t postgres.TableState) { c.table = &t }),
		postgres.Policies([]postgres.TableName{name}, func(live postgres.Policy) { c.policies[keyOf(live)] = live }),
		catalog.PolicyTexts(name, func(t catalog.PolicyText) { c.texts[policyKey{t.Schema, t.Table, t.Name}] = t }),
		catalog.EnabledHere(func(t postgres.TableName) { c.here = c.here || t == name }),
		postgres.Roles(p.Roles, nil, func(r postgres.Role) { c.roles[r.Name] = r }))
}

func (c *policyChange) run(ctx context.Context, tx *postgres.Tx) error {
	if c.next == nil {
		return c.drop(ctx, tx)
	}
	if err := c.check(); err != nil {
		return err
	}
	var needed []postgres.Statement
	var outdated []postgres.Query
	live, exists := c.policies[keyOf(c.from().Policy)]
	text, declared := c.texts[keyOf(c.from().Policy)]
	switch {
	case !exists:
		needed = append(needed, postgres.CreatePolicy(c.next.Policy))
	case !declared:
		return inputError("name", "table %q.%q has a policy %q already, which nothing declares. Import it, or choose another name",
			c.next.Schema, c.next.Table, c.next.Name)
	default:
		needed = append(needed, alterPolicy(asDeclared(c.next.Datatable, live, text).Policy, c.next.Policy)...)
		if live.Name != c.next.Name {
			outdated = append(outdated, catalog.DeletePolicyText(c.tableName(), live.Name))
		}
	}
	// Names in expressions mean what they mean beside the table. What Postgres
	// prints is read with an empty path, so it names everything in full.
	statements := append([]postgres.Statement{postgres.SetSearchPath(c.next.Schema, publicSchema)}, needed...)
	statements = append(statements, postgres.SetSearchPath())
	if !c.table.RowSecurity {
		enable := postgres.RowSecurity(c.next.Schema, c.next.Table, true)
		needed, statements = append(needed, enable), append(statements, enable)
		outdated = append(outdated, catalog.SetEnabledHere(c.tableName(), true))
	}
	if missing := without(needed, c.foreseen); len(missing) > 0 {
		return &StaleError{Missing: missing}
	}
	c.seen = PolicySeen{RowSecurity: true, Here: c.here || !c.table.RowSecurity}
	if err := tx.Run(ctx, statements, append(append(outdated, catalog.PutPolicyText(c.text(*c.next))), catalog.ForgetGone()...)...); err != nil {
		return err
	}
	return c.trusted(ctx, tx)
}

// trusted refuses an expression that came to use what a login without the
// owner's rights has made, such as an operator that fits better than
// Postgres's own one, or a table in front of one of the same name in public.
func (c *policyChange) trusted(ctx context.Context, tx *postgres.Tx) error {
	var foreign []string
	err := tx.Batch(ctx, postgres.ForeignCode(c.next.Policy, func(what, owner string) {
		foreign = append(foreign, fmt.Sprintf("%s, which belongs to %q", what, owner))
	}))
	if err != nil || len(foreign) == 0 {
		return err
	}
	return inputError("using", "policy %q would use %s: whoever owns it decides what the policy does. "+
		"Write the name with its schema, as in pg_catalog.pg_has_role or OPERATOR(pg_catalog.=), or pass it to the owner of the database", c.next.Name, joined(foreign))
}

// from is the policy by the name it has before the change.
func (c *policyChange) from() *Policy {
	if c.prior != nil {
		return c.prior
	}
	return c.next
}

func (c *policyChange) tableName() postgres.TableName {
	return postgres.TableName{Schema: c.from().Schema, Name: c.from().Table}
}

// check refuses what Postgres would, or what would not do what it says.
func (c *policyChange) check() error {
	p := c.next
	if err := resolve.CheckSchema(p.Schema); err != nil {
		return &InputError{Field: "schema", Message: err.Error()}
	}
	switch {
	case c.table == nil:
		return inputError("table", "table %q.%q does not exist in database %q. Make it before the policy", p.Schema, p.Table, c.datatable.Database)
	case c.table.Kind != "r" && c.table.Kind != "p":
		return inputError("table", "%q.%q is a view or a foreign table, and Postgres knows row policies on tables only. "+
			"Put the policy on the table behind it, and make the view WITH (security_invoker = true) from PostgreSQL 15", p.Schema, p.Table)
	}
	for _, name := range slices.Sorted(slices.Values(p.Roles)) {
		id, ok := catalog.Marked(c.roles[name].Comment)
		if ok = ok && c.known[name] == id; !ok && name != privilege.Public {
			return inputError("roles", "role %q is not in the catalog. Declare it, and refer to it (datatable_role.%s.name) so that it is made first", name, name)
		}
	}
	return nil
}

func (c *policyChange) text(p Policy) catalog.PolicyText {
	return catalog.PolicyText{
		Schema: p.Schema, Table: p.Table, Name: p.Name,
		DatatableID: c.datatable.ID, Datatable: c.datatable.Key.String(),
		UsingWritten: p.Using, CheckWritten: p.Check, WhenLastRemoved: p.WhenLastRemoved,
	}
}

func (c *policyChange) drop(ctx context.Context, tx *postgres.Tx) error {
	forget := []postgres.Query{catalog.DeletePolicyText(c.tableName(), c.prior.Name)}
	var statements []postgres.Statement
	if text, declared := c.texts[keyOf(c.prior.Policy)]; declared && text.DatatableID != c.datatable.ID {
		return nil // another data table of this database has taken it over
	}
	if _, exists := c.policies[keyOf(c.prior.Policy)]; exists {
		statements = append(statements, postgres.DropPolicy(c.prior.Policy))
		delete(c.policies, keyOf(c.prior.Policy))
	}
	if len(c.policies) == 0 && c.here {
		if c.prior.WhenLastRemoved == Disable && c.table != nil && c.table.RowSecurity {
			statements = append(statements, postgres.RowSecurity(c.prior.Schema, c.prior.Table, false))
		}
		forget = append(forget, catalog.SetEnabledHere(c.tableName(), false))
	}
	if missing := without(statements, c.foreseen); len(missing) > 0 {
		return &StaleError{Missing: missing}
	}
	return tx.Run(ctx, statements, append(forget, catalog.ForgetGone()...)...)
}
