package provider_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/datatable-io/terraform-provider-datatable/internal/acctest"
)

// bad is a block that terraform validate refuses, with where and with which
// words.
type bad struct {
	name string
	// kind of block: a resource type, or "data." and a type.
	kind, body string
	// code is the line that the error points at, without indentation.
	code  string
	words []string
}

const sixtyFour = "0123456789012345678901234567890123456789012345678901234567890123"

var badBlocks = []bad{
	{"role: empty", "datatable_role", `name = ""`, `name = ""`, []string{"role name is empty", "1 to 63 characters"}},
	{"role: character", "datatable_role", `name = "a b"`, `name = "a b"`, []string{`"a b"`, "A-Z a-z 0-9 _ -", "app_user"}},
	{"role: umlaut", "datatable_role", `name = "bär"`, `name = "bär"`, []string{`"bär"`, "A-Z a-z 0-9 _ -"}},
	{"role: too long", "datatable_role", `name = "` + sixtyFour + `"`, `name = "` + sixtyFour + `"`, []string{"64 characters", "at most 63"}},
	{"role: admin", "datatable_role", `name = "Admin"`, `name = "Admin"`, []string{`"Admin"`, "reserved in any letter case"}},
	{"role: postgres", "datatable_role", `name = "postgres"`, `name = "postgres"`, []string{"reserved"}},
	{"role: public", "datatable_role", `name = "PUBLIC"`, `name = "PUBLIC"`, []string{"reserved"}},
	{"role: none", "datatable_role", `name = "None"`, `name = "None"`, []string{"reserved"}},
	{"role: pg_", "datatable_role", `name = "PG_x"`, `name = "PG_x"`, []string{`starts with "pg_"`}},
	{"role: windmill_", "datatable_role", `name = "windmill_x"`, `name = "windmill_x"`, []string{`starts with "windmill_"`}},
	{"role: custom_instance_", "datatable_role", `name = "custom_instance_x"`, `name = "custom_instance_x"`, []string{`starts with "custom_instance_"`}},
	{"role: wm_set_", "datatable_role", `name = "wm_set_x"`, `name = "wm_set_x"`, []string{`starts with "wm_set_"`}},
	{"role: wm_u_", "datatable_role", `name = "Wm_U_x"`, `name = "Wm_U_x"`, []string{`starts with "wm_u_"`}},
	{"role: wm_g_", "datatable_role", `name = "wm_g_x"`, `name = "wm_g_x"`, []string{`starts with "wm_g_"`}},
	{"role: empty comment", "datatable_role", "name = \"r\"\n  comment = \"\"", `comment = ""`, []string{"comment is empty", "leave the argument out"}},
	{"role: comment with a NUL", "datatable_role", "name = \"r\"\n  comment = \"a\\u0000b\"", `comment = "a\u0000b"`, []string{"NUL character"}},
	{"role: password version", "datatable_role", "name = \"r\"\n  password_version = 0", `password_version = 0`, []string{"at least 1"}},

	{"workspace: name", "datatable_workspace", `name = "` + sixtyFour + `"`, `name = "` + sixtyFour + `"`, []string{"64 bytes", "at most 63"}},
	{"workspace: group of a stranger", "datatable_workspace", "name = \"w\"\n  members = { a = { email = \"a@x\" } }\n  groups = { g = [\"a\", \"ghost\"] }", `groups = { g = ["a", "ghost"] }`, []string{`"ghost" is no member`}},
	{"workspace: folder pattern", "datatable_workspace", "name = \"w\"\n  folders = { f = [\"*\"] }", `folders = { f = ["*"] }`, []string{`"*" is neither u/<username> nor g/<group>`}},
	{"workspace: folder of a stranger", "datatable_workspace", "name = \"w\"\n  folders = { f = [\"u/ghost\"] }", `folders = { f = ["u/ghost"] }`, []string{`"u/ghost" names no member`}},
	{"workspace: folder of no group", "datatable_workspace", "name = \"w\"\n  folders = { f = [\"g/ghost\"] }", `folders = { f = ["g/ghost"] }`, []string{`"g/ghost" names no group`}},
	{"workspace: email", "datatable_workspace", "name = \"w\"\n  members = { a = { email = \"nobody\" } }", `members = { a = { email = "nobody" } }`, []string{`"nobody" is no email`}},
	{"workspace: one email twice", "datatable_workspace", "name = \"w\"\n  members = { a = { email = \"x@x\" }, b = { email = \"X@x\" } }", `members = { a = { email = "x@x" }, b = { email = "X@x" } }`, []string{`also that of "a"`}},
	{"workspace: username that is an email", "datatable_workspace", "name = \"w\"\n  members = { a = { email = \"x@x\" }, \"x@x\" = { email = \"y@x\" } }", `members = { a = { email = "x@x" }, "x@x" = { email = "y@x" } }`, []string{`the username is the email of "a"`}},

	{"datatable: name", "datatable", "database = \"d\"\n  name = \"\"", `name = ""`, []string{"data table name is empty"}},
	{"datatable: database", "datatable", `database = "` + sixtyFour + `"`, `database = "` + sixtyFour + `"`, []string{"64 bytes"}},
	{"datatable: access", "datatable", "database = \"d\"\n  access = \"closed\"", `access = "closed"`, []string{`"closed"`, `"open", "roles", "principals"`}},
	{"datatable: rule", "datatable", "database = \"d\"\n  unnamed_roles_from = \"me\"", `unnamed_roles_from = "me"`, []string{`"viewer", "identity"`}},
	{"datatable: default not listed", "datatable", "database = \"d\"\n  default_role = \"a\"\n  tenants = { b = [\"*\"] }", `default_role = "a"`, []string{`"a"`, `"admin", "none"`, `"b"`}},
	{"datatable: default without tenants", "datatable", "database = \"d\"\n  default_role = \"a\"", `default_role = "a"`, []string{"add it to tenants"}},
	{"datatable: default reserved", "datatable", "database = \"d\"\n  default_role = \"pg_x\"\n  tenants = {}", `default_role = "pg_x"`, []string{`starts with "pg_"`}},
	{"datatable: tenants key", "datatable", "database = \"d\"\n  tenants = { Public = [\"*\"] }", `tenants = { Public = ["*"] }`, []string{`"Public" is reserved`}},
	{"datatable: pattern kind", "datatable", "database = \"d\"\n  tenants = { a = [\"x/y\"] }", `tenants = { a = ["x/y"] }`, []string{`"x/y"`, "no kind of tenant", "u/<username>"}},
	{"datatable: pattern without a name", "datatable", "database = \"d\"\n  tenants = { a = [\"g/\"] }", `tenants = { a = ["g/"] }`, []string{`"g/"`, "names nobody"}},
	{"datatable: pattern without a kind", "datatable", "database = \"d\"\n  tenants = { a = [\"bob\"] }", `tenants = { a = ["bob"] }`, []string{`"bob"`, "u/<username>"}},
	{"datatable: empty pattern", "datatable", "database = \"d\"\n  tenants = { a = [\"\"] }", `tenants = { a = [""] }`, []string{"u/<username>"}},
	{"datatable: governed and access", "datatable", "database = \"d\"\n  access = \"roles\"\n  governed_by = { workspace = \"w\", datatable = \"d\" }", `access = "roles"`, []string{"does not fit with governed_by"}},
	{"datatable: governed and tenants", "datatable", "database = \"d\"\n  tenants = {}\n  governed_by = { workspace = \"w\", datatable = \"d\" }", `tenants = {}`, []string{"does not fit with governed_by"}},
	{"datatable: governed and default", "datatable", "database = \"d\"\n  default_role = \"none\"\n  governed_by = { workspace = \"w\", datatable = \"d\" }", `default_role = "none"`, []string{"does not fit with governed_by"}},
	{"datatable: governed and rule", "datatable", "database = \"d\"\n  unnamed_roles_from = \"viewer\"\n  governed_by = { workspace = \"w\", datatable = \"d\" }", `unnamed_roles_from = "viewer"`, []string{"does not fit with governed_by"}},

	{"grant: misspelt", "datatable_grant", grantWith("objects = [\"t\"]\n  privileges = [\"SELCT\"]"), `privileges = ["SELCT"]`, []string{`"SELCT" is no privilege on a table`, `"SELECT"`, `"ALL"`}},
	{"grant: lower case", "datatable_grant", grantWith("objects = [\"t\"]\n  privileges = [\"select\"]"), `privileges = ["select"]`, []string{"not in upper case", `"SELECT"`}},
	{"grant: of another type", "datatable_grant", grantWith("object_type = \"schema\"\n  privileges = [\"SELECT\"]"), `privileges = ["SELECT"]`, []string{"no privilege on a schema", `"CREATE", "USAGE"`}},
	{"grant: all and more", "datatable_grant", grantWith("objects = [\"t\"]\n  privileges = [\"ALL\", \"SELECT\"]"), `privileges = ["ALL", "SELECT"]`, []string{"takes no other beside it"}},
	{"grant: none", "datatable_grant", grantWith("objects = [\"t\"]\n  privileges = []"), `privileges = []`, []string{"at least one privilege"}},
	{"grant: type", "datatable_grant", grantWith("object_type = \"view\"\n  objects = [\"t\"]\n  privileges = [\"SELECT\"]"), `object_type = "view"`, []string{`"view"`, `"database", "schema", "table", "sequence", "function"`}},
	{"grant: neither objects nor all", "datatable_grant", grantWith("privileges = [\"SELECT\"]"), ``, []string{"needs objects", "all_objects = true", "never means all"}},
	{"grant: both", "datatable_grant", grantWith("objects = [\"t\"]\n  all_objects = true\n  privileges = [\"SELECT\"]"), `all_objects = true`, []string{"Only one of objects and all_objects"}},
	{"grant: all is false", "datatable_grant", grantWith("all_objects = false\n  privileges = [\"SELECT\"]"), `all_objects = false`, []string{"means nothing"}},
	{"grant: no objects", "datatable_grant", grantWith("objects = []\n  privileges = [\"SELECT\"]"), `objects = []`, []string{"at least one object"}},
	{"grant: long object", "datatable_grant", grantWith("objects = [\"" + sixtyFour + "\"]\n  privileges = [\"SELECT\"]"), `objects = ["` + sixtyFour + `"]`, []string{"64 bytes"}},
	{"grant: objects on a schema", "datatable_grant", grantWith("object_type = \"schema\"\n  objects = [\"t\"]\n  privileges = [\"USAGE\"]"), `objects = ["t"]`, []string{"does not fit with object_type", "schema"}},
	{"grant: schema on a database", "datatable_grant", grantWith("object_type = \"database\"\n  privileges = [\"CONNECT\"]"), `schema = "s"`, []string{"does not fit with object_type", "database"}},
	{"grant: without a schema", "datatable_grant", "datatable = \"d\"\n  role = \"r\"\n  objects = [\"t\"]\n  privileges = [\"SELECT\"]", ``, []string{"needs schema"}},
	{"grant: columns on a schema", "datatable_grant", grantWith("object_type = \"schema\"\n  columns = [\"c\"]\n  privileges = [\"USAGE\"]"), `columns = ["c"]`, []string{"only tables have columns"}},
	{"grant: columns of all tables", "datatable_grant", grantWith("all_objects = true\n  columns = [\"c\"]\n  privileges = [\"SELECT\"]"), `columns = ["c"]`, []string{"does not fit with all_objects"}},
	{"grant: no privilege on columns", "datatable_grant", grantWith("objects = [\"t\"]\n  columns = [\"c\"]\n  privileges = [\"DELETE\"]"), `privileges = ["DELETE"]`, []string{"no privilege on columns", `"SELECT", "INSERT", "UPDATE", "REFERENCES"`}},
	{"grant: future with objects", "datatable_grant", grantWith("objects = [\"t\"]\n  future = true\n  privileges = [\"SELECT\"]"), `future = true`, []string{"needs all_objects = true"}},
	{"grant: creators without future", "datatable_grant", grantWith("all_objects = true\n  created_by = [\"a\"]\n  privileges = [\"SELECT\"]"), `created_by = ["a"]`, []string{"needs future = true"}},
	{"grant: option for public", "datatable_grant", "datatable = \"d\"\n  role = \"public\"\n  schema = \"s\"\n  objects = [\"t\"]\n  privileges = [\"SELECT\"]\n  with_grant_option = true", `with_grant_option = true`, []string{"no grant option to PUBLIC"}},
	{"grant: no signature", "datatable_grant", grantWith("object_type = \"function\"\n  objects = [\"f\"]\n  privileges = [\"EXECUTE\"]"), `objects = ["f"]`, []string{"the types of the arguments are missing"}},
	{"grant: more than a signature", "datatable_grant", grantWith("object_type = \"function\"\n  objects = [\"f(text); drop table x\"]\n  privileges = [\"EXECUTE\"]"), `objects = ["f(text); drop table x"]`, []string{"nothing may follow"}},
	{"grant: folded name", "datatable_grant", grantWith("object_type = \"function\"\n  objects = [\"F(text)\"]\n  privileges = [\"EXECUTE\"]"), `objects = ["F(text)"]`, []string{"in double quotes"}},
	{"grant: the catalog", "datatable_grant", "datatable = \"d\"\n  role = \"r\"\n  schema = \"datatable_catalog\"\n  objects = [\"t\"]\n  privileges = [\"SELECT\"]", `schema = "datatable_catalog"`, []string{"nobody is let into it"}},
	{"grant: Postgres's own", "datatable_grant", "datatable = \"d\"\n  role = \"r\"\n  schema = \"pg_catalog\"\n  objects = [\"t\"]\n  privileges = [\"SELECT\"]", `schema = "pg_catalog"`, []string{"nobody is let into it"}},
	{"datatable: unmanaged", "datatable", "database = \"d\"\n  unmanaged_grants = \"drop\"", `unmanaged_grants = "drop"`, []string{`"ignore", "report", "revoke"`}},
	{"grant: role", "datatable_grant", "datatable = \"d\"\n  role = \"postgres\"\n  schema = \"s\"\n  objects = [\"t\"]\n  privileges = [\"SELECT\"]", `role = "postgres"`, []string{"reserved"}},

	{"policy: nothing", "datatable_policy", policyWith(""), ``, []string{"needs using, with_check or both"}},
	{"policy: using on insert", "datatable_policy", policyWith("command = \"INSERT\"\n  using = \"true\""), `using = "true"`, []string{"write the expression as with_check"}},
	{"policy: check on select", "datatable_policy", policyWith("command = \"SELECT\"\n  using = \"true\"\n  with_check = \"true\""), `with_check = "true"`, []string{"writes no rows"}},
	{"policy: check on delete", "datatable_policy", policyWith("command = \"DELETE\"\n  with_check = \"true\""), `with_check = "true"`, []string{"writes no rows"}},
	{"policy: command", "datatable_policy", policyWith("command = \"select\"\n  using = \"true\""), `command = "select"`, []string{`"ALL", "SELECT", "INSERT", "UPDATE", "DELETE"`}},
	{"policy: empty expression", "datatable_policy", policyWith("using = \" \""), `using = " "`, []string{"expression is empty"}},
	{"policy: no roles", "datatable_policy", policyWith("roles = []\n  using = \"true\""), `roles = []`, []string{"at least one role"}},
	{"policy: public and another role", "datatable_policy", policyWith("roles = [\"public\", \"r\"]\n  using = \"true\""), `roles = ["public", "r"]`, []string{"takes no other beside it"}},
	{"policy: role", "datatable_policy", policyWith("roles = [\"admin\"]\n  using = \"true\""), `roles = ["admin"]`, []string{"reserved"}},
	{"policy: removal", "datatable_policy", policyWith("when_last_removed = \"drop\"\n  using = \"true\""), `when_last_removed = "drop"`, []string{`"keep", "disable"`}},

	{"connection: reference and parts", "data.datatable_connection", "reference = \"datatable\"\n  datatable = \"main\"\n  identity = { user = \"a\" }", `datatable = "main"`, []string{"does not fit with reference"}},
	{"connection: role and as", "data.datatable_connection", "role = \"r\"\n  as = \"viewer\"\n  identity = { user = \"a\" }", `as = "viewer"`, []string{"cannot be given with role"}},
	{"connection: as", "data.datatable_connection", "as = \"owner\"\n  identity = { user = \"a\" }", `as = "owner"`, []string{`"viewer"`}},
	{"connection: nobody", "data.datatable_connection", "identity = { user = \"\" }", ``, []string{"user is empty"}},
}

