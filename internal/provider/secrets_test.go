package provider_test

import (
	"archive/zip"
	"bytes"
	"crypto/hmac"
	"crypto/pbkdf2"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/datatable-io/terraform-provider-datatable/internal/acctest"
	"github.com/datatable-io/terraform-provider-datatable/internal/datatable"
)

// forms are the ways in which a text could be written somewhere.
func forms(secret string) map[string]string {
	asJSON, _ := json.Marshal(secret) // a string always can be
	written := map[string]string{
		"plain": secret, "hexadecimal": hex.EncodeToString([]byte(secret)),
		"in a query": url.QueryEscape(secret), "in a path": url.PathEscape(secret), "in a URL": strings.TrimPrefix(url.UserPassword("", secret).String(), ":"),
		"as JSON": strings.Trim(string(asJSON), `"`), "as HCL": strings.Trim(strconv.Quote(secret), `"`), "as SQL": strings.ReplaceAll(secret, "'", "''"),
	}
	for name, encoding := range map[string]*base64.Encoding{"base64": base64.RawStdEncoding, "URL-safe base64": base64.RawURLEncoding} {
		for before := range 3 {
			// Somewhere in what is encoded: what other bytes share a digit with is
			// left out.
			encoded := encoding.EncodeToString(append(make([]byte, before), secret...))
			written[fmt.Sprintf("%s at %d", name, before)] = encoded[[]int{0, 2, 3}[before] : len(encoded)-1]
		}
	}
	return written
}

// search tells where secrets stand. Secrets and places have names.
func search(places, secrets map[string]string) (found []string) {
	for name, secret := range secrets {
		for form, written := range forms(secret) {
			for place, text := range places {
				if strings.Contains(text, written) {
					found = append(found, fmt.Sprintf("%s (%s) is in %s", name, form, place))
				}
			}
		}
	}
	return found
}

// addVerifiers adds what Postgres keeps of passwords, whole and in its parts.
func addVerifiers(t *testing.T, e *acctest.Env, secrets map[string]string) {
	t.Helper()
	for _, verifier := range e.Texts(t, "SELECT rolpassword FROM pg_authid WHERE rolpassword IS NOT NULL AND (starts_with(rolname, '§') OR "+
		"EXISTS (SELECT FROM pg_auth_members m JOIN pg_roles r ON r.oid = m.roleid WHERE m.member = pg_authid.oid AND starts_with(r.rolname, '§')))") {
		parts := strings.FieldsFunc(verifier, func(r rune) bool { return r == '$' || r == ':' })
		secrets["verifier "+verifier] = verifier
		for i, name := range []string{"stored key", "server key"} {
			secrets[name+" of "+verifier] = parts[3+i]
			raw, err := base64.StdEncoding.DecodeString(parts[3+i])
			if err != nil {
				t.Fatal(err)
			}
			secrets["bytes of the "+name+" of "+verifier] = string(raw)
		}
	}
}

