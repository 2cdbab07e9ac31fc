package provider_test

import (
	"bytes"
	"context"
	"errors"
	"net"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/datatable-io/terraform-provider-datatable/internal/acctest"
	"github.com/datatable-io/terraform-provider-datatable/internal/datatable"
)

// elsewhere opens a session of a login in another database.
func elsewhere(t *testing.T, l acctest.Login, database string) *pgx.Conn {
	t.Helper()
	config := l.Connect(t).Config().Copy()
	config.Database = database
	conn, err := pgx.ConnectConfig(context.Background(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	return conn
}

// ended checks that sessions are over.
func ended(t *testing.T, sessions ...*pgx.Conn) {
	t.Helper()
	for _, c := range sessions {
		if _, err := c.Exec(context.Background(), "SELECT 1"); err == nil {
			t.Errorf("the session of %s is not ended", c.Config().User)
		}
	}
}

// orphans counts the set logins that hold the second role.
const orphans = "SELECT count(*)::text FROM pg_auth_members m JOIN pg_roles s ON s.oid = m.member JOIN pg_roles r ON r.oid = m.roleid " +
	"WHERE r.rolname = '§emea' AND starts_with(s.rolname, 'wm_set_')"

// changesPlanned says whether a plan is not empty.
func changesPlanned(m *acctest.Module) bool {
	out, err := m.Run("plan", "-detailed-exitcode", "-input=false")
	return err != nil && !strings.Contains(out, "Error:")
}

// catalogKey and ledgerKey are the keys of the provider's two advisory locks.
const catalogKey, ledgerKey = "x'6461746100000001'::bit(64)::bigint", "x'6461746100000002'::bit(64)::bigint"

func TestDisablingARoleEndsSessionsThatHoldOrAwaitTheLock(t *testing.T) {
	both(t, func(t *testing.T, e *acctest.Env) {
		e.SQLAsProvider(t, "CREATE SCHEMA s")
		m := made(t, makers(e, "on"))
		set := e.Open(t, "acme", "datatable", "mallory", "mallory")
		holding, held, waiting := e.Login(t, "§emea").Connect(t), set.Connect(t), e.Login(t, "§emea").Connect(t)
		do(t, holding, e, "SELECT pg_advisory_lock("+catalogKey+"), pg_advisory_lock("+ledgerKey+")")
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		waited := make(chan error, 1)
		go func() {
			_, err := waiting.Exec(ctx, "SELECT pg_advisory_lock("+catalogKey+")")
			waited <- err
		}()
		for e.Value(t, "SELECT count(*)::text FROM pg_locks JOIN pg_stat_activity USING (pid) WHERE locktype = 'advisory' AND NOT granted AND usename = '§emea'") == "0" {
			continue
		}
		apply(m, makers(e, "off"))
		var pg *pgconn.PgError
		// It may get the lock for a moment, when the other session is ended first.
		if err := <-waited; err != nil && (!errors.As(err, &pg) || pg.Code != "57P01") { // terminated
			t.Errorf("the session that waits for the lock: %v", err)
		}
		ended(t, holding, held, waiting)
		set.Locked(t)
		e.Login(t, "§emea").Locked(t)
		is(t, e, "0", orphans)
		destroyed(t, e, m)
	})
}

func TestAStrangerWithTheLocksKeepsNothingWaiting(t *testing.T) {
	both(t, func(t *testing.T, e *acctest.Env) {
		e.SQLAsProvider(t, "CREATE SCHEMA s", "CREATE TABLE s.t (a int)")
		m := made(t, makers(e, "on"))
		e.SQL(t, "CREATE ROLE §stranger LOGIN PASSWORD 'x'", "GRANT CONNECT ON DATABASE §db TO §stranger")
		stranger := e.WithPassword("§stranger", "x")
		do(t, stranger.Connect(t), e, "SELECT pg_advisory_lock("+catalogKey+"), pg_advisory_lock("+ledgerKey+")")
		stranger.Denied(t, "LOCK TABLE datatable_catalog.migration", "LOCK TABLE datatable_ledger.migration IN ACCESS SHARE MODE")
		grant := `
resource "datatable_grant" "t" {
  datatable  = datatable.main.name
  role       = datatable_role.app.name
  schema     = "s"
  objects    = ["t"]
  privileges = ["SELECT"]
}`
		soon := func(second string) string {
			return replace(makers(e, second, grant), `lock_timeout = "10s"`, `lock_timeout = "2s"`)
		}
		apply(m, soon("on"))
		e.Login(t, "§app").Works(t, "SELECT * FROM s.t")
		apply(m, soon("off"))
		e.Login(t, "§emea").Locked(t)
		e.SQL(t, "REVOKE CONNECT ON DATABASE §db FROM §stranger")
		destroyed(t, e, m)
	})
}

func TestDisablingARoleEndsSessionsThoughASetLoginCannotGo(t *testing.T) {
	both(t, func(t *testing.T, e *acctest.Env) {
		e.SQLAsProvider(t, "CREATE SCHEMA s")
		e.SQL(t, "CREATE DATABASE §two")
		t.Cleanup(func() { e.SQL(t, "DROP DATABASE IF EXISTS §two WITH (FORCE)") })
		m := made(t, makers(e, "on"))
		set := e.Open(t, "acme", "datatable", "mallory", "mallory")
		own, held, other := e.Login(t, "§emea").Connect(t), set.Connect(t), elsewhere(t, set, e.Name("§two"))
		do(t, other, e, "SELECT lo_create(0)")
		m.Write("main.tf", makers(e, "off"))
		refused(t, m, applying, `role "`+set.Name+`" cannot be dropped`)
		ended(t, own, held, other)
		set.Locked(t)
		e.Login(t, "§emea").Locked(t)
		if !changesPlanned(m) {
			t.Error("the plan is empty though a set login holds the role")
		}
		e.SQL(t, "DROP DATABASE §two")
		apply(m, makers(e, "off"))
		is(t, e, "0", orphans)
		if changesPlanned(m) {
			t.Error("the plan after the end is not empty")
		}
		destroyed(t, e, m)
	})
}

// cutting is a way to a server that breaks off, once and for all, when somebody
// sends it the text.
func cutting(t *testing.T, target, text string) (address string) {
	t.Helper()
	listener, err := new(net.ListenConfig).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	var open []net.Conn
	cut := func() {
		mu.Lock()
		defer mu.Unlock()
		_ = listener.Close()
		for _, c := range open {
			_ = c.Close()
		}
	}
	t.Cleanup(cut)
	forward := func(from, to net.Conn, watched bool) {
		buffer := make([]byte, 1<<20)
		for {
			n, err := from.Read(buffer)
			if err != nil {
				_ = to.Close()
				return
			}
			if watched && bytes.Contains(buffer[:n], []byte(text)) {
				cut()
				return
			}
			_, _ = to.Write(buffer[:n])
		}
	}
	go func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			server, err := new(net.Dialer).DialContext(context.Background(), "tcp", target)
			if err != nil {
				_ = client.Close()
				continue
			}
			mu.Lock()
			open = append(open, client, server)
			mu.Unlock()
			go forward(client, server, true)
			go forward(server, client, false)
		}
	}()
	return listener.Addr().String()
}

