package provider_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/jackc/pgx/v5"

	"github.com/datatable-io/terraform-provider-datatable/internal/acctest"
	"github.com/datatable-io/terraform-provider-datatable/internal/datatable"
	"github.com/datatable-io/terraform-provider-datatable/internal/postgres"
)

// wrongKey is the encryption key of no test.
const wrongKey = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="

// attributes are all that Postgres has of a role, its password included.
const attributes = "SELECT to_jsonb(a)::text || coalesce(shobj_description(oid, 'pg_authid'), '') FROM pg_authid a WHERE rolname = "

func TestARoleIsTakenOverAndChanges(t *testing.T) {
	both(t, func(t *testing.T, e *acctest.Env) {
		e.SQLAsProvider(t, "CREATE TABLE a (a int)", "CREATE ROLE §legacy LOGIN PASSWORD 'x'")
		e.SQL(t, "COMMENT ON ROLE §legacy IS 'of old'", "CREATE TABLE mine (a int)", "ALTER TABLE mine OWNER TO §legacy", "GRANT SELECT ON a TO §legacy")
		old := e.WithPassword("§legacy", "x")
		session := old.Connect(t)
		given := "CREATEROLE NOINHERIT VALID UNTIL '2001-01-01' CONNECTION LIMIT 0"
		if e.Value(t, "SELECT rolsuper::text FROM pg_roles WHERE rolname = '"+e.User()+"'") == "true" {
			given += " CREATEDB REPLICATION BYPASSRLS" // nobody takes from another what he has not himself
		}
		e.SQL(t, "ALTER ROLE §legacy "+given)
		config := func(arguments string) string {
			return e.Config("resource \"datatable_role\" \"it\" {\n  name = \"§legacy\"\n  " + arguments + "\n}")
		}
		const address, comment = "datatable_role.it", "comment = \"The billing app's.\\nAsk Zoe\"\n  "
		const noted = "The billing app''s.\nAsk Zoe"
		const commented = "SELECT shobj_description(oid, 'pg_authid') FROM pg_roles WHERE rolname = '§legacy'"
		id := func() string { return e.Value(t, "SELECT id::text FROM datatable_catalog.role") }
		var before acctest.Login
		var kept *pgx.Conn
		e.Test(
			t,
			resource.TestStep{
				Config:      config(comment),
				ExpectError: match("does not belong to this catalog, and it is left alone. Choose another name, or set adopt = true to take it over"),
			},
			resource.TestStep{
				Config: config(comment + "adopt = true"),
				ConfigPlanChecks: acctest.Plan(e.Statements(address,
					`CREATE ROLE "§legacy" LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION NOBYPASSRLS INHERIT`,
					`ALTER ROLE "§legacy" LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION NOBYPASSRLS INHERIT VALID UNTIL 'infinity' CONNECTION LIMIT -1 `+
						`-- in place of CREATE ROLE where the role exists, and of it what is needed`,
					`ALTER ROLE "§legacy" PASSWORD '…'`,
					"COMMENT ON ROLE \"§legacy\" IS 'datatable role …\n"+noted+"'")),
				Check: acctest.Check(t, func(t *testing.T) {
					ended(t, session)
					old.Locked(t)
					before = e.Login(t, "§legacy")
					before.Works(t, "SELECT * FROM a", "INSERT INTO mine VALUES (1)")
					before.Denied(t, "CREATE ROLE §evil")
					is(t, e, "t t f f f f f infinity -1", "SELECT concat_ws(' ', rolcanlogin, rolinherit, rolsuper, rolcreatedb, rolcreaterole, rolreplication, "+
						"rolbypassrls, rolvaliduntil, rolconnlimit) FROM pg_roles WHERE rolname = '§legacy'")
				}),
			},
			resource.TestStep{
				Config: config(comment), ConfigPlanChecks: acctest.Plan(plancheck.ExpectEmptyPlan()),
			},
			resource.TestStep{
				PreConfig:        func() { kept = before.Connect(t) },
				Config:           config(comment + "password_version = 2"),
				ConfigPlanChecks: acctest.Plan(e.Statements(address, `ALTER ROLE "§legacy" PASSWORD '…'`)),
				Check: acctest.Check(t, func(t *testing.T) {
					before.Locked(t)
					e.Login(t, "§legacy").Works(t, "SELECT * FROM a")
					do(t, kept, e, "SELECT * FROM a")
				}),
			},
			resource.TestStep{
				ResourceName: address, ImportState: true, ImportStateVerify: true, ImportStateId: e.Name("§legacy"),
				ImportStateVerifyIgnore: []string{"statements", "adopt"}, // nothing but state knows how it was made
			},
			resource.TestStep{
				// A note of somebody's is none that was declared, whatever it says.
				PreConfig:        func() { e.SQL(t, "COMMENT ON ROLE §legacy IS 'datatable role "+id()+"\ndatatable role "+zero+"'") },
				Config:           config(comment + "password_version = 2"),
				ConfigPlanChecks: acctest.Plan(plancheck.ExpectResourceAction(address, plancheck.ResourceActionUpdate)),
				Check: acctest.Check(t, func(t *testing.T) {
					is(t, e, "datatable role "+id()+"\nThe billing app's.\nAsk Zoe", commented)
				}),
			},
			resource.TestStep{
				Config: config("password_version = 2"),
				Check: acctest.Check(t, func(t *testing.T) {
					is(t, e, "datatable role "+id(), commented)
					e.Login(t, "§legacy").Works(t, "SELECT * FROM a")
				}),
			},
		)
	})
}

