// Package acctest is what acceptance tests stand on: a Postgres server, a
// database and a role prefix for each test, SQL run as any login over TCP with
// its real password, the real Terraform CLI, and checks of plans, states and
// databases.
//
// In configurations and SQL, "§" stands for the test's prefix: "§reader" is a
// role that no other test has, "§db" the test's database.
package acctest

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/datatable-io/terraform-provider-datatable/internal/acctest/server"
	"github.com/datatable-io/terraform-provider-datatable/internal/postgres"
)

// prefixMark stands for a test's prefix.
const prefixMark = "§"

var shared *server.Server

// Main runs a package's tests with one server for all of them, and returns the
// exit code.
func Main(m *testing.M) int {
	if os.Getenv(envReaderURL) != "" {
		if file := os.Getenv(envReaderOut); file != "" {
			return readOnce(file)
		}
		return readForever()
	}
	s, err := server.Start(context.Background(), server.Options{Log: os.Stderr, Settings: logged})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() { _ = s.Stop() }()
	fmt.Fprintln(os.Stderr, "tests run against", s.Describe())
	cli, err := findCLI()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	for name, value := range map[string]string{
		"TF_ACC": "1", "TF_ACC_TERRAFORM_PATH": cli, "CHECKPOINT_DISABLE": "1",
		// What a developer has set up for Terraform or Postgres is not for tests.
		"TF_CLI_CONFIG_FILE": os.DevNull, "DATATABLE_URL": "", "DATATABLE_ENCRYPTION_KEY": "", "DATATABLE_PREVIOUS_ENCRYPTION_KEY": "",
	} {
		if err := os.Setenv(name, value); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
	}
	shared = s
	defer removeBuild()
	return m.Run()
}