func TestDisablingARoleThatWasBrokenOffIsFinishedByTheNextApply(t *testing.T) {
	for _, second := range []string{"off", "gone"} {
		t.Run(second, func(t *testing.T) {
			both(t, func(t *testing.T, e *acctest.Env) {
				e.SQLAsProvider(t, "CREATE SCHEMA s")
				m := made(t, makers(e, "on"))
				set := e.Open(t, "acme", "datatable", "mallory", "mallory")
				login := e.Login(t, "§emea")
				own, held := login.Connect(t), set.Connect(t)
				u, err := url.Parse(e.URL())
				if err != nil {
					t.Fatal(err)
				}
				u.Host = cutting(t, e.Address(), "pg_terminate_backend")
				m.Write("main.tf", strings.ReplaceAll(makers(e, second), e.URL(), u.String()))
				refused(t, m, applying)
				// The role and its set are shut, and nobody is thrown out yet.
				login.Locked(t)
				set.Locked(t)
				do(t, own, e, "SELECT 1")
				do(t, held, e, "SELECT 1")

				m.Write("main.tf", makers(e, second))
				if !changesPlanned(m) {
					t.Error("the plan after what was broken off is empty")
				}
				apply(m, makers(e, second))
				ended(t, own, held)
				is(t, e, "0", orphans)
				is(t, e, "0", "SELECT count(*)::text FROM pg_roles WHERE rolname = '"+set.Name+"'")
				if changesPlanned(m) {
					t.Error("the plan after the end is not empty")
				}
				destroyed(t, e, m)
			})
		})
	}
}

