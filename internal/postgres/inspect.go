package postgres

import (
	"context"
	"fmt"

	"github.com/datatable-io/terraform-provider-datatable/internal/privilege"
)

// A Scope is the part of a database that privileges are looked at in.
type Scope struct {
	// Schemas by name; nil for all but the system's and this product's own.
	Schemas []string
	// Objects by name, in any of the schemas; nil for all.
	Objects []string
	// Grantees by name, privilege.Public among them where it matters.
	Grantees []string
}

// Holdings are what exists in a scope, and what its grantees hold directly.
type Holdings struct {
	privilege.Inventory
	Held privilege.Set
	// Owners of objects that exist.
	Owners map[privilege.Object]string
	// Extension has the objects that belong to an extension.
	Extension map[privilege.Object]bool
	// Grantors of what is held: more than one where several roles granted it.
	Grantors map[privilege.Atom][]string
}

// NewHoldings makes empty holdings of a server of that major version.
func NewHoldings(version int) *Holdings {
	return &Holdings{
		Inventory: privilege.Inventory{
			Version: version, Objects: map[privilege.Object]bool{},
			Owned: map[privilege.Object][]privilege.Object{}, Alias: map[privilege.Object]privilege.Object{},
		},
		Held: privilege.Set{}, Owners: map[privilege.Object]string{}, Extension: map[privilege.Object]bool{}, Grantors: map[privilege.Atom][]string{},
	}
}

// Objects asks what exists in a scope and what its grantees hold.
func Objects(scope Scope, h *Holdings) Query {
	return Query{
		SQL:  objectsSQL,
		Args: []any{scope.Schemas, scope.Objects, scope.Grantees},
		Each: func(scan func(...any) error) error {
			var o privilege.Object
			var ownedBy, column, owner string
			var grantees, privileges, grantors []string
			var options []bool
			var extension bool
			if err := scan(&o.Type, &o.Schema, &o.Name, &o.Extent, &ownedBy, &column, &owner, &extension, &grantees, &privileges, &options, &grantors); err != nil {
				return err
			}
			if o.Extent == privilege.One {
				h.Objects[o], h.Owners[o] = true, owner
			}
			if extension {
				h.Extension[o] = true
			}
			if ownedBy != "" {
				table := privilege.Object{Type: privilege.Table, Schema: o.Schema, Name: ownedBy}
				h.Owned[table] = append(h.Owned[table], o)
			}
			for i := range grantees {
				h.hold(privilege.Atom{Grantee: grantees[i], Object: o, Column: column, Privilege: privileges[i]}, options[i], grantors[i])
			}
			return nil
		},
	}
}

func (h *Holdings) hold(a privilege.Atom, option bool, grantor string) {
	h.Held.Add(a)
	h.Grantors[a] = append(h.Grantors[a], grantor)
	if option {
		a.Option = true
		h.Held.Add(a)
		h.Grantors[a] = append(h.Grantors[a], grantor)
	}
}

// Functions asks which functions signatures mean. Schemas and signatures are
// in parallel. What is no signature means nothing.
func Functions(schemas, signatures []string, h *Holdings) Query {
	names, numbers, types := make([]string, len(signatures)), []int{}, []string{}
	for i, signature := range signatures {
		name, arguments, err := privilege.SplitSignature(signature)
		if err != nil {
			continue // and no function is without a name
		}
		names[i] = name
		for _, argument := range arguments {
			numbers, types = append(numbers, i+1), append(types, argument)
		}
	}
	return Query{SQL: functionsSQL, Args: []any{schemas, signatures, names, numbers, types}, Each: func(scan func(...any) error) error {
		written := privilege.Object{Type: privilege.Function}
		known := written
		if err := scan(&written.Schema, &written.Name, &known.Name); err != nil {
			return err
		}
		known.Schema = written.Schema
		h.Alias[written] = known
		return nil
	}}
}

// Version is the server's major version, as the connection was told it.
func (tx *Tx) Version() int {
	version := 0
	for _, r := range tx.conn.PgConn().ParameterStatus("server_version") {
		if r < '0' || r > '9' {
			break
		}
		version = version*10 + int(r-'0')
	}
	return version
}

// A Role is a role of the cluster.
type Role struct {
	Name, Comment string
	CanLogin      bool
	// Astray are the keywords that would make it what a login of this product
	// is, NOSUPERUSER where it is a superuser, and one that its password lets in.
	Astray []string
}

// Roles asks for roles by name or by the first line of their comment.
func Roles(names, lines []string, each func(Role)) Query {
	return Query{SQL: rolesSQL, Args: []any{names, lines}, Each: func(scan func(...any) error) error {
		var r Role
		if err := scan(&r.Name, &r.Comment, &r.CanLogin, &r.Astray); err != nil {
			return err
		}
		each(r)
		return nil
	}}
}

// A TableName is a relation by schema and name.
type TableName struct{ Schema, Name string }

// A TableState is what matters of a relation to row policies.
type TableState struct {
	TableName
	// Kind as pg_class has it: r and p are tables, v and m are views, f is
	// foreign.
	Kind        string
	RowSecurity bool
}

