package acctest

import (
	"context"
	"errors"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/datatable-io/terraform-provider-datatable/internal/catalog"
	"github.com/datatable-io/terraform-provider-datatable/internal/datatable"
	"github.com/datatable-io/terraform-provider-datatable/internal/resolve"
)

// permissionDenied is what Postgres answers to a login that lacks a right.
const permissionDenied = "42501"

// A Login connects over TCP as a role, with the password that the catalog has
// for it.
type Login struct {
	Name          string
	password, url string
}

// Login is the login of a role of the catalog, "§reader".
func (e *Env) Login(t *testing.T, role string) Login {
	t.Helper()
	name := e.Name(role)
	var id string
	var sealed []byte
	e.rows(t, e.Database(), "SELECT id::text, password FROM datatable_catalog.role WHERE name = '"+name+"'",
		func(scan func(...any) error) error { return scan(&id, &sealed) })
	box, err := catalog.NewBox(e.key)
	if err != nil {
		t.Fatal(err)
	}
	password, err := box.Open(id, sealed)
	if err != nil {
		t.Fatalf("role %s: %v", name, err)
	}
	return Login{Name: name, password: password, url: e.url(e.address, name, password, e.Database())}
}

// Open is the login that a connection resolves to, made where it is missing.
func (e *Env) Open(t *testing.T, workspace, reference, identity, viewer string) Login {
	t.Helper()
	return e.OpenWith(t, e.Service(t), workspace, reference, identity, viewer)
}

// OpenWith is Open by a given service.
func (e *Env) OpenWith(t *testing.T, s *datatable.Service, workspace, reference, identity, viewer string) Login {
	t.Helper()
	parsed, err := resolve.ParseReference(e.Name(reference))
	if err != nil {
		t.Fatal(err)
	}
	r := resolve.Request{Workspace: workspace, Reference: parsed, Identity: resolve.Person{User: identity}}
	if viewer != "" {
		r.Viewer = &resolve.Person{User: viewer}
	}
	c, err := s.Open(context.Background(), r)
	if err != nil {
		t.Fatalf("open %s as %s for %q: %v", parsed, identity, viewer, err)
	}
	return Login{Name: c.Username, password: c.Password, url: e.url(e.address, c.Username, c.Password, c.Database)}
}

// Service is the service behind the provider, with its login and key.
func (e *Env) Service(t *testing.T) *datatable.Service {
	t.Helper()
	return e.ServiceAt(t, e.address)
}

// ServiceAt is Service by another way to the server, a host:port.
func (e *Env) ServiceAt(t *testing.T, address string) *datatable.Service {
	t.Helper()
	return e.service(t, address, e.key, "")
}

// Provided is the provider's own login.
func (e *Env) Provided() Login { return e.WithPassword(e.user, e.password) }

// Password is what the login connects with.
func (l Login) Password() string { return l.password }

// WithPassword is a login by name and password, right or wrong.
func (e *Env) WithPassword(name, password string) Login {
	name = e.Name(name)
	return Login{Name: name, password: password, url: e.url(e.address, name, password, e.Database())}
}

// Works fails the test unless each statement is allowed. Nothing it writes
// stays.
func (l Login) Works(t *testing.T, statements ...string) {
	t.Helper()
	for _, sql := range statements {
		if err := l.try(t, sql); err != nil {
			t.Errorf("as %s: %s: %v", l.Name, sql, err)
		}
	}
}

// Denied fails the test unless each statement is refused for want of a right.
func (l Login) Denied(t *testing.T, statements ...string) {
	t.Helper()
	for _, sql := range statements {
		err := l.try(t, sql)
		var pg *pgconn.PgError
		switch {
		case err == nil:
			t.Errorf("as %s: %s is allowed", l.Name, sql)
		case !errors.As(err, &pg) || pg.Code != permissionDenied:
			t.Errorf("as %s: %s is not denied but fails: %v", l.Name, sql, err)
		}
	}
}

// Locked fails the test unless the login cannot connect.
func (l Login) Locked(t *testing.T) {
	t.Helper()
	conn, err := pgx.Connect(context.Background(), l.url)
	if err == nil {
		_ = conn.Close(context.Background())
		t.Errorf("%s can log in", l.Name)
	}
}

// Texts reads one column of text.
func (l Login) Texts(t *testing.T, sql string) []string {
	t.Helper()
	conn := l.Connect(t)
	rows, err := conn.Query(context.Background(), sql)
	if err != nil {
		t.Fatalf("as %s: %s: %v", l.Name, sql, err)
	}
	texts, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatalf("as %s: %s: %v", l.Name, sql, err)
	}
	return texts
}

// Connect opens a session that is closed when the test ends.
func (l Login) Connect(t *testing.T) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(context.Background(), l.url)
	if err != nil {
		t.Fatalf("log in as %s: %v", l.Name, err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	return conn
}

// try runs one statement in a transaction that is rolled back.
func (l Login) try(t *testing.T, sql string) error {
	t.Helper()
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, l.url)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(ctx) }()
	tx, err := conn.Begin(ctx)
	if err != nil {
		return err
	}
	_, err = tx.Exec(ctx, sql)
	return err
}
