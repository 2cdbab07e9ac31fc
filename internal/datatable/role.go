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
	// Adopt takes over a role of that name that Postgres has already. It matters
	// only when the role is made.
	Adopt bool
	// PasswordVersion is a number from 1 that stands for the password: with
	// another number comes another password.
	PasswordVersion int64
	// Comment is a note in Postgres, below the mark; empty is none.
	Comment string
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
		p.Statements = []postgres.Statement{postgres.CreateRole(next.Name, next.Enabled)}
		if next.Adopt {
			p.Statements = append(p.Statements, postgres.ShownAdoption(next.Name, next.Enabled))
			p.warn("adopt", fmt.Sprintf("Role %q is taken over where Postgres has it already", next.Name),
				"It gets a new password, the attributes of a role, and the catalog's comment in the place of its own. Its open sessions are ended: whoever has its old password logs in no more. "+
					"What it owns and holds stays. From then on the role is the catalog's, and destroying it drops it.")
		}
		p.Statements = append(p.Statements, postgres.ShownPassword(next.Name), postgres.CommentOnRole(next.Name, catalog.Comment("…", next.Comment)))
	case next == nil:
		p.Statements = []postgres.Statement{
			postgres.SetLogin(prior.Name, false),
			postgres.ReassignOwned(prior.Name, ""),
			postgres.DropOwned(prior.Name),
			postgres.DropRole(prior.Name),
		}
		p.takesAway(fmt.Sprintf("Dropping role %q, and every set login that holds it; what they own goes to the owner of its database", prior.Name))
	default:
		p.Statements = changeRole(*prior, *next, seen)
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

// changeRole is all that a change runs, and alterRole what of it is run as it is
// shown.
func changeRole(prior, next Role, seen RoleSeen) []postgres.Statement {
	statements := alterRole(prior, next, seen)
	if prior.PasswordVersion != next.PasswordVersion {
		statements = append(statements, postgres.ShownPassword(next.Name))
	}
	return statements
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
	if prior.Comment != next.Comment {
		statements = append(statements, postgres.CommentOnRole(next.Name, catalog.Comment(prior.ID, next.Comment)))
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
	return Role{ID: r.ID, Name: r.Name, Enabled: r.CanLogin || r.Lingers, PasswordVersion: r.PasswordVersion, Comment: r.Note}, RoleSeen{Astray: r.Astray}, true, nil
}

// CreateRole makes a role with a generated password, or takes over one that
// Postgres has. An entry of the catalog whose login is gone gets a new one, and
// keeps its id.
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
		var found, elsewhere *postgres.Role
		err = tx.Batch(ctx, postgres.Roles([]string{r.Name}, []string{catalog.Mark(r.ID)}, func(role postgres.Role) {
			if role.Name == r.Name {
				found = &role
			} else {
				elsewhere = &role
			}
		}))
		if err != nil {
			return err
		}
		if elsewhere != nil {
			// With two of one mark it could not be told which has the grants.
			return inputError("name", "Postgres has the comment that marks role %[1]q on role %[2]q. Where that is the role, renamed by hand, run ALTER ROLE %[3]s RENAME TO %[4]s and import it with id %[1]q. "+
				"Else run COMMENT ON ROLE %[3]s IS NULL and apply again", r.Name, elsewhere.Name, postgres.Ident(elsewhere.Name), postgres.Ident(r.Name))
		}
		create := postgres.CreateRole(r.Name, r.Enabled)
		switch {
		case found == nil:
		case catalog.HasMark(found.Comment, r.ID):
			return inputError("name", "role %q is in the catalog already. Import it with id %q, or choose another name", r.Name, r.Name)
		case !r.Adopt:
			return inputError("name", "Postgres has a role %q that does not belong to this catalog, and it is left alone. Choose another name, or set adopt = true to take it over", r.Name)
		default:
			if create, err = adoption(ctx, tx, r, *found); err != nil {
				return err
			}
		}
		sealed, err := makeLogin(ctx, tx, box, r.ID, create, r.Name, r.Comment)
		if err != nil {
			return err
		}
		return tx.Batch(ctx, catalog.PutRole(catalog.Role{ID: r.ID, Name: r.Name, Enabled: r.Enabled, Sealed: sealed, PasswordVersion: r.PasswordVersion}))
	})
	if err == nil && r.Adopt {
		// Whoever is logged in came by a password that is no more.
		err = s.endSessions(ctx, r.Name)
	}
	return r, err
}

// makeLogin runs the statement that makes a login, or lets one in again, and
// gives it a new password, its mark, and a note below that. It returns the
// password sealed for identity.
func makeLogin(ctx context.Context, tx *postgres.Tx, box *catalog.Box, identity string, create postgres.Statement, name, note string) ([]byte, error) {
	if err := tx.Run(ctx, []postgres.Statement{create, postgres.CommentOnRole(name, catalog.Comment(identity, note))}); err != nil {
		return nil, err
	}
	return newPassword(ctx, tx, box, identity, name)
}

// newPassword gives a login a password that nobody knows, and returns it sealed
// for identity.
func newPassword(ctx context.Context, tx *postgres.Tx, box *catalog.Box, identity, name string) ([]byte, error) {
	password := postgres.NewPassword()
	verifier, err := postgres.Verifier(password)
	if err != nil {
		return nil, err
	}
	sealed, err := box.Seal(identity, password)
	if err != nil {
		return nil, err
	}
	return sealed, tx.SetPassword(ctx, name, verifier)
}

// UpdateRole changes a role in place: its name, whether it can log in, its
// password, its comment. Sessions that are open stay, unless it is disabled.
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
		actual := Role{ID: row.ID, Name: live.Name, Enabled: live.CanLogin, PasswordVersion: row.PasswordVersion, Comment: catalog.Note(live.Comment)}
		astray := RoleSeen{Astray: live.Astray}
		if missing := without(changeRole(actual, next, astray), changeRole(prior, next, seen)); len(missing) > 0 {
			return &StaleError{Missing: missing}
		}
		statements := alterRole(actual, next, astray)
		if actual.PasswordVersion != next.PasswordVersion {
			if err := s.rotate(ctx, tx, &row, live.Name); err != nil {
				return err
			}
		}
		row.Name, row.Enabled, row.PasswordVersion = next.Name, next.Enabled, next.PasswordVersion
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

// rotate gives the login of a role another password, and seals that in its row.
func (s *Service) rotate(ctx context.Context, tx *postgres.Tx, row *catalog.Role, login string) error {
	box, err := s.keyring()
	if err != nil {
		return err
	}
	// With another key than the one before, neither would open all passwords.
	if _, err := box.Open(row.ID, row.Sealed); err != nil {
		return err
	}
	row.Sealed, err = newPassword(ctx, tx, box, row.ID, login)
	return err
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
