package server

import (
	"bufio"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/moby/moby/client"
)

// envChild makes the test binary a process that starts a server and then waits
// to be told to stop, so that tests can kill it or give it another environment.
const (
	envChild = "DATATABLE_TEST_SERVER_CHILD"
	envLabel = "DATATABLE_TEST_SERVER_LABEL"
)

// absentImage is in a registry that nobody has.
const absentImage = "127.0.0.1:1/absent:1"

func TestMain(m *testing.M) {
	if mode := os.Getenv(envChild); mode != "" {
		labelValue = os.Getenv(envLabel)
		os.Exit(child(mode))
	}
	labelValue = rand.Text()
	os.Exit(m.Run())
}

func child(mode string) int {
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt)
	defer cancel()
	start := kinds[mode]
	switch mode {
	case "no image":
		defaultImage, start = absentImage, Start
	case "no image, no binaries":
		defaultImage, binaryDirs, start = absentImage, nil, Start
	}
	s, err := start(ctx, Options{Log: os.Stderr})
	if err != nil {
		fmt.Println(err)
		return 1
	}
	fmt.Println(s.URL())
	fmt.Println(s.Describe())
	<-ctx.Done()
	if err := s.Stop(); err != nil {
		fmt.Println(err)
		return 1
	}
	return 0
}

// kinds are the ways to have a server that is started here.
var kinds = map[string]func(context.Context, Options) (*Server, error){
	"docker":   fromDocker,
	"binaries": fromBinaries,
}

// each runs a test for every kind of server that this machine can have.
func each(t *testing.T, test func(*testing.T, string)) {
	t.Helper()
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		t.Run(kind, func(t *testing.T) {
			switch kind {
			case "docker":
				requireDocker(t)
			case "binaries":
				requireBinaries(t)
			}
			test(t, kind)
		})
	}
}

// dockerError is why there is no server in Docker here.
var dockerError = sync.OnceValue(func() error {
	s, err := fromDocker(context.Background(), Options{Log: io.Discard})
	if err != nil {
		return err
	}
	return s.Stop()
})

// requireDocker skips where the image cannot be had, unless it was asked for.
func requireDocker(t *testing.T) {
	t.Helper()
	err := dockerError()
	switch {
	case err != nil && os.Getenv(EnvImage) != "":
		t.Fatal(err)
	case err != nil:
		t.Skip("not to be had here: ", err)
	}
}

func requireBinaries(t *testing.T) {
	t.Helper()
	if _, err := newestBinaries(t.Context()); errors.Is(err, fs.ErrNotExist) {
		t.Skip("not to be had here: ", err)
	}
}

func TestServerIsReadyForItsSuperuserAndLeavesNothing(t *testing.T) {
	each(t, func(t *testing.T, kind string) {
		traces := watch(t)
		s, err := kinds[kind](t.Context(), Options{Log: io.Discard, Settings: map[string]string{"work_mem": "5MB", "max_connections": "77"}})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = s.Stop() })
		t.Log(s.Describe())

		got := map[string]string{}
		conn := connect(t, s.URL())
		for _, name := range []string{"work_mem", "max_connections", "fsync", "wal_level", "password_encryption", "server_encoding", "is_superuser"} {
			var value string
			if err := conn.QueryRow(t.Context(), "SELECT current_setting($1)", name).Scan(&value); err != nil {
				t.Fatal(err)
			}
			got[name] = value
		}
		for name, want := range map[string]string{
			"work_mem": "5MB", "max_connections": "77", "fsync": "off", "wal_level": "logical",
			"password_encryption": "scram-sha-256", "server_encoding": "UTF8", "is_superuser": "on",
		} {
			if got[name] != want {
				t.Errorf("%s = %q, want %q", name, got[name], want)
			}
		}

		wrong, err := pgx.ParseConfig(s.URL())
		if err != nil {
			t.Fatal(err)
		}
		wrong.Password = "wrong"
		if c, err := pgx.ConnectConfig(t.Context(), wrong); err == nil {
			_ = c.Close(t.Context())
			t.Error("a wrong password was let in")
		}

		traces.present(t)
		for range 2 {
			if err := s.Stop(); err != nil {
				t.Error(err)
			}
		}
		traces.gone(t)
		requireDown(t, s.URL())
	})
}

