package provider

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework-validators/setvalidator"
	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/datatable-io/terraform-provider-datatable/internal/datatable"
	"github.com/datatable-io/terraform-provider-datatable/internal/privilege"
	"github.com/datatable-io/terraform-provider-datatable/internal/resolve"
)

type grantModel struct {
	ID         types.String `tfsdk:"id"`
	Datatable  types.String `tfsdk:"datatable"`
	Workspace  types.String `tfsdk:"workspace"`
	Role       types.String `tfsdk:"role"`
	Privileges types.Set    `tfsdk:"privileges"`
	ObjectType types.String `tfsdk:"object_type"`
	Schema     types.String `tfsdk:"schema"`
	Objects    types.Set    `tfsdk:"objects"`
	AllObjects types.Bool   `tfsdk:"all_objects"`
	Statements types.List   `tfsdk:"statements"`
}

func grantKind() kind[grantModel, datatable.Grant, datatable.GrantSeen] {
	return kind[grantModel, datatable.Grant, datatable.GrantSeen]{
		typeName: "datatable_grant",
		schema:   grantSchema(),
		validate: validateGrant,
		wanted:   func(_ context.Context, m grantModel) (datatable.Grant, diag.Diagnostics) { return grantOf(m), nil },
		show:     showGrant,
		computed: func(g datatable.Grant, m *grantModel) { m.ID = types.StringValue(g.ID) },
		preview:  datatable.PreviewGrant,
		before: func(ctx context.Context, s *datatable.Service, g datatable.Grant) (datatable.GrantSeen, bool) {
			if g.Type != privilege.Database {
				return datatable.GrantSeen{}, true
			}
			// The statement names the database. A data table keeps its own for
			// life, so this one look beyond the configuration cannot give
			// another answer when the plan is made again.
			database := ""
			if s != nil {
				database = s.Database(ctx, g.Datatable)
			}
			return datatable.GrantSeen{Database: database}, database != ""
		},
		read: func(ctx context.Context, s *datatable.Service, g datatable.Grant) (datatable.Grant, datatable.GrantSeen, bool, error) {
			return s.Grant(ctx, g.Datatable, g.ID)
		},
		create: func(ctx context.Context, s *datatable.Service, g datatable.Grant) (datatable.Grant, datatable.GrantSeen, error) {
			return s.CreateGrant(ctx, g)
		},
		update: func(ctx context.Context, s *datatable.Service, prior, next datatable.Grant, seen datatable.GrantSeen) (datatable.Grant, datatable.GrantSeen, error) {
			next.ID = prior.ID
			after, err := s.UpdateGrant(ctx, prior, next, seen)
			return next, after, err
		},
		remove: func(ctx context.Context, s *datatable.Service, g datatable.Grant, seen datatable.GrantSeen) error {
			return s.DeleteGrant(ctx, g, seen)
		},
		locate: locateGrant,
	}
}

func grantSchema() schema.Schema {
	return schema.Schema{
		MarkdownDescription: "A grant of privileges on objects of a data table to a role. It is a claim: a privilege is held while at least one grant wants it, " +
			"so grants may overlap, and destroying one leaves what another wants. A change grants what is new before it revokes what is no longer wanted, in one " +
			"transaction, and touches nothing that stays.\n\n" +
			"What objects of a schema need around them comes with them: USAGE on the schema is granted with the first grant on something in it, and goes with the last.",
		Attributes: map[string]schema.Attribute{
			"id": schema.StringAttribute{
				Computed:            true,
				MarkdownDescription: "Id of the claim. It stays when the grant changes in place.",
				PlanModifiers:       []planmodifier.String{stringplanmodifier.UseStateForUnknown()},
			},
			"datatable": datatableAttribute(),
			"workspace": workspaceAttribute(),
			"role": schema.StringAttribute{
				Required:            true,
				MarkdownDescription: "A role of the catalog, or `public` for every role. Refer to it as `datatable_role.reader.name`, so that it is made first.",
				Validators:          []validator.String{orElseRole(privilege.Public)},
			},
			"privileges": schema.SetAttribute{
				Required: true, ElementType: types.StringType,
				MarkdownDescription: "Privileges in upper case, or `ALL` alone. " + privilegesOfTypes(),
				Validators:          []validator.Set{setvalidator.SizeAtLeast(1)},
			},
			"object_type": choice("What is granted on: "+ticked(privilege.TypeNames())+". Default `table`, which takes in views, materialized views, partitioned and foreign tables.",
				privilege.Table, privilege.TypeNames()...),
			"schema": schema.StringAttribute{
				Optional:            true,
				MarkdownDescription: "The schema that is granted on, or that the objects are in. Not for a database.",
				Validators:          []validator.String{identifier("schema")},
			},
			"objects": schema.SetAttribute{
				Optional: true, ElementType: types.StringType,
				MarkdownDescription: "Names of the objects in the schema. This or `all_objects`.",
				Validators:          []validator.Set{setvalidator.SizeAtLeast(1), setvalidator.ValueStringsAre(identifier("object"))},
			},
			"all_objects": schema.BoolAttribute{
				Optional: true,
				MarkdownDescription: "True for all objects of the type in the schema. One that is made later lacks the privileges until the next apply, whose plan shows it. " +
					"This or `objects`; leaving both out never means all.",
				Validators: []validator.Bool{onlyTrue{}},
			},
			"statements": statementsAttribute(),
		},
	}
}

