package resolve

import (
	"fmt"
	"strings"
)

const (
	scheme        = "datatable://"
	mainDatatable = "main"
)

// Reference is how a program names a connection: a data table, optionally a
// schema to put on the search path, and either a role or the wish to hold the
// viewer's roles.
type Reference struct {
	Datatable string
	Schema    string // empty: the search path stays as it is
	Role      string // empty: no role is named
	AsViewer  bool   // as=viewer; never together with Role
}

// ReferenceError says what is wrong with a reference, and where.
type ReferenceError struct {
	Text   string // the reference
	Offset int    // byte of Text where the part at fault starts
	Reason string
}

func (e *ReferenceError) Error() string {
	return fmt.Sprintf("reference %q, at byte %d: %s", e.Text, e.Offset, e.Reason)
}

// String gives the canonical text, datatable://NAME[:SCHEMA][?role=ROLE] or
// datatable://NAME[:SCHEMA][?as=viewer]. Parsed, a valid reference comes back
// as it was.
func (r Reference) String() string {
	var b strings.Builder
	b.WriteString(scheme)
	escape(&b, r.Datatable)
	if r.Schema != "" {
		b.WriteByte(':')
		escape(&b, r.Schema)
	}
	separator := byte('?')
	if r.Role != "" {
		b.WriteByte(separator)
		b.WriteString("role=")
		escape(&b, r.Role)
		separator = '&'
	}
	if r.AsViewer {
		b.WriteByte(separator)
		b.WriteString("as=viewer")
	}
	return b.String()
}

// Check applies the rules of ParseReference to a reference given in parts. The
// error is a *ReferenceError over the reference's canonical text.
func (r Reference) Check() error {
	_, err := ParseReference(r.String())
	return err
}

// escape percent-encodes what could be taken for a delimiter or is no ASCII
// letter or digit; other UTF-8 stays readable.
func escape(b *strings.Builder, name string) {
	for i := range len(name) {
		c := name[i]
		if c >= 0x80 || isRoleCharacter(rune(c)) || c == '.' || c == '~' {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(b, "%%%02X", c)
		}
	}
}
