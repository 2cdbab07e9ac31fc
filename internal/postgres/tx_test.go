package postgres

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

func TestOnlyWhatGoesAwayByItselfIsTriedAgain(t *testing.T) {
	p := newPlace(t)
	c := p.cluster(t)
	for name, test := range map[string]struct {
		err  error
		want int // attempts
	}{
		"serialization failure":                  {&pgconn.PgError{Code: "40001"}, attempts},
		"deadlock":                               {&pgconn.PgError{Code: "40P01"}, attempts},
		"tuple concurrently updated":             {&pgconn.PgError{Code: "XX000", Message: "tuple concurrently updated"}, attempts},
		"tuple concurrently deleted":             {&pgconn.PgError{Code: "XX000", Message: "tuple concurrently deleted"}, attempts},
		"a system catalog's unique index":        {&pgconn.PgError{Code: "23505", SchemaName: "pg_catalog"}, attempts},
		"wrapped":                                {fmt.Errorf("while: %w", &Error{Err: &pgconn.PgError{Code: "40001"}}), attempts},
		"a table's unique index":                 {&pgconn.PgError{Code: "23505", SchemaName: "datatable_catalog"}, 1},
		"another internal error":                 {&pgconn.PgError{Code: "XX000", Message: "cache lookup failed"}, 1},
		"a missing right":                        {&pgconn.PgError{Code: "42501"}, 1},
		"what is no answer of the server's":      {errors.New("40001"), 1},
		"a statement that was without an effect": {&IneffectiveError{Message: "no privileges were granted"}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			calls := 0
			err := c.Do(t.Context(), p.database, Lock{Key: 1, Name: name}, func(*Tx) error {
				calls++
				return test.err
			})
			if calls != test.want || !errors.Is(err, test.err) {
				t.Errorf("%d attempts instead of %d, and %v", calls, test.want, err)
			}
			if got := Retryable(test.err); got != (test.want > 1) {
				t.Errorf("retryable: %v", got)
			}
		})
	}
}

func TestAnotherAttemptMaySucceed(t *testing.T) {
	p := newPlace(t)
	p.sql(t, "CREATE TABLE written (x int)")
	calls := 0
	err := p.cluster(t).Do(t.Context(), p.database, testLock, func(tx *Tx) error {
		calls++
		if err := tx.simple(t.Context(), fmt.Sprintf("INSERT INTO public.written VALUES (%d)", calls)); err != nil {
			return err
		}
		if calls < attempts {
			return &pgconn.PgError{Code: "40001"}
		}
		return nil
	})
	if got := p.value(t, "SELECT string_agg(x::text, ',') FROM written"); err != nil || got != strconv.Itoa(attempts) {
		t.Errorf("written is %s, and %v", got, err)
	}
}

func TestInterruptingEndsTheAttempts(t *testing.T) {
	p := newPlace(t)
	ctx, interrupt := context.WithCancel(t.Context())
	calls := 0
	err := p.cluster(t).Do(ctx, p.database, testLock, func(*Tx) error {
		calls++
		interrupt()
		return &pgconn.PgError{Code: "40001"}
	})
	if calls != 1 || !errors.Is(err, context.Canceled) {
		t.Errorf("%d attempts, and %v", calls, err)
	}
}

// Somebody else, who takes no lock, changes the same entry of pg_class.
func TestAConflictOverOneObjectsPrivilegesIsTriedAgain(t *testing.T) {
	p := newPlace(t)
	reader, writer := p.role(t, "reader", ""), p.role(t, "writer", "")
	p.sql(t, "CREATE TABLE x ()")
	other := connect(t, p.super.String())
	begin := func(sql string) {
		if _, err := other.Exec(context.Background(), sql); err != nil {
			t.Error(err)
		}
	}
	begin("BEGIN; GRANT SELECT ON x TO " + Ident(reader))
	calls := 0
	done := make(chan error, 1)
	go func() {
		done <- p.cluster(t).Do(context.Background(), p.database, testLock, func(tx *Tx) error {
			calls++
			return tx.Run(context.Background(), []Statement{Statement("GRANT INSERT ON public.x TO " + Ident(writer))})
		})
	}()
	p.eventually(t, "SELECT EXISTS (SELECT FROM pg_stat_activity WHERE application_name = $1 AND wait_event_type = 'Lock')", p.prefix+"app")
	begin("COMMIT")
	if err := <-done; err != nil {
		t.Error(err)
	}
	if calls < 2 {
		t.Error("there was no conflict")
	}
	for role, privilege := range map[string]string{reader: "SELECT", writer: "INSERT"} {
		if got := p.value(t, "SELECT has_table_privilege($1, 'x', $2)::text", role, privilege); got != "true" {
			t.Errorf("%s on x for %s: %s", privilege, role, got)
		}
	}
}