// privilegesOfTypes documents the table of object types.
func privilegesOfTypes() string {
	var parts []string
	for _, name := range privilege.TypeNames() {
		t, _ := privilege.TypeOf(name)
		var names []string
		for _, v := range t.Privileges {
			text := "`" + v.Privilege + "`"
			if v.Since > 0 {
				text += fmt.Sprintf(" (from PostgreSQL %d)", v.Since)
			}
			names = append(names, text)
		}
		parts = append(parts, fmt.Sprintf("On a %s: %s.", name, strings.Join(names, ", ")))
	}
	return strings.Join(parts, " ")
}

func ticked(names []string) string { return "`" + strings.Join(names, "`, `") + "`" }

func grantOf(m grantModel) datatable.Grant {
	return datatable.Grant{
		Datatable: resolve.Key{Workspace: m.Workspace.ValueString(), Datatable: m.Datatable.ValueString()},
		Claim: privilege.Claim{
			ID: m.ID.ValueString(), Grantee: m.Role.ValueString(), Type: m.ObjectType.ValueString(), Schema: m.Schema.ValueString(),
			Objects: stringsOf(m.Objects), Whole: m.AllObjects.ValueBool(), Privileges: stringsOf(m.Privileges),
		},
	}
}

func showGrant(_ context.Context, g datatable.Grant, m *grantModel) diag.Diagnostics {
	m.Datatable, m.Workspace = types.StringValue(g.Datatable.Datatable), types.StringValue(g.Datatable.Workspace)
	m.Role, m.ObjectType, m.Schema = types.StringValue(g.Grantee), types.StringValue(g.Type), optional(g.Schema)
	m.Privileges, m.Objects = stringSet(g.Privileges), stringSetOr(types.SetNull(types.StringType), g.Objects)
	m.AllObjects = types.BoolNull()
	if g.Whole {
		m.AllObjects = types.BoolValue(true)
	}
	return nil
}

// onlyTrue refuses false, which reads as if it meant something.
type onlyTrue struct{}

func (onlyTrue) Description(context.Context) string         { return "true, or left out" }
func (onlyTrue) MarkdownDescription(context.Context) string { return "true, or left out" }

func (onlyTrue) ValidateBool(_ context.Context, req validator.BoolRequest, resp *validator.BoolResponse) {
	if v := req.ConfigValue; !v.IsNull() && !v.IsUnknown() && !v.ValueBool() {
		resp.Diagnostics.Append(refusal(req.Path, "means nothing: write true, or leave it out and list objects", "false"))
	}
}

