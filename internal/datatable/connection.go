package datatable

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/datatable-io/terraform-provider-datatable/internal/catalog"
	"github.com/datatable-io/terraform-provider-datatable/internal/postgres"
	"github.com/datatable-io/terraform-provider-datatable/internal/resolve"
)

// A Connection is a decision and where it leads.
type Connection struct {
	resolve.Decision
	Host     string
	Port     int
	Database string
}

// Resolve decides which login a connection gets. A refusal is a decision too.
// It changes nothing.
func (s *Service) Resolve(ctx context.Context, r resolve.Request) (Connection, error) {
	return s.resolve(ctx, func(ix *resolve.Index) resolve.Decision { return ix.Resolve(r) })
}

// ResolveText is Resolve with a reference in the place of r.Reference. One that
// is malformed is a refusal.
func (s *Service) ResolveText(ctx context.Context, reference string, r resolve.Request) (Connection, error) {
	return s.resolve(ctx, func(ix *resolve.Index) resolve.Decision {
		return ix.ResolveText(r.Workspace, reference, r.Identity, r.Viewer)
	})
}

func (s *Service) resolve(ctx context.Context, decide func(*resolve.Index) resolve.Decision) (Connection, error) {
	w, err := s.catalog(ctx)
	if err != nil {
		return Connection{}, err
	}
	c := Connection{Decision: decide(w.index)}
	if !c.Allowed() {
		return c, nil
	}
	d, _ := w.Datatable(c.Datatable)
	if d.Owner == "" {
		return Connection{}, fmt.Errorf("data table %s is database %q, which does not exist", d.Key, d.Database)
	}
	c.Database = d.Database
	c.Host, c.Port = s.cluster.Host()
	return c, nil
}

// Credentials are what a program connects with.
type Credentials struct {
	Username, Password string
	Host               string
	Port               int
	Database           string
	// Schema is the search path that the reference asks for, or empty.
	Schema string
}

// URL is the credentials as a postgres:// URL. How the connection is encrypted
// is left to whoever uses it.
func (c Credentials) URL() string {
	u := url.URL{
		Scheme: "postgres", User: url.UserPassword(c.Username, c.Password),
		Host: net.JoinHostPort(c.Host, strconv.Itoa(c.Port)), Path: "/" + c.Database,
	}
	if c.Schema != "" {
		u.RawQuery = "options=" + strings.ReplaceAll(url.QueryEscape("-csearch_path="+optionText(postgres.Ident(c.Schema))), "+", "%20")
	}
	return u.String()
}