// code is what runs with the rights of its owner, or is trusted as the owner's,
// by how it is made, how an
// error names it, and how it is dropped.
var code = []struct{ make, named, drop string }{
	{"CREATE FUNCTION s.f(int) RETURNS int IMMUTABLE LANGUAGE plpgsql AS 'BEGIN RETURN $1; END'", "function s.f(integer)", "DROP FUNCTION s.f"},
	{
		"CREATE FUNCTION s.eq(int, int) RETURNS bool LANGUAGE sql AS 'SELECT true'; CREATE OPERATOR s.=== (FUNCTION = s.eq, LEFTARG = int, RIGHTARG = int)",
		"operator s.===(integer,integer)", "DROP FUNCTION s.eq CASCADE",
	},
	{"CREATE FUNCTION s.definer() RETURNS int SECURITY DEFINER LANGUAGE sql AS 'SELECT 1'", "function s.definer()", "DROP FUNCTION s.definer()"},
	{"CREATE PROCEDURE s.procedure() SECURITY DEFINER LANGUAGE sql AS 'SELECT 1'", "function s.procedure()", "DROP PROCEDURE s.procedure()"},
	{"CREATE VIEW s.v AS SELECT 1 AS a", "view s.v", "DROP VIEW s.v"},
	{"CREATE MATERIALIZED VIEW s.mv AS SELECT 1 AS a", "materialized view s.mv", "DROP MATERIALIZED VIEW s.mv"},
	{"CREATE TABLE s.ruled (a int); CREATE RULE r AS ON UPDATE TO s.ruled DO INSTEAD NOTHING", "table s.ruled", "DROP RULE r ON s.ruled"},
	{"CREATE TABLE s.indexed (a int); CREATE INDEX by_f ON s.indexed (s.f(a))", "index s.by_f", "DROP INDEX s.by_f"},
	{"CREATE TABLE s.defaulted (a int DEFAULT s.f(1))", "default value for column a of table s.defaulted", "ALTER TABLE s.defaulted ALTER a DROP DEFAULT"},
	{"CREATE TABLE s.checked (a int CONSTRAINT c CHECK (s.f(a) = 1))", "constraint c on table s.checked", "ALTER TABLE s.checked DROP CONSTRAINT c"},
	{
		"CREATE FUNCTION s.tg() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'; " +
			"CREATE TABLE s.triggered (a int); CREATE TRIGGER tr AFTER INSERT ON s.triggered EXECUTE FUNCTION s.tg()",
		"trigger tr on table s.triggered", "DROP FUNCTION s.tg() CASCADE",
	},
	{
		"CREATE TABLE s.secured (a int); CREATE POLICY po ON s.secured USING (s.f(a) = 1)",
		"policy po on table s.secured", "DROP POLICY po ON s.secured",
	},
}

