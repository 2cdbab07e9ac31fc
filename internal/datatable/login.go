package datatable

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/datatable-io/terraform-provider-datatable/internal/catalog"
	"github.com/datatable-io/terraform-provider-datatable/internal/postgres"
)

// lockOutSets takes the rows of the set logins that hold a role, and stops
// them from logging in. It returns their names.
func lockOutSets(ctx context.Context, tx *postgres.Tx, roleID string) ([]string, error) {
	sets, err := catalog.RoleSetsOf(ctx, tx, roleID)
	if err != nil {
		return nil, err
	}
	var logins []string
	// A login whose row went before it was dropped still holds the role.
	err = tx.Batch(ctx, catalog.SetLoginsHolding(roleID, func(login string) {
		if !slices.ContainsFunc(sets, func(s catalog.RoleSet) bool { return s.Login == login }) {
			sets = append(sets, catalog.RoleSet{Login: login})
		}
	}))
	if err != nil {
		return nil, err
	}
	for _, set := range sets {
		exists := false
		err := tx.Batch(ctx, catalog.DeleteRoleSet(set.Login),
			postgres.Roles([]string{set.Login}, nil, func(r postgres.Role) { exists = catalog.HasMark(r.Comment, set.Login) }))
		if err != nil {
			return nil, err
		}
		if exists {
			logins = append(logins, set.Login)
			if err := tx.Run(ctx, []postgres.Statement{postgres.SetLogin(set.Login, false)}); err != nil {
				return nil, err
			}
		}
	}
	return logins, nil
}

func (s *Service) removeLogins(ctx context.Context, names []string) error {
	for _, name := range names {
		if err := s.removeLogin(ctx, name); err != nil {
			return err
		}
	}
	return nil
}

// removeLogin ends a login's sessions, passes what it owns to the owner of the
// database it is in, and drops it together with its row. The login can log in
// no more when this is called.
func (s *Service) removeLogin(ctx context.Context, name string, row ...postgres.Query) error {
	if err := s.endSessions(ctx, name); err != nil {
		return err
	}
	w, err := s.catalog(ctx)
	if err != nil {
		return err
	}
	registered := map[string]bool{s.cluster.Database(): true}
	for _, d := range w.Datatables {
		registered[d.Database] = true
	}
	var owners []databaseOwner
	err = s.cluster.Read(ctx, s.cluster.Database(), func(tx *postgres.Tx) error {
		owners = nil
		return tx.Batch(ctx, postgres.Dependents(name, func(database, owner string) {
			if registered[database] {
				owners = append(owners, databaseOwner{database, owner})
			}
		}))
	})
	if err != nil {
		return err
	}
	for _, d := range owners {
		// Not every such database has a ledger.
		err := s.cluster.Do(ctx, d.database, ledgerLock, func(tx *postgres.Tx) error {
			if gone, err := isGone(ctx, tx, name); err != nil || gone {
				return err
			}
			if err := refuseCode(ctx, tx, name, d); err != nil {
				return err
			}
			return tx.AsMember(ctx, name, func() error {
				return tx.Run(ctx, []postgres.Statement{postgres.ReassignOwned(name, d.owner), postgres.DropOwned(name)})
			})
		})
		if err := s.unlessGone(ctx, name, err); err != nil {
			return fmt.Errorf("pass on what role %q owns in database %q: %w", name, d.database, err)
		}
	}
	return s.inCatalog(ctx, func(tx *postgres.Tx) error {
		// A set login is dropped with each of its roles, and they go in parallel.
		if gone, err := isGone(ctx, tx, name); err != nil || gone {
			return errors.Join(err, tx.Batch(ctx, row...))
		}
		return tx.AsMember(ctx, name, func() error {
			// Privileges on databases belong to no database.
			return tx.Run(ctx, []postgres.Statement{postgres.DropOwned(name), postgres.DropRole(name)}, row...)
		})
	})
}

// refuseCode stops where what a login owns is not only data. A function, a view
// or an index expression that it made would run with the owner's rights if it
// were passed on, and so could read or do anything.
func refuseCode(ctx context.Context, tx *postgres.Tx, name string, d databaseOwner) error {
	var code []string
	if err := tx.Batch(ctx, postgres.OwnedCode(name, func(what string) { code = append(code, what) })); err != nil {
		return err
	}
	if len(code) == 0 {
		return nil
	}
	return fmt.Errorf("role %q made code that would run with the rights of %q if it were passed on to it: %s. The role can log in no more, and its sessions are ended. "+
		"Look at each, then drop it or give it another owner yourself, and apply again", name, d.owner, joined(code))
}

func isGone(ctx context.Context, tx *postgres.Tx, name string) (bool, error) {
	gone := true
	err := tx.Batch(ctx, postgres.Roles([]string{name}, nil, func(postgres.Role) { gone = false }))
	return gone, err
}

type databaseOwner struct{ database, owner string }

// endSessions ends the sessions of a login that can start no new one.
func (s *Service) endSessions(ctx context.Context, name string) error {
	// Under no lock: whoever is thrown out could be the one who holds it.
	return s.unlessGone(ctx, name, s.cluster.Write(ctx, s.cluster.Database(), func(tx *postgres.Tx) error {
		return tx.AsMember(ctx, name, func() error { return tx.Batch(ctx, postgres.EndSessions(name)) })
	}))
}

// unlessGone is an error about a login, or nil where the login does not exist:
// that of a set is dropped with each of its roles, and they go in parallel.
func (s *Service) unlessGone(ctx context.Context, name string, err error) error {
	if err == nil {
		return nil
	}
	gone := false
	look := s.cluster.Read(ctx, s.cluster.Database(), func(tx *postgres.Tx) (err error) {
		gone, err = isGone(ctx, tx, name)
		return err
	})
	if gone && look == nil {
		return nil
	}
	return err
}
