package postgres

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode"

	"pgregory.net/rapid"
)

// corpus is thousands of texts that a server can hold, most of them of what
// quoting is about, and the words that it reserves.
func corpus(t *testing.T, words []string) []string {
	t.Helper()
	special := rapid.SampledFrom([]rune("'\"\\aZ_9$ .-/*;:%\n\r\t\x01\x7f\u0085éß日😀\u202e\ufeff\u0301"))
	text := rapid.StringOfN(rapid.OneOf(special, special, rapid.Rune()), -1, 40, -1)
	texts := slices.Concat(hostile, words, rapid.SliceOfN(text, 3000, 3000).Example(1))
	for _, word := range words {
		texts = append(texts, strings.ToUpper(word), word+"'", `"`+word)
	}
	for n := 1; n < 1<<14; n *= 2 {
		texts = append(texts, strings.Repeat("é'\\\"", n), strings.Repeat("x", n))
	}
	for i, text := range texts {
		texts[i] = strings.ToValidUTF8(strings.ReplaceAll(text, "\x00", ""), "?")
	}
	return texts
}

func TestQuotingIsTheServers(t *testing.T) {
	p := newPlace(t)
	conn := connect(t, p.super.String())
	texts := corpus(t, lines(t, p.super.String(), "SELECT word FROM pg_get_keywords()"))
	if len(texts) < 4000 {
		t.Fatalf("only %d texts", len(texts))
	}
	literals, idents, values := make([]string, len(texts)), make([]string, len(texts)), make([]string, len(texts))
	for i, text := range texts {
		literals[i], idents[i] = Literal(text), Ident(text)
		values[i] = fmt.Sprintf("(%d, %s)", i+1, literals[i])
	}
	// One query: each literal stands in it and must mean its text, and be written
	// as the server writes it. A name without control characters is the one that
	// the server reads, and is written as the server writes what needs quoting.
	rows, err := conn.Query(t.Context(), `SELECT it.text, v.text IS NOT DISTINCT FROM it.text, quote_literal(it.text) = it.literal,
			CASE WHEN it.text = '' OR it.ident LIKE 'U&%' THEN true ELSE (parse_ident(it.ident))[1] = it.text END,
			it.ident LIKE 'U&%' OR it.ident IN (quote_ident(it.text), '"' || quote_ident(it.text) || '"'), it.ident LIKE 'U&%'
		FROM ROWS FROM (unnest($1::text[]), unnest($2::text[]), unnest($3::text[])) WITH ORDINALITY AS it (text, literal, ident, i)
		LEFT JOIN (VALUES `+strings.Join(values, ", ")+`) AS v (i, text) USING (i)`, texts, literals, idents)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	seen, escaped, bare := 0, 0, 0
	for rows.Next() {
		var text string
		var means, literal, denotes, ident, escapes bool
		if err := rows.Scan(&text, &means, &literal, &denotes, &ident, &escapes); err != nil {
			t.Fatal(err)
		}
		if !means || !literal || !denotes || !ident {
			t.Errorf("%.100q: the literal means it %t and is the server's %t; the name is read as it %t and is the server's %t", text, means, literal, denotes, ident)
		}
		if escapes != strings.ContainsFunc(text, unicode.IsControl) {
			t.Errorf("%.100q is written with escapes: %t", text, escapes)
		}
		seen++
		if escapes {
			escaped++
		} else {
			bare++
		}
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	t.Logf("%d texts, %d of them names with escapes", seen, escaped)
	if seen != len(texts) || escaped < 500 || bare < 500 {
		t.Errorf("%d texts were looked at, %d with control characters and %d without", seen, escaped, bare)
	}

	// What is written with escapes no function of the server reads, so it is the
	// name of a column.
	var columns, names []string
	for i, text := range texts {
		if text != "" && len(text) <= 63 && strings.ContainsFunc(text, unicode.IsControl) && len(columns) < 1600 {
			columns, names = append(columns, "1 AS "+idents[i]), append(names, text)
		}
	}
	named, err := conn.Query(t.Context(), "SELECT "+strings.Join(columns, ", "))
	if err != nil {
		t.Fatal(err)
	}
	defer named.Close()
	for i, field := range named.FieldDescriptions() {
		if field.Name != names[i] {
			t.Errorf("%s is read as %q and not as %q", columns[i], field.Name, names[i])
		}
	}
}
