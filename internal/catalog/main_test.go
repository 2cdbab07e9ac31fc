package catalog

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"net/url"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/datatable-io/terraform-provider-datatable/internal/acctest/server"
	"github.com/datatable-io/terraform-provider-datatable/internal/postgres"
)

// running is the server of this package's tests, started when one asks for it.
var running = sync.OnceValues(func() (*server.Server, error) {
	s, err := server.Start(context.Background(), server.Options{Log: os.Stderr})
	if err == nil {
		stop = s.Stop
		fmt.Fprintln(os.Stderr, "tests run against", s.Describe())
	}
	return s, err
})

var stop = func() error { return nil }

func TestMain(m *testing.M) {
	code := m.Run()
	if err := stop(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// A place is a test's own database, and a prefix for its roles.
type place struct {
	prefix, database string
	super            url.URL
	cluster          *postgres.Cluster
}

// newPlace makes a database and lets the test run in parallel with others.
func newPlace(t *testing.T) *place {
	t.Helper()
	t.Parallel()
	s, err := running()
	if err != nil {
		t.Fatal(err)
	}
	u, err := url.Parse(s.URL())
	if err != nil {
		t.Fatal(err)
	}
	p := &place{prefix: "t" + random() + "_", super: *u}
	p.database = p.prefix + "db"
	p.sql(t, "CREATE DATABASE "+postgres.Ident(p.database))
	p.super.Path = "/" + p.database
	t.Cleanup(func() {
		roles := p.texts(t, "SELECT rolname FROM pg_roles WHERE starts_with(rolname, '"+p.prefix+"')")
		p.super.Path = "/postgres"
		p.sql(t, "DROP DATABASE "+postgres.Ident(p.database)+" WITH (FORCE)")
		for _, role := range roles {
			p.sql(t, "DROP OWNED BY "+postgres.Ident(role), "DROP ROLE "+postgres.Ident(role))
		}
	})
	p.cluster = p.as(t, p.super)
	return p
}

// migrated is a place with both stores.
func migrated(t *testing.T) *place {
	t.Helper()
	p := newPlace(t)
	p.do(t, Catalog.migrate, Ledger.migrate)
	return p
}

func (s Store) migrate(ctx context.Context, tx *postgres.Tx) error { return s.Migrate(ctx, tx) }

func random() string {
	b := make([]byte, 4)
	_, _ = rand.Read(b)
	return hex.EncodeToString(b)
}

// login makes a role, and its URL on the test's database.
func (p *place) login(t *testing.T, name, attributes string) (role string, u url.URL) {
	t.Helper()
	role = p.prefix + name
	p.sql(t, "CREATE ROLE "+postgres.Ident(role)+" LOGIN PASSWORD 'pw' "+attributes)
	u = p.super
	u.User = url.UserPassword(role, "pw")
	return role, u
}

func (p *place) as(t *testing.T, u url.URL) *postgres.Cluster {
	t.Helper()
	c, err := postgres.NewCluster(postgres.Config{
		URL: u.String(), MaxConnections: 2, ConnectTimeout: 15 * time.Second, LockTimeout: time.Minute, ApplicationName: "catalog test",
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

var lock = postgres.Lock{Key: 1, Name: "the test's lock"}

// try runs functions in one transaction.
func (p *place) try(t *testing.T, c *postgres.Cluster, fns ...func(context.Context, *postgres.Tx) error) error {
	t.Helper()
	return c.Do(t.Context(), p.database, lock, func(tx *postgres.Tx) error {
		for _, fn := range fns {
			if err := fn(t.Context(), tx); err != nil {
				return err
			}
		}
		return nil
	})
}

func (p *place) do(t *testing.T, fns ...func(context.Context, *postgres.Tx) error) {
	t.Helper()
	if err := p.try(t, p.cluster, fns...); err != nil {
		t.Fatal(err)
	}
}

// run runs queries in one transaction.
func (p *place) run(t *testing.T, queries ...postgres.Query) {
	t.Helper()
	p.do(t, func(ctx context.Context, tx *postgres.Tx) error { return tx.Batch(ctx, queries...) })
}

// load reads the catalog.
func (p *place) load(t *testing.T) (s *Snapshot) {
	t.Helper()
	err := p.cluster.Read(t.Context(), p.database, func(tx *postgres.Tx) (err error) {
		s, err = Load(t.Context(), tx)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// sql runs statements as the superuser.
func (p *place) sql(t *testing.T, statements ...string) {
	t.Helper()
	conn, err := pgx.Connect(context.Background(), p.super.String())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(context.Background()) }()
	for _, sql := range statements {
		if _, err := conn.Exec(context.Background(), sql); err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
	}
}

// texts reads one column as the superuser.
func (p *place) texts(t *testing.T, sql string) []string {
	t.Helper()
	conn, err := pgx.Connect(context.Background(), p.super.String())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(context.Background()) }()
	rows, err := conn.Query(context.Background(), sql)
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	found, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return found
}
