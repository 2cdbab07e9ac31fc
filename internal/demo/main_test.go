package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/datatable-io/terraform-provider-datatable/internal/acctest/server"
)

func TestDemo(t *testing.T) {
	nothingLeft(t)
	var out, log bytes.Buffer
	if err := run(t.Context(), &out, &log); err != nil {
		t.Fatalf("%v\n%s\n%s", err, log.String(), out.String())
	}
	for _, text := range []string{"refused: not_a_tenant", "wm_set_", `+ "UPDATE"`, "REVOKE INSERT"} {
		if !strings.Contains(out.String(), text) {
			t.Errorf("the output lacks %q:\n%s", text, out.String())
		}
	}
}

// TestInterrupted ends the demo at moments when different things are under way.
func TestInterrupted(t *testing.T) {
	for _, moment := range []string{"A server", "PostgreSQL ", "Building", "+ datatable_", "What each login", "The plan of"} {
		t.Run(moment, func(t *testing.T) {
			nothingLeft(t)
			ctx, stop := context.WithCancelCause(t.Context())
			defer stop(nil)
			var log bytes.Buffer
			err := run(ctx, &tripwire{text: moment, trip: func() { stop(errInterrupted) }}, &log)
			if !errors.Is(err, errInterrupted) {
				t.Errorf("the error is %v", err)
			}
			if strings.Contains(log.String(), "cleaning up") {
				t.Errorf("cleaning up failed: %s", log.String())
			}
		})
	}
}

// A tripwire calls trip when its text is written.
type tripwire struct {
	text string
	trip func()
}

func (w *tripwire) Write(p []byte) (int, error) {
	if strings.Contains(string(p), w.text) {
		w.trip()
	}
	return len(p), nil
}

// nothingLeft gives the test a folder for temporary files and fails it when, at
// its end, there is a file in it, a process that runs from it, or a database or
// role of the demo on a server that stays.
func nothingLeft(t *testing.T) {
	t.Helper()
	dir, err := os.MkdirTemp("", "demo-test-") //nolint:usetesting // A server that runs as another user may not enter t.TempDir.
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"TMPDIR", "TMP", "TEMP"} {
		t.Setenv(name, dir)
	}
	t.Cleanup(func() {
		defer func() { _ = os.RemoveAll(dir) }()
		entries, err := os.ReadDir(dir)
		if err != nil {
			t.Error(err)
		}
		for _, entry := range entries {
			t.Errorf("left behind: %s", entry.Name())
		}
		processes, _ := filepath.Glob("/proc/[0-9]*/cmdline") // none where there is no /proc
		for _, process := range processes {
			if arguments, err := os.ReadFile(process); err == nil && bytes.Contains(arguments, []byte(dir)) {
				t.Errorf("left running: %s", bytes.ReplaceAll(arguments, []byte{0}, []byte{' '}))
			}
		}
		if url := os.Getenv(server.EnvURL); url != "" {
			nothingOn(t, url)
		}
	})
}

func nothingOn(t *testing.T, url string) {
	t.Helper()
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(ctx) }()
	rows, err := conn.Query(ctx, `SELECT datname::text FROM pg_database WHERE starts_with(datname, 'datatable_demo_')
		UNION ALL SELECT rolname::text FROM pg_roles WHERE rolname IN ('staff', 'analyst', 'company', 'sales_emea', 'sales_amer')`)
	if err != nil {
		t.Fatal(err)
	}
	left, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range left {
		t.Errorf("left on the server: %s", name)
	}
}
