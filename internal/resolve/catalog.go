package resolve

import "strings"

// Access is an access model of a data table. Any other value lets nobody in.
type Access string

// The access models.
const (
	AccessOpen       Access = "open"       // every member is the owner
	AccessRoles      Access = "roles"      // roles with tenants and a default role
	AccessPrincipals Access = "principals" // every member has a login of their own
)

// Accesses lists the access models.
func Accesses() []string {
	return []string{string(AccessOpen), string(AccessRoles), string(AccessPrincipals)}
}

// Rule says whose tenant lists give a connection that names no role its roles:
// unnamed_roles_from. Under any other value no role is held without being named.
type Rule string

// The values of unnamed_roles_from.
const (
	RuleViewer   Rule = "viewer"   // the default role is the identity's, further roles are the viewer's
	RuleIdentity Rule = "identity" // all roles are those of one person, the identity or with as=viewer the viewer
)

// Rules lists the values of unnamed_roles_from.
func Rules() []string { return []string{string(RuleViewer), string(RuleIdentity)} }

// Member is a person of a workspace.
type Member struct {
	Username string // told apart by letter case
	Email    string // not told apart by letter case
	Admin    bool   // of this workspace
}

// Workspace is a directory of people.
type Workspace struct {
	ID      string              // never changes; part of the names of principal logins
	Name    string              // what Key.Workspace and Request.Workspace hold
	Parent  string              // another workspace's name, or empty; decides nothing here
	Members []Member            //
	Groups  map[string][]string // group → usernames
	Folders map[string][]string // folder → who can read it, u/<username> and g/<group>
}

// Role is an entry of the role catalog. Its Postgres login has its name.
type Role struct {
	ID          string // UUID; survives a rename
	Name        string
	Enabled     bool
	Provisioned bool // its login is finished
}

// Key names a data table. Workspace is the workspace's name.
type Key struct{ Workspace, Datatable string }

// String gives workspace/datatable.
func (k Key) String() string { return k.Workspace + "/" + k.Datatable }

// Datatable is a data table's entry: who may connect, and as what. Defaults are
// filled in by whoever makes it; an empty Access, DefaultRole or
// UnnamedRolesFrom gives nobody anything.
type Datatable struct {
	Key
	Access           Access
	DefaultRole      string              // RoleAdmin, DefaultNone or a key of Tenants
	Tenants          map[string][]string // role → patterns; nil: not given, so that admin has "*"
	UnnamedRolesFrom Rule
	GovernedBy       *Key   // whose permissions count instead of those above
	Owner            string // login that owns the tables of this entry's database
}

// tenants gives the tenant lists that hold: not given, everyone is a tenant of
// admin; once given, they are the whole truth.
func (d Datatable) tenants() map[string][]string {
	if d.Tenants == nil {
		return map[string][]string{RoleAdmin: {Everyone}}
	}
	return d.Tenants
}

// Catalog is all that a decision can depend on.
type Catalog struct {
	Cluster         string // keeps set logins of two clusters apart
	Workspaces      []Workspace
	Roles           []Role
	Datatables      []Datatable
	PrincipalLogins map[string]bool // the wm_u_ logins that are provisioned
}

// plausibleEmail tells whether email can stand for a person: one "@" and
// something either side. An empty email above all must match nobody.
func plausibleEmail(email string) bool {
	user, host, ok := strings.Cut(email, "@")
	return ok && user != "" && host != "" && !strings.Contains(host, "@")
}
