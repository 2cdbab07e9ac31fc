package privilege

import (
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestSignaturesAreANameAndTypes(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"f()", "f( )", "f(text)", "_f1(text, integer)", "f (text)", "f$x(text)", "größe(text)", `"F"(text)`, `"a ""b""; --"(text)`,
		"f(numeric(10,2))", "f(numeric(10, 2), text)", "f(integer[])", "f(text[3][])", "f(double precision)", "f(timestamp(3) with time zone)",
		"f(character varying)", "f(VARCHAR(10))", "f(public.color)", `f("S.1"."Type x"[])`, "f(variadic text[])", "f(a text)", " f(text)",
	} {
		if err := CheckSignature(text); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
	for text, want := range map[string]string{
		"":                                    "at byte 0: no name",
		"(text)":                              "at byte 0: no name",
		"1f(text)":                            "at byte 0: no name",
		`""(text)`:                            "at byte 0: no name",
		`"f(text)`:                            "at byte 0: no name",
		"$f(text)":                            "at byte 0: no name",
		"F(text)":                             "at byte 0: no name",
		"f":                                   "at byte 1: the types",
		"fG(text)":                            "at byte 1: the types", // Postgres would take it for fg
		"s.f(text)":                           "at byte 1: the types",
		"f(text":                              "at byte 6: this is neither",
		"f(text,)":                            "at byte 7: this is no name of a type",
		"f(,text)":                            "at byte 2: this is no name of a type",
		"f(text text.)":                       "at byte 12: this is no name of a type",
		"f(text) ":                            "at byte 7: nothing may follow",
		"f(text);":                            "at byte 7: nothing may follow",
		"f(text) TO x":                        "at byte 7: nothing may follow",
		"f(text), g(text)":                    "at byte 7: nothing may follow",
		"f(text; DROP TABLE x)":               "at byte 6: this is neither",
		"f(text -- )":                         "at byte 7: this is neither",
		"f(text /* */)":                       "at byte 7: this is neither",
		"f($$text$$)":                         "at byte 2: this is no name of a type",
		"f('text')":                           "at byte 2: this is no name of a type",
		"f(1)":                                "at byte 2: this is no name of a type",
		"f(text = 1)":                         "at byte 7: this is neither",
		"f(text default 1)":                   "at byte 15: this is neither",
		"f(numeric(a))":                       "at byte 10: this is no name of a type",
		"f(numeric(-1))":                      "at byte 10: this is no name of a type",
		"f(numeric(1)":                        "at byte 12: this is neither",
		"f(text[a])":                          "at byte 7: this is no name of a type",
		"f(text[1)":                           "at byte 8: this is no name of a type",
		"f(\"x)":                              "at byte 2: this is no name of a type",
		`f(text "")`:                          "at byte 7: this is neither",
		"f(*)":                                "at byte 2: this is no name of a type",
		"f(text\n)":                           "at byte 6: this is neither",
		"f(text\x00)":                         "at byte 6: this is neither",
		"\"a\x00\"(text)":                     "at byte 2: this is a control character",
		"\"a\x1b[2J\"(text)":                  "at byte 2: this is a control character",
		"f(\"\n\")":                           "at byte 3: this is a control character",
		"f(\xff)":                             "at byte 2: this is no name of a type",
		"f(text\u00a0)":                       "at byte 6: this is neither",
		strings.Repeat("f(", 100) + "text)))": "at byte 4: this is no name of a type",
	} {
		err := CheckSignature(text)
		if err == nil {
			t.Errorf("%q is a signature", text)
			continue
		}
		if !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "write it like") {
			t.Errorf("%q: %v, without %q", text, err, want)
		}
	}
}

// signatureTokens is all that may be in a signature, as Postgres's own scanner
// splits it: quoted identifiers, words, which can go on but not begin with a
// dollar sign, numbers, and the signs between them.
var signatureTokens = regexp.MustCompile(`^(?:"(?:[^"\x00]|"")+"|[A-Za-z_\x{80}-\x{10ffff}][A-Za-z0-9_$\x{80}-\x{10ffff}]*|[0-9]+|[()\[\],. ])*$`)

// staysInItsPlace fails the test where a signature that passes could say more
// than which function is meant.
func staysInItsPlace(t interface {
	Helper()
	Errorf(string, ...any)
}, text string,
) {
	t.Helper()
	if CheckSignature(text) != nil {
		return
	}
	if !signatureTokens.MatchString(text) {
		t.Errorf("%q passes", text)
	}
	// Outside of quotes the parentheses close once, at the very end.
	depth, quoted := 0, false
	for i, r := range text {
		switch {
		case r == '"':
			quoted = !quoted
		case quoted:
		case r == '(':
			depth++
		case r == ')':
			if depth--; (depth == 0) != (i == len(text)-1) {
				t.Errorf("%q passes, and is closed at byte %d", text, i)
			}
		}
	}
	if depth != 0 || quoted {
		t.Errorf("%q passes, and is open at its end", text)
	}
}

// pieces of which signatures and attacks are made.
var pieces = []string{
	"f", "F", `"f"`, `"`, `""`, "(", ")", ",", ".", " ", "[", "]", "1", "$", "$$", "$a$", ";", "'", "--", "/*", "*/", `\`, "U&", "E'", "\n", "\x00", "é", "text", "TO x", "%",
}

func TestNoSignatureEndsItsStatement(t *testing.T) {
	t.Parallel()
	passed := 0
	rapid.Check(t, func(t *rapid.T) {
		// Around what passes, so that much of it does.
		text := rapid.SampledFrom([]string{"f(", `"F x"(`, "f(text", ""}).Draw(t, "before") +
			strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 6).Draw(t, "pieces"), "") + rapid.SampledFrom([]string{")", ""}).Draw(t, "after")
		staysInItsPlace(t, text)
		if CheckSignature(text) == nil {
			passed++
		}
	})
	if passed == 0 {
		t.Error("nothing that was drawn passed")
	}
}

func FuzzCheckSignature(f *testing.F) {
	for _, text := range append([]string{"f(text, numeric(10,2))", `"F"(double precision[])`, "f(text); DROP TABLE x", "f($$)$$)"}, pieces...) {
		f.Add(text)
		f.Add("f(" + text + ")")
	}
	f.Fuzz(func(t *testing.T, text string) { staysInItsPlace(t, text) })
}

func TestSignaturesAreSplitIntoNameAndTypes(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		"f()":                               {"f"},
		" f ( text , numeric(10, 2) )":      {"f", "text", "numeric(10, 2)"},
		`"F ""x"", ("("A, )".b[], int [3])`: {`F "x", (`, `"A, )".b[]`, "int [3]"},
		"größe(timestamp(3) with time zone, double precision)": {"größe", "timestamp(3) with time zone", "double precision"},
	} {
		name, types, err := SplitSignature(text)
		if diff := cmp.Diff(want, append([]string{name}, types...)); diff != "" || err != nil {
			t.Errorf("%s: %v (-want +got):\n%s", text, err, diff)
		}
	}
	if name, types, err := SplitSignature("f(text"); err == nil || name != "" || types != nil {
		t.Errorf("what is no signature is %q of %q, %v", name, types, err)
	}
}
