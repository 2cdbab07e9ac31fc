package provider_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/datatable-io/terraform-provider-datatable/internal/acctest"
	"github.com/datatable-io/terraform-provider-datatable/internal/catalog"
	"github.com/datatable-io/terraform-provider-datatable/internal/datatable"
	"github.com/datatable-io/terraform-provider-datatable/internal/resolve"
)

// allUnder checks that every password of the catalog is under one key.
func allUnder(t *testing.T, e *acctest.Env, key string, logins int) {
	t.Helper()
	if under, others := e.Under(t, key); len(others) > 0 || len(under) != logins {
		t.Errorf("under the key are %q and should be %d, and under another %q", under, logins, others)
	}
}

// open opens a connection of bob, who is the viewer too.
func open(e *acctest.Env, s *datatable.Service, role string) (datatable.Credentials, error) {
	r := resolve.Request{Workspace: "acme", Reference: resolve.Reference{Datatable: "main", Role: e.Name(role)}, Identity: resolve.Person{User: "bob"}}
	if role == "" {
		r.Viewer = &resolve.Person{User: "bob"}
	}
	return s.Open(context.Background(), r)
}

func TestTheKeyIsChangedInOneApply(t *testing.T) {
	e := acctest.NewOwner(t)
	m := acctest.NewModule(t, e.Config(two))
	apply := func() { m.MustRun("apply", "-auto-approve", "-input=false") }
	apply()
	set := e.Open(t, "acme", "datatable", "bob", "bob")
	logins := []acctest.Login{e.Login(t, "§a"), e.Login(t, "§b"), set}
	session := set.Connect(t)
	old, fresh := e.Key(), acctest.NewKey()

	// While both are given everything can be read, and nothing is changed by that.
	rotating := e.ServiceWith(t, fresh, old)
	for _, role := range []string{"§a", ""} {
		before, _ := open(e, e.Service(t), role)
		if during, err := open(e, rotating, role); err != nil || during != before {
			t.Errorf("with both keys %q opens as %q, %v", role, during.Username, err)
		}
	}
	allUnder(t, e, old, 3)

	e.UseKey(fresh)
	previous := fmt.Sprintf("previous_encryption_key = %q", old)
	m.Write("main.tf", e.Provider(previous)+e.Name(two))
	out := m.MustRun("plan", "-input=false")
	contains(t, out, "0 to add, 2 to change, 0 to destroy", `+ "UPDATE datatable_catalog.role SET password = '…'"`, `+ "UPDATE datatable_catalog.role_set SET password = '…'"`)
	allUnder(t, e, old, 3)
	apply()
	allUnder(t, e, fresh, 3)
	for _, config := range []string{e.Provider(previous), e.Provider()} {
		m.Write("main.tf", config+e.Name(two))
		if out, err := m.Run("plan", "-detailed-exitcode", "-input=false"); err != nil {
			t.Errorf("the plan afterwards is not empty:\n%s", out)
		}
	}

	// No password has changed, and no session has ended.
	for _, l := range logins {
		l.Works(t, "SELECT 1")
	}
	if _, err := session.Exec(t.Context(), "SELECT 1"); err != nil {
		t.Errorf("a session: %v", err)
	}
	if again := e.Open(t, "acme", "datatable", "bob", "bob"); again != set {
		t.Errorf("the set opens as %q, or with another password", again.Name)
	}

	// The old key opens nothing and makes nothing, also where a set login is to be
	// made anew.
	behind := e.ServiceWith(t, old, "")
	refused := func(what string, err error) {
		t.Helper()
		if !errors.Is(err, catalog.ErrWrongKey) {
			t.Errorf("with the old key alone, %s: %v", what, err)
		}
	}
	_, err := open(e, behind, "§a")
	refused("a role is opened", err)
	_, err = open(e, behind, "")
	refused("a set is opened", err)
	_, err = behind.CreateRole(t.Context(), datatable.Role{Name: e.Name("§c"), Enabled: true})
	refused("a role is made", err)
	e.SQL(t, "DELETE FROM datatable_catalog.role_set")
	_, err = open(e, behind, "")
	refused("a set is made", err)
	allUnder(t, e, fresh, 2)

	// Rotated by mistake with a key that was never in use, it says so and stays.
	m.Write("main.tf", e.ProviderWithKeys(acctest.NewKey(), old)+e.Name(two))
	if out := fails(t, m, "plan"); !strings.Contains(out, "neither encryption_key nor previous_encryption_key is the key") {
		t.Error(out)
	}
	allUnder(t, e, fresh, 2)

	m.Write("main.tf", e.Config(two))
	m.Env = []string{"DATATABLE_PREVIOUS_ENCRYPTION_KEY=c2VjcmV0"}
	if out := fails(t, m, "plan"); !strings.Contains(out, "previous_encryption_key has 6 bytes and needs 32") {
		t.Error(out)
	}
	m.Env = nil
	m.MustRun("destroy", "-auto-approve", "-input=false")
	if left := e.Leftovers(t); len(left) > 0 {
		t.Errorf("left over: %q", left)
	}
}

