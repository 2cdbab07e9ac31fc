package postgres

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/hashicorp/terraform-plugin-log/tflog"
	"github.com/jackc/pgx/v5"
)

// A Lock is one of a database, held to the end of a transaction. Name says in
// errors what it guards.
//
// It is a lock of Table, which nobody but its owner can take, and reading the
// table is not kept waiting. Only as long as there is no such table of this
// login's it is an advisory lock by Key: anyone who can connect could hold that.
type Lock struct {
	Key   int64
	Table TableName
	Name  string
}

// take is the statement that waits for the lock. The table may have been made
// while the advisory lock was waited for.
func (l Lock) take() string {
	if l.Table == (TableName{}) {
		return fmt.Sprintf("SELECT pg_catalog.pg_advisory_xact_lock(%d)", l.Key)
	}
	mine := fmt.Sprintf("EXISTS (SELECT FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace "+
		"WHERE n.nspname = %s AND c.relname = %s AND c.relkind = 'r' AND pg_catalog.pg_has_role(c.relowner, 'USAGE'))",
		Literal(l.Table.Schema), Literal(l.Table.Name))
	return fmt.Sprintf("DO $$ BEGIN IF NOT %[1]s THEN PERFORM pg_catalog.pg_advisory_xact_lock(%[2]d); END IF; "+
		"IF %[1]s THEN LOCK TABLE %[3]s IN EXCLUSIVE MODE; END IF; END $$", mine, l.Key, Ident(l.Table.Schema, l.Table.Name))
}

// attempts is how often a transaction is tried that Postgres asks to retry.
const attempts = 6

// A Tx is a transaction. It is READ COMMITTED, its search_path is empty, so a
// name means what it says whatever others put into public, and its lock waits
// are bounded.
type Tx struct {
	conn     *conn
	database string
}

// User is the login of the transaction.
func (tx *Tx) User() string { return tx.conn.Config().User }

// Superuser says whether the login is one.
func (tx *Tx) Superuser() bool { return tx.conn.PgConn().ParameterStatus("is_superuser") == "on" }

// Read runs fn in a transaction that sees one moment and changes nothing. It
// takes no lock.
func (c *Cluster) Read(ctx context.Context, database string, fn func(*Tx) error) error {
	return c.once(ctx, database, "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SET LOCAL search_path = ''", fn)
}

// Write runs fn in a transaction under no lock, and again as [Cluster.Do] does.
func (c *Cluster) Write(ctx context.Context, database string, fn func(*Tx) error) error {
	return c.repeat(ctx, database, fmt.Sprintf("BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE; SET LOCAL search_path = ''; "+
		"SET LOCAL lock_timeout = %d", c.lockTimeout.Milliseconds()), fn)
}

// Do runs fn in a transaction under an advisory lock, and again where Postgres
// reports a conflict that goes away by itself: fn must have no effect outside
// that it cannot have twice. Where fn calls Do again, for a second database and
// lock, all callers have to take the two in the same order.
func (c *Cluster) Do(ctx context.Context, database string, lock Lock, fn func(*Tx) error) error {
	done, err := c.turns.take(ctx, database+"/"+lock.Name)
	if err != nil {
		return err
	}
	defer done()
	begin := fmt.Sprintf("BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE; SET LOCAL search_path = ''; "+
		"SET LOCAL lock_timeout = %d; %s", c.lockTimeout.Milliseconds(), lock.take())
	return c.explainLock(ctx, c.repeat(ctx, database, begin, fn), database, lock)
}