func grantWith(arguments string) string {
	return "datatable = \"d\"\n  role = \"r\"\n  schema = \"s\"\n  " + arguments
}

func policyWith(arguments string) string {
	return "datatable = \"d\"\n  name = \"p\"\n  table = \"t\"\n  " + arguments
}

func TestValidateRefusesAtTheAttribute(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	for i, c := range badBlocks {
		word, kind := "resource", c.kind
		if data, ok := strings.CutPrefix(kind, "data."); ok {
			word, kind = "data", data
		}
		fmt.Fprintf(&b, "%s %q \"b%d\" {\n  %s\n}\n", word, kind, i, c.body)
	}
	found := map[string][]acctest.Diagnostic{}
	for _, d := range acctest.NewModule(t, b.String()).Validate() {
		if d.Severity == "error" {
			found[d.Snippet.Context] = append(found[d.Snippet.Context], d)
		}
	}
	for i, c := range badBlocks {
		t.Run(c.name, func(t *testing.T) {
			word, kind := "resource", c.kind
			if data, ok := strings.CutPrefix(kind, "data."); ok {
				word, kind = "data", data
			}
			diagnostics := found[fmt.Sprintf("%s %q \"b%d\"", word, kind, i)]
			for _, d := range diagnostics {
				if says(d, c) {
					return
				}
			}
			t.Errorf("none of these errors is at %q with %q: %+v", c.code, c.words, diagnostics)
		})
	}
}

