package server

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
)

// binaryDirs are the places where packagers put the server's binaries.
var binaryDirs = []string{
	"/usr/lib/postgresql/*/bin",          // Debian, Ubuntu
	"/usr/pgsql-*/bin",                   // PostgreSQL's own RPMs
	"/opt/homebrew/opt/postgresql@*/bin", // Homebrew on Apple silicon
	"/usr/local/opt/postgresql@*/bin",    // Homebrew on Intel
	"/usr/local/pgsql/bin",               // built from source
	`C:\Program Files\PostgreSQL\*\bin`,  // Windows installer
	"/Applications/Postgres.app/Contents/Versions/*/bin",
}

// fromBinaries runs the newest PostgreSQL binaries of this machine in a
// temporary folder.
func fromBinaries(ctx context.Context, opt Options) (*Server, error) {
	bin, err := newestBinaries(ctx)
	if err != nil {
		return nil, err
	}
	where := "from " + bin

	account, err := unprivileged()
	if err != nil {
		return nil, fmt.Errorf("starting PostgreSQL %s: %w", where, err)
	}
	dir, err := makeFolder()
	if err != nil {
		return nil, err
	}
	removeDir := func() error { return os.RemoveAll(dir) }
	if err := account.own(dir); err != nil {
		return nil, errors.Join(err, removeDir())
	}

	data, password := filepath.Join(dir, "data"), rand.Text()
	if err := initialise(ctx, bin, account, dir, data, password); err != nil {
		return nil, errors.Join(fmt.Errorf("starting PostgreSQL %s: %w", where, err), removeDir())
	}

	port, err := freePort(ctx)
	if err != nil {
		return nil, errors.Join(err, removeDir())
	}
	logs := &tail{}
	cmd := exec.Command(filepath.Join(bin, "postgres"), append([]string{"-D", data}, opt.arguments(map[string]string{
		"listen_addresses":        "127.0.0.1",
		"port":                    strconv.Itoa(port),
		"unix_socket_directories": "", // Their paths may not be long, as temporary folders' are.
	})...)...)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = dir, environment(), logs, logs
	account.apply(cmd)
	ended, err := launch(cmd)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("starting PostgreSQL %s: %w", where, err), removeDir())
	}

	alive := func() error {
		select {
		case <-ended:
			return errors.Join(fmt.Errorf("postgres ended: %v", cmd.ProcessState), logs.err())
		default:
			return nil
		}
	}
	remove := func() error {
		stopErr := quit(cmd.Process)
		if errors.Is(stopErr, os.ErrProcessDone) {
			stopErr = nil
		}
		<-ended
		return errors.Join(stopErr, removeDir())
	}
	address := net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
	return started(ctx, superuserURL(password, address), where, alive, remove)
}

// makeFolder makes a temporary folder named after this process, and removes those
// of processes that were killed before they could.
func makeFolder() (string, error) {
	host, err := os.Hostname() // Process numbers mean nothing in another container.
	if err != nil {
		return "", err
	}
	prefix := "datatable-postgres-" + host + "-"
	old, _ := filepath.Glob(filepath.Join(os.TempDir(), prefix+"*")) // The pattern is well-formed.
	for _, dir := range old {
		pid, _, _ := strings.Cut(strings.TrimPrefix(filepath.Base(dir), prefix), "-")
		if owner, err := strconv.Atoi(pid); err == nil && !running(owner) {
			_ = os.RemoveAll(dir) // Someone else may be removing it too.
		}
	}
	return os.MkdirTemp("", prefix+strconv.Itoa(os.Getpid())+"-")
}

// initialise makes the database cluster, whose superuser has the password.
func initialise(ctx context.Context, bin string, account account, dir, data, password string) error {
	pwfile := filepath.Join(dir, "password")
	if err := os.WriteFile(pwfile, []byte(password+"\n"), 0o600); err != nil {
		return err
	}
	if err := account.own(pwfile); err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, filepath.Join(bin, "initdb"), "-D", data,
		"--username="+superuser, "--pwfile="+pwfile, "--auth=scram-sha-256",
		"--encoding=UTF8", "--no-locale", "--no-sync")
	cmd.Dir, cmd.Env = dir, environment()
	account.apply(cmd)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("initdb: %w\n%s", err, out)
	}
	return os.Remove(pwfile)
}

// launch starts the command and closes ended when it has. The thread that makes
// a child must outlive it where the child dies with its parent, which the kernel
// takes to be that thread.
func launch(cmd *exec.Cmd) (ended <-chan struct{}, err error) {
	failed, done := make(chan error, 1), make(chan struct{})
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		defer close(done)
		err := cmd.Start()
		failed <- err
		if err == nil {
			_ = cmd.Wait() // The state that it leaves in cmd says all.
		}
	}()
	return done, <-failed
}

// environment is this process's without the variables that would steer the
// server's programs elsewhere or change the language of their messages.
func environment() []string {
	env := slices.DeleteFunc(os.Environ(), func(v string) bool {
		return strings.HasPrefix(v, "PG") || strings.HasPrefix(v, "LC_") || strings.HasPrefix(v, "LANG")
	})
	return append(env, "LC_ALL=C")
}

func freePort(ctx context.Context) (int, error) {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer func() { _ = l.Close() }()
	return l.Addr().(*net.TCPAddr).Port, nil
}

// newestBinaries is the folder of the highest version that has both programs.
func newestBinaries(ctx context.Context) (string, error) {
	dirs := filepath.SplitList(os.Getenv("PATH"))
	if out, err := exec.CommandContext(ctx, "pg_config", "--bindir").Output(); err == nil {
		dirs = append(dirs, strings.TrimSpace(string(out)))
	}
	for _, pattern := range binaryDirs {
		found, _ := filepath.Glob(pattern) // The patterns are well-formed.
		dirs = append(dirs, found...)
	}

	newest, version := "", 0.0
	for _, dir := range dirs {
		if _, err := exec.LookPath(filepath.Join(dir, "initdb")); err != nil || !filepath.IsAbs(dir) {
			continue
		}
		out, err := exec.CommandContext(ctx, filepath.Join(dir, "postgres"), "--version").Output()
		if err != nil {
			continue
		}
		if v := parseVersion(string(out)); v > version {
			newest, version = dir, v
		}
	}
	if newest == "" {
		return "", fmt.Errorf("no initdb and postgres on the PATH or where packages put them: %w", fs.ErrNotExist)
	}
	return newest, nil
}

var versionNumber = regexp.MustCompile(`\) (\d+)(?:\.(\d+))?`)

// parseVersion reads the output of postgres --version, as in
// "postgres (PostgreSQL) 16.9 (Debian 16.9-1)" or "… 18beta1", into a number
// that orders as the versions do. It is 0 when there is none.
func parseVersion(s string) float64 {
	m := versionNumber.FindStringSubmatch(s)
	if m == nil {
		return 0
	}
	major, _ := strconv.Atoi(m[1])
	minor, _ := strconv.Atoi(m[2])
	return float64(major) + float64(minor)/1000
}