// repeat runs a transaction again as long as Postgres asks to.
func (c *Cluster) repeat(ctx context.Context, database, begin string, fn func(*Tx) error) error {
	for attempt := 1; ; attempt++ {
		err := c.once(ctx, database, begin, fn)
		switch {
		case err == nil || attempt == attempts || !Retryable(err):
			return err
		case ctx.Err() != nil:
			return ctx.Err()
		}
		pause := time.Duration(rand.Int64N(int64(20*time.Millisecond) << attempt))
		tflog.SubsystemDebug(tflog.NewSubsystem(ctx, subsystem), subsystem, "retry", map[string]any{"attempt": attempt, "error": err.Error()})
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (c *Cluster) once(ctx context.Context, database, begin string, fn func(*Tx) error) (err error) {
	conn, err := c.acquire(ctx, database)
	if err != nil {
		return err
	}
	defer c.release(conn)
	tx := &Tx{conn: conn, database: database}
	if err := tx.simple(ctx, begin); err != nil {
		tx.rollback(ctx)
		return err
	}
	if err := fn(tx); err != nil {
		tx.rollback(ctx)
		return err
	}
	return tx.commit(ctx)
}

// commit fails where the server rolled back instead, as it does, without an
// error, when a statement had failed before.
func (tx *Tx) commit(ctx context.Context) error {
	defer tx.log(ctx, "COMMIT", time.Now())
	results, err := tx.conn.PgConn().Exec(ctx, "COMMIT").ReadAll()
	if err != nil {
		return explain(ctx, err, tx.database)
	}
	if tag := results[len(results)-1].CommandTag.String(); tag != "COMMIT" {
		return fmt.Errorf("the transaction in database %q was rolled back: the server answered COMMIT with %s", tx.database, tag)
	}
	return nil
}

func (tx *Tx) rollback(ctx context.Context) {
	if tx.conn.IsClosed() {
		return
	}
	// What was cancelled still has to be rolled back; a connection on which
	// this fails is closed when it is given back.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cancelTime)
	defer cancel()
	_ = tx.simple(ctx, "ROLLBACK")
}

// simple sends statements without parameters in one round trip.
func (tx *Tx) simple(ctx context.Context, sql string) error {
	defer tx.log(ctx, sql, time.Now())
	if _, err := tx.conn.PgConn().Exec(ctx, sql).ReadAll(); err != nil {
		return explain(ctx, err, tx.database)
	}
	return nil
}

// Run executes statements in order, and then queries, in one round trip. A
// statement that Postgres accepts with the warning that it did nothing, or not
// all it was asked, is an error.
func (tx *Tx) Run(ctx context.Context, statements []Statement, then ...Query) error {
	queries := make([]Query, 0, len(statements)+len(then))
	for _, s := range statements {
		queries = append(queries, Query{SQL: string(s), shown: true})
	}
	tx.conn.notices = nil
	if err := tx.Batch(ctx, append(queries, then...)...); err != nil {
		return err
	}
	for _, n := range tx.conn.notices {
		if n.Code == warnNotGranted || n.Code == warnNotRevoked {
			return &IneffectiveError{Message: n.Message, Statements: statements}
		}
	}
	return nil
}

// A Query is one parametrised statement of a batch. Each, where not nil, reads
// the rows: it is called once a row, with a function that fills pointers.
type Query struct {
	SQL  string
	Args []any
	Each func(scan func(...any) error) error

	// shown says that the text is one that people know from a plan, so that an
	// error names it.
	shown bool
}

// Batch runs queries in order, in one round trip.
func (tx *Tx) Batch(ctx context.Context, queries ...Query) error {
	if len(queries) == 0 {
		return nil
	}
	batch := &pgx.Batch{}
	start := time.Now()
	for _, q := range queries {
		batch.Queue(q.SQL, q.Args...)
	}
	defer func() {
		for _, q := range queries {
			tx.log(ctx, q.SQL, start)
		}
	}()
	results := tx.conn.SendBatch(ctx, batch)
	for _, q := range queries {
		if err := q.read(results); err != nil {
			_ = results.Close()
			err = explain(ctx, err, tx.database)
			if q.shown {
				err = fmt.Errorf("%s: %w", q.SQL, err)
			}
			return err
		}
	}
	if err := results.Close(); err != nil {
		return explain(ctx, err, tx.database)
	}
	return nil
}

func (q Query) read(results pgx.BatchResults) error {
	rows, err := results.Query()
	if err != nil {
		return err
	}
	defer rows.Close()
	for q.Each != nil && rows.Next() {
		if err := q.Each(rows.Scan); err != nil {
			return err
		}
	}
	rows.Close()
	return rows.Err()
}

// setPassword runs where no log sees what it sets: the verifier arrives as
// COPY data, which Postgres never logs, and the statement that uses it is
// made and run inside the server. An error is raised anew, since the original
// would carry the statement in its context.
const setPassword = `DO $$
DECLARE
	it record;
BEGIN
	SELECT role, verifier INTO STRICT it FROM pg_temp.datatable_verifier;
	EXECUTE pg_catalog.format('ALTER ROLE %I PASSWORD %L', it.role, it.verifier);
	DROP TABLE pg_temp.datatable_verifier;
EXCEPTION WHEN OTHERS OR query_canceled OR assert_failure THEN
	RAISE EXCEPTION USING ERRCODE = SQLSTATE, MESSAGE = SQLERRM;
END
$$`

// SetPassword gives a role the password that the SCRAM verifier is for. Neither
// the password nor the verifier is in a statement or a parameter.
func (tx *Tx) SetPassword(ctx context.Context, role, verifier string) error {
	if err := tx.simple(ctx, "CREATE TEMPORARY TABLE datatable_verifier (role text, verifier text) ON COMMIT DROP"); err != nil {
		return err
	}
	columns := []string{"role", "verifier"}
	rows := pgx.CopyFromRows([][]any{{role, verifier}})
	if _, err := tx.conn.CopyFrom(ctx, pgx.Identifier{"pg_temp", "datatable_verifier"}, columns, rows); err != nil {
		return explain(ctx, err, tx.database)
	}
	return tx.simple(ctx, setPassword)
}

// subsystem is the name under which statements are logged.
const subsystem = "postgres"

// log writes a statement at debug level. Statements hold no secret, and
// parameters are not logged.
func (tx *Tx) log(ctx context.Context, sql string, start time.Time) {
	ctx = tflog.NewSubsystem(ctx, subsystem)
	tflog.SubsystemDebug(ctx, subsystem, "statement", map[string]any{
		"database":    tx.database,
		"sql":         strings.Join(strings.Fields(sql), " "),
		"duration_ms": time.Since(start).Milliseconds(),
	})
}

// explainLock adds to a lock time-out who holds the lock.
func (c *Cluster) explainLock(ctx context.Context, err error, database string, lock Lock) error {
	var inner *LockError
	if !hasCode(err, codeLockTimeout) || errors.As(err, &inner) {
		return err // or it was a lock taken inside, and is explained
	}
	var holders []string
	lookup := c.Read(ctx, database, func(tx *Tx) error {
		return tx.Batch(ctx, Query{SQL: lockHoldersSQL, Args: []any{lock.Key, lock.Table.Schema, lock.Table.Name}, Each: func(scan func(...any) error) error {
			var holder string
			if err := scan(&holder); err != nil {
				return err
			}
			holders = append(holders, holder)
			return nil
		}})
	})
	return errors.Join(&LockError{Lock: lock, Timeout: c.lockTimeout, Holders: holders, Err: err}, lookup)
}