func TestARoleThatOwnsCodeIsNotDropped(t *testing.T) {
	for _, kind := range []string{"role", "set"} {
		t.Run(kind, func(t *testing.T) {
			both(t, func(t *testing.T, e *acctest.Env) {
				e.SQLAsProvider(t, "CREATE SCHEMA s")
				m := made(t, makers(e, "on"))
				l := e.Login(t, "§emea")
				if kind == "set" {
					l = e.Open(t, "acme", "datatable", "mallory", "mallory")
				}
				session := l.Connect(t)
				do(t, session, e, "CREATE TABLE s.plain (a int)", "CREATE SEQUENCE s.numbers", "CREATE TABLE s.counted (a serial PRIMARY KEY, b text NOT NULL DEFAULT 'x')",
					"CREATE INDEX ON s.counted (lower(b))")
				texts := []string{`"` + l.Name + `" made code that would run with the rights of`, "give it another owner yourself, and apply again"}
				for _, c := range code {
					do(t, session, e, c.make)
					texts = append(texts, c.named)
				}
				m.Write("main.tf", makers(e, "gone"))
				out := refused(t, m, applying, texts...)
				if strings.Contains(out, "s.plain") || strings.Contains(out, "s.counted") {
					t.Errorf("data is taken for code:\n%s", out)
				}
				ended(t, session)
				l.Locked(t)
				is(t, e, l.Name, "SELECT pg_get_userbyid(proowner)::text FROM pg_proc WHERE proname = 'definer'")
				// One is left: it is named alone.
				for _, c := range code[1:] {
					e.SQL(t, c.drop)
				}
				if out := refused(t, m, applying, code[0].named); strings.Contains(out, code[1].named) {
					t.Errorf("what is gone is named:\n%s", out)
				}
				e.SQL(t, code[0].drop)
				apply(m, makers(e, "gone"))
				owner := e.Value(t, "SELECT pg_get_userbyid(datdba)::text FROM pg_database WHERE datname = current_database()")
				for _, relation := range []string{"s.plain", "s.numbers", "s.counted", "s.ruled", "s.indexed"} {
					is(t, e, owner, "SELECT pg_get_userbyid(relowner)::text FROM pg_class WHERE oid = '"+relation+"'::regclass")
				}
				is(t, e, "0", "SELECT count(*)::text FROM pg_roles WHERE rolname = '"+l.Name+"'")
				destroyed(t, e, m)
			})
		})
	}
}

// What a type calls runs when a table that has it is analysed, as the table's
// owner, whoever made it.
func TestARoleThatOwnsWhatCallsAnothersCodeIsNotDropped(t *testing.T) {
	for what, c := range map[string]struct{ sql, use, named string }{
		"a domain": {"CREATE DOMAIN s.it AS int CHECK (s.trap(VALUE) IS NOT NULL)", "CREATE INDEX by_it ON s.t ((a::s.it))", "index s.by_it"},
		"a range":  {"CREATE TYPE s.it AS RANGE (subtype = int, subtype_diff = s.diff)", "ALTER TABLE s.t ADD b s.it; UPDATE s.t SET b = s.it(a, a + 1)", "table s.t by function s.diff(integer,integer)"},
		"a composite": {
			"CREATE TYPE s.it AS RANGE (subtype = int, subtype_diff = s.diff); CREATE TYPE s.outer_it AS (x s.it[])", "ALTER TABLE s.t ADD b s.outer_it[]",
			"table s.t by function s.diff(integer,integer)",
		},
		"a partition": {"CREATE TABLE s.p (a int) PARTITION BY RANGE (s.diff(a, 1))", "SELECT 1", "table s.p by function s.diff(integer,integer)"},
	} {
		t.Run(what, func(t *testing.T) {
			both(t, func(t *testing.T, e *acctest.Env) {
				e.SQLAsProvider(t, "CREATE SCHEMA s", "CREATE TABLE s.secret (x text)")
				m := made(t, makers(e, "on"))
				owner := e.Value(t, "SELECT pg_get_userbyid(datdba)::text FROM pg_database WHERE datname = current_database()")
				do(t, e.Login(t, "§app").Connect(t), e,
					"CREATE FUNCTION s.trap(int) RETURNS int LANGUAGE plpgsql AS $$BEGIN IF current_user = '"+owner+"' THEN EXECUTE 'GRANT SELECT ON s.secret TO PUBLIC'; END IF; RETURN 1; END$$",
					"CREATE FUNCTION s.diff(int, int) RETURNS float8 IMMUTABLE LANGUAGE plpgsql AS $$BEGIN PERFORM s.trap(1); RETURN $1 - $2; END$$")
				do(t, e.Login(t, "§emea").Connect(t), e, "CREATE TABLE s.t (a int)", "INSERT INTO s.t SELECT generate_series(1, 200)", c.sql, c.use)
				m.Write("main.tf", makers(e, "gone"))
				refused(t, m, applying, "made code that would run with the rights of", c.named)
				is(t, e, "§emea", "SELECT pg_get_userbyid(relowner)::text FROM pg_class WHERE oid = 's.t'::regclass")
				e.SQL(t, "DROP TABLE s.t", "DROP TABLE IF EXISTS s.p", "DROP TYPE IF EXISTS s.outer_it", "DROP TYPE IF EXISTS s.it")
				apply(m, makers(e, "gone"))
				e.SQL(t, "DROP FUNCTION s.diff", "DROP FUNCTION s.trap")
				destroyed(t, e, m)
			})
		})
	}
}

