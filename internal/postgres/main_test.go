package postgres

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"flag"
	"fmt"
	"net"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/datatable-io/terraform-provider-datatable/internal/acctest/server"
)

// running is the server of this package's tests, started when one asks for it.
// It logs all that it can be made to log.
var running = sync.OnceValues(func() (*server.Server, error) {
	s, err := server.Start(context.Background(), server.Options{Log: os.Stderr, Settings: map[string]string{
		"logging_collector": "on", "log_statement": "all", "log_min_duration_statement": "0", "log_error_verbosity": "verbose",
	}})
	if err == nil {
		stop = s.Stop
		fmt.Fprintln(os.Stderr, "tests run against", s.Describe())
	}
	return s, err
})

var stop = func() error { return nil }

func TestMain(m *testing.M) {
	// Some sequences of changes on a real server, the same each time unless the
	// command line says otherwise.
	for name, value := range map[string]string{"rapid.checks": "60", "rapid.seed": "1"} {
		if err := flag.Set(name, value); err != nil {
			panic(err)
		}
	}
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
	super            *url.URL // the superuser's, to the database
}

// newPlace makes a database and lets the test run in parallel with others.
func newPlace(t *testing.T) *place {
	t.Helper()
	t.Parallel()
	p := &place{prefix: "t" + random(4) + "_", super: superuser(t)}
	p.database = p.prefix + "db"
	sql := func(statements ...string) {
		exec(t, superuser(t).String(), statements...)
	}
	sql("CREATE DATABASE " + Ident(p.database))
	p.super.Path = "/" + p.database
	t.Cleanup(func() {
		sql("DROP DATABASE " + Ident(p.database) + " WITH (FORCE)")
		for _, role := range lines(t, superuser(t).String(), "SELECT rolname FROM pg_roles WHERE starts_with(rolname, '"+p.prefix+"')") {
			sql("DROP OWNED BY "+Ident(role), "DROP ROLE "+Ident(role))
		}
	})
	return p
}

func superuser(t testing.TB) *url.URL {
	t.Helper()
	s, err := running()
	if err != nil {
		t.Fatal(err)
	}
	u, err := url.Parse(s.URL())
	if err != nil {
		t.Fatal(err)
	}
	return u
}

func random(bytes int) string {
	b := make([]byte, bytes)
	_, _ = rand.Read(b)
	return hex.EncodeToString(b)
}

// url is that of a login on this test's database.
func (p *place) url(user, password string) *url.URL {
	u := *p.super
	u.User = url.UserPassword(user, password)
	return &u
}

// role makes a login with a password, and returns its name.
func (p *place) role(t *testing.T, name, attributes string) string {
	t.Helper()
	p.sql(t, "CREATE ROLE "+Ident(p.prefix+name)+" "+attributes)
	return p.prefix + name
}

// sql runs statements as the superuser.
func (p *place) sql(t *testing.T, statements ...string) {
	t.Helper()
	exec(t, p.super.String(), statements...)
}

// value reads one text as the superuser.
func (p *place) value(t *testing.T, sql string, args ...any) string {
	t.Helper()
	found := lines(t, p.super.String(), sql, args...)
	if len(found) != 1 {
		t.Fatalf("%s: %q", sql, found)
	}
	return found[0]
}

// cluster is one of two connections at most, unless change says otherwise.
func (p *place) cluster(t *testing.T, change ...func(*Config)) *Cluster {
	t.Helper()
	cfg := Config{
		URL: p.super.String(), MaxConnections: 2, ConnectTimeout: 15 * time.Second, LockTimeout: time.Minute,
		ApplicationName: p.prefix + "app",
	}
	for _, f := range change {
		f(&cfg)
	}
	c, err := NewCluster(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func as(u *url.URL) func(*Config)               { return func(c *Config) { c.URL = u.String() } }
func maxConnections(n int) func(*Config)        { return func(c *Config) { c.MaxConnections = n } }
func lockTimeout(d time.Duration) func(*Config) { return func(c *Config) { c.LockTimeout = d } }

// connect opens a session beside those of a cluster.
func connect(t testing.TB, url string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(context.Background(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	return conn
}

func exec(t testing.TB, url string, statements ...string) {
	t.Helper()
	conn, err := pgx.Connect(context.Background(), url)
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

func lines(t testing.TB, url, sql string, args ...any) []string {
	t.Helper()
	conn, err := pgx.Connect(context.Background(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(context.Background()) }()
	rows, err := conn.Query(context.Background(), sql, args...)
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	found, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return found
}

// eventually asks the server again and again until it says yes.
func (p *place) eventually(t *testing.T, sql string, args ...any) {
	t.Helper()
	conn := connect(t, p.super.String())
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	for yes := false; !yes; {
		if err := conn.QueryRow(ctx, sql, args...).Scan(&yes); err != nil {
			t.Fatalf("waiting for %s: %v", sql, err)
		}
	}
}

// text reads one text in a transaction.
func text(tx *Tx, t *testing.T, sql string, args ...any) (value string) {
	t.Helper()
	err := tx.Batch(t.Context(), Query{SQL: sql, Args: args, Each: func(scan func(...any) error) error { return scan(&value) }})
	if err != nil {
		t.Errorf("%s: %v", sql, err)
	}
	return value
}

// dials counts the connections that a cluster has open, as it sees them itself.
type dials struct {
	mu                sync.Mutex
	open, peak, total int
}

func (d *dials) watch(c *Cluster) {
	dial := c.base.DialFunc
	c.base.DialFunc = func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		d.mu.Lock()
		defer d.mu.Unlock()
		d.open++
		d.total++
		d.peak = max(d.peak, d.open)
		return &watched{Conn: conn, closed: sync.OnceFunc(func() {
			d.mu.Lock()
			defer d.mu.Unlock()
			d.open--
		})}, nil
	}
}

func (d *dials) counts() (open, peak, total int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.open, d.peak, d.total
}

type watched struct {
	net.Conn
	closed func()
}

func (w *watched) Close() error {
	w.closed()
	return w.Conn.Close()
}

// holds fails the test unless a text has each of some parts.
func holds(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("%q is not in: %s", part, text)
		}
	}
}

// lacks fails the test where a text has one of some parts.
func lacks(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if strings.Contains(text, part) {
			t.Errorf("%q is in: %s", part, text)
		}
	}
}