// says reports whether a diagnostic is at the right line, and has all words.
func says(d acctest.Diagnostic, c bad) bool {
	if c.code != "" && strings.TrimSpace(d.Snippet.Code) != c.code {
		return false
	}
	for _, word := range c.words {
		if !strings.Contains(unwrapped(d.Detail), word) {
			return false
		}
	}
	return true
}

func TestValidateAcceptsWhatIsNotKnownYet(t *testing.T) {
	t.Parallel()
	m := acctest.NewModule(t, `
resource "terraform_data" "later" {
  input = "x"
}
resource "datatable_workspace" "w" {
  name    = "w"
  members = { a = { email = terraform_data.later.output } }
  groups  = { g = ["a", terraform_data.later.output] }
}
resource "datatable" "d" {
  database     = "d"
  access       = terraform_data.later.output
  default_role = terraform_data.later.output
  tenants      = { a = [terraform_data.later.output] }
}
resource "datatable_grant" "g" {
  datatable   = "d"
  role        = terraform_data.later.output
  object_type = terraform_data.later.output
  privileges  = [terraform_data.later.output]
}
resource "datatable_policy" "p" {
  datatable = "d"
  name      = "p"
  table     = "t"
  command   = terraform_data.later.output
  using     = terraform_data.later.output
}
`)
	for _, d := range m.Validate() {
		if d.Severity == "error" {
			t.Errorf("%s: %s", d.Summary, d.Detail)
		}
	}
}