// waits waits until n sessions of the database wait for a lock.
func waits(t *testing.T, conn *pgx.Conn, n int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	for waiting := -1; waiting != n; {
		err := conn.QueryRow(ctx, "SELECT count(DISTINCT pid) FROM pg_locks JOIN pg_stat_activity USING (pid) WHERE NOT granted AND datname = current_database()").Scan(&waiting)
		if err != nil {
			t.Fatalf("waiting for %d sessions to wait, and %d do: %v", n, waiting, err)
		}
	}
}

func TestAKeyIsChangedWhollyOrNotAtAll(t *testing.T) {
	e := acctest.New(t)
	m := acctest.NewModule(t, e.Config(two))
	m.MustRun("apply", "-auto-approve", "-input=false")
	e.Open(t, "acme", "datatable", "bob", "bob")
	old, fresh := e.Key(), acctest.NewKey()
	id := e.Value(t, "SELECT id::text FROM datatable_catalog.role WHERE name = '§a'")
	role, _, _, err := e.Service(t).Role(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	change := func() chan error {
		done := make(chan error)
		go func() {
			done <- e.ServiceWith(t, fresh, old).UpdateRole(context.Background(), role, role, datatable.RoleSeen{OldKey: true})
		}()
		return done
	}
	admin := e.AsSuperuser(t).Connect(t)
	begin := func(sql string) pgx.Tx {
		tx, err := admin.Begin(t.Context())
		if err == nil {
			_, err = tx.Exec(t.Context(), sql)
		}
		if err != nil {
			t.Fatal(err)
		}
		return tx
	}
	watch := e.AsSuperuser(t).Connect(t)

	// Killed when the passwords of roles are written and those of sets are not yet.
	held := begin("SELECT FROM datatable_catalog.role_set FOR UPDATE")
	done := change()
	waits(t, watch, 1)
	if _, err := watch.Exec(t.Context(), "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err == nil {
		t.Error("a session that was killed changed the key")
	}
	_ = held.Rollback(t.Context())
	allUnder(t, e, old, 3)

	// With one row that cannot be opened nothing is changed, and it is named.
	const swap = "UPDATE datatable_catalog.role r SET password = o.password FROM datatable_catalog.role o WHERE o.name <> r.name AND r.name = '§b'"
	sealed := e.Value(t, "SELECT encode(password, 'hex') FROM datatable_catalog.role WHERE name = '§b'")
	e.SQL(t, swap)
	if err := <-change(); !errors.Is(err, catalog.ErrSwappedRow) || !strings.Contains(err.Error(), e.Name("§b")) {
		t.Errorf("with a row that was swapped: %v", err)
	}
	if under, _ := e.Under(t, fresh); len(under) > 0 {
		t.Errorf("with a row that was swapped, under the new key are %q", under)
	}
	e.SQL(t, "UPDATE datatable_catalog.role SET password = '\\x"+sealed+"' WHERE name = '§b'")

	// One with the old key alone, that waits while the key is changed, sees that it
	// has been. One that makes a login with both keys before it is changed makes it
	// under the old one: a plan may do that.
	held = begin("LOCK TABLE datatable_catalog.migration IN EXCLUSIVE MODE")
	e.SQL(t, "DELETE FROM datatable_catalog.role_set")
	early := make(chan error)
	go func() { _, err := open(e, e.ServiceWith(t, fresh, old), ""); early <- err }()
	waits(t, watch, 1)
	_ = held.Rollback(t.Context())
	if err := <-early; err != nil {
		t.Errorf("with both keys a set is opened: %v", err)
	}
	allUnder(t, e, old, 3)
	held = begin("LOCK TABLE datatable_catalog.migration IN EXCLUSIVE MODE")
	done = change()
	waits(t, watch, 1)
	late := make(chan error)
	go func() {
		_, err := e.ServiceWith(t, old, "").CreateRole(context.Background(), datatable.Role{Name: e.Name("§late"), Enabled: true})
		late <- err
	}()
	waits(t, watch, 2)
	_ = held.Rollback(t.Context())
	if err := <-done; err != nil {
		t.Errorf("the key is changed: %v", err)
	}
	if err := <-late; !errors.Is(err, catalog.ErrWrongKey) {
		t.Errorf("with the old key alone a role is made meanwhile: %v", err)
	}
	allUnder(t, e, fresh, 3)

	// A role that is made while keys are changed changes them as well.
	e.UseKey(acctest.NewKey())
	if _, err := e.ServiceWith(t, e.Key(), fresh).CreateRole(t.Context(), datatable.Role{Name: e.Name("§c"), Enabled: true}); err != nil {
		t.Error(err)
	}
	allUnder(t, e, e.Key(), 4)
	m.Write("main.tf", e.Config(two))
	m.MustRun("destroy", "-auto-approve", "-input=false")
}

func TestManyWithTwoKeysNeverMixThem(t *testing.T) {
	e := acctest.New(t)
	old, fresh := e.Key(), acctest.NewKey()
	first, err := e.Service(t).CreateRole(t.Context(), datatable.Role{Name: e.Name("§r"), Enabled: true})
	if err != nil {
		t.Fatal(err)
	}
	made := make(chan error)
	const makers, each = 3, 8
	for i := range makers {
		s := e.Service(t)
		go func() {
			var failed error
			for j := range each {
				_, err := s.CreateRole(context.Background(), datatable.Role{Name: e.Name(fmt.Sprintf("§r%d_%d", i, j)), Enabled: true})
				if failed = errors.Join(failed, err); i == 0 && j == 1 {
					made <- nil
				}
			}
			made <- failed
		}()
	}
	if err := <-made; err != nil { // some are there, and others are being made
		t.Error(err)
	}
	if err := e.ServiceWith(t, fresh, old).UpdateRole(t.Context(), first, first, datatable.RoleSeen{OldKey: true}); err != nil {
		t.Error(err)
	}
	refused := 0
	for range makers {
		if err := <-made; errors.Is(err, catalog.ErrWrongKey) {
			refused++
		} else if err != nil {
			t.Error(err)
		}
	}
	under, others := e.Under(t, fresh)
	t.Logf("%d roles under the new key, %d of %d makers refused", len(under), refused, makers)
	if len(others) > 0 || len(under) < 3 {
		t.Errorf("under the new key are %q, under another %q", under, others)
	}
}

func TestAPasswordOnAnotherRowIsNotHandedOut(t *testing.T) {
	e := acctest.New(t)
	m := acctest.NewModule(t, e.Config(two))
	m.MustRun("apply", "-auto-approve", "-input=false")
	set := e.Open(t, "acme", "datatable", "bob", "bob")
	if _, err := e.Service(t).CreateRole(t.Context(), datatable.Role{Name: e.Name("§c"), Enabled: true}); err != nil {
		t.Fatal(err)
	}
	keep := "CREATE TEMPORARY TABLE kept AS SELECT name, id::text AS identity, password FROM datatable_catalog.role; "
	for what, c := range map[string]struct{ sql, opens string }{
		"two roles are swapped": {
			keep + "UPDATE datatable_catalog.role r SET password = k.password FROM kept k WHERE (r.name, k.name) IN (('§a', '§b'), ('§b', '§a'))", "§a §b",
		},
		"a role has a set's":    {"UPDATE datatable_catalog.role SET password = (SELECT password FROM datatable_catalog.role_set) WHERE name = '§a'", "§a"},
		"a set has a role's":    {"UPDATE datatable_catalog.role_set SET password = (SELECT password FROM datatable_catalog.role WHERE name = '§c')", ""},
		"a bit is another":      {"UPDATE datatable_catalog.role SET password = set_bit(password, 100, 1 - get_bit(password, 100)) WHERE name = '§a'", "§a"},
		"it is the plain text":  {"UPDATE datatable_catalog.role SET password = convert_to('sesame-hidden', 'UTF8') WHERE name = '§a'", "§a"},
		"its end is cut off":    {"UPDATE datatable_catalog.role SET password = substr(password, 1, 5) WHERE name = '§a'", "§a"},
		"all of it is of zeros": {"UPDATE datatable_catalog.role SET password = decode(repeat('00', 71), 'hex') WHERE name = '§a'", "§a"},
	} {
		backup := e.Texts(t, "SELECT format('UPDATE datatable_catalog.%s SET password = %L WHERE %s', 'role', password, format('name = %L', name)) FROM datatable_catalog.role "+
			"UNION ALL SELECT format('UPDATE datatable_catalog.role_set SET password = %L', password) FROM datatable_catalog.role_set")
		e.SQL(t, c.sql)
		for _, role := range strings.Split(c.opens, " ") {
			credentials, err := open(e, e.Service(t), role)
			if err == nil || credentials.Password != "" {
				t.Errorf("%s, and %q is opened (%v)", what, role, err)
				continue
			}
			if role != "" && (!errors.Is(err, catalog.ErrSwappedRow) || !strings.Contains(err.Error(), e.Name(role))) {
				t.Errorf("%s: %v", what, err)
			}
		}
		e.SQL(t, backup...)
		if again := e.Open(t, "acme", "datatable", "bob", "bob"); again != set {
			t.Errorf("%s and put back: the set opens as %q", what, again.Name)
		}
	}
	if under, others := e.Under(t, e.Key()); len(others) > 0 || !slices.Contains(under, e.Name("§a")) {
		t.Errorf("put back, there are %q and not %q", under, others)
	}
	m.MustRun("destroy", "-auto-approve", "-input=false")
}
