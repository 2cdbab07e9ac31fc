package postgres

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

func TestAConnectionThatFailsIsExplained(t *testing.T) {
	p := newPlace(t)
	const password = "s3cr3t"
	login := p.role(t, "login", "LOGIN PASSWORD 's3cr3t'")
	shut := p.role(t, "shut", "NOLOGIN PASSWORD 's3cr3t'")
	closed := p.databases(t, 2)[1]
	p.sql(t, "REVOKE CONNECT ON DATABASE "+Ident(closed)+" FROM PUBLIC")
	full := p.role(t, "full", "LOGIN CONNECTION LIMIT 0 PASSWORD 's3cr3t'")

	listen := func() net.Listener {
		l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = l.Close() })
		return l
	}
	silent, unreachable := listen(), listen()
	_ = unreachable.Close()

	for name, test := range map[string]struct {
		user, password, database, host string
		timeout                        time.Duration
		says                           []string
	}{
		"nobody listens": {
			login, password, p.database, unreachable.Addr().String(), 0,
			[]string{unreachable.Addr().String(), "cannot be reached", "connection refused", "Check url"},
		},
		"nobody answers": {
			login, password, p.database, silent.Addr().String(), 200 * time.Millisecond,
			[]string{silent.Addr().String(), "did not answer within 200ms", "connect_timeout"},
		},
		"wrong password": {
			login, "wr0ng-s3cr3t", p.database, "", 0,
			[]string{"the password for login " + fmt.Sprintf("%q", login), p.super.Host, "is wrong"},
		},
		"no such login": {
			p.prefix + "nobody", password, p.database, "", 0,
			[]string{"the password for login " + fmt.Sprintf("%q", p.prefix+"nobody"), "is wrong"},
		},
		"no such database": {
			login, password, p.prefix + "gone", "", 0,
			[]string{fmt.Sprintf("database %q does not exist", p.prefix+"gone"), "Create it"},
		},
		"no CONNECT": {
			login, password, closed, "", 0,
			[]string{fmt.Sprintf("login %q has no CONNECT privilege on database %q", login, closed)},
		},
		"NOLOGIN": {
			shut, password, p.database, "", 0,
			[]string{fmt.Sprintf("login %q may not connect to database %q", shut, p.database), "not permitted to log in", "can log in"},
		},
		"too many connections": {
			full, password, p.database, "", 0,
			[]string{"no connection left"},
		},
	} {
		for _, sslmode := range []string{"disable", "prefer"} {
			t.Run(name+" "+sslmode, func(t *testing.T) {
				t.Parallel()
				u := p.url(test.user, test.password)
				u.RawQuery = "sslmode=" + sslmode
				if test.host != "" {
					u.Host = test.host
				}
				c := p.cluster(t, as(u), func(c *Config) {
					if test.timeout > 0 {
						c.ConnectTimeout = test.timeout
					}
				})
				for _, use := range []func() error{
					func() error { return c.Read(t.Context(), test.database, nothing) },
					func() error { return c.Do(t.Context(), test.database, testLock, nothing) },
				} {
					err := use()
					if err == nil {
						t.Fatal("it connects")
					}
					holds(t, err.Error(), test.says...)
					lacks(t, fmt.Sprintf("%v %+v", err, errors.Unwrap(err)), "s3cr3t")
					lacks(t, err.Error(), "\n")
					if len(c.slots) != 0 || c.open != 0 {
						t.Error("its place is not given back")
					}
				}
			})
		}
	}
}

func TestErrorsAreToldApart(t *testing.T) {
	t.Parallel()
	code := func(code string) error { return fmt.Errorf("while: %w", &Error{Err: &pgconn.PgError{Code: code}}) }
	for _, test := range []struct {
		name string
		is   func(error) bool
		code string
	}{
		{"denied", IsDenied, "42501"},
		{"dependent", IsDependent, "2BP01"},
	} {
		if !test.is(code(test.code)) {
			t.Errorf("%s is not known by its code", test.name)
		}
		if test.is(code("22012")) || test.is(errors.New(test.code)) || test.is(nil) {
			t.Errorf("%s is taken for another", test.name)
		}
	}
}

func TestWhatAServerSaidIsExplained(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		err  error
		says []string
	}{
		{
			&pgconn.PgError{Code: "42501", Message: "permission denied", Detail: "why", Hint: "what to do"},
			[]string{"Postgres says: permission denied (why) (what to do) [42501]", "must be a superuser, or have CREATEROLE"},
		},
		{&pgconn.PgError{Code: "57P01", Message: "terminating"}, []string{"terminating", "stopping or starting"}},
		{&pgconn.PgError{Code: "25006", Message: "read-only"}, []string{"read-only", "primary"}},
		{&pgconn.PgError{Code: "22012", Message: "division by zero"}, []string{"Postgres says: division by zero [22012]"}},
		{errors.New("broken pipe"), []string{`database "db" was lost: broken pipe`, "apply again"}},
	} {
		err := explain(t.Context(), test.err, "db")
		holds(t, err.Error(), test.says...)
		if !errors.Is(err, test.err) {
			t.Errorf("%v is not kept in %v", test.err, err)
		}
	}
	if text := (&Error{Summary: "alone"}).Error(); text != "alone" {
		t.Errorf("without advice: %q", text)
	}
}

func TestAnInterruptionIsToldFromAnAnswer(t *testing.T) {
	t.Parallel()
	interrupted, interrupt := context.WithCancel(t.Context())
	interrupt()
	late, done := context.WithTimeout(t.Context(), 0)
	defer done()
	for _, cut := range []error{&pgconn.PgError{Code: "57014", Message: "canceling"}, errors.New("broken pipe")} {
		for ctx, says := range map[context.Context]string{interrupted: "interrupted", late: "not done in the time"} {
			err := explain(ctx, cut, "db")
			if !strings.HasPrefix(err.Error(), says) || !errors.Is(err, cut) || !errors.Is(err, ctx.Err()) {
				t.Errorf("got %v", err)
			}
		}
	}
}
