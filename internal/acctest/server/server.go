// Package server finds or starts the Postgres that the tests and the demo run
// against, so that neither needs one to be set up beforehand.
package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
)

// The environment variables that choose a server.
const (
	// EnvURL is the postgres:// URL of a superuser on a server that is already
	// running. It is used as it is and never stopped.
	EnvURL = "DATATABLE_TEST_URL"
	// EnvImage is the Docker image to run instead of [DefaultImage]. Who names
	// one gets that one or an error, never another kind of server.
	EnvImage = "DATATABLE_TEST_IMAGE"
)

// DefaultImage is run when Docker is at hand and nothing else was asked for.
const DefaultImage = "postgres:17"

const (
	// startTimeout is how long a started server may take to accept a login.
	startTimeout = 90 * time.Second
	// loginTimeout is how long one login may take.
	loginTimeout = 10 * time.Second
)

// The superuser of servers started here.
const superuser = "postgres"

// Server is a running Postgres whose superuser the caller may use.
type Server struct {
	url      string
	describe string
	remove   func() error
}

// Options are what a caller wants of the server.
type Options struct {
	// Settings are passed to postgres as -c name=value. They go before the
	// defaults made for throwaway servers, and cannot be applied to EnvURL.
	Settings map[string]string
	// Log is told in whole lines what was tried and given up. Nil is silent.
	Log io.Writer
}

// Start returns the first of these that can be had: the server at EnvURL, one
// in Docker, one of the newest PostgreSQL binaries on this machine. A started
// server is removed by Stop, or when ctx ends; Stop waits for that. It does not
// outlive the process, even one that is killed.
func Start(ctx context.Context, opt Options) (*Server, error) {
	if opt.Log == nil {
		opt.Log = io.Discard
	}
	if os.Getenv(EnvURL) != "" {
		return fromURL(ctx, opt)
	}

	s, dockerErr := fromDocker(ctx, opt)
	if dockerErr == nil {
		return s, nil
	}
	if ctx.Err() != nil || os.Getenv(EnvImage) != "" {
		return nil, dockerErr
	}
	_, _ = fmt.Fprintf(opt.Log, "no server in Docker, trying local binaries: %v\n", dockerErr)

	s, localErr := fromBinaries(ctx, opt)
	if localErr == nil {
		return s, nil
	}
	return nil, fmt.Errorf("no Postgres to run against; start Docker (%[1]s chooses the image, default %[2]s), "+
		"or install the server of PostgreSQL 13 or newer (Debian, Ubuntu: apt-get install postgresql; "+
		"macOS: brew install postgresql@17), or set %[3]s to the postgres:// URL of a superuser: %[4]w",
		EnvImage, DefaultImage, EnvURL, errors.Join(dockerErr, localErr))
}

// URL is the superuser's, for the database postgres; a server found at EnvURL
// has the URL that was given.
func (s *Server) URL() string { return s.url }

// Describe says in one line which server this is, with its version.
func (s *Server) Describe() string { return s.describe }

// Stop ends a started server and removes all that was made for it. It may be
// called more than once and returns the same error each time.
func (s *Server) Stop() error { return s.remove() }

// started completes a server that was launched: it waits until the superuser
// can log in, while alive reports no error. On failure it removes the server.
func started(ctx context.Context, url, where string, alive, remove func() error) (*Server, error) {
	remove = sync.OnceValue(remove)
	wait, cancel := context.WithTimeoutCause(ctx, startTimeout, fmt.Errorf("no login within %v", startTimeout))
	defer cancel()

	version, err := awaitLogin(wait, url, alive)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("starting PostgreSQL %s: %w", where, err), remove())
	}
	context.AfterFunc(ctx, func() { _ = remove() })
	return &Server{url: url, describe: fmt.Sprintf("PostgreSQL %s %s", version, where), remove: remove}, nil
}

func awaitLogin(ctx context.Context, url string, alive func() error) (version string, err error) {
	retry := time.NewTicker(50 * time.Millisecond)
	defer retry.Stop()
	for {
		version, loginErr := serverVersion(ctx, url)
		if loginErr == nil {
			return version, nil
		}
		if err := alive(); err != nil {
			return "", err
		}
		select {
		case <-ctx.Done():
			return "", fmt.Errorf("%w: %w", context.Cause(ctx), loginErr)
		case <-retry.C:
		}
	}
}

// serverVersion logs in and returns the version without what a packager added.
func serverVersion(ctx context.Context, url string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, loginTimeout)
	defer cancel()
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return "", err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	version, _, _ := strings.Cut(conn.PgConn().ParameterStatus("server_version"), " ")
	return version, nil
}

// arguments are what postgres is started with: fast rather than safe, and able
// to do what the tests of every package need.
func (opt Options) arguments(more map[string]string) []string {
	settings := map[string]string{
		"fsync":               "off",
		"full_page_writes":    "off",
		"synchronous_commit":  "off",
		"max_connections":     "300",
		"password_encryption": "scram-sha-256",
		"wal_level":           "logical",
	}
	maps.Copy(settings, opt.Settings)
	maps.Copy(settings, more)

	var args []string
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		args = append(args, "-c", name+"="+settings[name])
	}
	return args
}
