package postgres

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"
	"pgregory.net/rapid"

	"github.com/datatable-io/terraform-provider-datatable/internal/privilege"
)

// A model is claims on a real server that somebody changes by hand too. What
// the claims want is worked out here by itself, and what is held is what
// Postgres answers: neither is asked of the code under test.
type model struct {
	t       *rapid.T
	c       *Cluster
	conn    *pgx.Conn // the superuser's
	place   *place
	version int
	claims  map[string]privilege.Claim
	tables  map[privilege.Object]bool
	byHand  map[string]string // what was granted, and how it is revoked
	made    int
}

// The world of the model. Tables have columns c and d; x and y have sequences
// of serial columns, and z has one of an identity column, which needs no grant.
var (
	modelSchemas = []string{"s", `T "x"`}
	modelTables  = map[string]string{"x": "c serial, d int", "Y y": "c serial, d serial", "z": "c int GENERATED ALWAYS AS IDENTITY, d int"}
	modelSerials = map[string][]string{"x": {"x_c_seq"}, "Y y": {"Y y_c_seq", "Y y_d_seq"}}
	modelOthers  = map[string][]string{"z": {"z_c_seq"}}
	modelSigns   = map[string]string{"f(text)": "f(text)", `"G g"(int, varchar)`: `"G g"(integer, character varying)`, `"G g"(integer,character varying)`: `"G g"(integer, character varying)`}
	modelWords   = map[string][]string{
		privilege.Schema:   {"CREATE", "USAGE"},
		privilege.Table:    {"SELECT", "INSERT", "UPDATE", "DELETE", "TRUNCATE", "REFERENCES", "TRIGGER"},
		privilege.Sequence: {"USAGE", "SELECT", "UPDATE"},
		privilege.Function: {"EXECUTE"},
	}
	modelColumnWords = []string{"SELECT", "INSERT", "UPDATE", "REFERENCES"}
)

func (m *model) words(kind string, columns bool) []string {
	switch {
	case columns:
		return modelColumnWords
	case kind == privilege.Table && m.version >= 17:
		return append(slices.Clone(modelWords[kind]), "MAINTAIN")
	}
	return modelWords[kind]
}

func keys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

func some[T any](t *rapid.T, label string, from []T) T { return rapid.SampledFrom(from).Draw(t, label) }

func subset(t *rapid.T, label string, from []string, most int) []string {
	return rapid.SliceOfNDistinct(rapid.SampledFrom(from), 1, min(most, len(from)), rapid.ID[string]).Draw(t, label)
}

func (m *model) exec(sql string) {
	if _, err := m.conn.Exec(context.Background(), sql); err != nil {
		m.t.Fatalf("%s: %v", sql, err)
	}
}

// reset makes the world anew.
func (m *model) reset() {
	m.exec("RESET ROLE")
	for _, s := range modelSchemas {
		m.exec("DROP SCHEMA IF EXISTS " + Ident(s) + " CASCADE")
		m.exec("CREATE SCHEMA " + Ident(s))
		m.exec("GRANT CREATE, USAGE ON SCHEMA " + Ident(s) + " TO " + Ident(m.role("maker")))
		m.exec("CREATE SEQUENCE " + Ident(s, "q"))
		for _, f := range []string{"f(text)", `"G g"(int, varchar)`} {
			m.exec("CREATE FUNCTION " + Ident(s) + "." + f + " RETURNS int LANGUAGE sql AS 'SELECT 1'")
			m.exec("REVOKE ALL ON FUNCTION " + Ident(s) + "." + f + " FROM PUBLIC")
		}
		for _, name := range keys(modelTables) {
			if rapid.Bool().Draw(m.t, "there") {
				m.makeTable(s, name, "postgres")
			}
		}
	}
}

func (m *model) makeTable(schema, name, owner string) {
	m.exec("SET ROLE " + Ident(owner))
	m.exec("CREATE TABLE " + Ident(schema, name) + " (" + modelTables[name] + ")")
	m.exec("RESET ROLE")
	m.tables[table(schema, name)] = true
}

func (m *model) role(name string) string { return m.place.prefix + name }

func (m *model) grantees() []string { return []string{m.role("a"), m.role("b")} }

