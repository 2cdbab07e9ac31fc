package catalog

import (
	_ "embed" // the queries of this package are files
	"fmt"

	"github.com/datatable-io/terraform-provider-datatable/internal/postgres"
	"github.com/datatable-io/terraform-provider-datatable/internal/privilege"
)

//go:embed sql/claims.sql
var claimsSQL string

// A Claim is a declared grant as the ledger keeps it.
type Claim struct {
	// Claim's Grantee is the present name of the role, or where the role is
	// gone the one it had when the claim was written. In CreatedBy "admin" is
	// the owner of the database, whoever that is.
	privilege.Claim
	DatatableID string
	// Datatable is workspace/datatable.
	Datatable string
	// RoleID is empty for PUBLIC.
	RoleID string
	// CreatorIDs are those of CreatedBy; of use only for writing.
	CreatorIDs []string
	// Orphan says that the role is gone, so that the claim wants nothing.
	Orphan bool
	// SharedMark is the id of one of its roles whose mark several roles of
	// Postgres carry, or empty.
	SharedMark string
}

// A SharedMarkError is the id of a role whose mark another role carries too.
type SharedMarkError string

func (e SharedMarkError) Error() string {
	return fmt.Sprintf("several roles of Postgres have the comment %q, which marks one of the catalog's: take the comment from the others", Mark(string(e)))
}

// Claims asks for all claims.
func Claims(each func(Claim)) postgres.Query {
	return claims([]any{nil, markPrefix, []string{}, nil}, each)
}

// ClaimsOn asks for the claims in some schemas for some grantees, by their
// roles' ids and empty for PUBLIC, and for those with one of the ids, with what
// else is for the same grantees. A claim on the database has an empty schema.
func ClaimsOn(schemas, grantees, ids []string, each func(Claim)) postgres.Query {
	return claims([]any{notNull(schemas), markPrefix, notNull(ids), notNull(grantees)}, each)
}

func claims(args []any, each func(Claim)) postgres.Query {
	return postgres.Query{SQL: claimsSQL, Args: args, Each: func(scan func(...any) error) error {
		var c Claim
		if err := scan(&c.ID, &c.DatatableID, &c.Datatable, &c.RoleID, &c.Grantee, &c.Orphan, &c.Type, &c.Schema, &c.Objects, &c.Whole,
			&c.Columns, &c.Future, &c.CreatedBy, &c.Privileges, &c.Option, &c.SharedMark); err != nil {
			return err
		}
		each(c)
		return nil
	}}
}

// PutClaim writes a claim by its id.
func PutClaim(c Claim) postgres.Query {
	var roleID *string
	if c.RoleID != "" {
		roleID = &c.RoleID
	}
	return postgres.Query{
		SQL: `INSERT INTO datatable_ledger.claim (id, datatable_id, datatable, role_id, role, object_type, schema, objects, whole,
    columns, future, created_by, privileges, grant_option)
VALUES ($1::uuid, $2::uuid, $3, $4::uuid, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)
ON CONFLICT (id) DO UPDATE SET role_id = excluded.role_id, role = excluded.role, object_type = excluded.object_type,
    schema = excluded.schema, objects = excluded.objects, whole = excluded.whole, columns = excluded.columns,
    future = excluded.future, created_by = excluded.created_by, privileges = excluded.privileges, grant_option = excluded.grant_option`,
		Args: []any{
			c.ID, c.DatatableID, c.Datatable, roleID, c.Grantee, c.Type, c.Schema, notNull(c.Objects), c.Whole,
			notNull(c.Columns), c.Future, notNull(c.CreatorIDs), c.Privileges, c.Option,
		},
	}
}

// DeleteClaim removes a claim.
func DeleteClaim(id string) postgres.Query {
	return postgres.Query{SQL: "DELETE FROM datatable_ledger.claim WHERE id = $1::uuid", Args: []any{id}}
}

// PolicyText is what the ledger keeps of a row policy.
type PolicyText struct {
	Schema, Table, Name        string
	DatatableID, Datatable     string
	UsingWritten, UsingPrinted *string
	CheckWritten, CheckPrinted *string
	WhenLastRemoved            string
}

const policyColumns = "schema, table_name, name, datatable_id::text, datatable, using_written, using_printed, check_written, check_printed, when_last_removed"

