package postgres

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/datatable-io/terraform-provider-datatable/internal/privilege"
)

func TestStatementsQuoteWhatTheyAreGiven(t *testing.T) {
	t.Parallel()
	const role = `o"r. x`
	long := strings.Repeat("é", 31) + "x" // 63 bytes
	using, check, comment := `owner = 'it''s'`, "true", "a > 1 -- why"
	policy := Policy{Schema: "s.s", Table: `t"t`, Name: "only mine", Command: "ALL", Roles: []string{role, privilege.Public}, Using: &using, Check: &check}
	bare := Policy{Schema: "s", Table: "t", Name: "p", Command: "INSERT", Restrictive: true, Roles: []string{"r"}, Check: &comment}
	for _, test := range []struct {
		got  Statement
		want string
	}{
		{CreateRole(role, true), `CREATE ROLE "o""r. x" LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION NOBYPASSRLS INHERIT`},
		{CreateRole(long, false), `CREATE ROLE "` + long + `" NOLOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION NOBYPASSRLS INHERIT`},
		{ShownPassword(role), `ALTER ROLE "o""r. x" PASSWORD '…'`},
		{CommentOnRole(role, `it's \ here`), `COMMENT ON ROLE "o""r. x" IS E'it''s \\ here'`},
		{CommentOnRole("r", ""), `COMMENT ON ROLE "r" IS ''`},
		{RenameRole("a", role), `ALTER ROLE "a" RENAME TO "o""r. x"`},
		{SetLogin(role, true), `ALTER ROLE "o""r. x" LOGIN`},
		{SetLogin("a", false), `ALTER ROLE "a" NOLOGIN`},
		{AlterRole(role, []string{"LOGIN", "NOSUPERUSER"}), `ALTER ROLE "o""r. x" LOGIN NOSUPERUSER`},
		{DropRole(role), `DROP ROLE "o""r. x"`},
		{GrantRole([]string{role, "b"}, "c"), `GRANT "o""r. x", "b" TO "c"`},
		{RevokeRole("a", role), `REVOKE "a" FROM "o""r. x"`},
		{ReassignOwned("a", role), `REASSIGN OWNED BY "a" TO "o""r. x"`},
		{DropOwned(role), `DROP OWNED BY "o""r. x"`},
		{
			CreatePolicy(policy),
			`CREATE POLICY "only mine" ON "s.s"."t""t" AS PERMISSIVE FOR ALL TO "o""r. x", PUBLIC USING (owner = 'it''s') WITH CHECK (true)`,
		},
		{CreatePolicy(bare), "CREATE POLICY \"p\" ON \"s\".\"t\" AS RESTRICTIVE FOR INSERT TO \"r\" WITH CHECK (a > 1 -- why\n)"},
		{RenamePolicy(policy, `q"`), `ALTER POLICY "only mine" ON "s.s"."t""t" RENAME TO "q"""`},
		{AlterPolicy(policy, true, false, false), `ALTER POLICY "only mine" ON "s.s"."t""t" TO "o""r. x", PUBLIC`},
		{AlterPolicy(policy, false, true, false), `ALTER POLICY "only mine" ON "s.s"."t""t" USING (owner = 'it''s')`},
		{AlterPolicy(policy, false, false, true), `ALTER POLICY "only mine" ON "s.s"."t""t" WITH CHECK (true)`},
		{AlterPolicy(policy, true, true, true), `ALTER POLICY "only mine" ON "s.s"."t""t" TO "o""r. x", PUBLIC USING (owner = 'it''s') WITH CHECK (true)`},
		{DropPolicy(policy), `DROP POLICY "only mine" ON "s.s"."t""t"`},
		{RowSecurity("s.s", `t"`, true), `ALTER TABLE "s.s"."t""" ENABLE ROW LEVEL SECURITY`},
		{RowSecurity("s", "t", false), `ALTER TABLE "s"."t" DISABLE ROW LEVEL SECURITY`},
		{SetSearchPath(), `SET LOCAL search_path = ''`},
		{SetSearchPath("a", `b"`), `SET LOCAL search_path = "a", "b"""`},
	} {
		if diff := cmp.Diff(test.want, string(test.got)); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
}

// onAll are privileges on whole objects.
func onAll(privileges ...string) []privilege.OnColumns {
	all := make([]privilege.OnColumns, len(privileges))
	for i, p := range privileges {
		all[i].Privilege = p
	}
	return all
}

func TestPrivilegesAreRendered(t *testing.T) {
	t.Parallel()
	database, schema := privilege.Object{Type: privilege.Database}, privilege.Object{Type: privilege.Schema, Schema: `S"`}
	table := func(name string) privilege.Object {
		return privilege.Object{Type: privilege.Table, Schema: "s", Name: name}
	}
	whole := privilege.Object{Type: privilege.Table, Schema: "a b", Extent: privilege.Whole}
	of := func(kind, name string, extent privilege.Extent) privilege.Object {
		return privilege.Object{Type: kind, Schema: "s", Name: name, Extent: extent}
	}
	for _, test := range []struct {
		change privilege.Change
		want   string
	}{
		{
			privilege.Change{Grantee: "r", Privileges: onAll("CONNECT"), Objects: []privilege.Object{database}},
			`GRANT CONNECT ON DATABASE "d.b" TO "r"`,
		},
		{
			privilege.Change{Revoke: true, Grantee: privilege.Public, Privileges: onAll(privilege.All), Objects: []privilege.Object{schema}},
			`REVOKE ALL ON SCHEMA "S""" FROM PUBLIC`,
		},
		{
			privilege.Change{Grantee: "Public", Privileges: onAll("SELECT", "INSERT"), Objects: []privilege.Object{table("x"), table("y.z")}},
			`GRANT SELECT, INSERT ON TABLE "s"."x", "s"."y.z" TO "Public"`,
		},
		{
			privilege.Change{Grantee: `o"r`, Privileges: onAll("SELECT"), Objects: []privilege.Object{whole}},
			`GRANT SELECT ON ALL TABLES IN SCHEMA "a b" TO "o""r"`,
		},
		{
			privilege.Change{Revoke: true, Shared: true, Grantee: "r", Privileges: onAll("SELECT"), Objects: []privilege.Object{table("x")}},
			`REVOKE SELECT ON TABLE "s"."x" FROM "r" -- kept while something else wants it`,
		},
		{
			privilege.Change{Grantee: "r", Privileges: []privilege.OnColumns{
				{Privilege: "SELECT"}, {Privilege: "SELECT", Columns: []string{`a"b`, "C d"}}, {Privilege: "UPDATE", Columns: []string{"x"}},
			}, Objects: []privilege.Object{table("x"), table("y")}},
			`GRANT SELECT, SELECT ("a""b", "C d"), UPDATE ("x") ON TABLE "s"."x", "s"."y" TO "r"`,
		},
		{
			privilege.Change{
				Revoke: true, Grantee: "r", Privileges: []privilege.OnColumns{{Privilege: privilege.All, Columns: []string{"x"}}}, Objects: []privilege.Object{table("x")},
			},
			`REVOKE ALL ("x") ON TABLE "s"."x" FROM "r"`,
		},
		{
			privilege.Change{Grantee: "r", Option: true, Privileges: onAll("SELECT"), Objects: []privilege.Object{whole}},
			`GRANT SELECT ON ALL TABLES IN SCHEMA "a b" TO "r" WITH GRANT OPTION`,
		},
		{
			privilege.Change{Revoke: true, Option: true, Grantee: "r", Privileges: onAll("SELECT", "INSERT"), Objects: []privilege.Object{table("x")}},
			`REVOKE GRANT OPTION FOR SELECT, INSERT ON TABLE "s"."x" FROM "r"`,
		},
		{
			privilege.Change{Grantee: "r", Privileges: onAll("USAGE", "UPDATE"), Objects: []privilege.Object{of(privilege.Sequence, `q"`, privilege.One), of(privilege.Sequence, "p", privilege.One)}},
			`GRANT USAGE, UPDATE ON SEQUENCE "s"."q""", "s"."p" TO "r"`,
		},
		{
			privilege.Change{Revoke: true, Grantee: privilege.Public, Privileges: onAll(privilege.All), Objects: []privilege.Object{of(privilege.Sequence, "", privilege.Whole)}},
			`REVOKE ALL ON ALL SEQUENCES IN SCHEMA "s" FROM PUBLIC`,
		},
		{
			privilege.Change{Grantee: "r", Privileges: onAll("USAGE"), Objects: []privilege.Object{of(privilege.Sequence, "t 1", privilege.Owned), of(privilege.Sequence, "t2", privilege.Owned)}},
			`GRANT USAGE ON SEQUENCE … TO "r" -- of serial columns of "s"."t 1", "s"."t2"`,
		},
		{
			privilege.Change{Revoke: true, Shared: true, Grantee: "r", Privileges: onAll("USAGE"), Objects: []privilege.Object{of(privilege.Sequence, "", privilege.Owned)}},
			`REVOKE USAGE ON SEQUENCE … FROM "r" -- of serial columns of tables in "s" -- kept while something else wants it`,
		},
		{
			privilege.Change{Grantee: "r", Privileges: onAll("EXECUTE"), Objects: []privilege.Object{of(privilege.Function, `"F x"(text, numeric(10,2))`, privilege.One), of(privilege.Function, "g()", privilege.One)}},
			`GRANT EXECUTE ON ROUTINE "s"."F x"(text, numeric(10,2)), "s".g() TO "r"`,
		},
		{
			privilege.Change{Grantee: "r", Privileges: onAll("EXECUTE"), Objects: []privilege.Object{of(privilege.Function, "", privilege.Whole)}},
			`GRANT EXECUTE ON ALL ROUTINES IN SCHEMA "s" TO "r"`,
		},
		{
			privilege.Change{Grantee: "r", Option: true, Privileges: onAll("SELECT"), Objects: []privilege.Object{of(privilege.Table, `m"x`, privilege.Future)}},
			`ALTER DEFAULT PRIVILEGES FOR ROLE "m""x" IN SCHEMA "s" GRANT SELECT ON TABLES TO "r" WITH GRANT OPTION`,
		},
		{
			privilege.Change{Grantee: privilege.Public, Privileges: onAll("USAGE"), Objects: []privilege.Object{of(privilege.Sequence, "", privilege.Future)}},
			`ALTER DEFAULT PRIVILEGES FOR ROLE … IN SCHEMA "s" GRANT USAGE ON SEQUENCES TO PUBLIC`,
		},
		{
			privilege.Change{Revoke: true, Option: true, Shared: true, Grantee: "r", Privileges: onAll("EXECUTE"), Objects: []privilege.Object{of(privilege.Function, "m", privilege.Future)}},
			`ALTER DEFAULT PRIVILEGES FOR ROLE "m" IN SCHEMA "s" REVOKE GRANT OPTION FOR EXECUTE ON ROUTINES FROM "r" -- kept while something else wants it`,
		},
	} {
		if got := string(Privileges(test.change, "d.b")); got != test.want {
			t.Errorf("got  %s\nwant %s", got, test.want)
		}
		if all := Texts(AllPrivileges([]privilege.Change{test.change, test.change}, "d.b")); !cmp.Equal(all, []string{test.want, test.want}) {
			t.Errorf("several changes are %q", all)
		}
	}
}

// A plan leaves out what is known only when it is carried out.
func TestWhatAPlanCannotKnowIsLeftOut(t *testing.T) {
	t.Parallel()
	connect := privilege.Change{Grantee: "r", Privileges: onAll("CONNECT"), Objects: []privilege.Object{{Type: privilege.Database}}}
	for got, want := range map[Statement]string{
		Privileges(connect, ""):  `GRANT CONNECT ON DATABASE … TO "r"`,
		ReassignOwned("r", ""):   `REASSIGN OWNED BY "r" TO …`,
		SetRole(`o"r`):           `SET LOCAL ROLE "o""r"`,
		ResetRole:                `RESET ROLE`,
		Privileges(connect, "…"): `GRANT CONNECT ON DATABASE "…" TO "r"`,
	} {
		if string(got) != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}

// What is rendered is what Postgres reads, names and expressions that try to
// break out included.
func TestRenderedStatementsRunOnTheServer(t *testing.T) {
	p := newPlace(t)
	c := p.cluster(t)
	schema, table, name := `S"; DROP ROLE x; --.`, `t'."é`, "policy %s \\"
	role, other := p.prefix+`r"; --`, p.prefix+"Ö.x"
	p.sql(t, "CREATE SCHEMA "+Ident(schema), "CREATE TABLE "+Ident(schema, table)+" (owner text)")
	using, check := "owner = 'a' -- ' mine", "true /* ) */"
	policy := Policy{Schema: schema, Table: table, Name: name, Command: "ALL", Roles: []string{role}, Using: &using, Check: &check}
	on := privilege.Object{Type: privilege.Table, Schema: schema, Name: table}
	grant := []privilege.Change{
		{Grantee: role, Privileges: onAll("CONNECT"), Objects: []privilege.Object{{Type: privilege.Database}}},
		{Grantee: role, Privileges: onAll("USAGE"), Objects: []privilege.Object{{Type: privilege.Schema, Schema: schema}}},
		{Grantee: role, Privileges: onAll("SELECT"), Objects: []privilege.Object{on}},
		{Grantee: role, Privileges: onAll(privilege.All), Objects: []privilege.Object{{Type: privilege.Table, Schema: schema, Extent: privilege.Whole}}},
		{Revoke: true, Shared: true, Grantee: role, Privileges: onAll("DELETE"), Objects: []privilege.Object{on}},
	}
	statements := append([]Statement{
		CreateRole(role, true), CommentOnRole(role, `it's \`), CreateRole(other, false), GrantRole([]string{role}, other),
		RowSecurity(schema, table, true), CreatePolicy(policy), AlterPolicy(policy, true, true, true),
	}, AllPrivileges(grant, p.database)...)
	run := func(statements ...Statement) {
		t.Helper()
		if err := c.Do(t.Context(), p.database, Lock{Key: 1}, func(tx *Tx) error { return tx.Run(t.Context(), statements) }); err != nil {
			t.Fatal(err)
		}
	}
	run(statements...)
	if got := p.value(t, "SELECT shobj_description(oid, 'pg_authid') FROM pg_roles WHERE rolname = $1", role); got != `it's \` {
		t.Errorf("the comment is %q", got)
	}
	privileges := p.value(t, "SELECT string_agg(privilege_type, ' ' ORDER BY privilege_type) FROM pg_class c, aclexplode(relacl) a "+
		"WHERE relname = $1 AND grantee = (SELECT oid FROM pg_roles WHERE rolname = $2)", table, role)
	holds(t, privileges, "SELECT", "INSERT")
	lacks(t, privileges, "DELETE")
	holds(t, p.value(t, "SELECT qual || with_check FROM pg_policies WHERE policyname = $1", name), "owner = 'a'", "true")

	policy.Name = name + "2"
	run(RenamePolicy(Policy{Schema: schema, Table: table, Name: name}, policy.Name), DropPolicy(policy), RevokeRole(role, other),
		ReassignOwned(role, "postgres"), DropOwned(role), DropRole(role), RenameRole(other, role), SetLogin(role, true),
		AlterRole(role, []string{"NOLOGIN"}), RowSecurity(schema, table, false), SetSearchPath(schema))
	if n := p.value(t, "SELECT count(*)::text FROM pg_policies WHERE tablename = $1", table); n != "0" {
		t.Errorf("%s policies are left", n)
	}
	if got := p.value(t, "SELECT rolcanlogin::text FROM pg_roles WHERE rolname = $1", role); got != "false" {
		t.Errorf("it can log in: %s", got)
	}
}
