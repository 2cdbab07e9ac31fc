package resolve

import (
	"fmt"
	"slices"
	"strings"
)

// named holds the one role that the reference names, as far as the identity may
// (rule 5). The viewer plays no part.
func (r *resolution) named(name string) {
	pattern := r.governor.tenant(name, r.identity.judged)
	if name == RoleAdmin {
		switch {
		case r.identity.admin():
			r.own(r.identity.label + " is an admin of the workspace")
		case pattern != "":
			r.own(fmt.Sprintf("tenant %s of admin names %s", pattern, r.identity.label))
		default:
			r.refuse(CodeNotATenant, "%s may not be the owner of data table %s: add a pattern that names them to tenants[\"admin\"] of %s, or make them an admin of workspace %q",
				r.identity.label, r.Datatable, r.Governor, r.Governor.Workspace)
		}
		return
	}
	role := r.index.roles[name]
	switch {
	case role == nil:
		r.refuse(CodeUnknownRole, "role %q, which %s names on data table %s, is not in the catalog: create it, or correct the reference (names keep their letter case)",
			name, r.identity.label, r.Datatable)
	case role.flaw != "":
		r.refuse(CodeUnknownRole, "role %q, which %s names on data table %s, cannot be told from the catalog, where it %s: correct the catalog",
			name, r.identity.label, r.Datatable, role.flaw)
	case !role.Enabled:
		r.refuse(CodeRoleDisabled, "role %q, which %s names on data table %s, is disabled: set enabled = true on the role",
			name, r.identity.label, r.Datatable)
	case !r.governor.listed[name]:
		r.refuse(CodeRoleNotOnDatatable, "role %q, which %s names, is not on data table %s: add it to tenants of %s",
			name, r.identity.label, r.Datatable, r.Governor)
	case !r.identity.admin() && pattern == "":
		r.refuse(CodeNotATenant, "%s is no tenant of role %q on data table %s: add a pattern that names them to tenants[%q] of %s",
			r.identity.label, name, r.Datatable, name, r.Governor)
	case !role.Provisioned:
		r.refuse(CodeRoleNotProvisioned, "role %q, which %s names on data table %s, has no login yet: apply the configuration that makes it",
			name, r.identity.label, r.Datatable)
	case pattern != "":
		r.notef("role %s: taken, tenant %s names %s", name, pattern, r.identity.label)
		r.hold(role)
	default:
		r.notef("role %s: taken, %s is an admin of the workspace", name, r.identity.label)
		r.hold(role)
	}
}

// unnamed holds the default role and further roles (rule 6).
func (r *resolution) unnamed() {
	asViewer := r.request.Reference.AsViewer
	if asViewer && r.viewer == nil {
		r.refuse(CodeNoViewer, "%s asks for the viewer's roles on data table %s, but nobody is looking: give a viewer, or leave out as=viewer",
			r.identity.label, r.Datatable)
		return
	}
	if r.identity.judged == nil {
		r.refuse(CodeNoRole, "%s may use no role on data table %s, which %s governs: %s; add them to the members of workspace %q",
			r.identity.label, r.Datatable, r.Governor, r.identity.how, r.Governor.Workspace)
		return
	}
	// Who the default role is tested against, whether being a workspace admin
	// passes that test, and whose tenant lists give the further roles.
	tested, adminPasses, further := r.identity, true, r.viewer
	switch r.governor.UnnamedRolesFrom {
	case RuleViewer:
		if asViewer {
			tested = nil
		}
	case RuleIdentity:
		if asViewer {
			tested = r.viewer
		}
		adminPasses, further = false, tested
	default:
		r.refuse(CodeNoRole, "data table %s has the unnamed_roles_from %q, which gives %s no role: set it to one of %q, or name a role",
			r.Governor, r.governor.UnnamedRolesFrom, r.identity.label, Rules())
		return
	}
	r.notef("no role is named: default role %s, roles from %s", r.governor.DefaultRole, r.governor.UnnamedRolesFrom)
	if r.governor.DefaultRole == RoleAdmin && !asViewer {
		r.ownByDefault(tested)
		return
	}
	roles := r.furtherRoles(further)
	if role := r.defaultRole(tested, adminPasses); role != nil {
		roles = append(roles, role)
	}
	if len(roles) == 0 {
		r.refuseNothing(tested, further)
		return
	}
	r.hold(roles...)
}

// ownByDefault applies the default role admin, to which no role is added. Being
// an admin of the workspace passes its test under both rules.
func (r *resolution) ownByDefault(tested *subject) {
	pattern := r.governor.tenant(RoleAdmin, tested.judged)
	switch {
	case tested.admin():
		r.own("the default role is admin and " + tested.label + " is an admin of the workspace")
	case pattern != "":
		r.own(fmt.Sprintf("the default role is admin and its tenant %s names %s", pattern, tested.label))
	default:
		r.refuse(CodeNoRole, "the default role of data table %s is admin, and %s is neither a tenant of it nor an admin of workspace %q: name a role they hold, add them to tenants[\"admin\"] of %s, or change its default_role",
			r.Datatable, tested.label, r.Governor.Workspace, r.Governor)
	}
}

