package resolve

import "slices"

// maxHops is how many governed_by are followed from the data table asked for.
const maxHops = 20

// resolution is a decision in the making.
type resolution struct {
	Decision
	index    *Index
	request  Request
	asked    *entry // whose database is connected to
	governor *entry // whose permissions count
	identity *subject
	viewer   *subject // nil: nobody is looking
}

// ResolveText resolves a reference as a program writes it. One that does not
// parse is refused as malformed_reference.
func (ix *Index) ResolveText(workspace, reference string, identity Person, viewer *Person) Decision {
	parsed, err := ParseReference(reference)
	if err != nil {
		return malformed(workspace, err)
	}
	return ix.resolve(Request{Workspace: workspace, Reference: parsed, Identity: identity, Viewer: viewer})
}

// Resolve decides who connects as what. It reads its arguments and the catalog
// of the index, and gives the same decision for the same two whatever the
// order of what they list.
func (ix *Index) Resolve(r Request) Decision {
	if err := r.Reference.Check(); err != nil {
		return malformed(r.Workspace, err)
	}
	return ix.resolve(r)
}

// malformed refuses a reference for an error of ParseReference or Check.
func malformed(workspace string, err error) Decision {
	d := Decision{Datatable: Key{Workspace: workspace}}
	d.refuse(CodeMalformedReference, "%s (asked for in workspace %q)", err, workspace)
	return d
}

// resolve decides on a reference that is well formed.
func (ix *Index) resolve(request Request) Decision {
	r := &resolution{index: ix, request: request}
	r.Datatable = Key{request.Workspace, request.Reference.Datatable}
	r.Schema = request.Reference.Schema
	if r.find(); r.Refusal == nil {
		r.match()
	}
	if r.Refusal == nil {
		switch r.governor.Access {
		case AccessOpen:
			r.open()
		case AccessPrincipals:
			r.principals()
		case AccessRoles:
			if request.Reference.Role != "" {
				r.named(request.Reference.Role)
			} else {
				r.unnamed()
			}
		default:
			r.refuse(CodeNoRole, "data table %s has the access %q, which gives %s nothing: set access to one of %q",
				r.Governor, r.governor.Access, r.identity.label, Accesses())
		}
	}
	if r.Refusal == nil {
		parts := []string{r.Datatable.Workspace, r.Datatable.Datatable, r.Login}
		for _, s := range []*subject{r.identity, r.viewer} {
			parts = append(parts, digest(s.cacheParts()...))
		}
		r.CacheKey = digest(parts...)
	}
	return r.Decision
}

// find looks up the data table and the entry that governs it (rule 1).
func (r *resolution) find() {
	at := r.index.datatables[r.Datatable]
	if at == nil {
		r.refuse(CodeUnknownDatatable, "workspace %q has no data table %q: create it, or correct the reference (names keep their letter case)",
			r.Datatable.Workspace, r.Datatable.Datatable)
		return
	}
	if at.flaw != "" {
		r.refuse(CodeUnknownDatatable, "data table %s %s: leave one", r.Datatable, at.flaw)
		return
	}
	r.asked = at
	r.notef("data table %s is found", r.Datatable)
	for passed := []Key{at.Key}; at.GovernedBy != nil; passed = append(passed, at.Key) {
		next := *at.GovernedBy
		if slices.Contains(passed, next) {
			r.refuse(CodeReferenceLoop, "data table %s is governed in a loop, %s by %s: let one of them keep its own permissions", r.Datatable, at.Key, next)
			return
		}
		if len(passed) > maxHops {
			r.refuse(CodeReferenceLoop, "data table %s is governed through more than %d others: name the last of them in its governed_by", r.Datatable, maxHops)
			return
		}
		governor := r.index.datatables[next]
		if governor == nil {
			r.refuse(CodeGovernorMissing, "data table %s is governed by %s, which does not exist: create it, or correct governed_by of %s", r.Datatable, next, at.Key)
			return
		}
		if governor.flaw != "" {
			r.refuse(CodeGovernorMissing, "data table %s is governed by %s, which %s: leave one", r.Datatable, next, governor.flaw)
			return
		}
		r.notef("%s is governed by %s", at.Key, next)
		at = governor
	}
	r.governor, r.Governor = at, at.Key
	r.notef("access of %s is %s", at.Key, at.Access)
}

