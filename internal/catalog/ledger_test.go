package catalog

import (
	"cmp"
	"context"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/datatable-io/terraform-provider-datatable/internal/postgres"
	"github.com/datatable-io/terraform-provider-datatable/internal/privilege"
	"github.com/datatable-io/terraform-provider-datatable/internal/resolve"
)

type ctx = context.Context

// claims reads all claims.
func (p *place) claims(t *testing.T) []Claim {
	t.Helper()
	return p.found(t, Claims)
}

func (p *place) found(t *testing.T, query func(func(Claim)) postgres.Query) (found []Claim) {
	t.Helper()
	p.run(t, query(func(c Claim) { found = append(found, c) }))
	slices.SortFunc(found, func(a, b Claim) int { return cmp.Compare(a.ID, b.ID) })
	return found
}

func TestClaimsAreReadAsTheyWerePut(t *testing.T) {
	p := migrated(t)
	reader := p.role(t, 1, "Reader", true)
	claim := func(n int, roleID, grantee string, c privilege.Claim) Claim {
		c.ID, c.Grantee, c.Columns, c.CreatedBy = id(n), grantee, []string{}, []string{}
		return Claim{Claim: c, DatatableID: id(8), Datatable: "acme/main", RoleID: roleID}
	}
	want := []Claim{
		claim(1, reader.ID, reader.Name, privilege.Claim{Type: privilege.Table, Schema: "S.1", Objects: []string{"a b", `"`}, Privileges: []string{"SELECT", "INSERT"}}),
		claim(2, reader.ID, reader.Name, privilege.Claim{Type: privilege.Table, Schema: "t", Whole: true, Objects: []string{}, Privileges: []string{privilege.All}}),
		claim(3, "", privilege.Public, privilege.Claim{Type: privilege.Schema, Schema: "t", Objects: []string{}, Privileges: []string{"USAGE"}}),
		claim(4, reader.ID, reader.Name, privilege.Claim{Type: privilege.Database, Objects: []string{}, Privileges: []string{"CONNECT"}}),
		claim(5, reader.ID, reader.Name, privilege.Claim{
			Type: privilege.Table, Schema: "v", Objects: []string{"x"}, Columns: []string{"a b", `"`, "A"}, Privileges: []string{"SELECT"}, Option: true,
		}),
		claim(6, reader.ID, reader.Name, privilege.Claim{Type: privilege.Function, Schema: "v", Objects: []string{`"F x"(text, numeric(10,2))`}, Privileges: []string{"EXECUTE"}}),
		claim(7, "", privilege.Public, privilege.Claim{
			Type: privilege.Sequence, Schema: "v", Objects: []string{}, Whole: true, Future: true, Privileges: []string{"USAGE"},
		}),
	}
	// Who makes later objects is written by id and read by name, in order.
	maker := p.role(t, 2, "a maker", true)
	want[6].CreatorIDs = []string{reader.ID, resolve.RoleAdmin, maker.ID}
	for i, c := range want {
		p.run(t, PutClaim(c))
		want[i].CreatorIDs = nil
	}
	want[6].CreatedBy = []string{resolve.RoleAdmin, reader.Name, maker.Name}
	slices.Sort(want[6].CreatedBy)
	both := []string{"", reader.ID}
	on := func(schemas, grantees []string, ids ...string) []Claim {
		return p.found(t, func(each func(Claim)) postgres.Query { return ClaimsOn(schemas, grantees, ids, each) })
	}
	for _, test := range []struct {
		schemas, grantees, ids []string
		want                   []Claim
	}{
		{[]string{"v"}, both, nil, want[4:]},
		{[]string{"v"}, []string{reader.ID, maker.ID}, nil, want[4:6]},
		{[]string{"v"}, []string{""}, nil, want[6:]},
		{[]string{"t"}, both, nil, want[1:3]},
		{[]string{"", "S.1"}, both, nil, []Claim{want[0], want[3]}},
		{[]string{"t"}, both, []string{id(1), id(2), id(77)}, want[:3]},
		// With a claim come those for the same grantee.
		{[]string{"t"}, nil, []string{id(1)}, want[:2]},
		{[]string{"t"}, nil, []string{id(3)}, want[2:3]},
		{nil, both, []string{id(4)}, want[3:4]},
		{[]string{"none"}, both, nil, nil},
		{[]string{"t"}, []string{maker.ID}, nil, nil},
		{nil, nil, nil, nil},
	} {
		if diff := gocmp.Diff(test.want, on(test.schemas, test.grantees, test.ids...)); diff != "" {
			t.Errorf("in %q for %q, or %q (-want +got):\n%s", test.schemas, test.grantees, test.ids, diff)
		}
	}
	if diff := gocmp.Diff(want, p.claims(t)); diff != "" {
		t.Errorf("all (-want +got):\n%s", diff)
	}

	// Put again, a claim changes in all but the data table it belongs to.
	changed := claim(1, "", privilege.Public, privilege.Claim{Type: privilege.Schema, Schema: "u", Privileges: []string{"CREATE"}})
	p.run(t, PutClaim(changed))
	changed.Objects = []string{}
	if diff := gocmp.Diff([]Claim{changed}, on([]string{"u"}, both)); diff != "" {
		t.Errorf("changed (-want +got):\n%s", diff)
	}
	p.run(t, DeleteClaim(id(1)), DeleteClaim(id(77)))
	if left := p.claims(t); len(left) != 6 {
		t.Errorf("left are %+v", left)
	}
	// Put again, what is no longer wanted is gone too.
	bare := claim(5, reader.ID, reader.Name, privilege.Claim{Type: privilege.Table, Schema: "w", Objects: []string{}, Whole: true, Privileges: []string{"SELECT"}})
	wide := bare
	wide.ID, wide.Future, wide.CreatorIDs = id(7), true, []string{maker.ID}
	p.run(t, PutClaim(bare), PutClaim(wide))
	wide.CreatorIDs, wide.CreatedBy = nil, []string{maker.Name}
	if diff := gocmp.Diff([]Claim{bare, wide}, on([]string{"w"}, both)); diff != "" {
		t.Errorf("without and with later objects (-want +got):\n%s", diff)
	}
	wide.Future, wide.CreatedBy = false, []string{}
	p.run(t, PutClaim(wide))
	if diff := gocmp.Diff([]Claim{bare, wide}, on([]string{"w"}, both)); diff != "" {
		t.Errorf("without later objects (-want +got):\n%s", diff)
	}
}

