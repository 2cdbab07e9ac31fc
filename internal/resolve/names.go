package resolve

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

const (
	// RoleAdmin is the reserved name of the owner connection: as a role, as a
	// default role, and as a key of a data table's tenants.
	RoleAdmin = "admin"
	// DefaultNone is the default role of a data table that has none.
	DefaultNone = "none"
	// Everyone is the tenant pattern of every member of the workspace.
	Everyone = "*"
)

// maxIdentifier is NAMEDATALEN - 1: Postgres cuts longer names off without an
// error, so that two of them can come to mean one thing.
const maxIdentifier = 63

// What a role may not be called or start with, compared in lower case. The
// prefixes belong to Postgres and to the logins that this project and Windmill
// make themselves.
var (
	reservedRoles    = []string{RoleAdmin, "postgres", "public", DefaultNone}
	reservedPrefixes = []string{"pg_", "windmill_", "custom_instance_", "wm_set_", "wm_u_", "wm_g_"}
)

// CheckRoleName reports why name cannot be a role of the catalog, or nil: 1 to
// 63 characters of A-Z a-z 0-9 _ -, and nothing that is reserved in any letter
// case.
func CheckRoleName(name string) error {
	if name == "" {
		return fmt.Errorf("a role name is empty: use 1 to %d characters of A-Z a-z 0-9 _ -, such as \"app_user\"", maxIdentifier)
	}
	for i, c := range name {
		if !isRoleCharacter(c) {
			return fmt.Errorf("role name %q has %q at byte %d: use only A-Z a-z 0-9 _ -, such as \"app_user\"", name, c, i)
		}
	}
	if len(name) > maxIdentifier {
		return fmt.Errorf("role name %q has %d characters: use at most %d, such as %q", name, len(name), maxIdentifier, name[:maxIdentifier])
	}
	lower := strings.ToLower(name)
	for _, reserved := range reservedRoles {
		if lower == reserved {
			return fmt.Errorf("role name %q is reserved in any letter case: use another, such as %q", name, "app_"+lower)
		}
	}
	for _, prefix := range reservedPrefixes {
		if strings.HasPrefix(lower, prefix) {
			return fmt.Errorf("role name %q starts with %q, which is reserved in any letter case: use another, such as \"app_user\"", name, prefix)
		}
	}
	return nil
}

// CheckSchema reports why name cannot be a schema that privileges and policies
// are declared in, or nil: an identifier, and none of the schemas that are
// Postgres's own or hold the catalog and the ledger, which are for nobody.
func CheckSchema(name string) error {
	if strings.HasPrefix(name, "pg_") || slices.Contains([]string{"information_schema", "datatable_catalog", "datatable_ledger"}, name) {
		return fmt.Errorf("schema %q is Postgres's or the provider's own, and nobody is let into it: use a schema of your data, such as \"public\"", name)
	}
	return CheckIdentifier("schema", name)
}

func isRoleCharacter(c rune) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-'
}

// CheckTenant reports why pattern is no tenant pattern, or nil: "*", or one of
// "u/", "g/", "f/" and a non-empty name.
func CheckTenant(pattern string) error {
	const forms = `use "u/<username>", "g/<group>", "f/<folder>" or "*"`
	if pattern == Everyone {
		return nil
	}
	kind, name, ok := strings.Cut(pattern, "/")
	switch {
	case !ok:
		return fmt.Errorf("tenant %q does not say whether it is a user, a group or a folder: %s", pattern, forms)
	case kind != "u" && kind != "g" && kind != "f":
		return fmt.Errorf("tenant %q starts with %q, which is no kind of tenant: %s", pattern, kind+"/", forms)
	case name == "":
		return fmt.Errorf("tenant %q names nobody after the slash: %s", pattern, forms)
	case !utf8.ValidString(name) || strings.ContainsRune(name, 0):
		return fmt.Errorf("tenant %q holds a NUL or is not valid UTF-8, which Postgres does not store: %s", pattern, forms)
	}
	return nil
}

// CheckIdentifier reports why name cannot name a thing in Postgres, a workspace
// or a data table, or nil: 1 to 63 bytes of UTF-8 without a NUL. The error
// calls the thing what, for example "schema".
func CheckIdentifier(what, name string) error {
	switch {
	case name == "":
		return fmt.Errorf("the %s name is empty: use 1 to %d bytes", what, maxIdentifier)
	case len(name) > maxIdentifier:
		return fmt.Errorf("%s name %q has %d bytes: use at most %d, Postgres cuts off the rest", what, name, len(name), maxIdentifier)
	case !utf8.ValidString(name):
		return fmt.Errorf("%s name %q is not valid UTF-8: write it in UTF-8", what, name)
	case strings.ContainsRune(name, 0):
		return fmt.Errorf("%s name %q holds a NUL, which Postgres has no room for: leave it out", what, name)
	}
	return nil
}