// defaultRole gives the default role where it passes its test, else nil.
func (r *resolution) defaultRole(tested *subject, adminPasses bool) *indexedRole {
	name := r.governor.DefaultRole
	if name == RoleAdmin || name == DefaultNone {
		r.notef("default role %s: adds nothing", name)
		return nil
	}
	if tested == nil {
		r.notef("default role %s: left out by as=viewer", name)
		return nil
	}
	pattern := r.governor.tenant(name, tested.judged)
	switch why := r.unusable(name); {
	case why != "":
		r.notef("default role %s: not taken, it %s", name, why)
		return nil
	case pattern != "":
		r.notef("default role %s: taken, tenant %s names %s", name, pattern, tested.label)
	case adminPasses && tested.admin():
		r.notef("default role %s: taken, %s is an admin of the workspace", name, tested.label)
	default:
		r.notef("default role %s: not taken, no tenant names %s", name, tested.label)
		return nil
	}
	return r.index.roles[name]
}

// furtherRoles gives the roles whose tenant lists name a person. It walks the
// person's patterns, never the data table's roles.
func (r *resolution) furtherRoles(from *subject) []*indexedRole {
	if from == nil {
		r.notef("further roles: none, nobody is looking")
		return nil
	}
	if from.judged == nil {
		r.notef("further roles: none, %s is nobody in workspace %s", from.label, r.Governor.Workspace)
		return nil
	}
	var named []tenancy
	for _, pattern := range from.judged.patterns {
		for _, role := range r.governor.rolesOf[pattern] {
			named = append(named, tenancy{role, pattern})
		}
	}
	slices.SortFunc(named, func(a, b tenancy) int {
		if byRole := strings.Compare(a.role, b.role); byRole != 0 {
			return byRole
		}
		return strings.Compare(a.pattern, b.pattern)
	})
	named = slices.CompactFunc(named, func(a, b tenancy) bool { return a.role == b.role })
	if len(named) == 0 {
		r.notef("further roles: none, no tenant names %s", from.label)
	}
	var roles []*indexedRole
	for _, t := range named {
		if why := r.unusable(t.role); why != "" {
			r.notef("role %s: not taken, it %s, though tenant %s names %s", t.role, why, t.pattern, from.label)
			continue
		}
		r.notef("role %s: taken, tenant %s names %s", t.role, t.pattern, from.label)
		roles = append(roles, r.index.roles[t.role])
	}
	return roles
}

// unusable says why a role cannot be held by anybody on the data table, or "".
func (r *resolution) unusable(name string) string {
	role := r.index.roles[name]
	switch {
	case role == nil:
		return "is not in the catalog"
	case role.flaw != "":
		return "cannot be told from the catalog, where it " + role.flaw
	case !role.Enabled:
		return "is disabled"
	case !r.governor.listed[name]:
		return "is not listed in tenants"
	case !role.Provisioned:
		return "has no login yet"
	}
	return ""
}

// refuseNothing refuses a connection that would hold no role: a login that
// reads nothing would look like an empty table.
func (r *resolution) refuseNothing(tested, further *subject) {
	remedies := []string{"name a role that the identity is a tenant of"}
	switch name := r.governor.DefaultRole; {
	case tested == nil, name == DefaultNone, name == RoleAdmin:
	case r.unusable(name) != "":
		remedies = append(remedies, fmt.Sprintf("mend its default role %q, which %s", name, r.unusable(name)))
	default:
		remedies = append(remedies, fmt.Sprintf("add %s to the tenants of its default role %q", tested.label, name))
	}
	if further == nil {
		remedies = append(remedies, "give a viewer whom the tenants of a role name")
	} else {
		remedies = append(remedies, fmt.Sprintf("add %s to the tenants of an enabled role on %s", further.label, r.Governor))
	}
	r.refuse(CodeNoRole, "%s holds no role on data table %s: %s", r.identity.label, r.Datatable, strings.Join(remedies, ", or "))
}

// hold makes the connection that of exactly these roles, at least one.
func (r *resolution) hold(roles ...*indexedRole) {
	slices.SortFunc(roles, func(a, b *indexedRole) int { return strings.Compare(a.Name, b.Name) })
	roles = slices.Compact(roles)
	for _, role := range roles {
		r.Roles = append(r.Roles, role.Name)
		r.RoleIDs = append(r.RoleIDs, role.ID)
	}
	if len(roles) == 1 {
		r.Kind, r.Login = KindRole, roles[0].Name
		r.notef("outcome: the login of role %s", r.Login)
		return
	}
	r.Kind, r.Login = KindSet, SetLogin(r.index.cluster, r.RoleIDs)
	r.notef("outcome: the set login %s of %s", r.Login, strings.Join(r.Roles, ", "))
}