// sequences of a schema: those of existing tables, and q.
func (m *model) sequences(schema string) []string {
	names := []string{"q"}
	for o := range m.tables {
		if o.Schema == schema {
			names = append(append(names, modelSerials[o.Name]...), modelOthers[o.Name]...)
		}
	}
	slices.Sort(names)
	return names
}

// claim draws what a grant could declare.
func (m *model) claim(like *privilege.Claim) privilege.Claim {
	t := m.t
	c := privilege.Claim{
		Grantee: some(t, "grantee", append(m.grantees(), privilege.Public)), Schema: some(t, "schema", modelSchemas),
		Type: some(t, "type", []string{privilege.Schema, privilege.Table, privilege.Table, privilege.Table, privilege.Table, privilege.Sequence, privilege.Function}),
	}
	if like != nil && rapid.IntRange(0, 3).Draw(t, "alike") > 0 {
		c.Grantee, c.Schema, c.Type = like.Grantee, like.Schema, like.Type
	}
	c.Option = c.Grantee != privilege.Public && rapid.IntRange(0, 3).Draw(t, "option") == 0
	names := map[string][]string{privilege.Table: keys(modelTables), privilege.Sequence: {"q", "x_c_seq", "Y y_d_seq"}, privilege.Function: keys(modelSigns)}[c.Type]
	switch {
	case names == nil:
	case rapid.Bool().Draw(t, "whole"):
		c.Whole = true
		if c.Future = rapid.Bool().Draw(t, "future"); c.Future {
			c.CreatedBy = subset(t, "created by", []string{m.role("maker"), "postgres"}, 2)
		}
	default:
		c.Objects = subset(t, "objects", names, 2)
		if c.Type == privilege.Table && rapid.IntRange(0, 2).Draw(t, "of columns") == 0 {
			c.Columns = subset(t, "columns", []string{"c", "d"}, 2)
		}
	}
	if c.Privileges = []string{privilege.All}; rapid.IntRange(0, 3).Draw(t, "all") > 0 {
		c.Privileges = subset(t, "privileges", m.words(c.Type, len(c.Columns) > 0), 2)
	}
	return c
}

// A holding is one answer of Postgres's: role, kind, object, column, privilege.
func holding(role, kind, schema, name, column, word string, option bool) string {
	if option {
		word += " WITH GRANT OPTION"
	}
	return strings.Join([]string{role, kind, schema, name, column, word}, " | ")
}

// wants is what a claim wants of a role, as Postgres would answer. A privilege
// on a table is one on each of its columns, and what PUBLIC has everyone has.
func (m *model) wants(c privilege.Claim) map[string]bool {
	wanted := map[string]bool{}
	roles := []string{c.Grantee}
	if c.Grantee == privilege.Public {
		roles = m.grantees()
	}
	words := c.Privileges
	if words[0] == privilege.All {
		words = m.words(c.Type, len(c.Columns) > 0)
	}
	add := func(kind, name, column string, words []string, option bool) {
		for _, role := range roles {
			for _, word := range words {
				wanted[holding(role, kind, c.Schema, name, column, word, false)] = true
				if option {
					wanted[holding(role, kind, c.Schema, name, column, word, true)] = true
				}
			}
		}
	}
	if c.Type == privilege.Schema {
		add(c.Type, "", "", words, c.Option)
		return wanted
	}
	add(privilege.Schema, "", "", []string{"USAGE"}, false)
	names := c.Objects
	if c.Whole {
		switch c.Type {
		case privilege.Table:
			names = keys(modelTables)
		case privilege.Sequence:
			names = m.sequences(c.Schema)
		case privilege.Function:
			names = keys(modelSigns)
		}
	}
	for _, name := range names {
		switch c.Type {
		case privilege.Function:
			add(c.Type, modelSigns[name], "", words, c.Option)
		case privilege.Sequence:
			if slices.Contains(m.sequences(c.Schema), name) {
				add(c.Type, name, "", words, c.Option)
			}
		case privilege.Table:
			if !m.tables[table(c.Schema, name)] {
				continue
			}
			columns := c.Columns
			if columns == nil {
				add(c.Type, name, "", words, c.Option)
				columns = []string{"c", "d"}
			}
			ofColumns := slices.DeleteFunc(slices.Clone(words), func(word string) bool { return !slices.Contains(modelColumnWords, word) })
			for _, column := range columns {
				add("column", name, column, ofColumns, c.Option)
			}
			if slices.Contains(words, "INSERT") {
				for _, s := range modelSerials[name] {
					add(privilege.Sequence, s, "", []string{"USAGE"}, false)
				}
			}
		}
	}
	return wanted
}