// zero is the id of no role.
const zero = "00000000-0000-0000-0000-000000000001"

func TestAMarkMakesAStrangerNoRole(t *testing.T) {
	for _, of := range []string{"a role", "no role"} {
		t.Run(of, func(t *testing.T) {
			both(t, func(t *testing.T, e *acctest.Env) {
				e.SQLAsProvider(t, "CREATE SCHEMA s", "CREATE TABLE s.t (a int)")
				m := made(t, makers(e, "on"))
				id := zero
				if of == "a role" {
					id = e.Value(t, "SELECT id::text FROM datatable_catalog.role WHERE name = '§emea'")
				}
				e.SQL(t, "CREATE ROLE §zz LOGIN PASSWORD 'x'", "COMMENT ON ROLE §zz IS 'datatable role "+id+"'")
				// Of whom the claims of a role are cannot be told from two marks.
				told, claims := `"`+e.Name("§zz")+`" is not in the catalog. Declare it`, e.Value(t, "SELECT count(*)::text FROM datatable_ledger.claim")
				if of == "a role" {
					told = "roles of Postgres have the comment \"datatable role " + id + "\", which marks one of the catalog's: take the comment from the others"
				}
				const untouched = "SELECT r.rolname || r.rolcanlogin || shobj_description(r.oid, 'pg_authid') FROM pg_roles r WHERE r.rolname = '§zz'"
				before := e.Value(t, untouched)
				for _, block := range []string{
					"resource \"datatable_grant\" \"it\" {\n  datatable = datatable.main.name\n  schema = \"s\"\n  objects = [\"t\"]\n  privileges = [\"SELECT\"]\n  role = \"§zz\"\n}",
					"resource \"datatable_grant\" \"it\" {\n  datatable = datatable.main.name\n  schema = \"s\"\n  all_objects = true\n  future = true\n  created_by = [\"§zz\"]\n  privileges = [\"SELECT\"]\n  role = datatable_role.app.name\n}",
					"resource \"datatable_policy\" \"it\" {\n  datatable = datatable.main.name\n  schema = \"s\"\n  table = \"t\"\n  name = \"p\"\n  using = \"true\"\n  roles = [\"§zz\"]\n}",
				} {
					m.Write("main.tf", makers(e, "on", block))
					refused(t, m, applying, told)
				}
				is(t, e, claims, "SELECT count(*)::text FROM datatable_ledger.claim")
				is(t, e, "false", "SELECT has_table_privilege('§zz', 's.t', 'SELECT')::text")
				is(t, e, "0", "SELECT count(*)::text FROM pg_policies WHERE tablename = 't'")
				is(t, e, "0", "SELECT count(*)::text FROM datatable_ledger.claim WHERE role = '§zz'")
				m.Write("main.tf", makers(e, "on", "resource \"datatable_role\" \"it\" {\n  name = \"§zz\"\n}"))
				if of == "no role" {
					told = "does not belong to this catalog, and it is left alone"
				}
				refused(t, m, applying, told)
				e.WithPassword("§zz", "x").Locked(t) // it may not connect

				m.Write("main.tf", makers(e, "gone"))
				if of == "a role" {
					refused(t, m, applying, told)
					refused(t, m, append(applying, "-refresh=false"), told)
					is(t, e, before, untouched)
					e.SQL(t, "COMMENT ON ROLE §zz IS 'mine'")
					before = e.Value(t, untouched)
				}
				apply(m, makers(e, "gone"))
				is(t, e, before, untouched)
				is(t, e, "0", "SELECT count(*)::text FROM pg_roles WHERE rolname = '§emea'")
				e.SQL(t, "DROP ROLE §zz")
				destroyed(t, e, m)
			})
		})
	}
}