// PolicyTexts asks for the texts of one table's policies, or with an empty
// schema for all.
func PolicyTexts(on postgres.TableName, each func(PolicyText)) postgres.Query {
	return postgres.Query{
		SQL:  "SELECT " + policyColumns + " FROM datatable_ledger.policy WHERE $1::text = '' OR (schema, table_name) = ($1::text, $2::text)",
		Args: []any{on.Schema, on.Name},
		Each: func(scan func(...any) error) error {
			var p PolicyText
			if err := scan(&p.Schema, &p.Table, &p.Name, &p.DatatableID, &p.Datatable, &p.UsingWritten, &p.UsingPrinted,
				&p.CheckWritten, &p.CheckPrinted, &p.WhenLastRemoved); err != nil {
				return err
			}
			each(p)
			return nil
		},
	}
}

//go:embed sql/put_policy.sql
var putPolicySQL string

// PutPolicyText writes a policy's texts, with what Postgres prints for it now.
func PutPolicyText(p PolicyText) postgres.Query {
	return postgres.Query{SQL: putPolicySQL, Args: []any{
		p.Schema, p.Table, p.Name, p.DatatableID, p.Datatable, p.UsingWritten, p.CheckWritten, p.WhenLastRemoved,
	}}
}

// DeletePolicyText removes a policy's texts.
func DeletePolicyText(on postgres.TableName, name string) postgres.Query {
	return postgres.Query{
		SQL:  "DELETE FROM datatable_ledger.policy WHERE (schema, table_name, name) = ($1, $2, $3)",
		Args: []any{on.Schema, on.Name, name},
	}
}

// EnabledHere asks for the tables on which row-level security was turned on by
// this product.
func EnabledHere(each func(postgres.TableName)) postgres.Query {
	return postgres.Query{
		SQL: "SELECT schema, table_name FROM datatable_ledger.row_security",
		Each: func(scan func(...any) error) error {
			var t postgres.TableName
			if err := scan(&t.Schema, &t.Name); err != nil {
				return err
			}
			each(t)
			return nil
		},
	}
}

// SetEnabledHere notes, or forgets, that row-level security of a table was
// turned on by this product.
func SetEnabledHere(on postgres.TableName, enabled bool) postgres.Query {
	sql := "DELETE FROM datatable_ledger.row_security WHERE (schema, table_name) = ($1, $2)"
	if enabled {
		sql = "INSERT INTO datatable_ledger.row_security (schema, table_name) VALUES ($1, $2) ON CONFLICT DO NOTHING"
	}
	return postgres.Query{SQL: sql, Args: []any{on.Schema, on.Name}}
}

// TakenFromPublic asks what was taken from PUBLIC in this database.
func TakenFromPublic(taken privilege.Set) postgres.Query {
	return postgres.Query{
		SQL: "SELECT object_type, schema, privilege FROM datatable_ledger.taken_from_public",
		Each: func(scan func(...any) error) error {
			a := privilege.Atom{Grantee: privilege.Public}
			if err := scan(&a.Object.Type, &a.Object.Schema, &a.Privilege); err != nil {
				return err
			}
			taken.Add(a)
			return nil
		},
	}
}

// SetTakenFromPublic writes what is taken from PUBLIC in this database.
func SetTakenFromPublic(taken privilege.Set) []postgres.Query {
	queries := []postgres.Query{{SQL: "DELETE FROM datatable_ledger.taken_from_public"}}
	for _, a := range taken.Sorted() {
		queries = append(queries, postgres.Query{
			SQL:  "INSERT INTO datatable_ledger.taken_from_public (object_type, schema, privilege) VALUES ($1, $2, $3)",
			Args: []any{a.Object.Type, a.Object.Schema, a.Privilege},
		})
	}
	return queries
}

//go:embed sql/forget_policies.sql
var forgetPoliciesSQL string

//go:embed sql/forget_row_security.sql
var forgetRowSecuritySQL string

// ForgetGone drops what the ledger has about policies and tables that are no
// longer there. Nobody asks for it when something is dropped by hand, since
// Terraform then has no resource left to destroy.
func ForgetGone() []postgres.Query {
	return []postgres.Query{{SQL: forgetPoliciesSQL}, {SQL: forgetRowSecuritySQL}}
}
