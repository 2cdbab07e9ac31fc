package provider_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/datatable-io/terraform-provider-datatable/internal/acctest"
)

func TestFunctions(t *testing.T) {
	t.Parallel()
	const ns = "provider::datatable::"
	cases := []struct{ call, want string }{
		{`parse_reference("datatable://main:analytics?role=reader")`, `{"as":null,"datatable":"main","role":"reader","schema":"analytics"}`},
		{`parse_reference("datatable")`, `{"as":null,"datatable":"main","role":null,"schema":null}`},
		{`parse_reference(":s?AS=viewer")`, `{"as":"viewer","datatable":"main","role":null,"schema":"s"}`},
		{`format_reference({ datatable = "a b", schema = "s", role = "r" })`, `"datatable://a%20b:s?role=r"`},
		{`format_reference({ as = "viewer" })`, `"datatable://main?as=viewer"`},
		{`format_reference(provider::datatable::parse_reference("datatable://main:x?role=y"))`, `"datatable://main:x?role=y"`},
		{`member_of("sales_emea")`, `"pg_catalog.pg_has_role(current_user, 'sales_emea', 'member')"`},
		{`member_of("a", "b-c", "D")`, `"(pg_catalog.pg_has_role(current_user, 'a', 'member') OR pg_catalog.pg_has_role(current_user, 'b-c', 'member') OR pg_catalog.pg_has_role(current_user, 'D', 'member'))"`},
		{`member_of(["a", "b-c", "D"]...)`, `"(pg_catalog.pg_has_role(current_user, 'a', 'member') OR pg_catalog.pg_has_role(current_user, 'b-c', 'member') OR pg_catalog.pg_has_role(current_user, 'D', 'member'))"`},
		{`member_of(toset(["D"])...)`, `"pg_catalog.pg_has_role(current_user, 'D', 'member')"`},
		{`owned_by("email")`, `"\"email\" = wm_email()"`},
		{`owned_by("Created \"by\".x")`, `"\"Created \"\"by\"\".x\" = wm_email()"`},
		{`quote_ident("a\"b.C")`, `"\"a\"\"b.C\""`},
		{`quote_literal("it's \\ é")`, `"E'it''s \\\\ é'"`},
	}
	var b strings.Builder
	for i, c := range cases {
		b.WriteString("output \"o" + string(rune('a'+i)) + "\" {\n  value = " + ns + c.call + "\n}\n")
	}
	m := acctest.NewModule(t, b.String())
	m.MustRun("apply", "-auto-approve", "-input=false")
	var got map[string]struct{ Value json.RawMessage }
	if err := json.Unmarshal([]byte(m.MustRun("output", "-json")), &got); err != nil {
		t.Fatal(err)
	}
	for i, c := range cases {
		var want, value any
		if err := json.Unmarshal([]byte(c.want), &want); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(got["o"+string(rune('a'+i))].Value, &value); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, value); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.call, diff)
		}
	}
}

func TestFunctionsRefuse(t *testing.T) {
	t.Parallel()
	cases := map[string][]string{
		`parse_reference("datatable://main?role=")`:       {"at byte"},
		`format_reference({ datatable = "" })`:            {`""`},
		`format_reference({ as = "owner" })`:              {`as is "owner", and can only be "viewer"`},
		`format_reference({ role = "a", as = "viewer" })`: {"role", "as"},
		`format_reference({ table = "x" })`:               {`"table" is no part of a reference`},
		`format_reference("main")`:                        {"An object is needed"},
		`member_of("pg_monitor")`:                         {`starts with "pg_"`},
		`member_of("a'b")`:                                {`role name "a'b"`},
		`member_of()`:                                     {"Not enough function arguments"},
		`member_of([]...)`:                                {"Not enough function arguments"},
		`member_of("a", "b", "c'd")`:                      {`role name "c'd"`},
		`member_of("a", "admin")`:                         {`role name "admin" is reserved`},
		`owned_by("")`:                                    {"column name is empty"},
		`owned_by("` + strings.Repeat("é", 32) + `")`:     {"has 64 bytes: use at most 63"},
		"quote_ident(\"a\\u0000b\")":                      {"NUL"},
		"quote_literal(\"a\\u0000b\")":                    {"NUL"},
	}
	for call, texts := range cases {
		t.Run(call, func(t *testing.T) {
			t.Parallel()
			m := acctest.NewModule(t, "output \"it\" {\n  value = provider::datatable::"+call+"\n}\n")
			out, err := m.Run("plan", "-input=false")
			if err == nil {
				t.Fatalf("it is accepted:\n%s", out)
			}
			for _, text := range texts {
				if !strings.Contains(strings.ToLower(unwrapped(out)), strings.ToLower(text)) {
					t.Errorf("the error lacks %q:\n%s", text, out)
				}
			}
		})
	}
}
