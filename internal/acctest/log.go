package acctest

import (
	"bytes"
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/datatable-io/terraform-provider-datatable/internal/postgres"
)

// logged are the settings of servers started here that make their log one that
// SQL can read: a single file.
var logged = map[string]string{"logging_collector": "on", "log_rotation_age": "0", "log_rotation_size": "0", "log_error_verbosity": "verbose"}

// A ServerLog is what the server logs from one moment on.
type ServerLog struct {
	e    *Env
	conn *pgx.Conn
	file string
	from int64
}

// LogAll makes the server log every statement in the test's database, with its
// parameters, in sessions that begin from now on. It skips the test where the
// server's log cannot be read.
func (e *Env) LogAll(t *testing.T) *ServerLog {
	t.Helper()
	l := &ServerLog{e: e}
	if l.file = e.Value(t, "SELECT coalesce(CASE WHEN current_setting('logging_collector')::boolean THEN pg_current_logfile('stderr') END, '')"); l.file == "" {
		t.Skip("the server's log cannot be read by SQL: it needs logging_collector = on, and stderr in log_destination")
	}
	database := postgres.Ident(e.Database())
	e.SQL(t, "ALTER DATABASE "+database+" SET log_statement = 'all'", "ALTER DATABASE "+database+" SET log_min_duration_statement = 0",
		"ALTER DATABASE "+database+" SET log_parameter_max_length_on_error = -1")
	l.conn = e.AsSuperuser(t).Connect(t)
	if err := l.conn.QueryRow(context.Background(), "SELECT size FROM pg_stat_file($1)", l.file).Scan(&l.from); err != nil {
		t.Fatal(err)
	}
	return l
}

// Text is the log up to now.
func (l *ServerLog) Text(t *testing.T) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	// The log is written by another process, in the order in which it is sent to.
	last := "last " + randomHex(8)
	l.e.SQL(t, "SELECT "+postgres.Literal(last))
	for {
		var text []byte
		if err := l.conn.QueryRow(ctx, "SELECT pg_read_binary_file($1, $2, 1 << 29)", l.file, l.from).Scan(&text); err != nil {
			t.Fatalf("read the server's log: %v", err)
		}
		if bytes.Contains(text, []byte(last)) {
			return string(text)
		}
	}
}
