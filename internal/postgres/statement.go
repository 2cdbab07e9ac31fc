package postgres

import (
	"fmt"
	"strings"

	"github.com/datatable-io/terraform-provider-datatable/internal/privilege"
)

// A Statement is SQL as it is shown in a plan and run by apply. It holds no
// secret.
type Statement string

// Texts returns the statements as plain strings.
func Texts(statements []Statement) []string {
	texts := make([]string, len(statements))
	for i, s := range statements {
		texts[i] = string(s)
	}
	return texts
}

func statement(format string, args ...any) Statement {
	return Statement(fmt.Sprintf(format, args...))
}

// loginAttributes is what every login that this product makes is, and is kept.
const loginAttributes = "NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION NOBYPASSRLS INHERIT"

// CreateRole makes a role that can own and read nothing yet. It has no
// password, so nobody can log in as it before one is set.
func CreateRole(name string, login bool) Statement {
	return statement("CREATE ROLE %s %s %s", Ident(name), loginKeyword(login), loginAttributes)
}

// AdoptRole makes of a role that exists what CreateRole makes: whether it can
// log in is set, and the attributes, keywords such as NOSUPERUSER.
func AdoptRole(name string, login bool, attributes []string) Statement {
	return AlterRole(name, append([]string{loginKeyword(login)}, attributes...))
}

// ShownAdoption stands in a plan for AdoptRole, of which a plan does not know
// whether it is needed, and for which attributes.
func ShownAdoption(name string, login bool) Statement {
	return statement("ALTER ROLE %s %s %s VALID UNTIL 'infinity' CONNECTION LIMIT -1 -- in place of CREATE ROLE where the role exists, and of it what is needed",
		Ident(name), loginKeyword(login), loginAttributes)
}

// ShownPassword stands in a plan for the statement that sets a password; what
// is run has the verifier, never the password, and is in no log.
func ShownPassword(name string) Statement {
	return statement("ALTER ROLE %s PASSWORD '"+elided+"'", Ident(name))
}

// CommentOnRole sets a role's comment.
func CommentOnRole(name, comment string) Statement {
	return statement("COMMENT ON ROLE %s IS %s", Ident(name), Literal(comment))
}

// RenameRole renames a role.
func RenameRole(from, to string) Statement {
	return statement("ALTER ROLE %s RENAME TO %s", Ident(from), Ident(to))
}

// SetLogin lets a role log in, or stops it. Sessions that are open stay.
func SetLogin(name string, login bool) Statement {
	return statement("ALTER ROLE %s %s", Ident(name), loginKeyword(login))
}

// AlterRole sets attributes of a role, keywords such as NOSUPERUSER.
func AlterRole(name string, attributes []string) Statement {
	return statement("ALTER ROLE %s %s", Ident(name), strings.Join(attributes, " "))
}

// DropRole drops a role.
func DropRole(name string) Statement { return statement("DROP ROLE %s", Ident(name)) }

// GrantRole makes a role a member of others.
func GrantRole(roles []string, member string) Statement {
	return statement("GRANT %s TO %s", idents(roles), Ident(member))
}

// RevokeRole ends the membership of a role in another.
func RevokeRole(role, member string) Statement {
	return statement("REVOKE %s FROM %s", Ident(role), Ident(member))
}

// ReassignOwned passes what a role owns in the database of the connection. A
// plan leaves out to whom, which is the owner of each database.
func ReassignOwned(from, to string) Statement {
	return statement("REASSIGN OWNED BY %s TO %s", Ident(from), identOr(to))
}

// DropOwned takes a role's privileges, default privileges and places in
// policies away, in the database of the connection.
func DropOwned(role string) Statement { return statement("DROP OWNED BY %s", Ident(role)) }

func loginKeyword(login bool) string {
	if login {
		return "LOGIN"
	}
	return "NOLOGIN"
}

// elided stands in a plan for what is known only when it is carried out.
const elided = "…"

// identOr quotes a name, and stands for one that is empty.
func identOr(name string) string {
	if name == "" {
		return elided
	}
	return Ident(name)
}

// Privileges renders a change of privileges. The name of the database is for a
// change on the database itself; it is left out where it is empty, and so is
// an owner without a name.
func Privileges(c privilege.Change, database string) Statement {
	verb, preposition, note := "GRANT", "TO", ""
	if c.Revoke {
		verb, preposition = "REVOKE", "FROM"
	}
	option, withOption := "", ""
	switch {
	case c.Option && c.Revoke:
		option = "GRANT OPTION FOR "
	case c.Option:
		withOption = " WITH GRANT OPTION"
	}
	first := c.Objects[0]
	if first.Extent == privilege.Owned {
		note = " -- of serial columns of " + ownersOf(c.Objects)
	}
	if c.Shared {
		note += " -- kept while something else wants it"
	}
	if first.Extent == privilege.Future {
		t, _ := privilege.TypeOf(first.Type)
		return statement("ALTER DEFAULT PRIVILEGES FOR ROLE %s IN SCHEMA %s %s %s%s ON %s %s %s%s%s", identOr(first.Name), Ident(first.Schema),
			verb, option, privilegeList(c.Privileges), t.Plural, preposition, Grantee(c.Grantee), withOption, note)
	}
	return statement("%s %s%s ON %s %s %s%s%s", verb, option, privilegeList(c.Privileges),
		on(c.Objects, database), preposition, Grantee(c.Grantee), withOption, note)
}