// findCLI prefers the variable that terraform-plugin-testing knows.
func findCLI() (string, error) {
	if path := os.Getenv("TF_ACC_TERRAFORM_PATH"); path != "" {
		return path, nil
	}
	for _, name := range []string{"terraform", "tofu"} {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", errors.New("neither terraform nor tofu is on the PATH; install one, or set TF_ACC_TERRAFORM_PATH")
}

// An Env is a test's own database, role prefix and encryption key.
type Env struct {
	t      *testing.T
	prefix string
	key    string
	// login of the provider.
	user, password string
	address        string
}

// New makes an environment in which the provider is a superuser, and lets the
// test run in parallel with others.
func New(t *testing.T) *Env {
	t.Helper()
	t.Parallel()
	base := superuser(t)
	password, _ := base.User.Password()
	e := newEnv(t)
	e.user, e.password, e.address = base.User.Username(), password, base.Host
	e.SQL(t, "SELECT 1")
	return e
}

// NewOwner makes an environment in which the provider is what managed services
// give: a login with CREATEROLE that owns the database.
func NewOwner(t *testing.T) *Env {
	t.Helper()
	t.Parallel()
	e := newEnv(t)
	e.user, e.password, e.address = e.prefix+"owner", randomHex(16), superuser(t).Host
	e.admin(t, "postgres", "CREATE ROLE "+postgres.Ident(e.user)+" LOGIN CREATEROLE PASSWORD "+postgres.Literal(e.password),
		"ALTER DATABASE "+postgres.Ident(e.Database())+" OWNER TO "+postgres.Ident(e.user))
	// Before 15 the schema belongs to whoever made the cluster; services hand
	// it over.
	e.admin(t, e.Database(), "ALTER SCHEMA public OWNER TO "+postgres.Ident(e.user))
	return e
}

func newEnv(t *testing.T) *Env {
	t.Helper()
	if shared == nil {
		t.Fatal("the package's TestMain must call acctest.Main")
	}
	key := make([]byte, 32)
	_, _ = rand.Read(key)
	e := &Env{t: t, prefix: "t" + randomHex(4) + "_", key: base64.StdEncoding.EncodeToString(key)}
	e.admin(t, "postgres", "CREATE DATABASE "+postgres.Ident(e.Database()))
	t.Cleanup(e.remove)
	return e
}

func randomHex(n int) string {
	b := make([]byte, n)
	_, _ = rand.Read(b)
	return hex.EncodeToString(b)
}

// remove drops the database and every role that the test made.
func (e *Env) remove() {
	var roles []string
	e.rows(e.t, e.Database(), `SELECT rolname FROM pg_roles WHERE starts_with(rolname, '`+e.prefix+`')
		OR shobj_description(oid, 'pg_authid') LIKE 'datatable role wm_set_%' AND pg_has_role(oid, 'MEMBER')
			AND EXISTS (SELECT FROM pg_auth_members m JOIN pg_roles r ON r.oid = m.roleid WHERE m.member = pg_roles.oid AND starts_with(r.rolname, '`+e.prefix+`'))`,
		func(scan func(...any) error) error {
			var role string
			err := scan(&role)
			roles = append(roles, role)
			return err
		})
	e.admin(e.t, "postgres", "DROP DATABASE "+postgres.Ident(e.Database())+" WITH (FORCE)")
	for _, role := range roles {
		e.admin(e.t, "postgres", string(postgres.DropOwned(role)), string(postgres.DropRole(role)))
	}
}

// Name puts the test's prefix where "§" is.
func (e *Env) Name(text string) string { return strings.ReplaceAll(text, prefixMark, e.prefix) }

// Database is the name of the test's database.
func (e *Env) Database() string { return e.prefix + "db" }

// URL is the provider's connection string, for its database.
func (e *Env) URL() string { return e.url(e.address, e.user, e.password, e.Database()) }

// User is the provider's login.
func (e *Env) User() string { return e.user }

// Address is the server's host:port.
func (e *Env) Address() string { return e.address }

func (e *Env) url(address, user, password, database string) string {
	u := url.URL{
		Scheme: "postgres", Host: address, User: url.UserPassword(user, password), Path: "/" + database,
		RawQuery: "sslmode=disable",
	}
	return u.String()
}

func superuser(t *testing.T) *url.URL {
	t.Helper()
	u, err := url.Parse(shared.URL())
	if err != nil {
		t.Fatalf("the server's URL: %v", err)
	}
	return u
}

// SQL runs statements in the test's database as the server's superuser.
func (e *Env) SQL(t *testing.T, statements ...string) {
	t.Helper()
	e.admin(t, e.Database(), statements...)
}

// SQLAsProvider runs statements in the test's database as the provider's login.
func (e *Env) SQLAsProvider(t *testing.T, statements ...string) {
	t.Helper()
	e.run(t, e.URL(), statements...)
}

// Value reads one text from the test's database as the superuser.
func (e *Env) Value(t *testing.T, sql string) (value string) {
	t.Helper()
	e.rows(t, e.Database(), sql, func(scan func(...any) error) error { return scan(&value) })
	return value
}

func (e *Env) admin(t *testing.T, database string, statements ...string) {
	t.Helper()
	e.run(t, e.adminURL(t, database), statements...)
}

func (e *Env) adminURL(t *testing.T, database string) string {
	t.Helper()
	u := *superuser(t)
	u.Path = "/" + database
	return u.String()
}

func (e *Env) run(t *testing.T, url string, statements ...string) {
	t.Helper()
	conn, err := pgx.Connect(context.Background(), url)
	if err != nil {
		t.Fatalf("connect: %v", err)
	}
	defer func() { _ = conn.Close(context.Background()) }()
	for _, sql := range statements {
		if _, err := conn.Exec(context.Background(), e.Name(sql)); err != nil {
			t.Fatalf("%s: %v", e.Name(sql), err)
		}
	}
}

func (e *Env) rows(t *testing.T, database, sql string, each func(scan func(...any) error) error) {
	t.Helper()
	conn, err := pgx.Connect(context.Background(), e.adminURL(t, database))
	if err != nil {
		t.Fatalf("connect: %v", err)
	}
	defer func() { _ = conn.Close(context.Background()) }()
	rows, err := conn.Query(context.Background(), e.Name(sql))
	if err != nil {
		t.Fatalf("%s: %v", e.Name(sql), err)
	}
	defer rows.Close()
	for rows.Next() {
		if err := each(rows.Scan); err != nil {
			t.Fatalf("%s: %v", e.Name(sql), err)
		}
	}
	if err := rows.Err(); err != nil {
		t.Fatalf("%s: %v", e.Name(sql), err)
	}
}