const heldSQL = `
WITH role AS (SELECT unnest($1::text[]) AS name),
namespace AS (SELECT oid, nspname FROM pg_namespace WHERE nspname = ANY ($2::text[])),
word AS (SELECT kind, word || option AS word FROM unnest(ARRAY['', ' WITH GRANT OPTION']) option, (VALUES
    ('schema', ARRAY['CREATE', 'USAGE']), ('table', $3::text[]), ('column', ARRAY['SELECT', 'INSERT', 'UPDATE', 'REFERENCES']),
    ('sequence', ARRAY['USAGE', 'SELECT', 'UPDATE']), ('function', ARRAY['EXECUTE'])) v (kind, words), unnest(words) word)
SELECT concat_ws(' | ', r.name, kind, nspname, '', '', word)
FROM role r, namespace n, word WHERE kind = 'schema' AND has_schema_privilege(r.name, n.oid, word)
UNION ALL
SELECT concat_ws(' | ', r.name, kind, nspname, relname, '', word)
FROM role r, namespace n, pg_class c, word WHERE c.relnamespace = n.oid AND relkind = 'r' AND kind = 'table' AND has_table_privilege(r.name, c.oid, word)
UNION ALL
SELECT concat_ws(' | ', r.name, kind, nspname, relname, attname, word)
FROM role r, namespace n, pg_class c, pg_attribute a, word
WHERE c.relnamespace = n.oid AND relkind = 'r' AND attrelid = c.oid AND attnum > 0 AND kind = 'column' AND has_column_privilege(r.name, c.oid, attnum, word)
UNION ALL
SELECT concat_ws(' | ', r.name, kind, nspname, relname, '', word)
FROM role r, namespace n, pg_class c, word WHERE c.relnamespace = n.oid AND relkind = 'S' AND kind = 'sequence' AND has_sequence_privilege(r.name, c.oid, word)
UNION ALL
SELECT concat_ws(' | ', r.name, kind, nspname, quote_ident(proname) || '(' || oidvectortypes(proargtypes) || ')', '', word)
FROM role r, namespace n, pg_proc p, word WHERE pronamespace = n.oid AND kind = 'function' AND has_function_privilege(r.name, p.oid, word)`

func (m *model) held() map[string]bool {
	rows, err := m.conn.Query(context.Background(), heldSQL, m.grantees(), modelSchemas, m.words(privilege.Table, false))
	if err != nil {
		m.t.Fatal(err)
	}
	answers, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		m.t.Fatal(err)
	}
	held := map[string]bool{}
	for _, answer := range answers {
		held[answer] = true
	}
	return held
}

func (m *model) allWanted() map[string]bool {
	all := map[string]bool{}
	for _, c := range m.claims {
		maps.Copy(all, m.wants(c))
	}
	return all
}

// less lists what is in a and not in b.
func less(a, b map[string]bool) []string {
	var left []string
	for _, k := range slices.Sorted(maps.Keys(a)) {
		if !b[k] {
			left = append(left, k)
		}
	}
	return left
}

func (m *model) none(what string, holdings []string) {
	m.t.Helper()
	if len(holdings) > 0 {
		m.t.Fatalf("%s:\n%s\nclaims: %+v", what, strings.Join(holdings, "\n"), m.claims)
	}
}