// optionText escapes what separates or ends an option of a connection.
func optionText(text string) string {
	return strings.NewReplacer(`\`, `\\`, " ", `\ `).Replace(text)
}

// A RefusedError is a refusal where a connection was asked for.
type RefusedError struct{ resolve.Refusal }

func (e *RefusedError) Error() string { return fmt.Sprintf("%s: %s", e.Code, e.Message) }

// Open resolves a connection and returns credentials for it. The login of a set
// is made when it is first used.
func (s *Service) Open(ctx context.Context, r resolve.Request) (Credentials, error) {
	c, err := s.Resolve(ctx, r)
	if err != nil {
		return Credentials{}, err
	}
	return s.Credentials(ctx, c)
}

// Credentials returns those of a connection that was resolved. A refusal is a
// *RefusedError.
func (s *Service) Credentials(ctx context.Context, c Connection) (_ Credentials, err error) {
	if c.Refusal != nil {
		return Credentials{}, &RefusedError{*c.Refusal}
	}
	credentials := Credentials{Username: c.Login, Host: c.Host, Port: c.Port, Database: c.Database, Schema: c.Schema}
	switch c.Kind {
	case resolve.KindRole:
		credentials.Password, err = s.rolePassword(ctx, c.RoleIDs[0])
	case resolve.KindSet:
		credentials.Password, err = s.openSet(ctx, setLogin{c.Login, c.Roles, c.RoleIDs})
	default:
		err = s.ownPassword(&credentials, c)
	}
	return credentials, err
}

func (s *Service) ownPassword(credentials *Credentials, c Connection) error {
	if c.Kind != resolve.KindOwner || c.Login != s.cluster.User() {
		return fmt.Errorf("the connection is login %q, whose password this provider does not have: it is neither one that it made nor its own", c.Login)
	}
	credentials.Password = s.cluster.Password()
	return nil
}

func (s *Service) rolePassword(ctx context.Context, id string) (string, error) {
	box, err := s.keyring()
	if err != nil {
		return "", err
	}
	w, err := s.catalog(ctx)
	if err != nil {
		return "", err
	}
	r, ok := w.RoleByID(id)
	if !ok {
		return "", errRoleGone
	}
	password, err := box.Open(r.ID, r.Sealed)
	if err != nil {
		err = w.whyShut(box, r, err)
	}
	return password, err
}

// A setLogin is a login and the roles it has to be a member of: names and ids
// are in parallel.
type setLogin struct {
	login      string
	roles, ids []string
}

// openSet returns the password of a set login. Where the login or its row is
// missing or of no use it is made, or taken back with a new password.
func (s *Service) openSet(ctx context.Context, it setLogin) (password string, err error) {
	box, err := s.keyring()
	if err != nil {
		return "", err
	}
	var set catalog.RoleSet
	ready := false
	look := func(tx *postgres.Tx) (err error) {
		set, ready, err = it.look(ctx, tx)
		return err
	}
	if err := s.cluster.Read(ctx, s.cluster.Database(), look); err != nil {
		return "", err
	}
	if !ready || set.Stale {
		err = s.inCatalog(ctx, func(tx *postgres.Tx) error {
			// Another one may have made it while this one waited.
			if err := look(tx); err != nil {
				return err
			}
			if !ready {
				if err := it.make(ctx, tx, box, &set); err != nil {
					return err
				}
				if err := look(tx); err != nil || ready {
					return err
				}
				return fmt.Errorf("login %q is a member of more than its roles, by what another login granted. Revoke that as the one who granted it", it.login)
			}
			return tx.Batch(ctx, catalog.PutRoleSet(set))
		})
		if err != nil {
			return "", err
		}
	}
	return box.Open(it.login, set.Sealed)
}

// look reads the row of the login, and says whether the login is as it has to
// be: it can log in, is nothing else, and is a member of exactly its roles.
func (it setLogin) look(ctx context.Context, tx *postgres.Tx) (set catalog.RoleSet, ready bool, err error) {
	var live postgres.Role
	var held, odd []string
	err = tx.Batch(ctx,
		catalog.RoleSetByLogin(it.login, &set),
		postgres.Roles([]string{it.login}, nil, func(r postgres.Role) { live = r }),
		postgres.MembershipsOf(it.login, func(role string) { held = append(held, role) }),
		postgres.OddMembershipsOf(it.login, func(role string) { odd = append(odd, role) }))
	ready = len(set.Sealed) > 0 && live.CanLogin && catalog.HasMark(live.Comment, it.login) && len(live.Astray) == 0 && sameNames(it.roles, held) && len(odd) == 0
	return set, ready, err
}

// make makes the login, or takes it back with a new password.
func (it setLogin) make(ctx context.Context, tx *postgres.Tx, box *catalog.Box, set *catalog.RoleSet) error {
	login := it.login
	box, err := lockedKey(ctx, tx, box)
	if err != nil {
		return err
	}
	live := map[string]postgres.Role{}
	err = tx.Batch(ctx, postgres.Roles(append([]string{login}, it.roles...), nil, func(r postgres.Role) { live[r.Name] = r }))
	if err != nil {
		return err
	}
	for i, name := range it.roles {
		if !catalog.HasMark(live[name].Comment, it.ids[i]) {
			return errRoleGone
		}
	}
	create := postgres.CreateRole(login, true)
	if found, exists := live[login]; exists {
		if !catalog.HasMark(found.Comment, login) {
			return fmt.Errorf("Postgres has a role %q that does not belong to this catalog, and it is left alone", login) //nolint:staticcheck // a proper name
		}
		create = postgres.AlterRole(login, append([]string{"LOGIN"}, found.Astray...))
		stray, err := strayMemberships(ctx, tx, login, it.roles)
		if err != nil {
			return err
		}
		if err := tx.Run(ctx, stray); err != nil {
			return err
		}
	}
	sealed, err := makeLogin(ctx, tx, box, login, create, login, "")
	if err != nil {
		return err
	}
	*set = catalog.RoleSet{Login: login, RoleIDs: it.ids, Sealed: sealed}
	return tx.Run(ctx, []postgres.Statement{postgres.GrantRole(it.roles, login)}, catalog.PutRoleSet(*set))
}

// strayMemberships takes a login out of the roles that are not of its set, and
// of those that it is more, or less, than a member of.
func strayMemberships(ctx context.Context, tx *postgres.Tx, login string, members []string) ([]postgres.Statement, error) {
	var held, odd []string
	err := tx.Batch(ctx,
		postgres.MembershipsOf(login, func(role string) { held = append(held, role) }),
		postgres.OddMembershipsOf(login, func(role string) { odd = append(odd, role) }))
	var statements []postgres.Statement
	for _, role := range held {
		if !slices.Contains(members, role) || slices.Contains(odd, role) {
			statements = append(statements, postgres.RevokeRole(role, login))
		}
	}
	return statements, err
}
