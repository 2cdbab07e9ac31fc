package catalog

import (
	"strings"

	"github.com/datatable-io/terraform-provider-datatable/internal/postgres"
)

// A SealedRow is a password that the catalog keeps, and whose it is.
type SealedRow struct {
	// Set says that the row is one of a set login.
	Set bool
	// Identity is what the password was sealed for: the id of a role, or the
	// name of a set login.
	Identity string
	// Login is the name of the role or of the set login.
	Login  string
	Sealed []byte
}

// SealedRows asks for every password.
func SealedRows(each func(SealedRow)) []postgres.Query {
	query := func(sql string, set bool) postgres.Query {
		return postgres.Query{SQL: sql, Each: func(scan func(...any) error) error {
			row := SealedRow{Set: set}
			if err := scan(&row.Identity, &row.Login, &row.Sealed); err != nil {
				return err
			}
			each(row)
			return nil
		}}
	}
	return []postgres.Query{
		query("SELECT id::text, name, password FROM datatable_catalog.role WHERE pg_catalog.length(password) > 0 ORDER BY name", false),
		query("SELECT login, login, password FROM datatable_catalog.role_set WHERE pg_catalog.length(password) > 0 ORDER BY login", true),
	}
}

// ShownReseal are the statements of [Reseal] as a plan shows them, the secrets
// left out.
var ShownReseal = []postgres.Statement{
	"UPDATE datatable_catalog.role SET password = '…'",
	"UPDATE datatable_catalog.role_set SET password = '…'",
}

// Reseal writes the passwords of rows.
func Reseal(rows []SealedRow) []postgres.Query {
	var identities [2][]string
	var sealed [2][][]byte
	for _, row := range rows {
		i := 0
		if row.Set {
			i = 1
		}
		identities[i], sealed[i] = append(identities[i], row.Identity), append(sealed[i], row.Sealed)
	}
	var queries []postgres.Query
	for i, update := range []string{
		"UPDATE datatable_catalog.role SET password = it.sealed FROM IT WHERE id = it.identity::uuid",
		"UPDATE datatable_catalog.role_set SET password = it.sealed FROM IT WHERE login = it.identity",
	} {
		if len(identities[i]) > 0 {
			queries = append(queries, postgres.Query{
				SQL:  strings.Replace(update, "IT", "ROWS FROM (pg_catalog.unnest($1::text[]), pg_catalog.unnest($2::bytea[])) AS it (identity, sealed)", 1),
				Args: []any{identities[i], sealed[i]},
			})
		}
	}
	return queries
}