// change carries a change of a claim out, and says what was run.
func (m *model) change(id string, prior, next *privilege.Claim) (ran []string) {
	ctx := context.Background()
	err := m.c.Do(ctx, m.place.database, testLock, func(tx *Tx) error {
		look := func() (privilege.Difference, map[privilege.Object][]string, error) {
			h := NewHoldings(tx.Version())
			var schemas, signatures []string
			for _, c := range slices.Concat(slices.Collect(maps.Values(m.claims)), of1(prior), of1(next)) {
				if c.Type == privilege.Function {
					for _, s := range c.Objects {
						schemas, signatures = append(schemas, c.Schema), append(signatures, s)
					}
				}
			}
			scope := Scope{Schemas: modelSchemas, Grantees: append(m.grantees(), privilege.Public)}
			if err := tx.Batch(ctx, Objects(scope, h), Functions(schemas, signatures, h)); err != nil {
				return privilege.Difference{}, nil, err
			}
			others := privilege.Set{}
			for other, c := range m.claims {
				if other != id {
					others.AddAll(c.Expand(h.Inventory))
				}
			}
			wholes := map[privilege.Object][]string{}
			for _, c := range slices.Concat(of1(prior), of1(next)) {
				if c.Whole {
					whole := privilege.Object{Type: c.Type, Schema: c.Schema, Extent: privilege.Whole}
					wholes[whole] = nil
					for _, o := range h.Within(c.Type, c.Schema) {
						wholes[whole] = append(wholes[whole], o.Name)
					}
				}
			}
			return privilege.Between(prior, next, others, h.Held, h.Inventory), wholes, nil
		}
		d, wholes, err := look()
		if err != nil {
			return err
		}
		statements := AllPrivileges(d.Changes(nil, wholes), m.place.database)
		ran = Texts(statements)
		if err := tx.Run(ctx, statements); err != nil {
			return fmt.Errorf("%q: %w", ran, err)
		}
		again, _, err := look()
		if err == nil && !again.Empty() {
			err = fmt.Errorf("after %q there is still to do: %+v", ran, again)
		}
		return err
	})
	if err != nil {
		m.t.Fatalf("from %+v to %+v: %v", prior, next, err)
	}
	return ran
}

func of1(c *privilege.Claim) []privilege.Claim {
	if c == nil {
		return nil
	}
	return []privilege.Claim{*c}
}

// settle applies every claim as it is.
func (m *model) settle() {
	for _, id := range keys(m.claims) {
		c := m.claims[id]
		m.change(id, &c, &c)
	}
	m.none("wanted, and not held once every claim was applied", less(m.allWanted(), m.held()))
}

// handle grants or revokes something by hand.
func (m *model) handle() {
	t := m.t
	schema, role := some(t, "schema", modelSchemas), some(t, "role", m.grantees())
	kind := some(t, "on", []string{privilege.Schema, privilege.Table, privilege.Table, "column", "column", privilege.Sequence, privilege.Function})
	var on, list string
	switch kind {
	case privilege.Schema:
		on, list = "SCHEMA "+Ident(schema), some(t, "word", m.words(kind, false))
	case privilege.Sequence:
		on, list = "SEQUENCE "+Ident(schema, some(t, "sequence", m.sequences(schema))), some(t, "word", m.words(kind, false))
	case privilege.Function:
		on, list = "FUNCTION "+Ident(schema)+"."+some(t, "function", keys(modelSigns)), "EXECUTE"
	default:
		name := some(t, "table", keys(modelTables))
		if !m.tables[table(schema, name)] {
			return
		}
		on, list = "TABLE "+Ident(schema, name), some(t, "word", m.words(privilege.Table, kind == "column"))
		if kind == "column" {
			list += " (" + some(t, "column", []string{"c", "d"}) + ")"
		}
	}
	revoke := "REVOKE " + list + " ON " + on + " FROM " + Ident(role) + " CASCADE"
	if rapid.Bool().Draw(t, "revoke") {
		m.exec(revoke)
		return
	}
	grant := "GRANT " + list + " ON " + on + " TO " + Ident(role)
	if rapid.IntRange(0, 3).Draw(t, "to grant on") == 0 {
		grant += " WITH GRANT OPTION"
	}
	m.exec(grant)
	m.byHand[revoke] = on
}

