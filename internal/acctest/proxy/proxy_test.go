package proxy_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/datatable-io/terraform-provider-datatable/internal/acctest/proxy"
	"github.com/datatable-io/terraform-provider-datatable/internal/acctest/server"
)

// postgres is the URL of the server behind the proxies.
var postgres string

func TestMain(m *testing.M) {
	s, err := server.Start(context.Background(), server.Options{Log: os.Stderr})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	postgres = s.URL()
	code := m.Run()
	if err := s.Stop(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// start makes a proxy to the server, and the URL through it.
func start(t *testing.T) (*proxy.Proxy, string) {
	t.Helper()
	u, err := url.Parse(postgres)
	if err != nil {
		t.Fatal(err)
	}
	p, err := proxy.Start(u.Host)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Close() })
	u.Host = p.Addr()
	return p, u.String()
}

func connect(t *testing.T, url string) *pgx.Conn {
	t.Helper()
	c, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close(context.Background()) })
	return c
}

func TestCounts(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name       string
		run        func(context.Context, *pgx.Conn) error
		statements int
		roundTrips int
		texts      []string
	}{
		{
			name: "nothing",
			run:  func(context.Context, *pgx.Conn) error { return nil },
		},
		{
			name: "simple query",
			run: func(ctx context.Context, c *pgx.Conn) error {
				_, err := c.Exec(ctx, "SELECT 1", pgx.QueryExecModeSimpleProtocol)
				return err
			},
			statements: 1, roundTrips: 1, texts: []string{"SELECT 1"},
		},
		{
			name: "unprepared statement with a parameter",
			run: func(ctx context.Context, c *pgx.Conn) error {
				_, err := c.Exec(ctx, "SELECT $1::text", pgx.QueryExecModeExec, "é")
				return err
			},
			statements: 1, roundTrips: 1, texts: []string{"SELECT $1::text"},
		},
		{
			name: "statement prepared once and executed twice",
			run: func(ctx context.Context, c *pgx.Conn) error {
				_, err1 := c.Exec(ctx, "SELECT $1::int", 1)
				_, err2 := c.Exec(ctx, "SELECT $1::int", 2)
				return errors.Join(err1, err2)
			},
			statements: 2, roundTrips: 3, texts: []string{"SELECT $1::int"},
		},
		{
			name: "batch in one round trip",
			run: func(ctx context.Context, c *pgx.Conn) error {
				var b pgx.Batch
				for i := range 5 {
					b.Queue(fmt.Sprintf("SELECT %d", i))
				}
				return c.SendBatch(ctx, &b).Close()
			},
			// pgx prepares them all first.
			statements: 5, roundTrips: 2, texts: []string{"SELECT 0", "SELECT 1", "SELECT 2", "SELECT 3", "SELECT 4"},
		},
		{
			name: "statement that fails",
			run: func(ctx context.Context, c *pgx.Conn) error {
				if _, err := c.Exec(ctx, "SELECT 1/0", pgx.QueryExecModeSimpleProtocol); err == nil {
					return errors.New("want an error")
				}
				return nil
			},
			statements: 1, roundTrips: 1, texts: []string{"SELECT 1/0"},
		},
		{
			name: "transaction",
			run: func(ctx context.Context, c *pgx.Conn) error {
				return pgx.BeginFunc(ctx, c, func(tx pgx.Tx) error {
					_, err := tx.Exec(ctx, "SELECT 1", pgx.QueryExecModeSimpleProtocol)
					return err
				})
			},
			statements: 3, roundTrips: 3, texts: []string{"begin", "SELECT 1", "commit"},
		},
		{
			name: "copy in and out of large data",
			run: func(ctx context.Context, c *pgx.Conn) error {
				_, err := c.PgConn().CopyFrom(ctx, strings.NewReader(strings.Repeat("x", 1<<20)+"\n"), "COPY pg_temp.t FROM STDIN")
				return err
			},
			statements: 1, roundTrips: 1, texts: []string{"COPY pg_temp.t FROM STDIN"},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			p, url := start(t)
			c := connect(t, url)
			if _, err := c.Exec(t.Context(), "CREATE TEMP TABLE t (x text)"); err != nil {
				t.Fatal(err)
			}
			p.Reset()
			if err := test.run(t.Context(), c); err != nil {
				t.Fatal(err)
			}
			want := proxy.Counts{Open: 1, Peak: 1, Statements: test.statements, RoundTrips: test.roundTrips}
			if got := p.Counts(); got != want {
				t.Errorf("counts = %+v, want %+v", got, want)
			}
			if got := p.Statements(); !slices.Equal(got, test.texts) {
				t.Errorf("statements = %q, want %q", got, test.texts)
			}
		})
	}
}

