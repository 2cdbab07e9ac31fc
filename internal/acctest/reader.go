package acctest

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// What tells the test binary that it is a reader, and of what.
const (
	envReaderURL = "DATATABLE_READER_URL"
	envReaderSQL = "DATATABLE_READER_SQL"
	envReaderOut = "DATATABLE_READER_OUT"
)

// ReaderCommand is a command line, and the environment variables, with which
// Terraform has the test binary connect to a URL, run a query that gives one
// text, and write that to a file.
func ReaderCommand(t *testing.T, sql, file string) (command string, environment map[string]string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return self, map[string]string{envReaderSQL: sql, envReaderOut: file}
}

// EnvReaderURL is the variable in which the command finds its URL.
const EnvReaderURL = envReaderURL

// readOnce is what the command does.
func readOnce(file string) int {
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, os.Getenv(envReaderURL))
	if err != nil {
		fmt.Fprintln(os.Stderr, "connect:", err)
		return 1
	}
	defer func() { _ = conn.Close(ctx) }()
	var text string
	if err := conn.QueryRow(ctx, os.Getenv(envReaderSQL)).Scan(&text); err != nil {
		fmt.Fprintln(os.Stderr, "read:", err)
		return 1
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// A Reader is a process of its own that runs one query in a loop and counts how
// often it is denied.
type Reader struct {
	t   *testing.T
	cmd *exec.Cmd
	in  io.Closer

	mu            sync.Mutex
	moved         *sync.Cond
	reads, denied int
	failed        string
}

// StartReader starts a reader as the login. It ends with the test.
func (l Login) StartReader(t *testing.T, sql string) *Reader {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	r := &Reader{t: t, cmd: exec.Command(self)}
	r.moved = sync.NewCond(&r.mu)
	r.cmd.Env = append(os.Environ(), envReaderURL+"="+l.url, envReaderSQL+"="+sql)
	r.cmd.Stderr = os.Stderr
	if r.in, err = r.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := r.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := r.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go r.follow(out)
	t.Cleanup(func() {
		_ = r.in.Close()
		_ = r.cmd.Wait()
	})
	return r
}

func (r *Reader) follow(out io.Reader) {
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		r.mu.Lock()
		if _, err := fmt.Sscanf(lines.Text(), "%d %d", &r.reads, &r.denied); err != nil {
			r.failed = lines.Text()
		}
		r.moved.Broadcast()
		r.mu.Unlock()
	}
	r.mu.Lock()
	if r.failed == "" {
		r.failed = "the reader has ended"
	}
	r.moved.Broadcast()
	r.mu.Unlock()
}

// Await waits for n more reads.
func (r *Reader) Await(n int) {
	r.t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	for target := r.reads + n; r.reads < target; r.moved.Wait() {
		if r.failed != "" {
			r.t.Fatalf("reader: %s", r.failed)
		}
	}
}

// During runs a change while the reader reads, at least n times in all, and
// fails the test for every denial.
func (r *Reader) During(n int, what string, change func()) {
	r.t.Helper()
	r.Await(100)
	r.mu.Lock()
	reads, denied := r.reads, r.denied
	r.mu.Unlock()
	change()
	r.Await(100)
	r.mu.Lock()
	left := n - (r.reads - reads)
	r.mu.Unlock()
	if left > 0 {
		r.Await(left)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.t.Logf("%s: %d reads, %d denied", what, r.reads-reads, r.denied-denied)
	if r.denied > denied {
		r.t.Errorf("%s: %d of %d reads were denied", what, r.denied-denied, r.reads-reads)
	}
}

// readForever is what the reader's process does: it ends when nobody listens
// any more.
func readForever() int {
	ended := make(chan struct{})
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		close(ended)
	}()
	ctx, url, sql := context.Background(), os.Getenv(envReaderURL), os.Getenv(envReaderSQL)
	var conn *pgx.Conn
	reads, denied := 0, 0
	for {
		select {
		case <-ended:
			return 0
		default:
		}
		if reads%1000 == 0 { // a login that is made now as well as one that was before
			if conn != nil {
				_ = conn.Close(ctx)
			}
			var err error
			if conn, err = pgx.Connect(ctx, url); err != nil {
				fmt.Println("connect:", err) //nolint:forbidigo // to the test
				return 1
			}
		}
		_, err := conn.Exec(ctx, sql)
		var pg *pgconn.PgError
		switch {
		case errors.As(err, &pg) && pg.Code == permissionDenied:
			denied++
		case err != nil:
			fmt.Println("read:", err) //nolint:forbidigo // to the test
			return 1
		}
		if reads++; reads%50 == 0 {
			fmt.Println(reads, denied) //nolint:forbidigo // to the test
		}
	}
}
