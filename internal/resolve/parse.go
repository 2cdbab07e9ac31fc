package resolve

import (
	"fmt"
	"strconv"
	"strings"
)

// delimiters separate the parts of a reference. Inside a name they are
// percent-encoded: a name never depends on where in the text it stands.
const delimiters = ":/?#&="

// ParseReference reads a reference:
//
//	datatable                          the data table main
//	datatable://NAME[:SCHEMA][?KEY=VALUE]
//	NAME[:SCHEMA][?KEY=VALUE]          the same without the scheme
//	:SCHEMA[?KEY=VALUE]                main, with a search path
//
// The keys are role=<role> and as=viewer, in any letter case. Only the lone
// word datatable stands for main: in datatable:SCHEMA and datatable?role=ROLE
// it is a name like any other. An error is a *ReferenceError.
func ParseReference(text string) (Reference, error) {
	if text == "datatable" {
		return Reference{Datatable: mainDatatable}, nil
	}
	var r Reference
	if err := (&parser{text: text}).parse(&r); err != nil {
		return Reference{}, err
	}
	return r, nil
}

type parser struct {
	text string
}

// fail makes the error for the part that starts at a byte of the text.
func (p *parser) fail(offset int, format string, args ...any) error {
	return &ReferenceError{Text: p.text, Offset: offset, Reason: fmt.Sprintf(format, args...)}
}

func (p *parser) parse(r *Reference) (err error) {
	rest, bare := strings.CutPrefix(p.text, scheme)
	bare = !bare
	if bare && strings.Contains(rest, "://") {
		return p.fail(0, "the scheme is not %q: write %smain", scheme, scheme)
	}
	start := len(p.text) - len(rest)
	path, query, hasQuery := strings.Cut(rest, "?")
	name, schema, hasSchema := strings.Cut(path, ":")

	if name == "" && hasSchema && bare {
		r.Datatable = mainDatatable
	} else if r.Datatable, err = p.name("data table", start, name); err != nil {
		return err
	}
	if hasSchema {
		if r.Schema, err = p.name("schema", start+len(name)+1, schema); err != nil {
			return err
		}
	}
	if hasQuery {
		return p.query(r, start+len(path)+1, query)
	}
	return nil
}

// query reads KEY=VALUE[&KEY=VALUE] that starts at offset.
func (p *parser) query(r *Reference, offset int, query string) error {
	for pair := range strings.SplitSeq(query, "&") {
		key, raw, _ := strings.Cut(pair, "=")
		at := offset + len(key) + 1
		switch strings.ToLower(key) {
		case "role":
			if r.Role != "" {
				return p.fail(offset, "the key role is repeated: name one role")
			}
			value, err := p.name("role", min(at, len(p.text)), raw)
			if err != nil {
				return err
			}
			r.Role = value
		case "as":
			if r.AsViewer {
				return p.fail(offset, "the key as is repeated: write as=viewer once")
			}
			if raw != "viewer" {
				return p.fail(min(at, len(p.text)), "as is %q: the only value is as=viewer", raw)
			}
			r.AsViewer = true
		default:
			return p.fail(offset, "%q is no key: the keys are role=<role> and as=viewer", key)
		}
		if r.Role != "" && r.AsViewer {
			return p.fail(offset, "role and as stand together: a named role is held alone, so keep one of them")
		}
		offset += len(pair) + 1
	}
	return nil
}

// name decodes the name of a thing, called what, that starts at offset.
func (p *parser) name(what string, offset int, raw string) (string, error) {
	decoded := make([]byte, 0, len(raw))
	for i := 0; i < len(raw); i++ {
		switch c := raw[i]; {
		case c == '%':
			if len(raw) < i+3 {
				return "", p.fail(offset+i, "a percent escape is cut off: write two hex digits after %%, or %%25 for the character itself")
			}
			b, err := strconv.ParseUint(raw[i+1:i+3], 16, 8)
			if err != nil {
				return "", p.fail(offset+i, "%q is no percent escape: write two hex digits after %%, or %%25 for the character itself", raw[i:i+3])
			}
			decoded = append(decoded, byte(b))
			i += 2
		case strings.IndexByte(delimiters, c) >= 0:
			return "", p.fail(offset+i, "%q has no place in a %s name: write %%%02X for the character itself", c, what, c)
		default:
			decoded = append(decoded, c)
		}
	}
	if err := CheckIdentifier(what, string(decoded)); err != nil {
		return "", p.fail(offset, "%s", err)
	}
	return string(decoded), nil
}