// AllPrivileges renders several changes in their order.
func AllPrivileges(changes []privilege.Change, database string) []Statement {
	statements := make([]Statement, len(changes))
	for i, c := range changes {
		statements[i] = Privileges(c, database)
	}
	return statements
}

func privilegeList(privileges []privilege.OnColumns) string {
	texts := make([]string, len(privileges))
	for i, p := range privileges {
		texts[i] = p.Privilege
		if len(p.Columns) > 0 {
			texts[i] += " (" + idents(p.Columns) + ")"
		}
	}
	return strings.Join(texts, ", ")
}

func on(objects []privilege.Object, database string) string {
	t, _ := privilege.TypeOf(objects[0].Type)
	switch first := objects[0]; first.Extent {
	case privilege.Whole:
		return "ALL " + t.Plural + " IN SCHEMA " + Ident(first.Schema)
	case privilege.Owned:
		return t.Keyword + " " + elided
	case privilege.One, privilege.Future:
	}
	names := make([]string, len(objects))
	for i, o := range objects {
		names[i] = objectName(o, t, database)
	}
	return t.Keyword + " " + strings.Join(names, ", ")
}

// ownersOf names the tables whose sequences are meant.
func ownersOf(objects []privilege.Object) string {
	names := make([]string, len(objects))
	for i, o := range objects {
		names[i] = Ident(o.Schema, o.Name)
		if o.Name == "" {
			names[i] = "tables in " + Ident(o.Schema)
		}
	}
	return strings.Join(names, ", ")
}

func objectName(o privilege.Object, t privilege.ObjectType, database string) string {
	switch {
	case o.Schema == "":
		return identOr(database)
	case o.Name == "":
		return Ident(o.Schema)
	case t.Signature:
		// A signature is SQL already: a plan shows one that has been read by
		// privilege.CheckSignature, and apply has Postgres's own.
		return Ident(o.Schema) + "." + signature(o.Name)
	}
	return Ident(o.Schema, o.Name)
}

// Grantee renders who a grant or a policy is for. Quoted, "public" would mean
// the same to Postgres; unquoted it reads as what it is.
func Grantee(name string) string {
	if name == privilege.Public {
		return "PUBLIC"
	}
	return Ident(name)
}

// A Policy is a row policy as CREATE POLICY takes it.
type Policy struct {
	Schema, Table, Name string
	// Command is ALL, SELECT, INSERT, UPDATE or DELETE.
	Command     string
	Restrictive bool
	// Roles by name, or "public".
	Roles []string
	// Using and Check are SQL expressions; nil where there is none.
	Using, Check *string
}

func (p Policy) on() string { return Ident(p.Name) + " ON " + Ident(p.Schema, p.Table) }

func (p Policy) to() string {
	names := make([]string, len(p.Roles))
	for i, role := range p.Roles {
		names[i] = Grantee(role)
	}
	return strings.Join(names, ", ")
}

// CreatePolicy makes a policy.
func CreatePolicy(p Policy) Statement {
	kind := "PERMISSIVE"
	if p.Restrictive {
		kind = "RESTRICTIVE"
	}
	return statement("CREATE POLICY %s AS %s FOR %s TO %s%s", p.on(), kind, p.Command, p.to(), p.expressions(true, true))
}

// RenamePolicy gives a policy another name.
func RenamePolicy(p Policy, to string) Statement {
	return statement("ALTER POLICY %s RENAME TO %s", p.on(), Ident(to))
}

// AlterPolicy sets what is asked for of a policy in place.
func AlterPolicy(p Policy, roles, using, check bool) Statement {
	to := ""
	if roles {
		to = " TO " + p.to()
	}
	return statement("ALTER POLICY %s%s%s", p.on(), to, p.expressions(using, check))
}

// expressions stand on lines of their own, so that a comment at the end of one
// does not swallow the parenthesis.
func (p Policy) expressions(using, check bool) string {
	var b strings.Builder
	if using && p.Using != nil {
		b.WriteString(" USING (" + closed(*p.Using) + ")")
	}
	if check && p.Check != nil {
		b.WriteString(" WITH CHECK (" + closed(*p.Check) + ")")
	}
	return b.String()
}

func closed(expression string) string {
	if strings.Contains(expression, "--") {
		return expression + "\n"
	}
	return expression
}

// DropPolicy drops a policy.
func DropPolicy(p Policy) Statement { return statement("DROP POLICY %s", p.on()) }

// RowSecurity turns row-level security of a table on or off.
func RowSecurity(schema, table string, on bool) Statement {
	verb := "DISABLE"
	if on {
		verb = "ENABLE"
	}
	return statement("ALTER TABLE %s %s ROW LEVEL SECURITY", Ident(schema, table), verb)
}

// SetSearchPath sets the search path of the transaction to schemas, or to
// nothing.
func SetSearchPath(schemas ...string) Statement {
	if len(schemas) == 0 {
		return "SET LOCAL search_path = ''"
	}
	return statement("SET LOCAL search_path = %s", idents(schemas))
}

// SetRole makes the rest of the transaction act as a role.
func SetRole(role string) Statement { return statement("SET LOCAL ROLE %s", Ident(role)) }

// ResetRole ends what SetRole began.
const ResetRole Statement = "RESET ROLE"