// filesOf reads every file of a folder, and what is in those that are archives,
// as a plan is.
func filesOf(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name := "file " + strings.TrimPrefix(path, dir)
		files[name] = string(content)
		archive, err := zip.NewReader(bytes.NewReader(content), int64(len(content)))
		if err != nil {
			return nil //nolint:nilerr // no archive
		}
		for _, entry := range archive.File {
			in, err := entry.Open()
			if err != nil {
				return err
			}
			part, err := io.ReadAll(in)
			if err != nil {
				return err
			}
			files[name+" entry "+entry.Name] = string(part)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// tablesOf is every row of the catalog and of the ledger as text.
func tablesOf(t *testing.T, e *acctest.Env) string {
	t.Helper()
	var all strings.Builder
	for _, table := range e.Texts(t, "SELECT format('%I.%I', schemaname, tablename) FROM pg_tables WHERE schemaname IN ('datatable_catalog', 'datatable_ledger')") {
		for _, row := range e.Texts(t, "SELECT it::text FROM "+table+" it") {
			fmt.Fprintf(&all, "%s %s\n", table, row)
		}
	}
	return all.String()
}

const declaredSecretly = two + `
resource "datatable_grant" "it" {
  datatable  = datatable.main.name
  role       = datatable_role.a.name
  schema     = "public"
  objects    = ["t"]
  privileges = ["SELECT", "INSERT"]
}
resource "datatable_policy" "it" {
  datatable = datatable.main.name
  name      = "p"
  table     = "t"
  using     = provider::datatable::member_of(datatable_role.a.name)
}
data "datatable_connection" "it" {
  datatable = datatable.main.name
  identity  = { user = "bob" }
}
`

func TestSecretsAreNowhere(t *testing.T) {
	e := acctest.NewOwner(t)
	log := e.LogAll(t)
	password := `p@ss/w:rd %2f'"\é` + acctest.NewKey()
	e.UsePassword(t, password)
	e.SQLAsProvider(t, "CREATE TABLE t (a int)")
	secrets := map[string]string{"the provider's password": password}
	addKey := func(name, key string) {
		raw, err := base64.StdEncoding.DecodeString(key)
		if err != nil {
			t.Fatal(err)
		}
		secrets[name], secrets[name+" without padding"], secrets["bytes of "+name] = key, strings.TrimRight(key, "="), string(raw)
	}
	addLogins := func(when string) {
		for _, login := range []acctest.Login{e.Login(t, "§a"), e.Login(t, "§b"), e.Open(t, "acme", "datatable", "bob", "bob")} {
			secrets["password of "+login.Name+" "+when] = login.Password()
		}
		addVerifiers(t, e, secrets)
	}

	config := "provider \"datatable\" {\n  workspace = \"acme\"\n}\n" + e.Name(declaredSecretly)
	m := acctest.NewModule(t, config)
	trace := filepath.Join(t.TempDir(), "trace")
	var printed strings.Builder
	with := func(url, key, previous string) {
		m.Env = []string{
			"TF_LOG=TRACE", "TF_LOG_PATH=" + trace, "DATATABLE_URL=" + url,
			"DATATABLE_ENCRYPTION_KEY=" + key, "DATATABLE_PREVIOUS_ENCRYPTION_KEY=" + previous,
		}
	}
	run := func(args ...string) { printed.WriteString(m.MustRun(args...)) }
	apply := func() {
		run("plan", "-out=plan", "-input=false")
		printed.WriteString(m.MustRun("show", "-json", "plan") + m.MustRun("apply", "-input=false", "plan") + m.MustRun("show", "-json"))
	}

	// Everything is applied: with a set login that is opened by Terraform, where it
	// can, another key, and a role that is disabled.
	old, fresh := e.Key(), acctest.NewKey()
	addKey("the key", old)
	addKey("the new key", fresh)
	with(e.URL(), old, "")
	apply()
	if acctest.HasEphemeral(t) {
		m.Write("main.tf", config+opens(t, filepath.Join(t.TempDir(), "out"), `viewer = { user = "bob" }`))
		apply()
	}
	addLogins("at first")
	e.UseKey(fresh)
	with(e.URL(), fresh, old)
	apply()
	addLogins("with the new key")
	with(e.URL(), fresh, "")
	m.Write("main.tf", strings.Replace(config, e.Name("\"§b\""), e.Name("\"§b\"\n  enabled = false"), 1))
	apply()
	m.Write("main.tf", config)
	apply()
	addLogins("enabled again")

	// What fails says nothing of them either.
	var failures strings.Builder
	failing := func(url, key, previous string, args ...string) {
		t.Helper()
		with(url, key, previous)
		out, err := m.Run(append(args, "-input=false", "-no-color")...)
		if err == nil {
			t.Errorf("%s works", args)
		}
		failures.WriteString(out)
	}
	other, short := acctest.NewKey(), old[:20]
	addKey("another key", other)
	wrong := "wr0ng/" + password
	secrets["a wrong password"], secrets["a short key"] = wrong, short
	wrongURL := strings.Replace(e.URL(), url.UserPassword(e.User(), password).String(), url.UserPassword(e.User(), wrong).String(), 1)
	m.Write("main.tf", config+e.Name("resource \"datatable_role\" \"c\" {\n  name = \"§c\"\n}\n"))
	failing(e.URL(), other, "", "apply", "-auto-approve") // the key is wrong
	failing(e.URL(), other, fresh[:20], "plan")           // the previous one is short
	failing(wrongURL, fresh, "", "plan")
	failing(strings.Replace(e.URL(), "postgres://", "postgres://%", 1), fresh, "", "plan") // it is no URL
	for _, s := range []*datatable.Service{
		e.ServiceWith(t, short, ""), e.ServiceWith(t, old+"!", ""), e.ServiceWith(t, "", old), e.ServiceWith(t, old, old), e.ServiceWith(t, other, old), e.ServiceWith(t, old, ""), e.ServiceWith(t, "", ""),
	} {
		for _, role := range []string{"§a", "§nobody", ""} {
			if role == "" {
				_, err := s.CreateRole(t.Context(), datatable.Role{Name: e.Name("§c"), Enabled: true})
				fmt.Fprintf(&failures, "%v %+v %#v\n", err, err, err)
				continue
			}
			_, err := open(e, s, role)
			if err == nil {
				t.Errorf("%s is opened with a key that cannot", role)
			}
			fmt.Fprintf(&failures, "%v %+v %#v\n", err, err, err)
		}
	}
	if found := search(map[string]string{"the catalog": tablesOf(t, e)}, map[string]string{"role c": e.Name("§c")}); len(found) > 0 {
		t.Error(found)
	}
	for _, login := range []acctest.Login{e.WithPassword("§a", wrong), e.WithPassword("§nobody", wrong)} {
		login.Locked(t)
	}

	traced, err := os.ReadFile(trace)
	if err != nil {
		t.Fatal(err)
	}
	places := filesOf(t, m.Dir())
	places["the output"], places["the errors"], places["Terraform's log"] = printed.String(), failures.String(), string(traced)
	places["the server's log"], places["the catalog"] = log.Text(t), tablesOf(t, e)
	if found := search(places, secrets); len(found) > 0 {
		t.Errorf("%d of %d secrets and their forms are found:\n%s", len(found), len(secrets), strings.Join(found, "\n"))
	}

	// That nothing is found would mean little if the same search did not find what
	// is there: in each place the name of a login, and a secret where one is hidden.
	login := map[string]string{"a": e.Name("§a")}
	for _, place := range []string{"the output", "the errors", "Terraform's log", "the server's log", "the catalog", "file /terraform.tfstate", "file /plan entry tfplan"} {
		if len(search(map[string]string{place: places[place]}, login)) == 0 {
			t.Errorf("%s has no name of a login, so that it proves nothing: %.300q", place, places[place])
		}
	}
	for _, statement := range []string{`ALTER ROLE "§b" NOLOGIN`, "CREATE ROLE \"wm_set_", "COPY \"pg_temp\".\"datatable_verifier\"", "UPDATE datatable_catalog.role_set SET password"} {
		if !strings.Contains(strings.ToLower(places["the server's log"]), strings.ToLower(e.Name(statement))) {
			t.Errorf("the server's log lacks %s", statement)
		}
	}
	for _, hidden := range []string{
		password, "x=" + url.QueryEscape(password), "Basic " + base64.StdEncoding.EncodeToString([]byte("user:"+password+";")),
		e.URL(), strconv.Quote(password), fmt.Sprintf("%x", "ab"+password),
	} {
		if len(search(map[string]string{"here": "…" + hidden + "…"}, map[string]string{"password": password})) == 0 {
			t.Errorf("the password is not found in %q", hidden)
		}
	}
	t.Logf("%d secrets in %d forms each, in %d places", len(secrets), len(forms("x")), len(places))

	m.Write("main.tf", config)
	with(e.URL(), fresh, "")
	m.MustRun("destroy", "-auto-approve", "-input=false")
	if left := e.Leftovers(t); len(left) > 0 {
		t.Errorf("left over: %q", left)
	}
}

// hashed is what SCRAM-SHA-256 makes of a password (RFC 5803), with the salt and
// the iterations of a verifier.
func hashed(t *testing.T, password, like string) string {
	t.Helper()
	parts := strings.FieldsFunc(like, func(r rune) bool { return r == '$' || r == ':' })
	if len(parts) != 5 {
		t.Fatalf("no verifier: %q", like)
	}
	iterations, err := strconv.Atoi(parts[1])
	if err != nil {
		t.Fatal(err)
	}
	salt, err := base64.StdEncoding.DecodeString(parts[2])
	if err != nil {
		t.Fatal(err)
	}
	salted, err := pbkdf2.Key(sha256.New, password, salt, iterations, sha256.Size)
	if err != nil {
		t.Fatal(err)
	}
	sign := func(text string) []byte {
		h := hmac.New(sha256.New, salted)
		h.Write([]byte(text))
		return h.Sum(nil)
	}
	stored := sha256.Sum256(sign("Client Key"))
	return fmt.Sprintf("SCRAM-SHA-256$%d:%s$%s:%s", iterations, parts[2],
		base64.StdEncoding.EncodeToString(stored[:]), base64.StdEncoding.EncodeToString(sign("Server Key")))
}

func TestVerifiersAreWhatPostgresItselfWouldStore(t *testing.T) {
	e := acctest.NewOwner(t)
	m := acctest.NewModule(t, e.Config(two))
	m.MustRun("apply", "-auto-approve", "-input=false")
	stored := func(login string) string {
		return e.Value(t, "SELECT rolpassword FROM pg_authid WHERE rolname = '"+login+"'")
	}
	shape := func(verifier string) (iterations string, saltLength int) {
		parts := strings.FieldsFunc(verifier, func(r rune) bool { return r == '$' || r == ':' })
		return parts[0] + "$" + parts[1], len(parts[2])
	}
	for i, login := range []acctest.Login{e.Login(t, "§a"), e.Login(t, "§b"), e.Open(t, "acme", "datatable", "bob", "bob")} {
		// The server's own, of the same password in the clear, tells that the
		// computation here is the server's.
		own := e.Name(fmt.Sprintf("§own%d", i))
		e.SQL(t, "CREATE ROLE \""+own+"\" PASSWORD '"+login.Password()+"'")
		theirs, ours := stored(own), stored(login.Name)
		if hashed(t, login.Password(), theirs) != theirs {
			t.Fatalf("the server makes %s of a password, and this test something else", theirs)
		}
		if got := hashed(t, login.Password(), ours); got != ours {
			t.Errorf("%s has the verifier %s, and with its salt the server would make %s", login.Name, ours, got)
		}
		iterations, salt := shape(ours)
		if wantIterations, wantSalt := shape(theirs); iterations != wantIterations || salt != wantSalt {
			t.Errorf("%s has %s and a salt of %d digits, and the server makes %s and %d", login.Name, iterations, salt, wantIterations, wantSalt)
		}
		login.Works(t, "SELECT 1")
	}
	m.MustRun("destroy", "-auto-approve", "-input=false")
}