func TestAStrangerWithTheMarkOfARoleThatIsGoneIsLeftAlone(t *testing.T) {
	both(t, func(t *testing.T, e *acctest.Env) {
		e.SQLAsProvider(t, "CREATE SCHEMA s", "CREATE TABLE s.t (a int)")
		const grant = `
resource "datatable_grant" "t" {
  datatable  = datatable.main.name
  role       = datatable_role.emea.name
  schema     = "s"
  objects    = ["t"]
  privileges = ["SELECT"]
}`
		m := made(t, makers(e, "on", grant))
		id := e.Value(t, "SELECT id::text FROM datatable_catalog.role WHERE name = '§emea'")
		e.SQL(t, "DROP OWNED BY §emea", "DROP ROLE §emea", "CREATE ROLE §zz LOGIN PASSWORD 'x'", "COMMENT ON ROLE §zz IS 'datatable role "+id+"'")
		const untouched = "SELECT r.rolname || r.rolcanlogin || has_table_privilege(r.oid, 's.t', 'SELECT') || has_database_privilege(r.oid, '§db', 'CONNECT') " +
			"FROM pg_roles r WHERE shobj_description(r.oid, 'pg_authid') LIKE 'datatable role ' || '%' AND r.rolname = '§zz'"
		before := e.Value(t, untouched)
		s := e.Service(t)
		role := datatable.Role{ID: id, Name: e.Name("§emea"), Enabled: true}
		shut := role
		shut.Enabled = false
		if err := s.UpdateRole(context.Background(), role, shut, datatable.RoleSeen{}); err == nil {
			t.Error("a role that is gone is disabled")
		}
		is(t, e, before, untouched)
		// Without a refresh Terraform believes in the role.
		m.Write("main.tf", makers(e, "off", grant))
		_, _ = m.Run("apply", "-auto-approve", "-input=false", "-refresh=false")
		is(t, e, before, untouched)
		m.Write("main.tf", makers(e, "gone"))
		_, _ = m.Run("apply", "-auto-approve", "-input=false", "-refresh=false")
		is(t, e, before, untouched)
		apply(m, makers(e, "gone"))
		is(t, e, before, untouched)
		e.SQL(t, "DROP ROLE §zz")
		apply(m, makers(e, "on")) // and so is its entry of the catalog
		destroyed(t, e, m)
	})
}

func TestAStrangerWithTheMarkOfASetLoginIsLeftAlone(t *testing.T) {
	both(t, func(t *testing.T, e *acctest.Env) {
		e.SQLAsProvider(t, "CREATE SCHEMA s")
		m := made(t, makers(e, "on"))
		set := e.Open(t, "acme", "datatable", "mallory", "mallory")
		e.SQL(t, "DROP OWNED BY "+set.Name, "DROP ROLE "+set.Name, "CREATE ROLE §zz LOGIN PASSWORD 'x'", "COMMENT ON ROLE §zz IS 'datatable role "+set.Name+"'")
		apply(m, makers(e, "off"))
		is(t, e, "true", "SELECT rolcanlogin::text FROM pg_roles WHERE rolname = '§zz'")
		e.SQL(t, "DROP ROLE §zz")
		destroyed(t, e, m)
	})
}

