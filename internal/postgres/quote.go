package postgres

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"

	"github.com/jackc/pgx/v5"
)

// Ident quotes an identifier, or a qualified name given by its parts. A part
// with control characters is written with escapes: a plan that prints it must
// not make a terminal do anything.
func Ident(parts ...string) string {
	quoted := make([]string, len(parts))
	for i, part := range parts {
		quoted[i] = pgx.Identifier{part}.Sanitize()
		if strings.ContainsFunc(part, unicode.IsControl) {
			quoted[i] = escaped(quoted[i])
		}
	}
	return strings.Join(quoted, ".")
}

var quotedIdent = regexp.MustCompile(`"(?:[^"]|"")*"`)

// signature is one that is SQL already, its quoted names written as [Ident]
// writes them.
func signature(sql string) string {
	return quotedIdent.ReplaceAllStringFunc(sql, func(quoted string) string {
		if strings.ContainsFunc(quoted, unicode.IsControl) {
			return escaped(quoted)
		}
		return quoted
	})
}

// escaped turns a quoted identifier into one with Unicode escapes.
func escaped(quoted string) string {
	var b strings.Builder
	b.WriteString("U&")
	for _, r := range quoted {
		switch {
		case r == '\\':
			b.WriteString(`\\`)
		case unicode.IsControl(r):
			fmt.Fprintf(&b, `\%04X`, r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// Legible is a text for people, which may name what anyone made, with escapes
// for control characters other than line breaks and tabs.
func Legible(text string) string {
	var b strings.Builder
	for _, r := range text {
		if unicode.IsControl(r) && r != '\n' && r != '\t' {
			fmt.Fprintf(&b, `\%04X`, r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// Literal quotes a string as Postgres's quote_literal does: quotes are
// doubled, and where there is a backslash the literal is an escape string, so
// that it means the same whatever standard_conforming_strings says. A NUL
// byte, which no Postgres string can hold, ends the text.
func Literal(text string) string {
	text, _, _ = strings.Cut(text, "\x00")
	quoted := "'" + strings.ReplaceAll(text, "'", "''") + "'"
	if strings.Contains(quoted, `\`) {
		return "E" + strings.ReplaceAll(quoted, `\`, `\\`)
	}
	return quoted
}

func idents(names []string) string {
	quoted := make([]string, len(names))
	for i, name := range names {
		quoted[i] = Ident(name)
	}
	return strings.Join(quoted, ", ")
}
