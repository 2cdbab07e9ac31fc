package datatable

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/google/uuid"

	"github.com/datatable-io/terraform-provider-datatable/internal/catalog"
	"github.com/datatable-io/terraform-provider-datatable/internal/postgres"
)

// A Role is an entry of the role catalog, as a resource declares it.
type Role struct {
	ID      string
	Name    string
	Enabled bool
}

// RoleSeen is what a refresh saw of a role.
type RoleSeen struct {
	// Astray are the keywords that would make the login what it has to be.
	Astray []string
	// OldKey says that its password in the catalog is under the previous key.
	OldKey bool
}

// PreviewRole tells what a change from prior to next will run; either may be
// nil.
func PreviewRole(prior, next *Role, seen RoleSeen) Preview {
	var p Preview
	switch {
	case prior == nil:
		p.Statements = []postgres.Statement{
			postgres.CreateRole(next.Name, next.Enabled),
			postgres.ShownPassword(next.Name),
			postgres.CommentOnRole(next.Name, catalog.Mark("…")),
		}
	case next == nil:
		p.Statements = []postgres.Statement{
			postgres.SetLogin(prior.Name, false),
			postgres.ReassignOwned(prior.Name, ""),
			postgres.DropOwned(prior.Name),
			postgres.DropRole(prior.Name),
		}
		p.takesAway(fmt.Sprintf("Dropping role %q, and every set login that holds it; what they own goes to the owner of its database", prior.Name))
	default:
		p.Statements = alterRole(*prior, *next, seen)
		if seen.OldKey {
			p.Statements = append(p.Statements, catalog.ShownReseal...)
		}
		if prior.Enabled && !next.Enabled {
			p.warn("enabled", fmt.Sprintf("Disabling role %q ends its sessions", prior.Name),
				"Sessions of the role, and of every set login that holds it, are ended; the set logins are dropped.")
		}
	}
	return p
}

func alterRole(prior, next Role, seen RoleSeen) []postgres.Statement {
	var statements []postgres.Statement
	if prior.Name != next.Name {
		statements = append(statements, postgres.RenameRole(prior.Name, next.Name))
	}
	if prior.Enabled != next.Enabled {
		statements = append(statements, postgres.SetLogin(next.Name, next.Enabled))
	}
	if len(seen.Astray) > 0 {
		statements = append(statements, postgres.AlterRole(next.Name, seen.Astray))
	}
	return statements
}

// Role reads a role by its id. Enabled is what Postgres says. One whose login
// is gone, or is somebody else's by now, is not found.
func (s *Service) Role(ctx context.Context, id string) (Role, RoleSeen, bool, error) {
	r, seen, ok, err := s.findRole(ctx, func(snapshot *catalog.Snapshot) (catalog.Role, bool) { return snapshot.RoleByID(id) })
	if ok && err == nil {
		seen.OldKey, err = s.behind(ctx, id)
	}
	return r, seen, ok, err
}

// RoleByName reads a role by its name.
func (s *Service) RoleByName(ctx context.Context, name string) (Role, RoleSeen, bool, error) {
	return s.findRole(ctx, func(snapshot *catalog.Snapshot) (catalog.Role, bool) { return snapshot.Role(name) })
}

func (s *Service) findRole(ctx context.Context, find func(*catalog.Snapshot) (catalog.Role, bool)) (Role, RoleSeen, bool, error) {
	w, err := s.catalog(ctx)
	if err != nil {
		return Role{}, RoleSeen{}, false, err
	}
	r, ok := find(w.Snapshot)
	if !ok || !r.Exists {
		return Role{}, RoleSeen{}, false, nil
	}
	// A role that is shut while sessions or set logins still hold it is not
	// disabled yet: the plan shows it, and apply ends what was broken off.
	return Role{ID: r.ID, Name: r.Name, Enabled: r.CanLogin || r.Lingers}, RoleSeen{Astray: r.Astray}, true, nil
}

// CreateRole makes a role with a generated password. An entry of the catalog
// whose login is gone gets a new one, and keeps its id.
func (s *Service) CreateRole(ctx context.Context, r Role) (Role, error) {
	box, err := s.keyring()
	if err != nil {
		return r, err
	}
	fresh := uuid.NewString()
	err = s.inCatalog(ctx, func(tx *postgres.Tx) error {
		r.ID = fresh
		if err := s.rekey(ctx, tx); err != nil {
			return err
		}
		snapshot, err := catalog.Load(ctx, tx)
		if err != nil {
			return err
		}
		if _, err := rightKey(box, snapshot.SealedRoles()); err != nil {
			return err
		}
		if row, ok := snapshot.Role(r.Name); ok {
			r.ID = row.ID
		}
		var found *postgres.Role
		if err := tx.Batch(ctx, postgres.Roles([]string{r.Name}, nil, func(role postgres.Role) { found = &role })); err != nil {
			return err
		}
		if found != nil {
			if found.Comment == catalog.Mark(r.ID) {
				return inputError("name", "role %q is in the catalog already. Import it with id %q, or choose another name", r.Name, r.Name)
			}
			return inputError("name", "Postgres has a role %q that does not belong to this catalog, and it is left alone. Choose another name", r.Name)
		}
		sealed, err := makeLogin(ctx, tx, box, r.ID, postgres.CreateRole(r.Name, r.Enabled), r.Name)
		if err != nil {
			return err
		}
		return tx.Batch(ctx, catalog.PutRole(catalog.Role{ID: r.ID, Name: r.Name, Enabled: r.Enabled, Sealed: sealed}))
	})
	return r, err
}

