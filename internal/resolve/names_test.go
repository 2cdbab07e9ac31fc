package resolve

import (
	"strings"
	"testing"
)

func TestCheckRoleName(t *testing.T) {
	for _, name := range []string{"a", "app_user", "A-Z_09", "-", "9", "administrator", "nonesuch", "pg", "my_pg_role", "wm_set", strings.Repeat("r", 63)} {
		if err := CheckRoleName(name); err != nil {
			t.Errorf("%q is refused: %v", name, err)
		}
	}
	refused := map[string]string{ // name → what the error has to say
		"":                      "empty",
		strings.Repeat("r", 64): "64 characters",
		"a b":                   `' ' at byte 1`,
		"a.b":                   `'.' at byte 1`,
		"é":                     `'é' at byte 0`,
		"a\x00":                 `'\x00' at byte 1`,
		"admin":                 "reserved", "Admin": "reserved", "POSTGRES": "reserved", "pubLIC": "reserved", "None": "reserved",
		"pg_read": `"pg_"`, "PG_x": `"pg_"`, "windmill_x": `"windmill_"`, "Windmill_": `"windmill_"`,
		"custom_instance_1": `"custom_instance_"`, "wm_set_x": `"wm_set_"`, "WM_U_x": `"wm_u_"`, "wm_g_": `"wm_g_"`,
	}
	for name, want := range refused {
		err := CheckRoleName(name)
		switch {
		case err == nil:
			t.Errorf("%q is taken", name)
		case !strings.Contains(err.Error(), want), !strings.Contains(err.Error(), "use"):
			t.Errorf("%q: %v, without %q or without what would work", name, err, want)
		}
	}
}

func TestCheckTenant(t *testing.T) {
	for _, pattern := range []string{"*", "u/bob", "g/emea", "f/analytics", "f/a/b", "u/bob@acme.test", "g/ü"} {
		if err := CheckTenant(pattern); err != nil {
			t.Errorf("%q is refused: %v", pattern, err)
		}
	}
	refused := map[string]string{
		"": "does not say", "bob": "does not say", "**": "does not say", "u": "does not say",
		"u/": "names nobody", "g/": "names nobody", "f/": "names nobody",
		"U/bob": `"U/"`, "x/bob": `"x/"`, "/bob": `"/"`, "\tu/bob": `"\tu/"`, "*/": `"*/"`,
		"u/\x00": "NUL", "u/\xff": "UTF-8",
	}
	for pattern, want := range refused {
		err := CheckTenant(pattern)
		switch {
		case err == nil:
			t.Errorf("%q is taken", pattern)
		case !strings.Contains(err.Error(), want), !strings.Contains(err.Error(), `"u/<username>"`):
			t.Errorf("%q: %v, without %q or without what would work", pattern, err, want)
		}
	}
}

func TestCheckIdentifier(t *testing.T) {
	for _, name := range []string{"a", "Sales Figures", "a/b", strings.Repeat("é", 31)} {
		if err := CheckIdentifier("schema", name); err != nil {
			t.Errorf("%q is refused: %v", name, err)
		}
	}
	refused := map[string]string{"": "empty", strings.Repeat("é", 32): "64 bytes", "\xff": "UTF-8", "a\x00b": "NUL"}
	for name, want := range refused {
		err := CheckIdentifier("schema", name)
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "schema name") {
			t.Errorf("%q: %v, want one about %q", name, err, want)
		}
	}
}

func TestValidators(t *testing.T) {
	if got := strings.Join(Accesses(), " "); got != "open roles principals" {
		t.Error(got)
	}
	if got := strings.Join(Rules(), " "); got != "viewer identity" {
		t.Error(got)
	}
}