func TestAStrangerWithTheNameOfARoleThatIsGoneIsLeftAlone(t *testing.T) {
	both(t, func(t *testing.T, e *acctest.Env) {
		e.SQLAsProvider(t, "CREATE SCHEMA s")
		m := made(t, makers(e, "on"))
		e.SQL(t, "DROP OWNED BY §emea", "DROP ROLE §emea", "CREATE ROLE §emea LOGIN PASSWORD 'x'")
		refused(t, m, applying, "does not belong to this catalog, and it is left alone. Choose another name")
		e.WithPassword("§emea", "x").Locked(t)
		is(t, e, "falsefalse", "SELECT has_database_privilege('§emea', '§db', 'CONNECT')::text || has_schema_privilege('§emea', 's', 'USAGE')::text")
		apply(m, makers(e, "gone"))
		is(t, e, "true", "SELECT rolcanlogin::text FROM pg_roles WHERE rolname = '§emea'")
		e.SQL(t, "DROP ROLE §emea")
		apply(m, makers(e, "on"))
		destroyed(t, e, m)
	})
}

func TestASetLoginIsPutRightWhenItIsOpened(t *testing.T) {
	both(t, func(t *testing.T, e *acctest.Env) {
		e.SQLAsProvider(t, "CREATE SCHEMA s")
		m := made(t, makers(e, "on"))
		set := e.Open(t, "acme", "datatable", "mallory", "mallory")
		e.SQLAsProvider(t, "CREATE ROLE §extra")
		const memberships = "SELECT string_agg(r.rolname || ' ' || m.admin_option, ', ' ORDER BY r.rolname) FROM pg_auth_members m JOIN pg_roles r ON r.oid = m.roleid WHERE m.member = 'VAR_SET'::regrole"
		const attributes = "SELECT rolcanlogin || ' ' || rolinherit || ' ' || rolsuper || rolcreatedb || rolcreaterole || rolreplication || rolbypassrls FROM pg_roles WHERE rolname = 'VAR_SET'"
		for _, byHand := range []string{
			"GRANT §extra TO VAR_SET",
			"REVOKE §emea FROM VAR_SET",
			"GRANT §emea TO VAR_SET WITH ADMIN OPTION",
			"ALTER ROLE VAR_SET CREATEROLE",
			"ALTER ROLE VAR_SET NOINHERIT",
			"ALTER ROLE VAR_SET NOLOGIN",
			"ALTER ROLE VAR_SET NOINHERIT; GRANT §extra TO VAR_SET",
		} {
			e.SQLAsProvider(t, replace(byHand, "VAR_SET", set.Name))
			again := e.Open(t, "acme", "datatable", "mallory", "mallory")
			if again.Name != set.Name {
				t.Fatalf("%s: the set is %s and was %s", byHand, again.Name, set.Name)
			}
			if got, want := e.Value(t, replace(memberships, "VAR_SET", set.Name)), e.Name("§app false, §emea false"); got != want {
				t.Errorf("after %q it is a member of %s, want %s", byHand, got, want)
			}
			if got := e.Value(t, replace(attributes, "VAR_SET", set.Name)); got != "true true falsefalsefalsefalsefalse" {
				t.Errorf("after %q its attributes are %s", byHand, got)
			}
			again.Works(t, "SET ROLE "+e.Name("§emea"), e.Name("CREATE TABLE s.x (a int)"))
			again.Denied(t, "SET ROLE "+e.Name("§extra"), "GRANT "+e.Name("§emea")+" TO "+e.Name("§extra"))
			set.Locked(t) // whoever had its password has it no more
			set = again
		}
		destroyed(t, e, m)
	})
}

