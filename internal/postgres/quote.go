package postgres

import (
	"strings"

	"github.com/jackc/pgx/v5"
)

// Ident quotes an identifier, or a qualified name given by its parts.
func Ident(parts ...string) string { return pgx.Identifier(parts).Sanitize() }

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
