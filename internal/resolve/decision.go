package resolve

import "fmt"

// Kind is what a connection is made as.
type Kind string

// The kinds of connection.
const (
	KindOwner     Kind = "owner"     // the owner of the tables, whom nothing restricts
	KindRole      Kind = "role"      // one role's own login
	KindSet       Kind = "set"       // the set login of several roles
	KindPrincipal Kind = "principal" // a person's own login
)

// Code is why a connection is refused.
type Code string

// The refusal codes, in the order of the checks.
const (
	CodeMalformedReference Code = "malformed_reference"
	CodeUnknownDatatable   Code = "unknown_datatable"
	CodeGovernorMissing    Code = "governor_missing"
	CodeReferenceLoop      Code = "reference_loop"
	CodeRolesNotEnabled    Code = "roles_not_enabled"
	CodeNotAMember         Code = "not_a_member"
	CodeUnknownRole        Code = "unknown_role"
	CodeRoleDisabled       Code = "role_disabled"
	CodeRoleNotOnDatatable Code = "role_not_on_datatable"
	CodeNotATenant         Code = "not_a_tenant"
	CodeRoleNotProvisioned Code = "role_not_provisioned"
	CodeNotProvisioned     Code = "not_provisioned"
	CodeNoViewer           Code = "no_viewer"
	CodeNoRole             Code = "no_role"
)

// Request asks who connects as what.
type Request struct {
	Workspace string // name of the workspace the data table is asked for in
	Reference Reference
	Identity  Person  // who the job runs as
	Viewer    *Person // whom its result is shown to; nil: nobody
}

// Refusal says why nobody connects.
type Refusal struct {
	Code    Code
	Message string // names the data table, the role and the person, and what would make it work
}

// Decision is what a request comes to, with everything that led there.
type Decision struct {
	Datatable Key // as asked for; the workspace alone where the reference is malformed
	Governor  Key // whose permissions were applied; zero where none was found

	Kind    Kind
	Login   string   // Postgres login to connect as; the owner's is that of Datatable, not of Governor
	Roles   []string // names, sorted; "admin" alone for the owner, none for a principal
	RoleIDs []string // catalog ids in the order of Roles; none for the owner or a principal
	Schema  string   // to put on the search path, or empty

	// CacheKey is hex SHA-256, 64 characters, over the data table, the identity,
	// the viewer and the login, so that a result read through one person's roles
	// is never served to another. The schema is no part of it: it changes what a
	// statement's names mean, as the statement itself does, and not what may be
	// read. Who caches by statement adds the search path to it.
	CacheKey string

	Trace   []string // the steps, in words
	Refusal *Refusal // nil: allowed. Kind, Login, Roles, RoleIDs and CacheKey are empty otherwise
}

// Allowed tells whether anybody connects at all.
func (d Decision) Allowed() bool { return d.Refusal == nil }

// refuse ends a decision.
func (d *Decision) refuse(code Code, format string, args ...any) {
	d.Refusal = &Refusal{Code: code, Message: fmt.Sprintf(format, args...)}
	d.notef("refused, %s: %s", code, d.Refusal.Message)
}

func (d *Decision) notef(format string, args ...any) {
	d.Trace = append(d.Trace, fmt.Sprintf(format, args...))
}
