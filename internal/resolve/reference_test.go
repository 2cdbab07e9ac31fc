package resolve

import (
	"errors"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestParseReference(t *testing.T) {
	long := strings.Repeat("n", 63)
	for text, want := range map[string]Reference{
		"datatable":                           {Datatable: "main"},
		"datatable://main":                    {Datatable: "main"},
		"main":                                {Datatable: "main"},
		"datatable://datatable":               {Datatable: "datatable"},
		"datatable:s":                         {Datatable: "datatable", Schema: "s"},
		"datatable?role=r":                    {Datatable: "datatable", Role: "r"},
		"Datatable":                           {Datatable: "Datatable"},
		":sales":                              {Datatable: "main", Schema: "sales"},
		":sales?role=etl":                     {Datatable: "main", Schema: "sales", Role: "etl"},
		"crm:sales?as=viewer":                 {Datatable: "crm", Schema: "sales", AsViewer: true},
		"datatable://crm:sales?role=a":        {Datatable: "crm", Schema: "sales", Role: "a"},
		"crm?ROLE=Etl":                        {Datatable: "crm", Role: "Etl"},
		"crm?As=viewer":                       {Datatable: "crm", AsViewer: true},
		"crm?role=admin":                      {Datatable: "crm", Role: "admin"},
		"a%3Ab:c%2fd?role=%25":                {Datatable: "a:b", Schema: "c/d", Role: "%"},
		"größe":                               {Datatable: "größe"},
		"gr%C3%B6ße":                          {Datatable: "größe"},
		"a+b":                                 {Datatable: "a+b"},
		long + ":" + long + "?role=" + long:   {Datatable: long, Schema: long, Role: long},
		strings.Repeat("%6E", 63) + "?role=x": {Datatable: long, Role: "x"},
	} {
		got, err := ParseReference(text)
		if err != nil || got != want {
			t.Errorf("%q is %+v, %v; want %+v", text, got, err, want)
		}
		if again, err := ParseReference(got.String()); err != nil || again != got {
			t.Errorf("%q is formatted as %q, which is %+v, %v", text, got.String(), again, err)
		}
	}
}

func TestParseReferenceRefuses(t *testing.T) {
	long := strings.Repeat("n", 64)
	for _, tc := range []struct {
		text   string
		offset int
		reason string
	}{
		{"", 0, "empty"},
		{"datatable://", 12, "data table name is empty"},
		{"datatable://:sales", 12, "data table name is empty"},
		{"?role=a", 0, "data table name is empty"},
		{":", 1, "schema name is empty"},
		{"main:", 5, "schema name is empty"},
		{"datatable://main:?role=a", 17, "schema name is empty"},
		{"main:a:b", 6, "':' has no place"},
		{"main/a", 4, "write %2F"},
		{"main#a", 4, "write %23"},
		{"postgres://main", 0, "datatable://main"},
		{"DATATABLE://main", 0, "datatable://main"},
		{long, 0, "64 bytes"},
		{"main:" + long, 5, "64 bytes"},
		{"main?role=" + long, 10, "64 bytes"},
		{"main?", 5, "is no key"},
		{"main?&role=a", 5, "is no key"},
		{"main?role=a&", 12, "is no key"},
		{"main?user=bob", 5, `"user" is no key`},
		{"main?role", 9, "role name is empty"},
		{"main?role=", 10, "role name is empty"},
		{"main?role=a&role=b", 12, "repeated"},
		{"main?role=a&ROLE=a", 12, "repeated"},
		{"main?as=viewer&as=viewer", 15, "repeated"},
		{"main?as", 7, "the only value"},
		{"main?as=", 8, "the only value"},
		{"main?as=owner", 8, `"owner"`},
		{"main?as=Viewer", 8, `"Viewer"`},
		{"main?role=a&as=viewer", 12, "stand together"},
		{"main?as=viewer&role=a", 15, "stand together"},
		{"main?role=a=b", 11, "write %3D"},
		{"main?role=a?b", 11, "write %3F"},
		{"main?role=ab%zz", 12, "no percent escape"},
		{"ma%2", 2, "cut off"},
		{"ma%", 2, "cut off"},
		{"ma%+1", 2, "no percent escape"},
		{"main%00", 0, "NUL"},
		{"main:%ff", 5, "UTF-8"},
		{"\xff", 0, "UTF-8"},
	} {
		got, err := ParseReference(tc.text)
		var at *ReferenceError
		switch {
		case !errors.As(err, &at):
			t.Errorf("%q is %+v, %v", tc.text, got, err)
		case got != Reference{}:
			t.Errorf("%q is refused and %+v", tc.text, got)
		case at.Offset != tc.offset || at.Text != tc.text || !strings.Contains(at.Reason, tc.reason):
			t.Errorf("%q is refused at %d: %s; want at %d for %q", tc.text, at.Offset, at.Reason, tc.offset, tc.reason)
		}
	}
	want := `reference "main?as=owner", at byte 8: as is "owner": the only value is as=viewer`
	if _, err := ParseReference("main?as=owner"); err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}

func TestReferenceInPartsFollowsTheSameRules(t *testing.T) {
	for _, r := range []Reference{
		{Datatable: "main"},
		{Datatable: "a:b/c?d", Schema: "#", Role: "&=% ", AsViewer: false},
		{Datatable: "main", AsViewer: true},
	} {
		if err := r.Check(); err != nil {
			t.Errorf("%+v: %v", r, err)
		}
	}
	for _, r := range []Reference{
		{},
		{Schema: "s"},
		{Datatable: "main", Role: "a", AsViewer: true},
		{Datatable: strings.Repeat("n", 64)},
		{Datatable: "main", Schema: "\x00"},
		{Datatable: "main", Role: "\xff"},
	} {
		var at *ReferenceError
		if err := r.Check(); !errors.As(err, &at) {
			t.Errorf("%+v: %v", r, err)
		}
	}
}

func TestReferencesRoundTrip(t *testing.T) {
	name := rapid.StringN(0, 70, 70)
	rapid.Check(t, func(t *rapid.T) {
		r := Reference{name.Draw(t, "datatable"), name.Draw(t, "schema"), name.Draw(t, "role"), rapid.Bool().Draw(t, "as viewer")}
		valid := CheckIdentifier("", r.Datatable) == nil &&
			(r.Schema == "" || CheckIdentifier("", r.Schema) == nil) &&
			(r.Role == "" || CheckIdentifier("", r.Role) == nil) && (r.Role == "" || !r.AsViewer)
		if err := r.Check(); (err == nil) != valid {
			t.Fatalf("%+v: %v, and its names make that %t", r, err, valid)
		}
		if got, err := ParseReference(r.String()); valid && (err != nil || got != r) {
			t.Fatalf("%+v is formatted as %q, which is %+v, %v", r, r.String(), got, err)
		}
	})
}

func FuzzParseReference(f *testing.F) {
	for _, text := range []string{"datatable", "datatable://main:sales?role=a", ":s", "a%3Ab?as=viewer", "main?role=%zz", "\xff%"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		r, err := ParseReference(text)
		if err != nil {
			var at *ReferenceError
			if !errors.As(err, &at) || at.Text != text || at.Offset < 0 || at.Offset > len(text) {
				t.Fatalf("%q: %#v", text, err)
			}
			return
		}
		if again, err := ParseReference(r.String()); err != nil || again != r {
			t.Fatalf("%q is %+v, formatted %q, which is %+v, %v", text, r, r.String(), again, err)
		}
		if err := r.Check(); err != nil {
			t.Fatal(err)
		}
	})
}
