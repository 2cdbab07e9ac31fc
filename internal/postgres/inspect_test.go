package postgres

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/datatable-io/terraform-provider-datatable/internal/privilege"
)

// read runs queries in one look at the test's database.
func (p *place) read(t *testing.T, queries ...Query) {
	t.Helper()
	err := p.cluster(t).Read(t.Context(), p.database, func(tx *Tx) error { return tx.Batch(t.Context(), queries...) })
	if err != nil {
		t.Fatal(err)
	}
}

func (p *place) holdings(t *testing.T, scope Scope) *Holdings {
	t.Helper()
	h := NewHoldings(p.version(t))
	p.read(t, Objects(scope, h))
	return h
}

func (p *place) objects(t *testing.T, scope Scope) (privilege.Inventory, privilege.Set) {
	t.Helper()
	h := p.holdings(t, scope)
	return h.Inventory, h.Held
}

func table(schema, name string) privilege.Object {
	return privilege.Object{Type: privilege.Table, Schema: schema, Name: name}
}

func TestObjectsHasEveryKindOfRelationThatIsGrantedOn(t *testing.T) {
	p := newPlace(t)
	p.sql(t, `CREATE SCHEMA "S.1"`, `CREATE TABLE "S.1"."Plain.x" (id serial PRIMARY KEY, n int)`,
		`CREATE TABLE "S.1".parted (n int) PARTITION BY LIST (n)`, `CREATE TABLE "S.1".part PARTITION OF "S.1".parted DEFAULT`,
		`CREATE VIEW "S.1".view AS SELECT 1`, `CREATE MATERIALIZED VIEW "S.1".matview AS SELECT 1 AS n`,
		`CREATE FOREIGN DATA WRAPPER f`, `CREATE SERVER s FOREIGN DATA WRAPPER f`, `CREATE FOREIGN TABLE "S.1".far (n int) SERVER s`,
		// none of these
		`CREATE TYPE "S.1".composite AS (n int)`, `CREATE INDEX ON "S.1".parted (n)`, `CREATE TABLE public.elsewhere ()`)
	inv, _ := p.objects(t, Scope{Schemas: []string{"S.1", "missing"}})
	want := map[privilege.Object]bool{{Type: privilege.Database}: true, {Type: privilege.Schema, Schema: "S.1"}: true}
	for _, name := range []string{"Plain.x", "parted", "part", "view", "matview", "far"} {
		want[table("S.1", name)] = true
	}
	want[privilege.Object{Type: privilege.Sequence, Schema: "S.1", Name: "Plain.x_id_seq"}] = true
	if diff := gocmp.Diff(want, inv.Objects); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}

	inv, _ = p.objects(t, Scope{Schemas: []string{"S.1", "public"}, Objects: []string{"view", "elsewhere", "gone"}})
	named := slices.SortedFunc(maps.Keys(inv.Objects), func(a, b privilege.Object) int { return cmp.Compare(a.Name, b.Name) })[3:]
	if diff := gocmp.Diff([]privilege.Object{table("public", "elsewhere"), table("S.1", "view")}, named); diff != "" {
		t.Errorf("by name (-want +got):\n%s", diff)
	}
	if inv, _ = p.objects(t, Scope{Schemas: []string{"S.1"}, Objects: []string{}}); len(inv.Objects) != 2 {
		t.Errorf("with no names there is %v", inv.Objects)
	}
}

