package acctest

import (
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/datatable-io/terraform-provider-datatable/internal/catalog"
	"github.com/datatable-io/terraform-provider-datatable/internal/datatable"
	"github.com/datatable-io/terraform-provider-datatable/internal/postgres"
)

// NewKey is an encryption key that nothing is under yet.
func NewKey() string {
	key := make([]byte, 32)
	_, _ = rand.Read(key)
	return base64.StdEncoding.EncodeToString(key)
}

// Key is the provider's encryption key.
func (e *Env) Key() string { return e.key }

// UseKey makes another key the one of configurations, logins and services that
// are made from now on.
func (e *Env) UseKey(key string) { e.key = key }

// ServiceWith is Service with other keys; either may be empty.
func (e *Env) ServiceWith(t *testing.T, key, previous string) *datatable.Service {
	t.Helper()
	return e.service(t, e.address, key, previous)
}

func (e *Env) service(t *testing.T, address, key, previous string) *datatable.Service {
	t.Helper()
	s, err := datatable.New(datatable.Options{
		Postgres: postgres.Config{
			URL: e.url(address, e.user, e.password, e.Database()), MaxConnections: 2, ConnectTimeout: 15 * time.Second, LockTimeout: time.Minute, ApplicationName: "acctest",
		},
		EncryptionKey: key, PreviousEncryptionKey: previous,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// ProviderWithKeys is Provider with other keys.
func (e *Env) ProviderWithKeys(key, previous string) string {
	return strings.Replace(e.Provider(fmt.Sprintf("previous_encryption_key = %q", previous)), e.key, key, 1)
}

// UsePassword gives the provider's login, which is not the superuser, another
// password.
func (e *Env) UsePassword(t *testing.T, password string) {
	t.Helper()
	e.admin(t, "postgres", "ALTER ROLE "+postgres.Ident(e.user)+" PASSWORD "+postgres.Literal(password))
	e.password = password
}

// AsSuperuser is the server's superuser, in the test's database.
func (e *Env) AsSuperuser(t *testing.T) Login {
	t.Helper()
	return Login{Name: superuser(t).User.Username(), url: e.adminURL(t, e.Database())}
}

// Texts reads one column of text from the test's database as the superuser.
func (e *Env) Texts(t *testing.T, sql string) (texts []string) {
	t.Helper()
	e.rows(t, e.Database(), sql, func(scan func(...any) error) error {
		var text string
		err := scan(&text)
		texts = append(texts, text)
		return err
	})
	return texts
}

// Under lists the logins whose password in the catalog opens under a key, and
// those whose does not.
func (e *Env) Under(t *testing.T, key string) (under, others []string) {
	t.Helper()
	box, err := catalog.NewBox(key)
	if err != nil {
		t.Fatal(err)
	}
	e.rows(t, e.Database(), "SELECT id::text, name, password FROM datatable_catalog.role UNION ALL SELECT login, login, password FROM datatable_catalog.role_set ORDER BY 2",
		func(scan func(...any) error) error {
			var identity, login string
			var sealed []byte
			if err := scan(&identity, &login, &sealed); err != nil {
				return err
			}
			if _, err := box.Open(identity, sealed); err != nil {
				others = append(others, login)
			} else {
				under = append(under, login)
			}
			return nil
		})
	return under, others
}