// match finds out who is asking (rule 2).
func (r *resolution) match() {
	asked, governing := r.Datatable.Workspace, r.Governor.Workspace
	if p := r.request.Viewer; p != nil {
		r.viewer = r.index.newSubject("viewer", *p, asked, governing)
	}
	r.identity = r.index.newSubject("identity", r.request.Identity, asked, governing)
	r.notef("%s: %s", r.identity.label, r.identity.how)
	if r.viewer != nil {
		r.notef("%s: %s", r.viewer.label, r.viewer.how)
	}
	if r.identity.home == nil {
		r.refuse(CodeNotAMember, "%s may not use data table %s: %s; add them to the members of workspace %q",
			r.identity.label, r.Datatable, r.identity.how, asked)
	}
}

// open makes every member the owner (rule 3).
func (r *resolution) open() {
	if role := r.request.Reference.Role; role != "" && role != RoleAdmin {
		r.refuse(CodeRolesNotEnabled, "%s names the role %q, but data table %s has the access open, without roles: name none, or set access = \"roles\" on %s",
			r.identity.label, role, r.Datatable, r.Governor)
		return
	}
	if r.request.Reference.AsViewer {
		r.refuse(CodeRolesNotEnabled, "%s asks for the viewer's roles, but data table %s has the access open, without roles: leave out as=viewer, or set access = \"roles\" on %s",
			r.identity.label, r.Datatable, r.Governor)
		return
	}
	r.own("access is open")
}

// principals gives every person their own login (rule 4).
func (r *resolution) principals() {
	if role := r.request.Reference.Role; role != "" {
		r.refuse(CodeRolesNotEnabled, "%s names the role %q, but data table %s gives every person their own login: name no role, or set access = \"roles\" on %s",
			r.identity.label, role, r.Datatable, r.Governor)
		return
	}
	if r.request.Reference.AsViewer {
		r.refuse(CodeRolesNotEnabled, "%s asks for the viewer's roles, but data table %s gives every person their own login: leave out as=viewer, or set access = \"roles\" on %s",
			r.identity.label, r.Datatable, r.Governor)
		return
	}
	judged := r.identity.judged
	if judged == nil {
		r.refuse(CodeNotAMember, "%s may not use data table %s, which %s governs: %s; add them to the members of workspace %q",
			r.identity.label, r.Datatable, r.Governor, r.identity.how, r.Governor.Workspace)
		return
	}
	if judged.admin {
		r.own(r.identity.label + " is an admin of the workspace")
		return
	}
	workspace := r.index.workspaces[r.Governor.Workspace]
	if judged.email == "" || workspace == nil || workspace.flaw != "" || workspace.id == "" {
		r.refuse(CodeNotProvisioned, "%s has no login of their own on data table %s: it is named after the id of workspace %q and an email, and one of them is missing or shared",
			r.identity.label, r.Datatable, r.Governor.Workspace)
		return
	}
	login := UserLogin(workspace.id, judged.email)
	if !r.index.logins[login] {
		r.refuse(CodeNotProvisioned, "%s has no login of their own on data table %s yet: apply the configuration that makes %s (%s)",
			r.identity.label, r.Datatable, login, judged.email)
		return
	}
	r.Kind, r.Login, r.Roles, r.RoleIDs = KindPrincipal, login, []string{}, []string{}
	r.notef("outcome: %s connects with their own login %s", r.identity.label, login)
}

// own makes the connection the owner's.
func (r *resolution) own(why string) {
	r.Kind, r.Login, r.Roles, r.RoleIDs = KindOwner, r.asked.Owner, []string{RoleAdmin}, []string{}
	r.notef("outcome: the owner %s, %s", r.Login, why)
}
