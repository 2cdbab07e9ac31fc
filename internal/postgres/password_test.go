package postgres

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/datatable-io/terraform-provider-datatable/internal/acctest/proxy"
)

func (p *place) setPassword(t *testing.T, c *Cluster, role, verifier string) error {
	t.Helper()
	return c.Do(t.Context(), p.database, Lock{Key: 1}, func(tx *Tx) error { return tx.SetPassword(t.Context(), role, verifier) })
}

func newVerifier(t *testing.T) (password, verifier string) {
	t.Helper()
	password = NewPassword()
	verifier, err := Verifier(password)
	if err != nil {
		t.Fatal(err)
	}
	return password, verifier
}

func TestSetPasswordLetsTheRoleLogInWithThatPasswordAlone(t *testing.T) {
	p := newPlace(t)
	manager := p.role(t, "manager", "LOGIN CREATEROLE PASSWORD 'pw'")
	for login, c := range map[string]*Cluster{"a superuser": p.cluster(t), "who may create roles": p.cluster(t, as(p.url(manager, "pw")))} {
		role := p.prefix + `"'\ %I é` + random(2)
		if err := c.Do(t.Context(), p.database, Lock{Key: 1}, func(tx *Tx) error {
			return tx.Run(t.Context(), []Statement{CreateRole(role, true)})
		}); err != nil {
			t.Fatal(err)
		}
		old, oldVerifier := newVerifier(t)
		password, verifier := newVerifier(t)
		err := c.Do(t.Context(), p.database, Lock{Key: 1}, func(tx *Tx) error {
			return errors.Join(tx.SetPassword(t.Context(), role, oldVerifier), tx.SetPassword(t.Context(), role, verifier))
		})
		if err != nil {
			t.Fatalf("as %s: %v", login, err)
		}
		if got := p.value(t, "SELECT rolpassword FROM pg_authid WHERE rolname = $1", role); got != verifier {
			t.Errorf("as %s: stored is %s", login, got)
		}
		connect(t, p.url(role, password).String())
		var pg *pgconn.PgError
		if _, err := pgx.Connect(t.Context(), p.url(role, old).String()); !errors.As(err, &pg) || pg.Code != codeInvalidPassword {
			t.Errorf("as %s: with another password: %v", login, err)
		}
	}
}

// Each piece of a secret: the password, the verifier and what is in it.
func pieces(password, verifier string) []string {
	return append(strings.FieldsFunc(verifier, func(r rune) bool { return r == '$' || r == ':' })[2:], password, verifier)
}

func TestSetPasswordIsInNoLog(t *testing.T) {
	p := newPlace(t)
	if settings := p.value(t, "SELECT concat_ws(' ', current_setting('logging_collector'), current_setting('log_statement'))"); settings != "on all" {
		t.Skipf("the server logs too little to tell (logging_collector and log_statement are %s)", settings)
	}
	role := p.role(t, "reader", "LOGIN")
	proxied, err := proxy.Start(p.super.Host)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = proxied.Close() })
	u := *p.super
	u.Host = proxied.Addr()
	c := p.cluster(t, as(&u))

	password, verifier := newVerifier(t)
	secrets := pieces(password, verifier)
	err = c.Do(t.Context(), p.database, Lock{Key: 1}, func(tx *Tx) error {
		if err := tx.SetPassword(t.Context(), role, verifier); err != nil {
			return err
		}
		lacks(t, p.value(t, "SELECT string_agg(query, ' ') FROM pg_stat_activity WHERE application_name = $1", p.prefix+"app"), secrets...)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}

	manager := p.role(t, "manager", "LOGIN CREATEROLE PASSWORD 'pw'")
	for what, fails := range map[string]struct {
		c    *Cluster
		role string
	}{
		"a role that is not there":               {c, p.prefix + "gone"},
		"a superuser's, by a login that is none": {p.cluster(t, as(p.url(manager, "pw"))), p.super.User.Username()},
	} {
		failing, failingVerifier := newVerifier(t)
		more := pieces(failing, failingVerifier)
		err := p.setPassword(t, fails.c, fails.role, failingVerifier)
		var pg *pgconn.PgError
		if !errors.As(err, &pg) {
			t.Fatalf("%s: %v", what, err)
		}
		lacks(t, fmt.Sprintf("%v %+v", err, pg), more...)
		secrets = append(secrets, more...)
	}

	// A control: what the server is told in a statement is in its log.
	control := "SCRAM-SHA-256$4096:" + random(8)
	p.sql(t, "SELECT '"+control+"'")
	const log = "pg_catalog.pg_read_file(pg_catalog.pg_current_logfile())"
	p.eventually(t, "SELECT strpos("+log+", $1) > 0", control)
	logged := p.value(t, "SELECT "+log)
	holds(t, logged, control, "CREATE TEMPORARY TABLE datatable_verifier", p.prefix+"gone")
	lacks(t, logged, secrets...)
	lacks(t, strings.Join(proxied.Statements(), "\n"), secrets...)
	holds(t, strings.Join(proxied.Statements(), "\n"), "CREATE TEMPORARY TABLE datatable_verifier")
}

func TestAFailedSetPasswordLeavesNothing(t *testing.T) {
	p := newPlace(t)
	c := p.cluster(t)
	_, verifier := newVerifier(t)
	if err := p.setPassword(t, c, p.prefix+"gone", verifier); err == nil {
		t.Fatal("a role that is not there has a password")
	} else {
		holds(t, err.Error(), p.prefix+"gone", "does not exist")
	}
	role := p.role(t, "there", "LOGIN")
	if err := p.setPassword(t, c, role, verifier); err != nil {
		t.Errorf("afterwards: %v", err)
	}
}
