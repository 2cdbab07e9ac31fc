package provider_test

import (
	"fmt"
	"net"
	"strings"
	"testing"

	"github.com/datatable-io/terraform-provider-datatable/internal/acctest"
	"github.com/datatable-io/terraform-provider-datatable/internal/acctest/proxy"
)

// fails applies a configuration that has to fail, and returns the output
// without line breaks.
func fails(t *testing.T, m *acctest.Module, args ...string) string {
	t.Helper()
	out, err := m.Run(append([]string{args[0], "-input=false"}, args[1:]...)...)
	if err == nil {
		t.Fatalf("it works:\n%s", out)
	}
	return unwrapped(out)
}

// oneError checks that there is one error, and what it says.
func oneError(t *testing.T, out string, words ...string) {
	t.Helper()
	if n := strings.Count(out, "Error: "); n != 1 {
		t.Errorf("%d errors and not one:\n%s", n, out)
	}
	for _, word := range words {
		if !strings.Contains(out, word) {
			t.Errorf("the error lacks %q:\n%s", word, out)
		}
	}
}

const oneWorkspace = "resource \"datatable_workspace\" \"it\" {\n  name = \"w\"\n}\n"

func TestServerThatCannotBeUsedIsOneClearError(t *testing.T) {
	e := acctest.New(t)
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := closed.Addr().String()
	_ = closed.Close()
	e.SQL(t, `CREATE ROLE "§nobody" LOGIN PASSWORD 'sesame-hidden'`, `CREATE ROLE "§nologin" PASSWORD 'sesame-hidden'`)
	with := func(user, password, address, database string) string {
		return e.ProviderAt(fmt.Sprintf("postgres://%s:%s@%s/%s?sslmode=disable", e.Name(user), password, address, e.Name(database))) + oneWorkspace
	}
	for name, c := range map[string]struct {
		config string
		words  []string
	}{
		"unreachable":               {with("§nobody", "sesame-hidden", address, "§db"), []string{"The server at " + address + " cannot be reached", "Check url"}},
		"wrong password":            {with("§nobody", "wrong-sesame-hidden", e.Address(), "§db"), []string{"The password for login", "is wrong", "password"}},
		"missing database":          {with("§nobody", "sesame-hidden", e.Address(), "§nowhere"), []string{`Database "` + e.Name("§nowhere") + `" does not exist`, "Create it"}},
		"login that may not log in": {with("§nologin", "sesame-hidden", e.Address(), "§db"), []string{"may not connect", "can log in"}},
		"login without rights":      {with("§nobody", "sesame-hidden", e.Address(), "§db"), []string{"permission denied for database", "must be a superuser, or have CREATEROLE and own the database"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			out := fails(t, acctest.NewModule(t, c.config), "apply", "-auto-approve")
			oneError(t, out, c.words...)
			if strings.Contains(out, "sesame-hidden") {
				t.Errorf("the password is in the output:\n%s", out)
			}
		})
	}
}

func TestCatalogOfAnotherLoginIsOneClearError(t *testing.T) {
	e := acctest.New(t)
	acctest.NewModule(t, e.Provider()+oneWorkspace).MustRun("apply", "-auto-approve", "-input=false")
	e.SQL(t, `CREATE ROLE "§other" LOGIN CREATEROLE PASSWORD 'x'`, `ALTER DATABASE "§db" OWNER TO "§other"`)
	m := acctest.NewModule(t, e.ProviderAt("postgres://"+e.Name("§other")+":x@"+e.Address()+"/"+e.Database()+"?sslmode=disable")+oneWorkspace)
	oneError(t, fails(t, m, "apply", "-auto-approve"), "Schema datatable_catalog was made by another login than the provider's", "Use the login that made it")
}

