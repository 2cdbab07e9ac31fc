package catalog

import (
	"context"

	"github.com/datatable-io/terraform-provider-datatable/internal/postgres"
)

// PutRole writes a role by its id.
func PutRole(r Role) postgres.Query {
	return postgres.Query{
		SQL: "INSERT INTO datatable_catalog.role (id, name, enabled, password, password_version) VALUES ($1::uuid, $2, $3, $4, $5) " +
			"ON CONFLICT (id) DO UPDATE SET name = excluded.name, enabled = excluded.enabled, password = excluded.password, password_version = excluded.password_version",
		Args: []any{r.ID, r.Name, r.Enabled, r.Sealed, r.PasswordVersion},
	}
}

// DeleteRole removes a role. Where it was listed it is no more, and where it
// was the default there is none.
func DeleteRole(id string) postgres.Query {
	return postgres.Query{SQL: "DELETE FROM datatable_catalog.role WHERE id = $1::uuid", Args: []any{id}}
}

// A RoleSet is a login that holds several roles.
type RoleSet struct {
	Login   string
	RoleIDs []string
	// Sealed password; empty where the login cannot be used.
	Sealed []byte
	// Stale says that the last use was noted more than a day ago.
	Stale bool
}

const selectRoleSets = "SELECT login, role_ids::text[], password, last_used_at < pg_catalog.now() - interval '1 day' FROM datatable_catalog.role_set "

// RoleSetByLogin asks for the row of a set login; where there is none the set
// stays as it is.
func RoleSetByLogin(login string, set *RoleSet) postgres.Query {
	return postgres.Query{SQL: selectRoleSets + "WHERE login = $1", Args: []any{login}, Each: set.scan}
}

// RoleSetsOf reads the set logins that hold a role.
func RoleSetsOf(ctx context.Context, tx *postgres.Tx, roleID string) ([]RoleSet, error) {
	var sets []RoleSet
	err := tx.Batch(ctx, postgres.Query{
		SQL:  selectRoleSets + "WHERE $1::uuid = ANY (role_ids) ORDER BY login",
		Args: []any{roleID},
		Each: func(scan func(...any) error) error {
			var set RoleSet
			err := set.scan(scan)
			sets = append(sets, set)
			return err
		},
	})
	return sets, err
}

func (s *RoleSet) scan(scan func(...any) error) error {
	return scan(&s.Login, &s.RoleIDs, &s.Sealed, &s.Stale)
}

// SetLoginsHolding asks for the set logins that are members of a role, those
// without a row included.
func SetLoginsHolding(roleID string, each func(login string)) postgres.Query {
	return postgres.Query{
		SQL: "SELECT DISTINCT s.rolname::text FROM pg_catalog.pg_auth_members m JOIN pg_catalog.pg_roles s ON s.oid = m.member " +
			"WHERE pg_catalog.starts_with(s.rolname::text, 'wm_set_') AND pg_catalog.split_part(pg_catalog.shobj_description(s.oid, 'pg_authid'), E'\\n', 1) = $1::text || s.rolname " +
			"AND pg_catalog.split_part(pg_catalog.shobj_description(m.roleid, 'pg_authid'), E'\\n', 1) = $1::text || $2::text",
		Args: []any{markPrefix, roleID},
		Each: func(scan func(...any) error) error {
			var login string
			if err := scan(&login); err != nil {
				return err
			}
			each(login)
			return nil
		},
	}
}

// PutRoleSet writes the row of a set login, used now.
func PutRoleSet(set RoleSet) postgres.Query {
	return postgres.Query{
		SQL: "INSERT INTO datatable_catalog.role_set (login, role_ids, password) VALUES ($1, $2::text[]::uuid[], $3) " +
			"ON CONFLICT (login) DO UPDATE SET role_ids = excluded.role_ids, password = excluded.password, last_used_at = pg_catalog.now()",
		Args: []any{set.Login, set.RoleIDs, set.Sealed},
	}
}

// DeleteRoleSet removes the row of a set login.
func DeleteRoleSet(login string) postgres.Query {
	return postgres.Query{SQL: "DELETE FROM datatable_catalog.role_set WHERE login = $1", Args: []any{login}}
}
