package catalog

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/datatable-io/terraform-provider-datatable/internal/postgres"
)

var stores = []Store{Catalog, Ledger}

func (p *place) version(t *testing.T, s Store) (version int, err error) {
	t.Helper()
	err = p.cluster.Read(t.Context(), p.database, func(tx *postgres.Tx) (err error) {
		version, err = s.Version(t.Context(), tx)
		return err
	})
	return version, err
}

// structure is what a schema looks like, each row's identity included.
func (p *place) structure(t *testing.T, s Store) string {
	t.Helper()
	return strings.Join(p.texts(t, `SELECT concat_ws(' ', c.oid, c.xmin, c.relname, c.relacl) FROM pg_class c
		WHERE c.relnamespace = '`+s.schema+`'::regnamespace UNION ALL
		SELECT concat_ws(' ', version, applied_at, xmin) FROM `+s.schema+".migration UNION ALL SELECT concat_ws(' ', xmin, nspacl) FROM pg_namespace WHERE nspname = '"+
		s.schema+"' ORDER BY 1"), "\n")
}

func TestMigrationsMakeAStoreOnce(t *testing.T) {
	p := newPlace(t)
	for _, s := range stores {
		if version, err := p.version(t, s); err != nil || version != 0 {
			t.Errorf("%s: before: version %d, %v", s.schema, version, err)
		}
		p.do(t, s.migrate)
		if version, err := p.version(t, s); err != nil || version != len(s.files) {
			t.Errorf("%s: version %d of %d, %v", s.schema, version, len(s.files), err)
		}
		before := p.structure(t, s)
		p.do(t, s.migrate)
		p.do(t, s.migrate)
		if after := p.structure(t, s); after != before {
			t.Errorf("%s: the second time changes\n%s\nto\n%s", s.schema, before, after)
		}
	}
}

func TestASchemaThatIsThereAlreadyIsTaken(t *testing.T) {
	p := newPlace(t)
	p.sql(t, "CREATE SCHEMA datatable_catalog")
	p.do(t, Catalog.migrate)
	if s := p.load(t); len(s.Workspaces)+len(s.Roles)+len(s.Datatables) != 0 {
		t.Errorf("a new catalog has %+v", s)
	}
}

func TestMigrationsThatAreRolledBackLeaveNothing(t *testing.T) {
	p := newPlace(t)
	failed := errors.New("failed")
	err := p.cluster.Do(t.Context(), p.database, lock, func(tx *postgres.Tx) error {
		return errors.Join(Catalog.Migrate(t.Context(), tx), failed)
	})
	if version, versionErr := p.version(t, Catalog); !errors.Is(err, failed) || version != 0 || versionErr != nil {
		t.Errorf("version %d, %v, after %v", version, versionErr, err)
	}
}

func TestAStoreOfANewerProviderIsRefused(t *testing.T) {
	p := migrated(t)
	for _, s := range stores {
		p.sql(t, "INSERT INTO "+s.schema+".migration (version) VALUES (99)")
		before := p.structure(t, s)
		for what, err := range map[string]error{
			"reading": func() error { _, err := p.version(t, s); return err }(),
			"writing": p.try(t, p.cluster, s.migrate),
		} {
			var newer *VersionError
			if !errors.As(err, &newer) || newer.Schema != s.schema || newer.Found != 99 || newer.Supports != len(s.files) {
				t.Errorf("%s %s: %v", what, s.schema, err)
				continue
			}
			if text := err.Error(); !strings.Contains(text, "version 99") || !strings.Contains(text, s.schema) {
				t.Errorf("%s: %s", what, text)
			}
		}
		if after := p.structure(t, s); after != before {
			t.Errorf("%s was changed all the same", s.schema)
		}
	}
	err := p.cluster.Read(t.Context(), p.database, func(tx *postgres.Tx) error {
		_, err := Load(t.Context(), tx)
		return err
	})
	var newer *VersionError
	if !errors.As(err, &newer) {
		t.Errorf("loading: %v", err)
	}
}

func TestAStoreOfAnotherLoginSaysWhoseItIs(t *testing.T) {
	p := migrated(t)
	_, u := p.login(t, "other", "CREATEROLE")
	for _, s := range stores {
		err := p.try(t, p.as(t, u), s.migrate)
		if !postgres.IsDenied(err) || !strings.Contains(err.Error(), s.schema) || !strings.Contains(err.Error(), "Use the login that made it") {
			t.Errorf("%s: %v", s.schema, err)
		}
	}
}