func TestALockThatIsNotHadInTimeNamesItsHolder(t *testing.T) {
	p := newPlace(t)
	c := p.cluster(t, lockTimeout(100*time.Millisecond))
	holder := connect(t, p.super.String()+"&application_name=the%20holder")
	for _, key := range []int64{1, 0x6461_7461_0000_0001, -5} {
		if _, err := holder.Exec(t.Context(), fmt.Sprintf("BEGIN; SELECT pg_advisory_xact_lock(%d)", key)); err != nil {
			t.Fatal(err)
		}
		ran := false
		err := c.Do(t.Context(), p.database, Lock{Key: key, Name: "the lock"}, func(*Tx) error {
			ran = true
			return nil
		})
		var locked *LockError
		if !errors.As(err, &locked) || ran || len(locked.Holders) != 1 {
			t.Fatalf("key %d: %v (ran: %v)", key, err, ran)
		}
		holds(t, err.Error(), "100ms", "the lock", `"the holder"`, fmt.Sprintf("process %d", holder.PgConn().PID()), p.super.User.Username(), "lock_timeout")
		if _, err := holder.Exec(t.Context(), "ROLLBACK"); err != nil {
			t.Fatal(err)
		}
		if err := c.Do(t.Context(), p.database, Lock{Key: key}, nothing); err != nil {
			t.Errorf("key %d: when it is free: %v", key, err)
		}
	}
}

func TestALockOfAnotherDatabaseIsNotInTheWay(t *testing.T) {
	p := newPlace(t)
	names := p.databases(t, 2)
	c := p.cluster(t, lockTimeout(5*time.Second))
	err := c.Do(t.Context(), names[0], testLock, func(*Tx) error { return c.Do(t.Context(), names[1], testLock, nothing) })
	if err != nil {
		t.Error(err)
	}
}

func TestALockTakenInsideAnotherNamesTheOneThatIsMissing(t *testing.T) {
	p := newPlace(t)
	c := p.cluster(t, lockTimeout(100*time.Millisecond))
	holder := connect(t, p.super.String()+"&application_name=the%20holder")
	inner := Lock{Key: 8, Name: "the inner lock"}
	if _, err := holder.Exec(t.Context(), "BEGIN; SELECT pg_advisory_xact_lock(8)"); err != nil {
		t.Fatal(err)
	}
	err := c.Do(t.Context(), p.database, Lock{Key: 9, Name: "the outer lock"}, func(*Tx) error {
		return c.Do(t.Context(), p.database, inner, nothing)
	})
	if err == nil {
		t.Fatal("it has the lock")
	}
	holds(t, err.Error(), "the inner lock", "the holder")
	lacks(t, err.Error(), "the outer lock", "No one holds it")
}

func TestATableThatIsLockedIsALockErrorWithoutAHolder(t *testing.T) {
	p := newPlace(t)
	p.sql(t, "CREATE TABLE x ()")
	holder := connect(t, p.super.String())
	if _, err := holder.Exec(t.Context(), "BEGIN; LOCK TABLE x"); err != nil {
		t.Fatal(err)
	}
	err := p.cluster(t, lockTimeout(100*time.Millisecond)).Do(t.Context(), p.database, testLock, func(tx *Tx) error {
		return tx.Run(t.Context(), []Statement{RowSecurity("public", "x", true)})
	})
	var locked *LockError
	if !errors.As(err, &locked) || len(locked.Holders) != 0 {
		t.Fatalf("got %v", err)
	}
	holds(t, err.Error(), "a lock on a table")
}

func TestNamesMeanWhatTheySay(t *testing.T) {
	p := newPlace(t)
	p.sql(t, "CREATE TABLE x ()", "ALTER ROLE "+Ident(p.role(t, "r", "LOGIN PASSWORD 'pw'"))+" SET search_path = public")
	c := p.cluster(t, as(p.url(p.prefix+"r", "pw")))
	look := func(tx *Tx) error {
		if got := text(tx, t, "SELECT current_setting('search_path') || coalesce(to_regclass('x')::text, '')"); got != `""` {
			t.Errorf("search_path is %s", got)
		}
		return nil
	}
	if err := errors.Join(c.Do(t.Context(), p.database, testLock, look), c.Read(t.Context(), p.database, look)); err != nil {
		t.Error(err)
	}
}

func TestReadSeesOneMomentAndChangesNothing(t *testing.T) {
	p := newPlace(t)
	p.sql(t, "CREATE TABLE x (n int)")
	err := p.cluster(t).Read(t.Context(), p.database, func(tx *Tx) error {
		before := text(tx, t, "SELECT count(*)::text FROM public.x")
		p.sql(t, "INSERT INTO x VALUES (1)")
		if after := text(tx, t, "SELECT count(*)::text FROM public.x"); before != "0" || after != "0" {
			t.Errorf("%s rows, and then %s", before, after)
		}
		return tx.simple(t.Context(), "INSERT INTO public.x VALUES (2)")
	})
	if !hasCode(err, "25006") {
		t.Errorf("writing: %v", err)
	}
}