func TestEncryptionKeyThatIsOfNoUse(t *testing.T) {
	e := acctest.New(t)
	role := e.Name("resource \"datatable_role\" \"it\" {\n  name = \"§it\"\n}\n")
	provider := func(key string) string {
		return fmt.Sprintf("provider \"datatable\" {\n  url = %q\n  %s\n}\n", e.URL(), key)
	}
	const key, anew, rotate = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=", "openssl rand -base64 32", "To change the key, give the new one as encryption_key"
	for name, c := range map[string]struct{ key, word, works string }{
		"missing":                   {"", "encryption_key is not set", anew},
		"short":                     {`encryption_key = "c2VjcmV0"`, "encryption_key has 6 bytes and needs 32", anew},
		"not base64":                {`encryption_key = "sesame hidden key"`, "encryption_key is not base64", anew},
		"previous that is short":    {`encryption_key = "` + key + "\"\n  previous_encryption_key = \"c2VjcmV0\"", "previous_encryption_key has 6 bytes and needs 32", rotate},
		"previous that is no key":   {`encryption_key = "` + key + "\"\n  previous_encryption_key = \"sesame hidden key\"", "previous_encryption_key is not base64", rotate},
		"previous that is the same": {`encryption_key = "` + key + "\"\n  previous_encryption_key = \"" + key + `"`, "previous_encryption_key is the same key as encryption_key", rotate},
		"previous alone":            {`previous_encryption_key = "` + key + `"`, "previous_encryption_key is set and encryption_key is not", rotate},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			out := fails(t, acctest.NewModule(t, provider(c.key)+role), "apply", "-auto-approve")
			oneError(t, out, c.word, c.works)
			if strings.Contains(out, "sesame hidden") || strings.Contains(out, key) || strings.Contains(out, "c2VjcmV0") {
				t.Errorf("the key is in the output:\n%s", out)
			}
		})
	}
	t.Run("not needed", func(t *testing.T) {
		t.Parallel()
		acctest.NewModule(t, provider("")+oneWorkspace).MustRun("apply", "-auto-approve", "-input=false")
	})
}

func TestMalformedURLIsNotRepeated(t *testing.T) {
	t.Parallel()
	out := fails(t, acctest.NewModule(t, "provider \"datatable\" {\n  url = \"postgres://u:sesame-hidden@[::1/db\"\n}\n"+oneWorkspace), "plan")
	oneError(t, out, "postgres://user@host:5432/database")
	if strings.Contains(out, "sesame-hidden") {
		t.Errorf("the password is in the output:\n%s", out)
	}
}

func TestUnknownURLReadsNoOtherServer(t *testing.T) {
	e := acctest.New(t)
	// Whatever the environment points at, nothing may reach it.
	decoy, err := proxy.Start(e.Address())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = decoy.Close() })
	host, port, _ := strings.Cut(decoy.Addr(), ":")
	config := func(more string) string {
		return e.Name(`
resource "terraform_data" "url" {
  input = "`+e.URL()+`"
}
provider "datatable" {
  url            = terraform_data.url.output
  encryption_key = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="
}
resource "datatable_role" "it" {
  name = "§it"
}
`) + more
	}
	m := acctest.NewModule(t, config(""))
	m.Env = []string{"PGHOST=" + host, "PGPORT=" + port, "PGUSER=postgres", "DATATABLE_URL=postgres://postgres@" + decoy.Addr() + "/postgres"}
	out := m.MustRun("plan", "-input=false")
	contains(t, out, "2 to add, 0 to change", `"CREATE ROLE \"`+e.Name("§it")+`\" LOGIN`)

	m.Write("main.tf", config("data \"datatable_connection\" \"it\" {\n  identity = { user = \"x\" }\n}\n"))
	oneError(t, fails(t, m, "plan"), "The provider's url is not known yet", "Nothing is read from any other server")
	if n := decoy.Counts().Total; n != 0 {
		t.Errorf("%d connections were made to another server", n)
	}

	// With everything known by then, the apply works.
	m.Write("main.tf", config(""))
	m.MustRun("apply", "-auto-approve", "-input=false")
	m.MustRun("destroy", "-auto-approve", "-input=false")
	if n := decoy.Counts().Total; n != 0 {
		t.Errorf("%d connections were made to another server", n)
	}
}

func TestUnknownInputsMakeStatementsUnknown(t *testing.T) {
	e := acctest.New(t)
	m := acctest.NewModule(t, e.Config(oneRole+`
resource "terraform_data" "table" {
  input = "t"
}
resource "datatable_grant" "it" {
  datatable  = datatable.main.name
  role       = datatable_role.reader.name
  schema     = "public"
  objects    = [terraform_data.table.output]
  privileges = ["SELECT"]
}`))
	e.SQL(t, "CREATE TABLE t (a int)")
	out := m.MustRun("plan", "-input=false")
	contains(t, out, "objects = [ + (known after apply), ]")
	m.MustRun("apply", "-auto-approve", "-input=false")
	contains(t, m.MustRun("show"), `GRANT SELECT ON TABLE \"public\".\"t\" TO`)
	if out, err := m.Run("plan", "-detailed-exitcode", "-input=false"); err != nil {
		t.Errorf("the second plan is not empty:\n%s", out)
	}
	m.MustRun("destroy", "-auto-approve", "-input=false")
}