func TestARestrictivePolicyIsNeverLostInAReplacement(t *testing.T) {
	for what, lifecycle := range map[string]string{"alone": "", "with all": "\n  lifecycle {\n    create_before_destroy = true\n  }"} {
		t.Run(what, func(t *testing.T) {
			both(t, func(t *testing.T, e *acctest.Env) {
				e.SQLAsProvider(t, "CREATE TABLE t (a int)", "INSERT INTO t VALUES (1), (2)",
					"CREATE FUNCTION seen() RETURNS int LANGUAGE plpgsql AS $$BEGIN RAISE insufficient_privilege USING MESSAGE = 'a row that is kept out'; END$$")
				config := func(name string) string {
					return e.Config(replace(`
resource "datatable_role" "reader" {
  name = "§reader"
}
resource "datatable" "main" {
  name         = "`+name+`"
  database     = "§db"
  access       = "roles"
  default_role = "none"
  tenants      = { (datatable_role.reader.name) = ["*"] }VAR_REST
}
resource "datatable_grant" "g" {
  datatable  = datatable.main.name
  role       = datatable_role.reader.name
  schema     = "public"
  objects    = ["t"]
  privileges = ["SELECT"]VAR_REST
}
resource "datatable_policy" "permit" {
  datatable = datatable.main.name
  name      = "permit"
  table     = "t"
  using     = "true"VAR_REST
}
resource "datatable_policy" "embargo" {
  datatable   = datatable.main.name
  name        = "embargo"
  table       = "t"
  restrictive = true
  using       = "a = 1"
  lifecycle {
    create_before_destroy = true
  }
}`, "VAR_REST", lifecycle))
				}
				m := made(t, config("main"))
				reader := e.Login(t, "§reader")
				change := func() { apply(m, config("renamed")) }
				if lifecycle == "" {
					change()
				} else {
					// It is read all the while.
					reader.StartReader(t, "SELECT CASE a WHEN 1 THEN 1 ELSE seen() END FROM t").During(500, "a replacement", change)
				}
				is(t, e, "embargo,permit", "SELECT string_agg(policyname::text, ',' ORDER BY policyname) FROM pg_policies WHERE tablename = 't'")
				is(t, e, "true", "SELECT relrowsecurity::text FROM pg_class WHERE relname = 't'")
				if got := strings.Join(reader.Texts(t, "SELECT a::text FROM t"), ","); got != "1" {
					t.Errorf("the reader sees %q", got)
				}
				if changesPlanned(m) {
					t.Error("the plan after it is not empty")
				}
				destroyed(t, e, m)
			})
		})
	}
}

func TestAPolicyOfAnotherDataTableIsNoneOfThisOnes(t *testing.T) {
	both(t, func(t *testing.T, e *acctest.Env) {
		e.SQLAsProvider(t, "CREATE SCHEMA s", "CREATE TABLE t (a int)")
		theirs := made(t, makers(e, "on", `
resource "datatable" "b" {
  name         = "b"
  database     = "§db"
  access       = "roles"
  default_role = "none"
  tenants      = {}
}
resource "datatable_policy" "p" {
  datatable = datatable.main.name
  name      = "p"
  table     = "t"
  using     = "a > 1"
}`))
		const block = `
resource "datatable_policy" "p" {
  datatable = "VAR_TABLE"
  name      = "p"
  table     = "t"
  using     = "a > 1"
}`
		const policies = "SELECT coalesce(string_agg(policyname || qual, ','), '') FROM pg_policies WHERE tablename = 't'"
		before := e.Value(t, policies)
		mine := acctest.NewModule(t, e.Config(replace(block, "VAR_TABLE", "b")))
		refused(t, mine, []string{"import"}, "") // without an address and an id
		out, err := mine.Run("import", "-input=false", "datatable_policy.p", "acme/b/public/t/p")
		if err == nil {
			t.Errorf("another data table's policy is imported:\n%s", out)
		}
		contains(t, out, "acme/b/public/t/p")
		mine.MustRun("destroy", "-auto-approve", "-input=false")
		is(t, e, before, policies)

		// Nor is one destroyed of which the data table has lost hold.
		taken := acctest.NewModule(t, e.Config(replace(block, "VAR_TABLE", "main")))
		taken.MustRun("import", "-input=false", "datatable_policy.p", "acme/main/public/t/p")
		e.SQL(t, "UPDATE datatable_ledger.policy SET (datatable_id, datatable) = (SELECT id, 'acme/b' FROM datatable_catalog.datatable WHERE name = 'b')")
		taken.MustRun("destroy", "-auto-approve", "-input=false", "-refresh=false")
		is(t, e, before, policies)
		e.SQL(t, "UPDATE datatable_ledger.policy SET (datatable_id, datatable) = (SELECT id, 'acme/main' FROM datatable_catalog.datatable WHERE name = 'main')")
		theirs.Write("main.tf", makers(e, "on"))
		destroyed(t, e, theirs)
	})
}