func TestWhatPostgresOnlyWarnsAboutIsAnError(t *testing.T) {
	p := newPlace(t)
	login, reader := p.role(t, "login", "LOGIN PASSWORD 'pw'"), p.role(t, "reader", "")
	p.sql(t, "CREATE TABLE x (n int)", "CREATE TABLE y (n int)",
		"GRANT SELECT ON x, y TO "+Ident(login), "GRANT INSERT ON y TO "+Ident(login)+" WITH GRANT OPTION", "GRANT SELECT ON x TO "+Ident(reader))
	c := p.cluster(t, as(p.url(login, "pw")))
	for _, test := range []struct{ statement, says string }{
		{"GRANT SELECT ON public.x TO " + Ident(reader), "no privileges were granted"},
		{"GRANT SELECT, INSERT ON public.y TO " + Ident(reader), "not all privileges were granted"},
		{"REVOKE SELECT ON public.x FROM " + Ident(reader), "no privileges could be revoked"},
	} {
		err := c.Do(t.Context(), p.database, testLock, func(tx *Tx) error {
			return tx.Run(t.Context(), []Statement{"SELECT 1", Statement(test.statement)})
		})
		var ineffective *IneffectiveError
		if !errors.As(err, &ineffective) {
			t.Errorf("%s: %v", test.statement, err)
			continue
		}
		holds(t, err.Error(), test.says, test.statement)
	}
	lacks(t, (&IneffectiveError{Statements: []Statement{`GRANT USAGE ON SCHEMA "publicity" TO "r"`}}).Error(), "ALTER SCHEMA")
	holds(t, (&IneffectiveError{Statements: []Statement{`REVOKE CREATE ON SCHEMA "public" FROM PUBLIC`}}).Error(), "ALTER SCHEMA public OWNER TO")
	if got := p.value(t, "SELECT has_table_privilege($1, 'y', 'INSERT')::text", reader); got != "false" {
		t.Error("the part that could be granted was")
	}
	// Another notice is none, and what was warned about before is forgotten.
	err := c.Do(t.Context(), p.database, testLock, func(tx *Tx) error {
		if err := tx.simple(t.Context(), "GRANT SELECT ON public.x TO "+Ident(reader)); err != nil {
			return err
		}
		return tx.Run(t.Context(), []Statement{"DO $$ BEGIN RAISE WARNING 'just so'; END $$", Statement("GRANT INSERT ON public.y TO " + Ident(reader))})
	})
	if err != nil {
		t.Error(err)
	}
}

func TestAStatementThatFailsIsNamed(t *testing.T) {
	p := newPlace(t)
	err := p.cluster(t).Do(t.Context(), p.database, testLock, func(tx *Tx) error {
		return tx.Run(t.Context(), []Statement{"SELECT 1", `DROP ROLE "not there"`})
	})
	if err == nil {
		t.Fatal("it is done")
	}
	holds(t, err.Error(), `DROP ROLE "not there": Postgres says`, "42704")
}

func TestAnErrorThatNobodyPassedOnIsNotACommit(t *testing.T) {
	p := newPlace(t)
	p.sql(t, "CREATE TABLE x (n int)")
	err := p.cluster(t).Do(t.Context(), p.database, testLock, func(tx *Tx) error {
		if err := tx.simple(t.Context(), "INSERT INTO public.x VALUES (1)"); err != nil {
			return err
		}
		_ = tx.simple(t.Context(), "SELECT 1/0")
		return nil
	})
	if n := p.value(t, "SELECT count(*)::text FROM x"); err == nil || n != "0" {
		t.Errorf("%s rows, and %v", n, err)
	}
}

func TestQueriesAnswerInOrder(t *testing.T) {
	p := newPlace(t)
	err := p.cluster(t).Read(t.Context(), p.database, func(tx *Tx) error {
		var got []string
		collect := func(scan func(...any) error) error {
			var s string
			err := scan(&s)
			got = append(got, s)
			return err
		}
		err := tx.Batch(t.Context(),
			Query{SQL: "SELECT unnest($1::text[])", Args: []any{[]string{"a", "b"}}, Each: collect},
			Query{SQL: "SELECT 'unread'"},
			Query{SQL: "SELECT 'c'", Each: collect})
		if err != nil || fmt.Sprint(got) != "[a b c]" {
			t.Errorf("got %v, %v", got, err)
		}
		stop := errors.New("stop")
		err = tx.Batch(t.Context(), Query{SQL: "SELECT 1", Each: func(func(...any) error) error { return stop }}, Query{SQL: "SELECT 2"})
		if !errors.Is(err, stop) {
			t.Errorf("a reader's error is %v", err)
		}
		return tx.Batch(t.Context())
	})
	if err != nil {
		t.Error(err)
	}
}
