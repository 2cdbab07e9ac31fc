package datatable

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/datatable-io/terraform-provider-datatable/internal/postgres"
	"github.com/datatable-io/terraform-provider-datatable/internal/privilege"
)

// carryOut runs a difference, and then queries, in one transaction. A privilege
// that another role granted than the object's owner is revoked as that role, and
// what another role owns, or will own, is changed as a member of it.
func carryOut(ctx context.Context, tx *postgres.Tx, needed privilege.Difference, h *postgres.Holdings,
	wholes map[privilege.Object][]string, database string, then ...postgres.Query,
) error {
	own, foreign := byGrantor(needed.Revoke, h, tx.User())
	roles := slices.Sorted(maps.Keys(foreign))
	statements := postgres.AllPrivileges(privilege.Difference{Grant: needed.Grant, Revoke: own}.Changes(nil, wholes), database)
	for _, grantor := range roles {
		statements = append(statements, postgres.SetRole(grantor))
		statements = append(statements, postgres.AllPrivileges(privilege.Difference{Revoke: foreign[grantor]}.Changes(nil, wholes), database)...)
		statements = append(statements, postgres.ResetRole)
	}
	statements = append(statements, postgres.AllPrivileges(privilege.Difference{Restore: needed.Restore}.Changes(nil, nil), database)...)
	if !tx.Superuser() {
		for a := range needed.Grant.Union(needed.Revoke) {
			owner := h.Owners[a.Object]
			if a.Object.Extent == privilege.Future {
				owner = a.Object.Name
			}
			if owner != "" && owner != tx.User() && !slices.Contains(roles, owner) {
				roles = append(roles, owner)
			}
		}
	}
	run := func() error { return tx.Run(ctx, statements, then...) }
	for _, role := range roles {
		inner := run
		run = func() error { return tx.AsMember(ctx, role, inner) }
	}
	err := run()
	if postgres.IsDependent(err) {
		return &DependentError{Revoke: postgres.AllPrivileges(privilege.Difference{Revoke: needed.Revoke}.Changes(nil, wholes), database), Err: err}
	}
	return err
}

// byGrantor tells which atoms the owner or this login granted, and which other
// roles did. An atom that several granted is in several sets.
func byGrantor(revoke privilege.Set, h *postgres.Holdings, user string) (own privilege.Set, foreign map[string]privilege.Set) {
	own, foreign = privilege.Set{}, map[string]privilege.Set{}
	for a := range revoke {
		for _, grantor := range h.Grantors[a] {
			if a.Object.Extent == privilege.Future || grantor == h.Owners[a.Object] || grantor == user {
				own.Add(a)
				continue
			}
			if foreign[grantor] == nil {
				foreign[grantor] = privilege.Set{}
			}
			foreign[grantor].Add(a)
		}
	}
	return own, foreign
}

// A DependentError is a revoke that Postgres refuses because the grantee has
// granted on what would be taken.
type DependentError struct {
	Revoke []postgres.Statement
	// Chain is what was granted on, in words.
	Chain []string
	Err   error
}

func (e *DependentError) Error() string {
	return fmt.Sprintf("the role that loses privileges has granted them on to others, so Postgres does not revoke them. Nothing was changed. "+
		"Revoke first what it granted:\n%s\nThis was tried:\n%s\n%v", strings.Join(e.Chain, "\n"), strings.Join(postgres.Texts(e.Revoke), ";\n"), e.Err)
}

func (e *DependentError) Unwrap() error { return e.Err }