func validateGrant(ctx context.Context, m grantModel) (diags diag.Diagnostics) {
	if m.ObjectType.IsUnknown() {
		return nil
	}
	name := privilege.Table
	if !m.ObjectType.IsNull() {
		name = m.ObjectType.ValueString()
	}
	t, ok := privilege.TypeOf(name)
	if !ok {
		return nil // the attribute's own validator has said so
	}
	validatePrivileges(ctx, m, t, &diags)
	switch {
	case t.Name == privilege.Database:
		forbid(&diags, "does not fit with object_type \"database\": the database is the data table's", map[string]attr.Value{"schema": m.Schema})
	case m.Schema.IsNull():
		diags.AddAttributeError(path.Root("schema"), "Missing argument", fmt.Sprintf("object_type %q needs schema, such as schema = \"public\".", name))
	}
	if !t.Contained() {
		forbid(&diags, fmt.Sprintf("does not fit with object_type %q, which is one thing and not many in a schema", name),
			map[string]attr.Value{"objects": m.Objects, "all_objects": m.AllObjects})
		return diags
	}
	switch {
	case m.Objects.IsNull() && m.AllObjects.IsNull():
		diags.AddAttributeError(path.Root("objects"), "Missing argument",
			fmt.Sprintf("A grant on a %s needs objects, such as objects = [\"orders\"], or all_objects = true. Leaving both out never means all.", name))
	case !m.Objects.IsNull() && !m.AllObjects.IsNull():
		diags.AddAttributeError(path.Root("all_objects"), "Argument does not fit", "Only one of objects and all_objects can be given: all_objects takes in every object.")
	}
	return diags
}

func validatePrivileges(ctx context.Context, m grantModel, t privilege.ObjectType, diags *diag.Diagnostics) {
	if !fullyKnown(ctx, m.Privileges) {
		return
	}
	at := path.Root("privileges")
	names := stringsOf(m.Privileges)
	for _, name := range names {
		switch {
		case name == privilege.All && len(names) > 1:
			diags.Append(refusal(at.AtSetValue(types.StringValue(name)), "stands for every privilege and takes no other beside it: write privileges = [\"ALL\"]", name))
		case name != privilege.All && !t.Has(name):
			rule := fmt.Sprintf("is no privilege on a %s: use %s, or %q alone", t.Name, listed(t.Names(0)), privilege.All)
			if upper := strings.ToUpper(name); t.Has(upper) || upper == privilege.All {
				rule = fmt.Sprintf("is not in upper case: write %q", upper)
			}
			diags.Append(refusal(at.AtSetValue(types.StringValue(name)), rule, name))
		}
	}
}

const wildcard = "*"

func locateGrant(ctx context.Context, s *datatable.Service, id string) (datatable.Grant, error) {
	parts, err := splitID(id, "workspace", "datatable", "role", "object_type", "schema", "objects")
	if err != nil {
		return datatable.Grant{}, err
	}
	like := datatable.Grant{
		Datatable: resolve.Key{Workspace: parts[0], Datatable: parts[1]},
		Claim:     privilege.Claim{Grantee: parts[2], Type: parts[3]},
	}
	t, ok := privilege.TypeOf(like.Type)
	if !ok {
		return like, fmt.Errorf("import id %q: %q is no object type, use one of %s", id, like.Type, listed(privilege.TypeNames()))
	}
	if t.Name != privilege.Database {
		like.Schema = parts[4]
	}
	switch {
	case !t.Contained():
	case parts[5] == wildcard:
		like.Whole = true
	default:
		if like.Objects, err = splitObjects(id); err != nil {
			return like, err
		}
	}
	found, err := s.FindGrants(ctx, like)
	switch {
	case err != nil:
		return like, err
	case len(found) == 0:
		return like, fmt.Errorf("no grant %q is declared in the data table, so none can be imported. "+
			"Privileges that are held already need no import: declare the grant and apply, what holds is not granted again", id)
	case len(found) > 1:
		var ids []string
		for _, g := range found {
			ids = append(ids, fmt.Sprintf("%s (%s)", g.ID, strings.Join(g.Privileges, ", ")))
		}
		slices.Sort(ids)
		return like, fmt.Errorf("import id %q fits %d grants, with the claims %s: make them one, or give them different objects", id, len(found), strings.Join(ids, " and "))
	}
	return found[0], nil
}

// splitObjects takes the last part of an import id apart, where a comma stands
// between names and one inside a name is percent-encoded.
func splitObjects(id string) ([]string, error) {
	encoded := id[strings.LastIndex(id, "/")+1:]
	var names []string
	for _, part := range strings.Split(encoded, ",") {
		decoded, err := splitID(part, "object")
		if err != nil {
			return nil, err
		}
		names = append(names, decoded[0])
	}
	return names, nil
}