// makeLogin runs the statement that makes a login, or lets one in again, and
// gives it a new password and its mark. It returns the password sealed for
// identity.
func makeLogin(ctx context.Context, tx *postgres.Tx, box *catalog.Box, identity string, create postgres.Statement, name string) ([]byte, error) {
	password := postgres.NewPassword()
	verifier, err := postgres.Verifier(password)
	if err != nil {
		return nil, err
	}
	sealed, err := box.Seal(identity, password)
	if err != nil {
		return nil, err
	}
	if err := tx.Run(ctx, []postgres.Statement{create, postgres.CommentOnRole(name, catalog.Mark(identity))}); err != nil {
		return nil, err
	}
	return sealed, tx.SetPassword(ctx, name, verifier)
}

// UpdateRole renames, enables or disables a role in place.
func (s *Service) UpdateRole(ctx context.Context, prior, next Role, seen RoleSeen) error {
	next.ID = prior.ID
	var retired []string
	err := s.inCatalog(ctx, func(tx *postgres.Tx) error {
		if err := s.rekey(ctx, tx); err != nil {
			return err
		}
		row, live, err := markedRole(ctx, tx, prior.ID)
		if err != nil {
			return err
		}
		if next.Name != live.Name {
			taken := false
			if err := tx.Batch(ctx, postgres.Roles([]string{next.Name}, nil, func(postgres.Role) { taken = true })); err != nil {
				return err
			}
			if taken {
				return inputError("name", "Postgres has a role %q already. Choose another name", next.Name)
			}
		}
		statements := alterRole(Role{Name: live.Name, Enabled: live.CanLogin}, next, RoleSeen{Astray: live.Astray})
		planned := alterRole(prior, next, seen)
		if missing := without(statements, planned); len(missing) > 0 {
			return &StaleError{Missing: missing}
		}
		row.Name, row.Enabled = next.Name, next.Enabled
		if err := tx.Run(ctx, statements, catalog.PutRole(row)); err != nil {
			return err
		}
		if !next.Enabled {
			retired, err = lockOutSets(ctx, tx, row.ID)
		}
		return err
	})
	if err != nil || next.Enabled {
		return err
	}
	// First nobody acts any more; what is left to drop can wait, or fail.
	for _, name := range append([]string{next.Name}, retired...) {
		if err := s.endSessions(ctx, name); err != nil {
			return err
		}
	}
	return s.removeLogins(ctx, retired)
}

// without returns the statements that are not in planned.
func without(statements, planned []postgres.Statement) []postgres.Statement {
	var missing []postgres.Statement
	for _, s := range statements {
		if !slices.Contains(planned, s) {
			missing = append(missing, s)
		}
	}
	return missing
}

// markedRole reads a role of the catalog and its login.
func markedRole(ctx context.Context, tx *postgres.Tx, id string) (catalog.Role, postgres.Role, error) {
	snapshot, err := catalog.Load(ctx, tx)
	if err != nil {
		return catalog.Role{}, postgres.Role{}, err
	}
	row, ok := snapshot.RoleByID(id)
	if !ok {
		return row, postgres.Role{}, errRoleGone
	}
	var live *postgres.Role
	marked := 0
	err = tx.Batch(ctx, postgres.Roles(nil, []string{catalog.Mark(id)}, func(r postgres.Role) { live, marked = &r, marked+1 }))
	if err != nil {
		return row, postgres.Role{}, err
	}
	if marked > 1 {
		return row, postgres.Role{}, catalog.SharedMarkError(id)
	}
	// The mark of a role that is gone can be on somebody else's.
	if live == nil || live.Name != row.Name {
		return row, postgres.Role{}, errRoleGone
	}
	return row, *live, nil
}

var errRoleGone = errors.New("the role is gone from the catalog or from Postgres, or has lost the comment that marks it. Plan again")

// DropRole drops a role and every set login that holds it. What it owns passes
// to the owner of the database it is in.
func (s *Service) DropRole(ctx context.Context, r Role) error {
	var retired []string
	name := ""
	err := s.inCatalog(ctx, func(tx *postgres.Tx) error {
		_, live, err := markedRole(ctx, tx, r.ID)
		if errors.Is(err, errRoleGone) {
			return nil
		}
		if err != nil {
			return err
		}
		name = live.Name
		if err := tx.Run(ctx, []postgres.Statement{postgres.SetLogin(name, false)}); err != nil {
			return err
		}
		retired, err = lockOutSets(ctx, tx, r.ID)
		return err
	})
	if err != nil {
		return err
	}
	for _, login := range append([]string{name}, retired...) {
		if login != "" {
			if err := s.endSessions(ctx, login); err != nil {
				return err
			}
		}
	}
	if err := s.removeLogins(ctx, retired); err != nil {
		return err
	}
	if name != "" {
		if err := s.removeLogin(ctx, name, catalog.DeleteRole(r.ID)); err != nil {
			return err
		}
	}
	return s.inCatalog(ctx, func(tx *postgres.Tx) error { return tx.Batch(ctx, catalog.DeleteRole(r.ID)) })
}