func TestARoleIsNotTakenOverWhereThatGivesTooMuch(t *testing.T) {
	both(t, func(t *testing.T, e *acctest.Env) {
		s, ctx := e.Service(t), t.Context()
		super := e.Value(t, "SELECT rolsuper::text FROM pg_roles WHERE rolname = '"+e.User()+"'") == "true"
		e.SQL(t, "CREATE ROLE §other", "CREATE ROLE §boss SUPERUSER")
		take := func(name string) error {
			_, err := s.CreateRole(ctx, datatable.Role{Name: e.Name(name), Enabled: true, Adopt: true, PasswordVersion: 1})
			return err
		}
		stands := func(name string, err error, texts ...string) {
			t.Helper()
			var input *datatable.InputError
			if !errors.As(err, &input) || input.Field != "adopt" {
				t.Errorf("%s is taken over: %v", name, err)
				return
			}
			contains(t, err.Error(), append(texts, "is not taken over, and nothing was changed")...)
		}
		const two, three = `"§two"`, "§three" // databases
		for name, c := range map[string]struct{ by, says, remedy string }{
			"§super":  {"ALTER ROLE §super SUPERUSER", "it is a superuser", "ALTER ROLE §super NOSUPERUSER"},
			"§owns":   {"CREATE DATABASE " + two + " OWNER §owns", "it owns database " + two, "ALTER DATABASE " + two + " OWNER TO §other"},
			"§member": {"GRANT §other TO §member", `it is a member of "§other"`, `REVOKE "§other" FROM "§member"`},
			"§held":   {"GRANT §held TO §other", `"§other" is a member of it`, `REVOKE "§held" FROM "§other"`},
			"§marked": {"COMMENT ON ROLE §marked IS 'datatable role " + zero + "\nnote'", `its comment "datatable role ` + zero + `" marks it`, `COMMENT ON ROLE "§marked" IS NULL`},
		} {
			e.SQLAsProvider(t, "CREATE ROLE "+name+" LOGIN PASSWORD 'x'")
			e.SQL(t, c.by, "GRANT "+name+" TO §boss") // a superuser has it already
			before := e.Value(t, attributes+"'"+name+"'")
			stands(name, take(name), e.Name(c.says))
			is(t, e, before, attributes+"'"+name+"'")
			e.SQL(t, c.remedy)
			if err := take(name); err != nil {
				t.Errorf("%s, after %s: %v", name, c.remedy, err)
				continue
			}
			e.SQL(t, "GRANT CONNECT ON DATABASE §db TO "+name)
			e.Login(t, name).Works(t, "SELECT 1")
		}
		e.SQL(t, "DROP DATABASE "+two)

		stands(e.User(), take(e.User()), "it is the provider's own login")
		if got := e.Value(t, "SELECT count(*)::text FROM datatable_catalog.role WHERE name = '"+e.User()+"'"); got != "0" {
			t.Error("the provider's own login is in the catalog")
		}
		if !super && e.Value(t, "SELECT (current_setting('server_version_num')::int >= 160000)::text") == "true" {
			e.SQL(t, "CREATE ROLE "+three)
			stands(three, take(three), "the provider's login may not alter it", `GRANT "`+e.Name(three)+`" TO "`+e.User()+`" WITH ADMIN OPTION`)
			e.SQL(t, "GRANT "+three+` TO "`+e.User()+`" WITH ADMIN OPTION`)
			if err := take(three); err != nil {
				t.Errorf("with the admin option: %v", err)
			}
		}
		if found := e.Inconsistencies(t); len(found) > 0 {
			t.Errorf("there is %s", strings.Join(found, "; "))
		}
	})
}