func TestObjectsTellsWhatIsHeldDirectly(t *testing.T) {
	p := newPlace(t)
	owner, reader, parent := p.role(t, "Owner", ""), p.role(t, `r"e.a d`, ""), p.role(t, "parent", "")
	p.sql(t, "CREATE SCHEMA s AUTHORIZATION "+Ident(owner), "CREATE TABLE s.untouched ()", "ALTER TABLE s.untouched OWNER TO "+Ident(owner),
		"CREATE TABLE s.x (n int)", "GRANT SELECT ON s.x TO PUBLIC", "GRANT INSERT, UPDATE ON s.x TO "+Ident(reader)+" WITH GRANT OPTION",
		"GRANT DELETE ON s.x TO "+Ident(parent), "GRANT "+Ident(parent)+" TO "+Ident(reader), "GRANT SELECT (n) ON s.x TO "+Ident(parent),
		"GRANT USAGE ON SCHEMA s TO "+Ident(reader))
	// The same privilege from a second grantor is one atom.
	p.sql(t, "SET ROLE "+Ident(reader), "RESET ROLE")
	exec(t, p.super.String(), "GRANT INSERT ON s.x TO "+Ident(owner)+" WITH GRANT OPTION")
	conn := connect(t, p.super.String())
	for _, sql := range []string{"GRANT USAGE ON SCHEMA s TO PUBLIC", "SET ROLE " + Ident(owner), "GRANT INSERT ON s.x TO " + Ident(reader)} {
		if _, err := conn.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}

	held := func(grantee string) []string {
		_, set := p.objects(t, Scope{Schemas: []string{"s"}, Grantees: []string{grantee}})
		var found []string
		for _, a := range set.Sorted() {
			if a.Grantee != grantee {
				t.Errorf("asked for %s, and told of %s", grantee, a.Grantee)
			}
			text := fmt.Sprintf("%s %s.%s %s", a.Object.Type, a.Object.Schema, a.Object.Name, a.Privilege)
			if a.Column != "" {
				text += " of " + a.Column
			}
			if a.Option {
				text += " to grant on"
			}
			found = append(found, text)
		}
		return found
	}
	// Neither the database nor s.untouched was granted on: what holds is the
	// default.
	all := []string{"schema s. CREATE", "schema s. USAGE"}
	for _, v := range []string{"DELETE", "INSERT", "MAINTAIN", "REFERENCES", "SELECT", "TRIGGER", "TRUNCATE", "UPDATE"} {
		if v != "MAINTAIN" || p.version(t) >= 17 {
			all = append(all, "table s.untouched "+v)
		}
	}
	for grantee, want := range map[string][]string{
		privilege.Public: {"database . CONNECT", "database . TEMPORARY", "schema s. USAGE", "table s.x SELECT"},
		owner:            append(all, "table s.x INSERT", "table s.x INSERT to grant on"),
		reader: {
			"schema s. USAGE", "table s.x INSERT", "table s.x INSERT to grant on", "table s.x UPDATE", "table s.x UPDATE to grant on",
		},
		parent:   {"table s.x DELETE", "table s.x SELECT of n"},
		"nobody": nil,
	} {
		if diff := gocmp.Diff(want, held(grantee)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", grantee, diff)
		}
	}
}