func TestServerEndsWithItsContext(t *testing.T) {
	each(t, func(t *testing.T, kind string) {
		traces := watch(t)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		s, err := kinds[kind](ctx, Options{Log: io.Discard})
		if err != nil {
			t.Fatal(err)
		}
		traces.present(t)
		cancel()
		awaitDown(t, s.URL())
		if err := s.Stop(); err != nil {
			t.Error(err)
		}
		traces.gone(t)
	})
}

func TestStartThatIsCancelledLeavesNothing(t *testing.T) {
	each(t, func(t *testing.T, kind string) {
		for _, after := range []time.Duration{0, 50 * time.Millisecond, 300 * time.Millisecond} {
			traces := watch(t)
			ctx, cancel := context.WithTimeout(t.Context(), after)
			s, err := kinds[kind](ctx, Options{Log: io.Discard})
			if err == nil { // A fast machine.
				_ = s.Stop()
			}
			cancel()
			traces.gone(t)
		}
	})
}

func TestServerThatDoesNotStartSaysWhyAndLeavesNothing(t *testing.T) {
	each(t, func(t *testing.T, kind string) {
		traces := watch(t)
		_, err := kinds[kind](t.Context(), Options{Log: io.Discard, Settings: map[string]string{"no_such_setting": "1"}})
		if err == nil || !strings.Contains(err.Error(), `unrecognized configuration parameter "no_such_setting"`) {
			t.Errorf("want the server's own reason, got %v", err)
		}
		traces.gone(t)
	})
}

func TestServerDoesNotOutliveAKilledProcess(t *testing.T) {
	each(t, func(t *testing.T, kind string) {
		if kind == "binaries" && runtime.GOOS != "linux" {
			t.Skip("only Linux ends a process with its parent")
		}
		traces := watch(t)
		cmd, lines := startChild(t, kind)
		url := lines()
		connect(t, url)
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		awaitDown(t, url)
		_ = cmd.Wait() // It was killed.

		// What it could not remove, the next one does.
		s, err := kinds[kind](t.Context(), Options{Log: io.Discard})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Stop(); err != nil {
			t.Error(err)
		}
		traces.gone(t)
	})
}

func TestInterruptedProcessLeavesNothing(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no interrupt can be sent there")
	}
	each(t, func(t *testing.T, kind string) {
		traces := watch(t)
		cmd, lines := startChild(t, kind)
		url := lines()
		if err := cmd.Process.Signal(os.Interrupt); err != nil {
			t.Fatal(err)
		}
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
		requireDown(t, url)
		traces.gone(t)
	})
}

func TestURLIsTakenAsGivenAndLeftRunning(t *testing.T) {
	requireBinaries(t)
	theirs, err := fromBinaries(t.Context(), Options{Log: io.Discard})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = theirs.Stop() })

	given := theirs.URL() + "&application_name=given"
	t.Setenv(EnvURL, given)
	var log strings.Builder
	s, err := Start(t.Context(), Options{Settings: map[string]string{"work_mem": "5MB"}, Log: &log})
	if err != nil {
		t.Fatal(err)
	}
	if s.URL() != given {
		t.Error("the URL was changed")
	}
	if !strings.Contains(s.Describe(), EnvURL) {
		t.Errorf("Describe() = %q does not name %s", s.Describe(), EnvURL)
	}
	if !strings.Contains(log.String(), "keeps its own settings") {
		t.Errorf("log = %q", log.String())
	}
	if err := s.Stop(); err != nil {
		t.Error(err)
	}
	connect(t, given)
}

func TestURLThatCannotBeUsedIsAnErrorWithoutItsPassword(t *testing.T) {
	for _, url := range []string{"postgres://u:s3cret@127.0.0.1:1/d?sslmode=disable", "postgres://u:s3cret@%zz/"} {
		t.Setenv(EnvURL, url)
		_, err := Start(t.Context(), Options{})
		if err == nil || !strings.Contains(err.Error(), EnvURL) || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%v", err)
		}
	}
}