func TestAPasswordIsChangedOnceByItsVersion(t *testing.T) {
	e := acctest.New(t)
	s, ctx := e.Service(t), t.Context()
	one, err := s.CreateRole(ctx, datatable.Role{Name: e.Name("§it"), Enabled: true, PasswordVersion: 1, Comment: "datatable role " + zero})
	if err != nil {
		t.Fatal(err)
	}
	first, two := e.Login(t, "§it"), one
	two.PasswordVersion = 2
	change := func(s *datatable.Service, from, to datatable.Role) error {
		return s.UpdateRole(ctx, from, to, datatable.RoleSeen{})
	}
	if err := change(s, one, two); err != nil {
		t.Fatal(err)
	}
	first.Locked(t)
	second := e.Login(t, "§it")
	second.Works(t, "SELECT 1")

	// Again, as when nobody heard of the commit.
	if err := change(s, one, two); err != nil {
		t.Error(err)
	}
	second.Works(t, "SELECT 1")
	// A plan that was made before it, and showed nothing of it.
	disabled := one
	disabled.Enabled = false
	var stale *datatable.StaleError
	if err := change(s, one, disabled); !errors.As(err, &stale) || !strings.Contains(err.Error(), "PASSWORD '…'") {
		t.Errorf("what was not planned: %v", err)
	}
	// An older state says one, and what is read is two.
	if got, _, ok, err := s.Role(ctx, one.ID); err != nil || !ok || got != two {
		t.Errorf("read is %+v, %v, %v, want %+v", got, ok, err, two)
	}
	other, err := datatable.New(datatable.Options{
		Postgres:      postgres.Config{URL: e.URL(), MaxConnections: 2, ConnectTimeout: 15 * time.Second, LockTimeout: time.Minute},
		EncryptionKey: wrongKey,
	})
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	three := two
	three.PasswordVersion = 3
	if err := change(other, two, three); err == nil || !strings.Contains(err.Error(), "is not the key") {
		t.Errorf("with another key: %v", err)
	}
	second.Works(t, "SELECT 1")
	if err := change(s, two, three); err != nil {
		t.Error(err)
	}
	second.Locked(t)
	e.Login(t, "§it").Works(t, "SELECT 1")
	// Back is another password too, not an old one.
	if err := change(s, three, one); err != nil {
		t.Error(err)
	}
	first.Locked(t)
	e.Login(t, "§it").Works(t, "SELECT 1")
	if err := s.DropRole(ctx, one); err != nil {
		t.Error(err)
	}
	if left := e.Leftovers(t); len(left) > 0 {
		t.Errorf("left over: %q", left)
	}
}

func TestANewPasswordNeedsTheKeyWhenItIsPlanned(t *testing.T) {
	e := acctest.New(t)
	role := func(version string) string {
		return e.Name("resource \"datatable_role\" \"it\" {\n  name = \"§it\"\n  password_version = " + version + "\n}\n")
	}
	m := made(t, e.Provider()+role("1"))
	without := "provider \"datatable\" {\n  url = \"" + e.URL() + "\"\n  VAR_KEY\n}\n"
	m.Write("main.tf", replace(without, "VAR_KEY", "")+role("2"))
	contains(t, m.MustRun("plan", "-input=false"), "A new password will need the provider's encryption_key")
	m.Write("main.tf", replace(without, "VAR_KEY", `encryption_key = "c2VjcmV0"`)+role("2"))
	refused(t, m, planning, "has 6 bytes and needs 32")
	m.Write("main.tf", replace(without, "VAR_KEY", "")+role("1"))
	destroyed(t, e, m) // which needs none
}
