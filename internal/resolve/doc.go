// Package resolve decides who connects to a data table as what.
//
// A data table is a named entry of a workspace that points at one Postgres
// database. A program asks for it by a reference; it runs as one person, the
// identity, and shows its result to another one or to nobody, the viewer. From
// these and a catalog of workspaces, roles and data tables follows a Decision:
// the owner's login, a role's, that of a set of roles, a person's own, or a
// refusal that says what would make it work.
//
//	index := resolve.NewIndex(catalog)
//	d := index.ResolveText("acme", "datatable://main:sales", resolve.Person{User: "bob"}, nil)
//	if !d.Allowed() {
//		return d.Refusal.Message
//	}
//	connect(d.Login, d.Schema)
//
// The package is pure: it does no I/O and reads nothing but its arguments. The
// same catalog and request give the same decision, byte for byte, in whatever
// order they list things. Where a catalog breaks its own rules (an email that
// two members share, a role that is in it twice) what is doubtful counts as
// absent: nobody gains anything by it.
package resolve
