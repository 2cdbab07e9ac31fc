package postgres

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

var testLock = Lock{Key: 7, Name: "the test's lock"}

// databases makes more databases beside the test's own.
func (p *place) databases(t *testing.T, count int) []string {
	t.Helper()
	names := []string{p.database}
	for i := range count - 1 {
		name := fmt.Sprintf("%sdb%d", p.prefix, i)
		exec(t, superuser(t).String(), "CREATE DATABASE "+Ident(name))
		t.Cleanup(func() { exec(t, superuser(t).String(), "DROP DATABASE "+Ident(name)+" WITH (FORCE)") })
		names = append(names, name)
	}
	return names
}

func nothing(*Tx) error { return nil }

func TestNoMoreConnectionsThanAllowedOverAllDatabases(t *testing.T) {
	p := newPlace(t)
	names := p.databases(t, 4)
	for _, limit := range []int{2, 3} {
		c := p.cluster(t, maxConnections(limit))
		var d dials
		d.watch(c)
		var all sync.WaitGroup
		for i := range 60 {
			all.Go(func() {
				lock := Lock{Key: int64(i % 5), Name: strconv.Itoa(i % 5)}
				var err error
				if name := names[i%len(names)]; i%3 == 0 {
					err = c.Read(t.Context(), name, func(tx *Tx) error { return tx.simple(t.Context(), "SELECT 1") })
				} else {
					err = c.Do(t.Context(), name, lock, nothing)
				}
				if err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		if open, peak, _ := d.counts(); peak > limit || peak < 2 || open > limit {
			t.Errorf("with %d allowed, %d were open at once and %d still are", limit, peak, open)
		}
	}
}

// Each goroutine holds one connection while it waits for another.
func TestTwoConnectionsAreEnoughForManyWhoNeedTwo(t *testing.T) {
	p := newPlace(t)
	names := p.databases(t, 3)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for _, limit := range []int{0, 2} { // fewer than 2 means 2
		c := p.cluster(t, maxConnections(limit))
		var d dials
		d.watch(c)
		var all sync.WaitGroup
		var done atomic.Int32
		inner := Lock{Key: 8, Name: "the inner lock"}
		for i := range 50 {
			all.Go(func() {
				name := names[i%len(names)] // its own database among them
				nested := func(*Tx) error { return c.Do(ctx, name, inner, nothing) }
				var err error
				switch i % 5 {
				case 0:
					err = c.Do(ctx, name, inner, nothing)
				case 1:
					err = c.Read(ctx, name, nothing)
				default:
					err = c.Do(ctx, p.database, testLock, nested)
				}
				if err != nil {
					t.Error(err)
					return
				}
				done.Add(1)
			})
		}
		all.Wait()
		if _, peak, _ := d.counts(); done.Load() != 50 || peak > 2 {
			t.Errorf("%d of 50 are done, over %d connections", done.Load(), peak)
		}
	}
}

func TestAnIdleConnectionIsUsedAgain(t *testing.T) {
	p := newPlace(t)
	names := p.databases(t, 3)
	c := p.cluster(t)
	var d dials
	d.watch(c)
	use := func(name string, wantOpen, wantTotal int) {
		t.Helper()
		if err := c.Do(t.Context(), name, testLock, nothing); err != nil {
			t.Fatal(err)
		}
		if open, _, total := d.counts(); open != wantOpen || total != wantTotal {
			t.Errorf("in %s: %d open of %d, and should be %d of %d", name, open, total, wantOpen, wantTotal)
		}
	}
	use(names[0], 1, 1)
	use(names[0], 1, 1)
	use(names[1], 2, 2)
	use(names[0], 2, 2)
	use(names[2], 2, 3) // in the place of the second, unused for longest
	use(names[0], 2, 3)
	use(names[1], 2, 4)
}

func TestAFailedTransactionLeavesItsConnectionOfUse(t *testing.T) {
	p := newPlace(t)
	c := p.cluster(t)
	var d dials
	d.watch(c)
	failed := errors.New("failed")
	for _, fn := range []func(*Tx) error{
		func(*Tx) error { return failed },
		func(tx *Tx) error { return tx.simple(t.Context(), "SELECT 1/0") },
		func(tx *Tx) error {
			return tx.Batch(t.Context(), Query{SQL: "SELECT 1"}, Query{SQL: "SELECT nonsense"})
		},
	} {
		if err := c.Do(t.Context(), p.database, testLock, fn); err == nil {
			t.Error("it succeeds")
		}
	}
	err := c.Read(t.Context(), p.database, func(tx *Tx) error {
		if got := text(tx, t, "SELECT current_setting('search_path')"); got != `""` {
			t.Errorf("search_path is %s", got)
		}
		return nil
	})
	if _, _, total := d.counts(); err != nil || total != 1 {
		t.Errorf("%d connections, %v", total, err)
	}
}

// One that is left in the middle of a transaction, by a panic.
func TestAConnectionInATransactionIsNotUsedAgain(t *testing.T) {
	p := newPlace(t)
	p.sql(t, "CREATE TABLE written (x int)")
	c := p.cluster(t)
	func() {
		defer func() { _ = recover() }()
		_ = c.Do(t.Context(), p.database, testLock, func(tx *Tx) error {
			if err := tx.simple(t.Context(), "INSERT INTO public.written VALUES (1)"); err != nil {
				t.Error(err)
			}
			panic("a test")
		})
	}()
	if err := c.Do(t.Context(), p.database, testLock, nothing); err != nil {
		t.Error(err)
	}
	if n := p.value(t, "SELECT count(*)::text FROM written"); n != "0" {
		t.Errorf("%s rows stay", n)
	}
}

func TestALostConnectionIsOneErrorAndIsNotUsedAgain(t *testing.T) {
	p := newPlace(t)
	c := p.cluster(t)
	err := c.Do(t.Context(), p.database, testLock, func(tx *Tx) error {
		pid := text(tx, t, "SELECT pg_backend_pid()::text")
		p.sql(t, "SELECT pg_terminate_backend("+pid+")")
		return tx.simple(t.Context(), "SELECT 1")
	})
	if err == nil {
		t.Fatal("the statement works in a session that was ended")
	}
	holds(t, err.Error(), "apply again")
	if err := c.Do(t.Context(), p.database, testLock, nothing); err != nil {
		t.Errorf("the next one: %v", err)
	}
}

// One that the server ended while it was idle.
func TestAConnectionLostWhileIdleFailsOnlyOnce(t *testing.T) {
	p := newPlace(t)
	c := p.cluster(t)
	if err := c.Do(t.Context(), p.database, testLock, nothing); err != nil {
		t.Fatal(err)
	}
	p.sql(t, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = '"+p.prefix+"app'")
	if err := c.Do(t.Context(), p.database, testLock, nothing); err != nil {
		holds(t, err.Error(), "apply again")
	}
	if err := c.Do(t.Context(), p.database, testLock, nothing); err != nil {
		t.Errorf("the next one: %v", err)
	}
}

func TestCloseEndsConnections(t *testing.T) {
	p := newPlace(t)
	names := p.databases(t, 2)
	c := p.cluster(t)
	var d dials
	d.watch(c)
	if err := c.Read(t.Context(), names[0], nothing); err != nil {
		t.Fatal(err)
	}
	err := c.Do(t.Context(), names[1], testLock, func(*Tx) error {
		c.Close()
		if open, _, _ := d.counts(); open != 1 {
			t.Errorf("%d are open while one is in use", open)
		}
		return nil
	})
	if open, _, _ := d.counts(); err != nil || open != 0 {
		t.Errorf("%d are open at the end, %v", open, err)
	}
	p.eventually(t, "SELECT NOT EXISTS (SELECT FROM pg_stat_activity WHERE application_name = $1)", p.prefix+"app")
}

func TestAConnectionUnusedForLongIsClosed(t *testing.T) {
	p := newPlace(t)
	c := p.cluster(t)
	var d dials
	d.watch(c)
	if err := c.Read(t.Context(), p.database, nothing); err != nil {
		t.Fatal(err)
	}
	c.expire(c.idle[0])
	if open, _, _ := d.counts(); open != 0 || len(c.idle) != 0 {
		t.Errorf("%d are open and %d idle", open, len(c.idle))
	}
	if err := c.Read(t.Context(), p.database, nothing); err != nil {
		t.Error(err)
	}
}

func TestInterruptingRollsBackAndEndsTheStatement(t *testing.T) {
	p := newPlace(t)
	p.sql(t, "CREATE TABLE written (x int)")
	c := p.cluster(t)
	ctx, interrupt := context.WithCancel(t.Context())
	asleep := "SELECT EXISTS (SELECT FROM pg_stat_activity WHERE application_name = $1 AND state = 'active' AND query LIKE '%pg_sleep%')"
	go func() {
		p.eventually(t, asleep, p.prefix+"app")
		interrupt()
	}()
	var session uint32
	err := c.Do(ctx, p.database, testLock, func(tx *Tx) error {
		session = tx.conn.PgConn().PID()
		if err := tx.simple(ctx, "INSERT INTO public.written VALUES (1)"); err != nil {
			return err
		}
		return tx.Run(ctx, []Statement{"SELECT pg_sleep(120)"})
	})
	if err == nil {
		t.Fatal("it is done")
	}
	holds(t, err.Error(), "interrupted")
	if n := p.value(t, "SELECT count(*)::text FROM written"); n != "0" {
		t.Errorf("%s rows stay", n)
	}
	p.eventually(t, "SELECT NOT ("+strings.TrimPrefix(asleep, "SELECT ")+")", p.prefix+"app")
	err = c.Do(t.Context(), p.database, testLock, func(tx *Tx) error {
		if tx.conn.PgConn().PID() != session {
			t.Error("its session is lost")
		}
		return nil
	})
	if err != nil {
		t.Errorf("afterwards: %v", err)
	}
}

func TestInterruptingEndsEveryKindOfWaiting(t *testing.T) {
	p := newPlace(t)
	other := Lock{Key: 9, Name: "another lock"}
	for what, wait := range map[string]func(ctx context.Context, c *Cluster) error{
		"for a connection": func(ctx context.Context, c *Cluster) error {
			return c.Read(t.Context(), p.database, func(*Tx) error {
				return c.Read(t.Context(), p.database, func(*Tx) error { return c.Do(ctx, p.database, other, nothing) })
			})
		},
		"for a turn": func(ctx context.Context, c *Cluster) error {
			return c.Do(t.Context(), p.database, other, func(*Tx) error { return c.Do(ctx, p.database, other, nothing) })
		},
	} {
		ctx, interrupt := context.WithTimeout(t.Context(), 50*time.Millisecond)
		if err := wait(ctx, p.cluster(t)); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s: %v", what, err)
		}
		interrupt()
	}
}

func TestWhatTheConfigurationSays(t *testing.T) {
	t.Parallel()
	c, err := NewCluster(Config{URL: "postgres://someone:one@db.example:5433/app?sslmode=disable", Password: "two"})
	if err != nil {
		t.Fatal(err)
	}
	host, port := c.Host()
	if got := []any{host, port, c.User(), c.Password(), c.Database()}; !slices.Equal(got, []any{"db.example", 5433, "someone", "two", "app"}) {
		t.Errorf("got %v", got)
	}
	c, err = NewCluster(Config{URL: "host=db.example user=someone password=one"})
	if err != nil || c.Password() != "one" || c.Database() != "someone" {
		t.Errorf("by keywords: %v, database %q", err, c.Database())
	}
}

func TestAMalformedURLIsNotRepeated(t *testing.T) {
	t.Parallel()
	for _, url := range []string{
		"postgres://u:s3cr3t@host:port/db", "postgres://u:s3cr3t@host/db?sslmode=s3cr3t", "postgres://u:s3cr3t%zz@host/db",
		"password=s3cr3t host", "mysql://u:s3cr3t@host/db", "s3cr3t", "postgres://u:s3cr3t@[::1/db", "host=h password='s3cr3t",
	} {
		_, err := NewCluster(Config{URL: url})
		if err == nil {
			t.Errorf("%s is read", url)
			continue
		}
		lacks(t, fmt.Sprintf("%v %+v %#v", err, err, err), "s3cr3t")
		holds(t, err.Error(), "postgres://")
		var parse *pgconn.ParseConfigError
		if errors.As(err, &parse) {
			t.Errorf("%s: the cause, which repeats it, is kept", url)
		}
	}
}
