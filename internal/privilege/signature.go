package privilege

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// CheckSignature reports why text is no signature of a function, or nil. A
// signature is SQL: a name, quoted where Postgres would fold its letters, and
// in parentheses the types of the arguments, "f(text, numeric(10,2))". Nothing
// that passes can end the statement that it is put into, and it has no control
// characters, which a terminal that shows a plan might obey.
func CheckSignature(text string) error {
	_, _, err := SplitSignature(text)
	return err
}

// SplitSignature returns the name of the function that a signature is of, as
// Postgres stores it, and the types of its arguments as they are written. It
// reports what [CheckSignature] does.
func SplitSignature(text string) (name string, types []string, err error) {
	s := scanner{text: text}
	name, types, err = s.signature()
	if i := strings.IndexFunc(text, unicode.IsControl); err == nil && i >= 0 {
		s.at, err = i, errors.New("this is a control character")
	}
	if err != nil {
		return "", nil, fmt.Errorf("signature %q, at byte %d: %w; write it like \"f(text, integer)\", and a name with upper-case letters in double quotes", text, s.at, err)
	}
	return name, types, nil
}

type scanner struct {
	text string
	at   int
}

func (s *scanner) signature() (name string, types []string, err error) {
	if !s.identifier(false) {
		return "", nil, errors.New("no name of a function")
	}
	name = strings.TrimSpace(s.text[:s.at])
	if strings.HasPrefix(name, `"`) {
		name = strings.ReplaceAll(name[1:len(name)-1], `""`, `"`)
	}
	if !s.take("(") {
		return "", nil, errors.New("the types of the arguments are missing, in parentheses")
	}
	for !s.take(")") {
		if len(types) > 0 && !s.take(",") {
			return "", nil, errors.New("this is neither a comma nor the closing parenthesis")
		}
		start := s.at
		if !s.typeName() {
			return "", nil, errors.New("this is no name of a type")
		}
		types = append(types, strings.TrimSpace(s.text[start:s.at]))
	}
	if s.at != len(s.text) {
		return "", nil, errors.New("nothing may follow the closing parenthesis")
	}
	return name, types, nil
}

// typeName takes words, with dots between, and what may stand behind a type:
// (10,2) and [].
func (s *scanner) typeName() bool {
	if !s.identifier(true) {
		return false
	}
	for {
		switch {
		case s.take("."):
			if !s.identifier(true) {
				return false
			}
		case s.take("["):
			s.digits()
			if !s.take("]") {
				return false
			}
		case s.take("("):
			for s.digits(); s.take(","); {
				s.digits()
			}
			if !s.take(")") {
				return false
			}
		case s.identifier(true): // "double precision"
		default:
			return true
		}
	}
}

// identifier takes a quoted identifier, or a word; one that Postgres would fold
// to lower case only where fold is set.
func (s *scanner) identifier(fold bool) bool {
	s.space()
	if strings.HasPrefix(s.text[s.at:], `"`) {
		return s.quoted()
	}
	start := s.at
	for s.at < len(s.text) {
		r, size := utf8.DecodeRuneInString(s.text[s.at:])
		letter := r == '_' || unicode.IsLetter(r) && (fold || !unicode.IsUpper(r))
		if !letter && (s.at == start || r != '$' && !unicode.IsDigit(r)) {
			break
		}
		s.at += size
	}
	return s.at > start
}

func (s *scanner) quoted() bool {
	for end := s.at + 1; end < len(s.text); end++ {
		if s.text[end] != '"' {
			continue
		}
		if end+1 < len(s.text) && s.text[end+1] == '"' {
			end++
			continue
		}
		if end == s.at+1 {
			return false // no identifier is empty
		}
		s.at = end + 1
		return true
	}
	return false
}

func (s *scanner) digits() {
	s.space()
	for s.at < len(s.text) && s.text[s.at] >= '0' && s.text[s.at] <= '9' {
		s.at++
	}
}

func (s *scanner) take(token string) bool {
	s.space()
	if strings.HasPrefix(s.text[s.at:], token) {
		s.at += len(token)
		return true
	}
	return false
}

func (s *scanner) space() {
	for s.at < len(s.text) && s.text[s.at] == ' ' {
		s.at++
	}
}