func TestACatalogThatIsNotThereIsEmpty(t *testing.T) {
	p := newPlace(t)
	if s := p.load(t); len(s.Workspaces)+len(s.Roles)+len(s.Datatables) != 0 {
		t.Errorf("there is %+v", s)
	}
}

// Whatever default privileges had given beforehand, to whomever.
func TestNobodyElseHasAccessToAStore(t *testing.T) {
	p := newPlace(t)
	owner, ownerURL := p.login(t, "owner", "CREATEROLE")
	member, memberURL := p.login(t, "member", "")
	_, plainURL := p.login(t, "plain", "")
	group, _ := p.login(t, `Gr"oup`, "")
	p.sql(t, "ALTER DATABASE "+postgres.Ident(p.database)+" OWNER TO "+postgres.Ident(owner),
		fmt.Sprintf("GRANT %s TO %s", postgres.Ident(group), postgres.Ident(member)))
	for _, creator := range []string{owner, "postgres"} {
		for _, to := range []string{postgres.Ident(group), postgres.Ident(member), "PUBLIC"} {
			for _, what := range []string{"TABLES", "SCHEMAS", "SEQUENCES"} {
				p.sql(t, fmt.Sprintf("ALTER DEFAULT PRIVILEGES FOR ROLE %s GRANT ALL ON %s TO %s", postgres.Ident(creator), what, to))
			}
		}
	}
	// Each of them is made by another login.
	p.do(t, Catalog.migrate)
	if err := p.try(t, p.as(t, ownerURL), Ledger.migrate); err != nil {
		t.Fatal(err)
	}
	p.sql(t, "CREATE TABLE public.control (n int)") // the default privileges do give something

	for name, u := range map[string]string{"a member": memberURL.String(), "a plain login": plainURL.String()} {
		conn, err := pgx.Connect(t.Context(), u)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = conn.Close(t.Context()) })
		if _, err := conn.Exec(t.Context(), "SELECT FROM public.control"); err != nil {
			t.Errorf("as %s: the control is denied: %v", name, err)
		}
		tables := p.texts(t, "SELECT c.oid::regclass::text FROM pg_class c WHERE relkind = 'r' AND relnamespace IN ('datatable_catalog'::regnamespace, 'datatable_ledger'::regnamespace)")
		if len(tables) < 12 {
			t.Errorf("only these tables are tried: %q", tables)
		}
		statements := []string{
			"CREATE TABLE datatable_catalog.mine ()", "CREATE TABLE datatable_ledger.mine ()",
			"CREATE FUNCTION datatable_ledger.f() RETURNS int LANGUAGE sql AS 'SELECT 1'",
		}
		for _, table := range tables {
			statements = append(statements, "SELECT FROM "+table, "DELETE FROM "+table, "TRUNCATE "+table, "INSERT INTO "+table+" DEFAULT VALUES",
				"CREATE INDEX ON "+table+" ((1))", "DROP TABLE "+table)
		}
		for _, sql := range statements {
			_, err := conn.Exec(t.Context(), sql)
			var pg *pgconn.PgError
			if !errors.As(err, &pg) || pg.Code != "42501" {
				t.Errorf("as %s: %s: %v", name, sql, err)
			}
		}
	}
	left := p.texts(t, `SELECT concat_ws(' ', o.name, a.grantee::regrole, a.privilege_type)
		FROM (SELECT nspname AS name, nspowner AS owner, nspacl AS acl FROM pg_namespace WHERE nspname LIKE 'datatable_%'
		UNION ALL SELECT relname, relowner, relacl FROM pg_class WHERE relnamespace IN ('datatable_catalog'::regnamespace, 'datatable_ledger'::regnamespace)) o,
		aclexplode(o.acl) a WHERE a.grantee <> o.owner`)
	if len(left) > 0 {
		t.Errorf("left are %q", left)
	}
}

// A plan reads a catalog that an older provider made, and changes nothing of it.
func TestACatalogBeforeItsMigrationIsRead(t *testing.T) {
	p := migrated(t)
	want := p.role(t, 1, "reader", true)
	p.sql(t, "ALTER TABLE datatable_catalog.role DROP COLUMN password_version", "DELETE FROM datatable_catalog.migration WHERE version > 1")
	if diff := cmp.Diff([]Role{want}, p.load(t).Roles); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	p.do(t, Catalog.migrate)
	want.PasswordVersion = 2
	p.run(t, PutRole(want))
	if diff := cmp.Diff([]Role{want}, p.load(t).Roles); diff != "" {
		t.Errorf("migrated (-want +got):\n%s", diff)
	}
}