// Tables asks for relations by name.
func Tables(names []TableName, each func(TableState)) Query {
	schemas, tables := columns(names)
	return Query{SQL: tablesSQL, Args: []any{schemas, tables}, Each: func(scan func(...any) error) error {
		var t TableState
		if err := scan(&t.Schema, &t.Name, &t.Kind, &t.RowSecurity); err != nil {
			return err
		}
		each(t)
		return nil
	}}
}

// Policies asks for the row policies of tables. Expressions come as Postgres
// prints them.
func Policies(names []TableName, each func(Policy)) Query {
	schemas, tables := columns(names)
	return Query{SQL: policiesSQL, Args: []any{schemas, tables}, Each: func(scan func(...any) error) error {
		var p Policy
		if err := scan(&p.Schema, &p.Table, &p.Name, &p.Command, &p.Restrictive, &p.Roles, &p.Using, &p.Check); err != nil {
			return err
		}
		each(p)
		return nil
	}}
}

// Owners asks who owns databases. One that does not exist is left out.
func Owners(databases []string, each func(database, owner string)) Query {
	return pairs(databasesSQL, []any{databases}, each)
}

func columns(names []TableName) (schemas, tables []string) {
	schemas, tables = make([]string, len(names)), make([]string, len(names))
	for i, n := range names {
		schemas[i], tables[i] = n.Schema, n.Name
	}
	return schemas, tables
}

// GrantedOn asks for what a role has granted on to others in a schema.
func GrantedOn(role, schema string, each func(what string)) Query {
	return texts(grantedOnSQL, []any{role, schema}, each)
}

// Replication asks for the logical replication slots in use and the
// publications through which rows of the database leave it.
func Replication(each func(kind, name string)) Query {
	return pairs(replicationSQL, nil, each)
}

// Dependents asks for the databases in which a role owns or holds something,
// and their owners.
func Dependents(role string, each func(database, owner string)) Query {
	return pairs(dependentsSQL, []any{role}, each)
}

// MembershipsOf asks for the roles that a role is directly a member of.
func MembershipsOf(member string, each func(role string)) Query {
	return texts(membershipsSQL, []any{member}, each)
}

// OddMembershipsOf asks for those of them that are more, or less, than what a
// plain GRANT makes.
func OddMembershipsOf(member string, each func(role string)) Query {
	return texts(oddMembershipsSQL, []any{member}, each)
}

// AgainstAdoption asks what stands against taking a role over: "superuser",
// "login" (it is the provider's own), "database" (it owns that), "member of" and
// "member" (of the named role, and who is one), "not admin" (the provider's login
// may not alter it).
func AgainstAdoption(role string, each func(kind, name string)) Query {
	return pairs(againstAdoptionSQL, []any{role}, each)
}

// OwnedCode asks for what a role owns in the database that would run with the
// rights of whoever it is passed to, or be trusted as theirs.
func OwnedCode(role string, each func(what string)) Query {
	return texts(ownedCodeSQL, []any{role}, each)
}

// ForeignCode asks for what a policy calls, reads or casts to that somebody
// without the owner's rights could change.
func ForeignCode(p Policy, each func(what, owner string)) Query {
	return pairs(foreignCodeSQL, []any{p.Schema, p.Table, p.Name}, each)
}

// EndSessions ends the sessions of a login, its own transaction's excepted.
func EndSessions(login string) Query {
	return Query{
		SQL: "SELECT pg_catalog.pg_terminate_backend(pid) FROM pg_catalog.pg_stat_activity " +
			"WHERE usename = $1 AND pid <> pg_catalog.pg_backend_pid()",
		Args: []any{login},
	}
}

func texts(sql string, args []any, each func(string)) Query {
	return Query{SQL: sql, Args: args, Each: func(scan func(...any) error) error {
		var text string
		if err := scan(&text); err != nil {
			return err
		}
		each(text)
		return nil
	}}
}

func pairs(sql string, args []any, each func(string, string)) Query {
	return Query{SQL: sql, Args: args, Each: func(scan func(...any) error) error {
		var a, b string
		if err := scan(&a, &b); err != nil {
			return err
		}
		each(a, b)
		return nil
	}}
}

// AsMember runs fn while the transaction's login is a member of role, which
// what is owned by the role can only be touched as. A superuser is one of
// every role, and a membership that was there before is used and stays.
func (tx *Tx) AsMember(ctx context.Context, role string, fn func() error) error {
	member := true
	err := tx.Batch(ctx, Query{
		SQL:  "SELECT pg_catalog.pg_has_role(oid, 'USAGE') FROM pg_catalog.pg_roles WHERE rolname = $1",
		Args: []any{role},
		Each: func(scan func(...any) error) error { return scan(&member) },
	})
	if err != nil {
		return err
	}
	if member {
		return fn()
	}
	if err := tx.Run(ctx, []Statement{GrantRole([]string{role}, tx.conn.Config().User)}); err != nil {
		return fmt.Errorf("role %q owns or granted what is changed, and the provider's login %q is not a member of it: %w", role, tx.conn.Config().User, err)
	}
	if err := fn(); err != nil {
		return err
	}
	still := false
	err = tx.Batch(ctx, Query{
		SQL:  "SELECT true FROM pg_catalog.pg_roles WHERE rolname = $1",
		Args: []any{role},
		Each: func(scan func(...any) error) error { return scan(&still) },
	})
	if err != nil || !still {
		return err
	}
	return tx.Run(ctx, []Statement{RevokeRole(role, tx.conn.Config().User)})
}