func (p *place) version(t *testing.T) (version int) {
	t.Helper()
	err := p.cluster(t).Read(t.Context(), p.database, func(tx *Tx) error {
		version = tx.Version()
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return version
}

func TestVersionIsTheServersMajorOne(t *testing.T) {
	p := newPlace(t)
	if got, want := strconv.Itoa(p.version(t)), p.value(t, "SELECT (current_setting('server_version_num')::int / 10000)::text"); got != want {
		t.Errorf("it is %s, and taken for %s", want, got)
	}
}

func TestRolesAreFoundByNameAndByComment(t *testing.T) {
	p := newPlace(t)
	plain, astray := p.role(t, "a plain", "LOGIN"), p.role(t, "b.Astray", "SUPERUSER CREATEDB CREATEROLE REPLICATION BYPASSRLS NOINHERIT VALID UNTIL '2999-01-01' CONNECTION LIMIT 0")
	other := p.role(t, "c", "")
	mark := p.prefix + "it's marked"
	p.sql(t, string(CommentOnRole(astray, mark+"\n"+mark+"?")))
	want := []Role{
		{Name: plain, CanLogin: true, Astray: []string{}},
		{Name: astray, Comment: mark + "\n" + mark + "?", Astray: []string{"NOSUPERUSER", "NOCREATEDB", "NOCREATEROLE", "NOREPLICATION", "NOBYPASSRLS", "INHERIT", "VALID UNTIL 'infinity'", "CONNECTION LIMIT -1"}},
	}
	find := func(names, comments []string) (found []Role) {
		p.read(t, Roles(names, comments, func(r Role) { found = append(found, r) }))
		slices.SortFunc(found, func(a, b Role) int { return cmp.Compare(a.Name, b.Name) })
		return found
	}
	for _, test := range []struct {
		names, comments []string
		want            []Role
	}{
		{[]string{plain, "gone"}, []string{mark, "no mark"}, want},
		{[]string{plain}, nil, want[:1]},
		{nil, []string{mark}, want[1:]},
		{[]string{astray}, []string{mark}, want[1:]},
		{nil, nil, nil},
		{[]string{}, []string{}, nil},
	} {
		if diff := gocmp.Diff(test.want, find(test.names, test.comments)); diff != "" {
			t.Errorf("%q and %q (-want +got):\n%s", test.names, test.comments, diff)
		}
	}
	// One without a comment is not found by an empty comment.
	if found := find(nil, []string{""}); slices.ContainsFunc(found, func(r Role) bool { return r.Name == other }) {
		t.Error("a role without a comment is found by one")
	}
}

func TestTablesAndPoliciesAreReadAsTheyAre(t *testing.T) {
	p := newPlace(t)
	reader := p.role(t, "Reader", "")
	p.sql(t, `CREATE SCHEMA "S.1"`, `CREATE TABLE "S.1"."T.x" (n int, owner text)`, `CREATE TABLE public."T.x" (n int)`, `CREATE VIEW "S.1".v AS SELECT 1`,
		`ALTER TABLE "S.1"."T.x" ENABLE ROW LEVEL SECURITY`,
		`CREATE POLICY "P 1" ON "S.1"."T.x" AS RESTRICTIVE FOR UPDATE TO `+Ident(reader)+`, CURRENT_USER USING (n IN (1, 2)) WITH CHECK (owner LIKE 'a%')`,
		`CREATE POLICY p2 ON "S.1"."T.x" FOR SELECT USING (true)`, `CREATE POLICY p3 ON "S.1"."T.x" FOR INSERT WITH CHECK (true)`,
		`CREATE POLICY elsewhere ON public."T.x" USING (true)`)
	names := []TableName{{"S.1", "T.x"}, {"S.1", "v"}, {"S.1", "gone"}}
	var tables []TableState
	var policies []Policy
	p.read(t, Tables(names, func(s TableState) { tables = append(tables, s) }), Policies(names, func(q Policy) { policies = append(policies, q) }))
	slices.SortFunc(tables, func(a, b TableState) int { return cmp.Compare(a.Name, b.Name) })
	slices.SortFunc(policies, func(a, b Policy) int { return cmp.Compare(a.Name, b.Name) })
	if diff := gocmp.Diff([]TableState{{names[0], "r", true}, {names[1], "v", false}}, tables); diff != "" {
		t.Errorf("tables (-want +got):\n%s", diff)
	}
	for i := range policies {
		slices.Sort(policies[i].Roles)
	}
	both := []string{reader, "postgres"}
	slices.Sort(both)
	yes, using, check := "true", "(n = ANY (ARRAY[1, 2]))", "(owner ~~ 'a%'::text)"
	want := []Policy{
		{Schema: "S.1", Table: "T.x", Name: "P 1", Command: "UPDATE", Restrictive: true, Roles: both, Using: &using, Check: &check},
		{Schema: "S.1", Table: "T.x", Name: "p2", Command: "SELECT", Roles: []string{privilege.Public}, Using: &yes},
		{Schema: "S.1", Table: "T.x", Name: "p3", Command: "INSERT", Roles: []string{privilege.Public}, Check: &yes},
	}
	if diff := gocmp.Diff(want, policies); diff != "" {
		t.Errorf("policies (-want +got):\n%s", diff)
	}
}

func TestDatabasesDependentsAndMemberships(t *testing.T) {
	p := newPlace(t)
	names := p.databases(t, 2)
	owner, reader, idle := p.role(t, "owner", ""), p.role(t, "reader", ""), p.role(t, "idle", "")
	p.sql(t, "ALTER DATABASE "+Ident(p.database)+" OWNER TO "+Ident(owner), "CREATE TABLE x ()", "GRANT SELECT ON x TO "+Ident(reader),
		"GRANT "+Ident(owner)+", "+Ident(idle)+" TO "+Ident(reader))
	got := map[string]string{}
	note := func(kind string) func(a, b string) {
		return func(a, b string) { got[kind+" "+a] += b }
	}
	p.read(t, Owners([]string{p.database, "gone"}, note("owner")), Dependents(reader, note("reader in")), Dependents(idle, note("idle in")),
		MembershipsOf(reader, func(role string) { got["member of "+role] += "yes" }))
	want := map[string]string{
		"owner " + p.database: owner, "reader in " + p.database: owner, "member of " + owner: "yes", "member of " + idle: "yes",
	}
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	clear(got)
	p.sql(t, "GRANT CREATE ON DATABASE "+Ident(names[1])+" TO "+Ident(idle))
	p.read(t, Dependents(idle, note("idle in")))
	if len(got) != 0 {
		t.Errorf("a privilege on a database is in that database: %v", got)
	}
	p.sql(t, "REVOKE CREATE ON DATABASE "+Ident(names[1])+" FROM "+Ident(idle))
}

func TestReplicationIsSeen(t *testing.T) {
	p := newPlace(t)
	found := func() (names []string) {
		p.read(t, Replication(func(kind, name string) { names = append(names, kind+" "+name) }))
		slices.Sort(names)
		return names
	}
	p.sql(t, "CREATE TABLE x (n int)")
	if got := found(); len(got) != 0 {
		t.Errorf("nothing is published, and seen is %q", got)
	}
	p.sql(t, "CREATE PUBLICATION empty") // a table can be added to it at any time
	p.sql(t, `CREATE PUBLICATION "One.x" FOR TABLE x`, "CREATE PUBLICATION everything FOR ALL TABLES")
	if diff := gocmp.Diff([]string{"publication One.x", "publication empty", "publication everything"}, found()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestEndSessionsEndsThoseOfOneLogin(t *testing.T) {
	p := newPlace(t)
	login := p.role(t, "login", "LOGIN PASSWORD 'pw'")
	session, own := connect(t, p.url(login, "pw").String()), p.cluster(t)
	err := own.Do(t.Context(), p.database, testLock, func(tx *Tx) error {
		return errors.Join(tx.Batch(t.Context(), EndSessions(login)), tx.simple(t.Context(), "SELECT 1"))
	})
	if err != nil {
		t.Error(err)
	}
	p.eventually(t, "SELECT NOT EXISTS (SELECT FROM pg_stat_activity WHERE usename = $1)", login)
	if err := session.Ping(t.Context()); err == nil {
		t.Error("the session goes on")
	}
	// Its own session is spared.
	c := p.cluster(t, as(p.url(login, "pw")))
	err = c.Do(t.Context(), p.database, testLock, func(tx *Tx) error {
		return errors.Join(tx.Batch(t.Context(), EndSessions(login)), tx.simple(t.Context(), "SELECT 1"))
	})
	if err != nil {
		t.Error(err)
	}
}

func TestAsMemberIsAMemberForAsLongAsItTakes(t *testing.T) {
	p := newPlace(t)
	manager := p.role(t, "manager", "LOGIN CREATEROLE PASSWORD 'pw'")
	logins := map[string]*Cluster{"a superuser": p.cluster(t), "who may create roles": p.cluster(t, as(p.url(manager, "pw")))}
	const member = "SELECT count(*)::text FROM pg_auth_members m WHERE m.roleid = $1::regrole AND m.member = $2::regrole AND NOT m.admin_option"
	for who, c := range logins {
		role, before := p.prefix+"role"+random(2), p.prefix+"before"+random(2)
		err := c.Do(t.Context(), p.database, testLock, func(tx *Tx) error {
			if err := tx.Run(t.Context(), []Statement{CreateRole(role, false), CreateRole(before, false), GrantRole([]string{before}, c.User())}); err != nil {
				return err
			}
			return errors.Join(
				tx.AsMember(t.Context(), role, func() error {
					if got := text(tx, t, "SELECT pg_has_role($1, 'USAGE')::text", role); got != "true" {
						t.Errorf("as %s: a member: %s", who, got)
					}
					return nil
				}),
				tx.AsMember(t.Context(), before, func() error { return nil }),
				tx.AsMember(t.Context(), p.prefix+"gone", func() error { return nil }))
		})
		if err != nil {
			t.Fatalf("as %s: %v", who, err)
		}
		if n := p.value(t, member, Ident(role), Ident(c.User())); n != "0" {
			t.Errorf("as %s: a membership is left", who)
		}
		if n := p.value(t, member, Ident(before), Ident(c.User())); n == "0" {
			t.Errorf("as %s: the membership that was there before is gone", who)
		}
		// One that is dropped meanwhile needs no revoke.
		err = c.Do(t.Context(), p.database, testLock, func(tx *Tx) error {
			return tx.AsMember(t.Context(), role, func() error { return tx.Run(t.Context(), []Statement{DropRole(role)}) })
		})
		if err != nil {
			t.Errorf("as %s: dropping it: %v", who, err)
		}
		failed := errors.New("failed")
		err = c.Do(t.Context(), p.database, testLock, func(tx *Tx) error {
			return tx.AsMember(t.Context(), before, func() error { return failed })
		})
		if !errors.Is(err, failed) {
			t.Errorf("as %s: %v", who, err)
		}
	}
}