// Roles are known by the mark of their login: whose objects a claim is about
// follows a rename, and a mark that two logins carry is nobody's.
func TestCreatorsFollowTheirRoles(t *testing.T) {
	p := migrated(t)
	reader, maker := p.role(t, 1, "reader", true), p.role(t, 2, "maker", true)
	c := Claim{
		Claim: privilege.Claim{
			ID: id(1), Grantee: reader.Name, Type: privilege.Table, Schema: "s", Whole: true, Future: true, Privileges: []string{"SELECT"},
		},
		DatatableID: id(8), Datatable: "acme/main", RoleID: reader.ID, CreatorIDs: []string{maker.ID, resolve.RoleAdmin},
	}
	p.run(t, PutClaim(c))
	check := func(when string, grantee string, orphan bool, creators ...string) {
		t.Helper()
		slices.Sort(creators)
		got := p.claims(t)
		if len(got) != 1 || got[0].Grantee != grantee || got[0].Orphan != orphan || !slices.Equal(got[0].CreatedBy, creators) {
			t.Errorf("%s: %+v", when, got)
		}
	}
	admin := resolve.RoleAdmin
	check("at first", reader.Name, false, admin, maker.Name)
	renamed := p.prefix + "Renamed x"
	p.sql(t, string(postgres.RenameRole(maker.Name, renamed)))
	check("renamed", reader.Name, false, admin, renamed)
	// Somebody gives a login of his own the mark.
	forged, _ := p.login(t, "forged", "")
	p.sql(t, string(postgres.CommentOnRole(forged, Mark(maker.ID))))
	check("a creator's mark twice", reader.Name, false, admin, maker.ID)
	p.sql(t, string(postgres.CommentOnRole(forged, Comment(reader.ID, "a note"))))
	check("the grantee's mark twice", reader.Name, true, admin, renamed)
	p.sql(t, string(postgres.CommentOnRole(forged, Comment("other", Mark(reader.ID)))))
	check("the grantee's mark in a note", reader.Name, false, admin, renamed)
	p.sql(t, string(postgres.CommentOnRole(forged, Mark(reader.ID)+" ")))
	check("another mark", reader.Name, false, admin, renamed)
	p.sql(t, string(postgres.DropRole(renamed)))
	check("dropped", reader.Name, false, admin, maker.ID)
}

func TestAClaimFollowsItsRole(t *testing.T) {
	p := migrated(t)
	reader := p.role(t, 1, "reader", true)
	c := Claim{
		Claim:       privilege.Claim{ID: id(1), Grantee: reader.Name, Type: privilege.Schema, Schema: "s", Privileges: []string{"USAGE"}},
		DatatableID: id(8), Datatable: "acme/main", RoleID: reader.ID,
	}
	public := c
	public.ID, public.Grantee, public.RoleID = id(2), privilege.Public, ""
	p.run(t, PutClaim(c), PutClaim(public))
	check := func(when, grantee string, orphan bool) {
		t.Helper()
		got := p.claims(t)
		if len(got) != 2 || got[0].Grantee != grantee || got[0].Orphan != orphan {
			t.Errorf("%s: %+v", when, got)
		}
		if got[1].Grantee != privilege.Public || got[1].Orphan {
			t.Errorf("%s: PUBLIC's is %+v", when, got[1])
		}
	}
	check("at first", reader.Name, false)
	renamed := p.prefix + "Renamed x"
	p.sql(t, string(postgres.RenameRole(reader.Name, renamed)))
	check("renamed", renamed, false)
	// Another role of the old name is not it.
	p.login(t, "reader", "")
	check("replaced", renamed, false)
	p.sql(t, string(postgres.CommentOnRole(renamed, "mine")))
	check("without its mark", reader.Name, true)
	p.sql(t, string(postgres.CommentOnRole(renamed, Comment(reader.ID, "a note\nMark"))))
	check("with it again", renamed, false)
	p.sql(t, string(postgres.DropRole(renamed)))
	check("dropped", reader.Name, true)
}