func TestSessionsAreCountedOpenAtPeakAndInTotal(t *testing.T) {
	t.Parallel()
	p, url := start(t)
	a, b := connect(t, url), connect(t, url)
	if got, want := p.Counts(), (proxy.Counts{Open: 2, Peak: 2, Total: 2}); got != want {
		t.Errorf("after two logins: %+v, want %+v", got, want)
	}
	for _, c := range []*pgx.Conn{a, b} {
		if err := c.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	await(t, func() bool { return p.Counts().Open == 0 })
	connect(t, url)
	if got, want := p.Counts(), (proxy.Counts{Open: 1, Peak: 2, Total: 3}); got != want {
		t.Errorf("after a third login: %+v, want %+v", got, want)
	}
}

func TestEncryptionIsRefusedAsByAServerWithoutIt(t *testing.T) {
	t.Parallel()
	p, url := start(t)
	connect(t, strings.Replace(url, "sslmode=disable", "sslmode=prefer", 1))
	if got := p.Counts().Total; got != 1 {
		t.Errorf("%d sessions, want 1", got)
	}
	c, err := pgx.Connect(t.Context(), strings.Replace(url, "sslmode=disable", "sslmode=require", 1))
	if err == nil {
		_ = c.Close(t.Context())
		t.Error("sslmode=require was satisfied")
	}
}

func TestCancelRequestReachesTheServer(t *testing.T) {
	t.Parallel()
	p, url := start(t)
	c := connect(t, url)
	done := make(chan error, 1)
	go func() {
		_, err := c.Exec(context.Background(), "SELECT pg_sleep(60)", pgx.QueryExecModeSimpleProtocol)
		done <- err
	}()
	for {
		// One that comes before the statement does nothing.
		if err := c.PgConn().CancelRequest(t.Context()); err != nil {
			t.Fatal(err)
		}
		select {
		case err := <-done:
			var pgErr *pgconn.PgError
			if !errors.As(err, &pgErr) || pgErr.Code != "57014" {
				t.Errorf("the statement ended with %v", err)
			}
			if got := p.Counts().Total; got != 1 {
				t.Errorf("%d sessions, want 1: requests to cancel are none", got)
			}
			return
		case <-time.After(10 * time.Millisecond):
		}
	}
}

func TestCloseEndsSessions(t *testing.T) {
	t.Parallel()
	p, url := start(t)
	c := connect(t, url)
	for range 2 {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	}
	if got := p.Counts().Open; got != 0 {
		t.Errorf("%d sessions are open", got)
	}
	if _, err := c.Exec(t.Context(), "SELECT 1"); err == nil {
		t.Error("a session goes on")
	}
	if _, err := pgx.Connect(t.Context(), url); err == nil {
		t.Error("a new session began")
	}
}

func TestServerThatIsDownEndsTheClient(t *testing.T) {
	t.Parallel()
	p, err := proxy.Start("127.0.0.1:1")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Close() })
	if _, err := pgx.Connect(t.Context(), "postgres://u@"+p.Addr()+"/d?sslmode=disable"); err == nil {
		t.Error("connected to nothing")
	}
	if got := p.Counts(); got != (proxy.Counts{}) {
		t.Errorf("counts = %+v", got)
	}
}

func TestWhatIsNoMessageEndsTheConnection(t *testing.T) {
	t.Parallel()
	p, _ := start(t)
	for _, bytes := range []string{"GET / HTTP/1.1\r\n\r\n", "\x00\x00\x00\x04\x00\x00\x00\x00", "\x00\x00\x00"} {
		c, err := new(net.Dialer).DialContext(t.Context(), "tcp", p.Addr())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.Write([]byte(bytes)); err != nil {
			t.Fatal(err)
		}
		_ = c.(*net.TCPConn).CloseWrite()
		if n, err := c.Read(make([]byte, 1)); n != 0 || err == nil {
			t.Errorf("%q was answered", bytes)
		}
		_ = c.Close()
	}
}

// await waits until something that the other side causes is so.
func await(t *testing.T, is func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	poll := time.NewTicker(time.Millisecond)
	defer poll.Stop()
	for !is() {
		select {
		case <-ctx.Done():
			t.Fatal("waited in vain")
		case <-poll.C:
		}
	}
}
