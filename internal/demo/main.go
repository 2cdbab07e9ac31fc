// Command demo shows the provider at work on a server of its own: it applies
// examples/demo, connects as the logins that people get, and prints what each of
// them reads. It leaves nothing behind, also when it is interrupted.
package main

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/datatable-io/terraform-provider-datatable/internal/acctest/server"
)

// errInterrupted is why the demo's context ends before the demo does.
var errInterrupted = errors.New("interrupted")

// exitInterrupted is what shells report for a program that Ctrl-C ended.
const exitInterrupted = 130

func main() {
	ctx, stop := context.WithCancelCause(context.Background())
	// A closed terminal is an interruption too: without this it would end the
	// process on the spot.
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	go func() {
		<-signals
		fmt.Fprintln(os.Stderr, "\nStopping, and cleaning up ...")
		stop(errInterrupted)
	}()
	go stopWithParent(ctx, stop)
	// And so is a reader that has seen enough (make demo | head). A write that
	// nobody reads is then an error, and no longer the end; the signal itself is
	// of no use, as it may come from any connection that the other side closed.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)

	err := run(ctx, output{os.Stdout, stop}, os.Stderr)
	switch {
	case err == nil:
	case errors.Is(context.Cause(ctx), errInterrupted):
		os.Exit(exitInterrupted)
	default:
		fmt.Fprintln(os.Stderr, "\nThe demo failed:", err)
		os.Exit(1)
	}
}

// output stops the demo when nobody reads it any more.
type output struct {
	*os.File
	stop context.CancelCauseFunc
}

func (o output) Write(p []byte) (int, error) {
	n, err := o.File.Write(p)
	if err != nil {
		o.stop(errInterrupted)
	}
	return n, err
}

// stopWithParent ends the demo when what started it is gone: a signal that ends
// make or go run does not reach us.
func stopWithParent(ctx context.Context, stop context.CancelCauseFunc) {
	parent := os.Getppid()
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	for os.Getppid() == parent {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
	stop(errInterrupted)
}

// demo is what the steps share.
type demo struct {
	out io.Writer
	db  database
	tf  terraform
	key string
}

// run is the whole demo. What is left when it returns is nothing; what could not
// be removed is told to log, and is an error.
func run(ctx context.Context, out, log io.Writer) (err error) {
	defer func() {
		if ctx.Err() != nil {
			err = errors.Join(context.Cause(ctx), err) // which any error may come of
		}
	}()
	cleanUp := func(what string, do func() error) {
		if failed := do(); failed != nil {
			failed = fmt.Errorf("%s: %w", what, failed)
			_, _ = fmt.Fprintln(log, "cleaning up:", failed)
			err = errors.Join(err, failed)
		}
	}
	d := &demo{out: out, key: randomKey()}

	root, err := moduleRoot(ctx)
	if err != nil {
		return err
	}
	cli, err := findCLI()
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "datatable-demo-")
	if err != nil {
		return err
	}
	defer cleanUp("remove "+dir, func() error { return os.RemoveAll(dir) })

	d.section("A server to play with")
	s, err := server.Start(ctx, server.Options{Log: log})
	if err != nil {
		return err
	}
	defer cleanUp("stop the server", s.Stop)
	d.say("%s", s.Describe())

	d.db.name = "datatable_demo_" + randomHex()
	if d.db.server, err = url.Parse(s.URL()); err != nil {
		return fmt.Errorf("the server's URL: %w", err)
	}
	// A server that was there before stays, so what the demo makes on it must go.
	if os.Getenv(server.EnvURL) != "" {
		defer cleanUp("clean up the server", d.db.drop)
	}
	if err := d.db.create(ctx, filepath.Join(root, "examples", "demo", "schema.sql")); err != nil {
		return err
	}
	d.say("Made a database with the tables of examples/demo/schema.sql.")

	d.section("terraform apply")
	d.say("Building the provider ...")
	d.tf = terraform{cli: cli, dir: filepath.Join(dir, "configuration"), config: filepath.Join(dir, "terraformrc")}
	if err := d.tf.prepare(ctx, root, filepath.Join(dir, "provider")); err != nil {
		return err
	}
	d.tf.env = []string{
		"DATATABLE_URL=" + d.db.url(), "DATATABLE_ENCRYPTION_KEY=" + d.key,
		"TF_VAR_database=" + d.db.name,
	}
	if err := d.tf.apply(ctx, d.out); err != nil {
		return err
	}

	d.section("What each login reads")
	d.say("Each line connects as the login that the reference gives, with its own password,\n" +
		"and counts the rows of each table. \"denied\" is what Postgres answers (42501).\n")
	if err := d.showLogins(ctx); err != nil {
		return err
	}

	d.section("The plan of a small change")
	d.say("sales_emea may no longer add orders, and may change them instead:\nterraform plan -var 'emea_privileges=[\"SELECT\", \"UPDATE\"]'")
	return d.showChange(ctx)
}

func (d *demo) section(title string) {
	_, _ = fmt.Fprintf(d.out, "\n== %s\n\n", title)
}

func (d *demo) say(format string, args ...any) { _, _ = fmt.Fprintf(d.out, format+"\n", args...) }

// moduleRoot is the folder of this module, whichever folder of it we run in.
func moduleRoot(ctx context.Context) (string, error) {
	out, err := exec.CommandContext(ctx, "go", "env", "GOMOD").Output()
	if err != nil {
		return "", fmt.Errorf("go env GOMOD: %w", err)
	}
	root := filepath.Dir(strings.TrimSpace(string(out)))
	if _, err := os.Stat(filepath.Join(root, "examples", "demo")); err != nil {
		return "", fmt.Errorf("run it in the provider's repository: %w", err)
	}
	return root, nil
}

func randomKey() string {
	key := make([]byte, 32)
	_, _ = rand.Read(key) // never fails
	return base64.StdEncoding.EncodeToString(key)
}

func randomHex() string {
	b := make([]byte, 4)
	_, _ = rand.Read(b) // never fails
	return hex.EncodeToString(b)
}