func TestWithoutAnImage(t *testing.T) {
	t.Run("binaries are taken", func(t *testing.T) {
		requireBinaries(t)
		_, lines := startChild(t, "no image", EnvImage+"=", EnvURL+"=")
		lines()
		if got := lines(); !strings.Contains(got, " from ") {
			t.Errorf("described as %q", got)
		}
	})
	t.Run("one that was asked for is not replaced by binaries", func(t *testing.T) {
		_, lines := startChild(t, "no image", EnvImage+"="+absentImage, EnvURL+"=")
		if got := lines(); !strings.Contains(got, "starting PostgreSQL in Docker (image "+absentImage+")") {
			t.Errorf("got %q", got)
		}
	})
	t.Run("and binaries it says what to do", func(t *testing.T) {
		_, lines := startChild(t, "no image, no binaries", "PATH=", EnvImage+"=", EnvURL+"=")
		got := lines()
		for _, want := range []string{EnvURL, EnvImage, "start Docker", "install"} {
			if !strings.Contains(got, want) {
				t.Errorf("%q does not mention %q", got, want)
			}
		}
	})
}

func TestParseVersionOrdersAsVersionsDo(t *testing.T) {
	last := 0.0
	for _, s := range []string{
		"postgres (PostgreSQL) 9.6.24",
		"postgres (PostgreSQL) 13.2",
		"postgres (PostgreSQL) 13.23 (Debian 13.23-0+deb11u1)",
		"postgres (PostgreSQL) 15.9 (Homebrew)",
		"postgres (PostgreSQL) 15.18",
		"postgres (PostgreSQL) 18beta1",
		"postgres (PostgreSQL) 18.1",
	} {
		v := parseVersion(s)
		if v <= last && s != "postgres (PostgreSQL) 18beta1" || v < last {
			t.Errorf("%s is %v, not above %v", s, v, last)
		}
		last = v
	}
	if v := parseVersion("no such program"); v != 0 {
		t.Errorf("not a version, but %v", v)
	}
}

// startChild runs this binary in a mode of [child] and reads its lines.
func startChild(t *testing.T, mode string, env ...string) (cmd *exec.Cmd, line func() string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	// Not to be killed when the test ends, but interrupted.
	cmd = exec.CommandContext(context.WithoutCancel(t.Context()), self)
	cmd.Env = append(append(os.Environ(), envChild+"="+mode, envLabel+"="+labelValue), env...)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(os.Interrupt)
		_ = cmd.Wait()
	})
	lines := bufio.NewScanner(out)
	return cmd, func() string {
		t.Helper()
		if !lines.Scan() {
			t.Fatal("the child said nothing: ", lines.Err())
		}
		return lines.Text()
	}
}

func connect(t *testing.T, url string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	return conn
}

func requireDown(t *testing.T, url string) {
	t.Helper()
	if _, err := serverVersion(t.Context(), url); err == nil {
		t.Error("the server still runs")
	}
}

func awaitDown(t *testing.T, url string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	for {
		if _, err := serverVersion(ctx, url); err != nil {
			if ctx.Err() != nil {
				t.Error("the server still runs")
			}
			return
		}
	}
}

// traces are what a started server can leave behind.
type traces struct{ dir string }

// watch directs temporary folders to a place of the test's own.
func watch(t *testing.T) traces {
	t.Helper()
	dir := t.TempDir()
	// The server's account has to get there.
	for _, d := range []string{dir, filepath.Dir(dir)} {
		if err := os.Chmod(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("TMPDIR", dir)
	return traces{dir}
}

func (tr traces) found(t *testing.T) []string {
	t.Helper()
	folders, err := filepath.Glob(filepath.Join(tr.dir, "*"))
	if err != nil {
		t.Fatal(err)
	}
	return append(folders, containers(t)...)
}

func (tr traces) present(t *testing.T) {
	t.Helper()
	if len(tr.found(t)) == 0 {
		t.Error("this test looks in the wrong place: nothing is there while the server runs")
	}
}

func (tr traces) gone(t *testing.T) {
	t.Helper()
	if left := tr.found(t); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// containers are those of this run with their volumes, none without an engine.
func containers(t *testing.T) []string {
	t.Helper()
	docker, err := client.New(client.FromEnv)
	if err != nil {
		return nil
	}
	defer func() { _ = docker.Close() }()
	list, err := docker.ContainerList(t.Context(), client.ContainerListOptions{
		All:     true,
		Filters: make(client.Filters).Add("label", label+"="+labelValue),
	})
	if err != nil {
		return nil
	}
	var found []string
	for _, c := range list.Items {
		found = append(found, c.ID)
		for _, m := range c.Mounts {
			found = append(found, m.Name)
		}
	}
	return found
}