// replace drops a table by hand, or makes it.
func (m *model) replace() {
	o := table(some(m.t, "schema", modelSchemas), some(m.t, "table", keys(modelTables)))
	if m.tables[o] {
		m.exec("DROP TABLE " + Ident(o.Schema, o.Name))
		delete(m.tables, o)
		maps.DeleteFunc(m.byHand, func(_, on string) bool {
			return on == "TABLE "+Ident(o.Schema, o.Name) || slices.ContainsFunc(append(modelSerials[o.Name], modelOthers[o.Name]...),
				func(name string) bool { return on == "SEQUENCE "+Ident(o.Schema, name) })
		})
		return
	}
	owner := some(m.t, "owner", []string{"postgres", m.role("maker")})
	m.makeTable(o.Schema, o.Name, owner)
	// What later tables were claimed for holds at once.
	wanted := map[string]bool{}
	for _, c := range m.claims {
		if !c.Future || !slices.Contains(c.CreatedBy, owner) {
			continue
		}
		for k := range m.wants(c) {
			of := strings.Split(k, " | ")
			if of[2] == o.Schema && (of[3] == o.Name || slices.Contains(append(modelSerials[o.Name], modelOthers[o.Name]...), of[3])) {
				wanted[k] = true
			}
		}
	}
	m.none("claimed of later objects, and not held on "+o.Name+" of "+owner, less(wanted, m.held()))
}

// step changes one claim and looks at what came of it.
func (m *model) step() {
	t := m.t
	var id string
	var prior, next *privilege.Claim
	if ids := keys(m.claims); len(ids) > 0 && rapid.IntRange(0, 2).Draw(t, "another") > 0 {
		id = some(t, "claim", ids)
		c := m.claims[id]
		prior = &c
	}
	if prior == nil || rapid.IntRange(0, 3).Draw(t, "remove") > 0 {
		c := m.claim(prior)
		next = &c
	}
	if prior == nil {
		m.made++
		id = strconv.Itoa(m.made)
	}
	before := m.held()
	ran := m.change(id, prior, next)
	if delete(m.claims, id); next != nil {
		m.claims[id] = *next
	}
	after := m.held()
	m.none(fmt.Sprintf("wanted, and not held after %q", ran), less(m.allWanted(), after))
	was := map[string]bool{}
	if prior != nil {
		for k := range m.wants(*prior) {
			// The option goes with its privilege.
			was[k], was[strings.TrimSuffix(k, " WITH GRANT OPTION")+" WITH GRANT OPTION"] = true, true
		}
	}
	lost := map[string]bool{}
	for _, k := range less(before, after) {
		lost[k] = true
	}
	m.none(fmt.Sprintf("lost by %q, and not the claim's", ran), less(lost, was))
	got := map[string]bool{}
	for _, k := range less(after, before) {
		got[k] = true
	}
	m.none(fmt.Sprintf("given by %q, and wanted by nobody", ran), less(got, m.allWanted()))
}

// exact takes back what was done by hand, and then nothing is held but what
// claims want.
func (m *model) exact() {
	for _, revoke := range keys(m.byHand) {
		m.exec(revoke)
	}
	clear(m.byHand)
	m.settle()
	if diff := gocmp.Diff(m.allWanted(), m.held()); diff != "" {
		m.t.Fatalf("claims %+v (-wanted +held):\n%s", m.claims, diff)
	}
}

// Whatever is done to claims and, by hand, to the server: Postgres itself says
// that what the claims want is held, and nothing more.
func TestPostgresHoldsWhatTheClaimsWant(t *testing.T) {
	p := newPlace(t)
	for _, name := range []string{"a", "b", "maker"} {
		p.role(t, name, "")
	}
	c, conn, version := p.cluster(t), connect(t, p.super.String()), p.version(t)
	rapid.Check(t, func(t *rapid.T) {
		m := &model{
			t: t, c: c, conn: conn, place: p, version: version,
			claims: map[string]privilege.Claim{}, tables: map[privilege.Object]bool{}, byHand: map[string]string{},
		}
		m.reset()
		for range rapid.IntRange(2, 10).Draw(t, "steps") {
			switch some(t, "step", []string{"claim", "claim", "claim", "claim", "hand", "hand", "table", "table", "exact"}) {
			case "claim":
				m.settle()
				m.step()
			case "hand":
				m.handle()
			case "table":
				m.replace()
			case "exact":
				m.exact()
			}
		}
		m.exact()
		for _, id := range keys(m.claims) {
			prior := m.claims[id]
			m.change(id, &prior, nil)
			delete(m.claims, id)
			m.none("lost with another claim", less(m.allWanted(), m.held()))
		}
		m.none("held when no claim is left", less(m.held(), nil))
		var left int
		if err := conn.QueryRow(context.Background(), "SELECT count(*) FROM pg_default_acl").Scan(&left); err != nil || left > 0 {
			t.Fatalf("%d default privileges are left, %v", left, err)
		}
	})
}