func TestPolicyTextsAreKeptAsWrittenAndAsPrinted(t *testing.T) {
	p := migrated(t)
	p.sql(t, `CREATE SCHEMA "S.1"`, `CREATE TABLE "S.1"."T x" (n int, owner text)`, `CREATE TABLE other (n int)`,
		`CREATE POLICY "P 1" ON "S.1"."T x" USING (n in (1,2)) WITH CHECK (owner like 'a%')`, `CREATE POLICY "P 1" ON other FOR SELECT USING (true)`)
	using, check, printedUsing, printedCheck, yes := "n in (1,2)", "owner like 'a%'", "(n = ANY (ARRAY[1, 2]))", "(owner ~~ 'a%'::text)", "true"
	on := postgres.TableName{Schema: "S.1", Name: "T x"}
	text := PolicyText{
		Schema: on.Schema, Table: on.Name, Name: "P 1", DatatableID: id(8), Datatable: "acme/main",
		UsingWritten: &using, CheckWritten: &check, WhenLastRemoved: "keep",
	}
	other := PolicyText{Schema: "public", Table: "other", Name: "P 1", DatatableID: id(8), Datatable: "acme/main", UsingWritten: &yes, WhenLastRemoved: "disable"}
	gone := other
	gone.Name = "gone"
	p.run(t, PutPolicyText(text), PutPolicyText(other), PutPolicyText(gone))
	text.UsingPrinted, text.CheckPrinted, other.UsingPrinted = &printedUsing, &printedCheck, &yes

	read := func(on postgres.TableName) (found []PolicyText) {
		p.run(t, PolicyTexts(on, func(text PolicyText) { found = append(found, text) }))
		slices.SortFunc(found, func(a, b PolicyText) int { return cmp.Compare(a.Schema, b.Schema) })
		return found
	}
	for name, test := range map[string]struct {
		on   postgres.TableName
		want []PolicyText
	}{
		"of one table":     {on, []PolicyText{text}},
		"of all":           {postgres.TableName{}, []PolicyText{text, other}},
		"of no such table": {postgres.TableName{Schema: "S.1", Name: "other"}, nil},
	} {
		if diff := gocmp.Diff(test.want, read(test.on)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	// What is printed is that of the last time it was put.
	p.sql(t, `ALTER POLICY "P 1" ON "S.1"."T x" USING (n = 3)`)
	if diff := gocmp.Diff([]PolicyText{text}, read(on)); diff != "" {
		t.Errorf("changed by hand (-want +got):\n%s", diff)
	}
	now, printedNow := "n=3", "(n = 3)"
	text.UsingWritten, text.WhenLastRemoved, text.DatatableID, text.Datatable = &now, "disable", id(9), "acme/other"
	p.run(t, PutPolicyText(text))
	text.UsingPrinted = &printedNow
	if diff := gocmp.Diff([]PolicyText{text}, read(on)); diff != "" {
		t.Errorf("put again (-want +got):\n%s", diff)
	}
	p.run(t, DeletePolicyText(on, "P 1"), DeletePolicyText(on, "gone"))
	if diff := gocmp.Diff([]PolicyText{other}, read(postgres.TableName{})); diff != "" {
		t.Errorf("deleted (-want +got):\n%s", diff)
	}
}

func TestWhereRowSecurityWasTurnedOnIsKept(t *testing.T) {
	p := migrated(t)
	a, b := postgres.TableName{Schema: "S.1", Name: "T x"}, postgres.TableName{Schema: "S.1", Name: "u"}
	p.run(t, SetEnabledHere(a, true), SetEnabledHere(b, true), SetEnabledHere(a, true))
	read := func() (found []postgres.TableName) {
		p.run(t, EnabledHere(func(n postgres.TableName) { found = append(found, n) }))
		slices.SortFunc(found, func(a, b postgres.TableName) int { return cmp.Compare(a.Name, b.Name) })
		return found
	}
	if diff := gocmp.Diff([]postgres.TableName{a, b}, read()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	p.run(t, SetEnabledHere(a, false), SetEnabledHere(a, false))
	if diff := gocmp.Diff([]postgres.TableName{b}, read()); diff != "" {
		t.Errorf("forgotten (-want +got):\n%s", diff)
	}
}

func TestWhatWasTakenFromPublicIsKept(t *testing.T) {
	p := migrated(t)
	connect := privilege.Atom{Grantee: privilege.Public, Object: privilege.Object{Type: privilege.Database}, Privilege: "CONNECT"}
	create := privilege.Atom{Grantee: privilege.Public, Object: privilege.Object{Type: privilege.Schema, Schema: "S.1"}, Privilege: "CREATE"}
	for _, want := range []privilege.Set{{}, privilege.SetOf(connect, create), privilege.SetOf(create), {}} {
		p.run(t, SetTakenFromPublic(want)...)
		got := privilege.Set{}
		p.run(t, TakenFromPublic(got))
		if diff := gocmp.Diff(want, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
}
