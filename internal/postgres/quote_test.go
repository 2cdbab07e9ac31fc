package postgres

import (
	"context"
	"strings"
	"sync"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// hostile are texts that have broken somebody's quoting.
var hostile = []string{
	"", "plain", "it's", "''", `"`, `""`, `a"b`, `\`, `\'`, `\\'; DROP TABLE x; --`, "--", "/*", "*/", "$$", "$1", "%s %%", "a.b", ".",
	" ", "\t\n\r", "Zoë", "日本語", "😀", "\u202e", "E'x'", "U&'\\0041'", "PUBLIC", "select", "\x00", "a\x00'b", strings.Repeat("é", 31) + "x",
	"\xff", "\\\xc3",
}

func TestIdentQuotesEachPart(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		parts []string
		want  string
	}{
		{[]string{"a"}, `"a"`},
		{[]string{"s", "t"}, `"s"."t"`},
		{[]string{"a.b"}, `"a.b"`},
		{[]string{`a"b`, `"`}, `"a""b".""""`},
		{[]string{"select"}, `"select"`},
		{[]string{"Ä ö"}, `"Ä ö"`},
	} {
		if got := Ident(test.parts...); got != test.want {
			t.Errorf("%q is %s, and should be %s", test.parts, got, test.want)
		}
	}
}

func TestLiteralQuotes(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":       `''`,
		"a":      `'a'`,
		"it's":   `'it''s'`,
		`\`:      `E'\\'`,
		`\'`:     `E'\\'''`,
		"a\x00b": `'a'`,
		"-- x":   `'-- x'`,
	} {
		if got := Literal(text); got != want {
			t.Errorf("%q is %s, and should be %s", text, got, want)
		}
	}
}

// fuzzConn is one session for all inputs of a process that fuzzes.
var fuzzConn = sync.OnceValues(func() (*pgconn.PgConn, error) {
	s, err := running()
	if err != nil {
		return nil, err
	}
	conn, err := pgx.Connect(context.Background(), s.URL())
	if err != nil {
		return nil, err
	}
	return conn.PgConn(), nil
})

var fuzzing sync.Mutex

// ask returns the first column's name and value.
func ask(t *testing.T, sql string) (name, value string) {
	t.Helper()
	fuzzing.Lock()
	defer fuzzing.Unlock()
	conn, err := fuzzConn()
	if err != nil {
		t.Fatal(err)
	}
	results, err := conn.Exec(context.Background(), sql).ReadAll()
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	last := results[len(results)-1]
	return last.FieldDescriptions[0].Name, string(last.Rows[0][0])
}

func FuzzLiteral(f *testing.F) {
	for _, text := range hostile {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		literal := Literal(text)
		want, _, _ := strings.Cut(text, "\x00")
		if !utf8.ValidString(want) {
			// The server refuses it as a whole; what is checked here is that
			// nothing of it ends the literal.
			inner := strings.TrimPrefix(literal, "E")
			inner = strings.ReplaceAll(strings.ReplaceAll(inner[1:len(inner)-1], "''", ""), `\\`, "")
			lacks(t, inner, "'", `\`)
			return
		}
		// It means the same whatever the setting says.
		for _, setting := range []string{"on", "off"} {
			sql := "SET standard_conforming_strings = " + setting + "; SET escape_string_warning = off; SELECT "
			if _, got := ask(t, sql+literal); got != want {
				t.Errorf("with standard_conforming_strings %s, %s is %q, and should be %q", setting, literal, got, want)
			}
		}
		if _, quoted := ask(t, "SET standard_conforming_strings = on; SELECT pg_catalog.quote_literal("+literal+")"); quoted != literal {
			t.Errorf("the server quotes %q as %s, this as %s", want, quoted, literal)
		}
	})
}

func FuzzIdent(f *testing.F) {
	for _, text := range hostile {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		ident := Ident(text)
		want := strings.ReplaceAll(text, "\x00", "")
		quoted, escapes := strings.CutPrefix(ident, "U&")
		if inner := strings.ReplaceAll(quoted[1:len(quoted)-1], `""`, ""); strings.Contains(inner, `"`) {
			t.Errorf("%s ends early", ident)
		}
		if escapes != strings.ContainsFunc(text, unicode.IsControl) || strings.ContainsFunc(ident, unicode.IsControl) {
			t.Errorf("%q has control characters, or escapes where there are none", ident)
		}
		if want == "" || len(want) > 63 || !utf8.ValidString(want) {
			return // no name of Postgres
		}
		if got, _ := ask(t, "SELECT '' AS "+ident); got != want {
			t.Errorf("%s is %q, and should be %q", ident, got, want)
		}
	})
}
