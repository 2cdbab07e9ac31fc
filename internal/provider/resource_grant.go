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
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/booldefault"
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
	Columns    types.Set    `tfsdk:"columns"`
	Future     types.Bool   `tfsdk:"future"`
	CreatedBy  types.Set    `tfsdk:"created_by"`
	Option     types.Bool   `tfsdk:"with_grant_option"`
	Statements types.List   `tfsdk:"statements"`
}

func grantKind() kind[grantModel, datatable.Grant, datatable.GrantSeen] {
	return kind[grantModel, datatable.Grant, datatable.GrantSeen]{
		typeName: "datatable_grant",
		schema:   grantSchema(),
		anew:     []string{"datatable", "workspace"},
		validate: validateGrant,
		wanted:   func(_ context.Context, m grantModel) (datatable.Grant, diag.Diagnostics) { return grantOf(m), nil },
		show:     showGrant,
		computed: func(g datatable.Grant, _ datatable.GrantSeen, m *grantModel) { m.ID = types.StringValue(g.ID) },
		preview:  datatable.PreviewGrant,
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
				Validators:          []validator.Set{some("privilege")},
			},
			"object_type": choice("What is granted on: "+ticked(privilege.TypeNames())+". Default `table`, which takes in views, materialized views, partitioned and foreign tables.",
				privilege.Table, privilege.TypeNames()...),
			"schema": schema.StringAttribute{
				Optional:            true,
				MarkdownDescription: "The schema that is granted on, or that the objects are in. Not for a database.",
				Validators:          []validator.String{userSchema},
			},
			"objects": schema.SetAttribute{
				Optional: true, ElementType: types.StringType,
				MarkdownDescription: "Names of the objects in the schema; functions by signature, `f(text, numeric(10,2))`, with types outside `pg_catalog` written with their schema. This or `all_objects`.",
				Validators:          []validator.Set{some("object")},
			},
			"all_objects": schema.BoolAttribute{
				Optional: true,
				MarkdownDescription: "True for all objects of the type in the schema. One that is made later lacks the privileges until the next apply, whose plan shows it, unless `future` is set. " +
					"This or `objects`; leaving both out never means all.",
				Validators: []validator.Bool{onlyTrue{}},
			},
			"columns": schema.SetAttribute{
				Optional: true, ElementType: types.StringType,
				MarkdownDescription: "Grant on these columns of the tables in `objects`, and not on the tables. Privileges are then " + ticked(columnPrivileges()) + " or `ALL`.",
				Validators:          []validator.Set{some("column"), setvalidator.ValueStringsAre(identifier("column"))},
			},
			"future": schema.BoolAttribute{
				Optional: true, Computed: true, Default: booldefault.StaticBool(false),
				MarkdownDescription: "With `all_objects`: objects that are made later have the privileges at once, by default privileges of the roles in `created_by`. Default false.",
			},
			"created_by": schema.SetAttribute{
				Optional: true, ElementType: types.StringType,
				MarkdownDescription: "With `future`: whose new objects; roles of the catalog, and `admin` for the owner of the database, which is the default. What any other role makes is left out.",
				Validators:          []validator.Set{some("role"), setvalidator.ValueStringsAre(orElseRole(resolve.RoleAdmin))},
			},
			"with_grant_option": schema.BoolAttribute{
				Optional: true, Computed: true, Default: booldefault.StaticBool(false),
				MarkdownDescription: "Whether the role may grant the privileges on. Not for `public`. Default false.",
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

func columnPrivileges() []string {
	t, _ := privilege.TypeOf(privilege.Table)
	return t.OfColumns
}

func grantOf(m grantModel) datatable.Grant {
	g := datatable.Grant{
		Datatable: resolve.Key{Workspace: m.Workspace.ValueString(), Datatable: m.Datatable.ValueString()},
		Claim: privilege.Claim{
			ID: m.ID.ValueString(), Grantee: m.Role.ValueString(), Type: m.ObjectType.ValueString(), Schema: m.Schema.ValueString(),
			Objects: stringsOf(m.Objects), Whole: m.AllObjects.ValueBool(), Columns: stringsOf(m.Columns),
			Future: m.Future.ValueBool(), CreatedBy: stringsOf(m.CreatedBy), Privileges: stringsOf(m.Privileges), Option: m.Option.ValueBool(),
		},
	}
	if g.Future && m.CreatedBy.IsNull() {
		g.CreatedBy = []string{resolve.RoleAdmin}
	}
	return g
}

func showGrant(_ context.Context, g datatable.Grant, m *grantModel) diag.Diagnostics {
	m.Datatable, m.Workspace = types.StringValue(g.Datatable.Datatable), types.StringValue(g.Datatable.Workspace)
	m.Role, m.ObjectType, m.Schema = types.StringValue(g.Grantee), types.StringValue(g.Type), optional(g.Schema)
	none := types.SetNull(types.StringType)
	m.Privileges, m.Objects, m.Columns = stringSet(g.Privileges), stringSetOr(none, g.Objects), stringSetOr(none, g.Columns)
	m.Future, m.Option = types.BoolValue(g.Future), types.BoolValue(g.Option)
	if onlyOwner := len(g.CreatedBy) == 1 && g.CreatedBy[0] == resolve.RoleAdmin; !onlyOwner || !m.CreatedBy.IsNull() {
		m.CreatedBy = stringSetOr(none, g.CreatedBy)
	}
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
	validateReach(m, t, &diags)
	if !t.Contained() {
		forbid(&diags, fmt.Sprintf("does not fit with object_type %q, which is one thing and not many in a schema", name),
			map[string]attr.Value{"objects": m.Objects, "all_objects": m.AllObjects})
		return diags
	}
	switch {
	case m.Objects.IsNull() && m.AllObjects.IsNull():
		diags.AddAttributeError(path.Root("objects"), "Missing argument",
			fmt.Sprintf("A grant on a %s needs objects, such as objects = [%s], or all_objects = true. Leaving both out never means all.", name, quoted(exampleOf(t))))
	case !m.Objects.IsNull() && !m.AllObjects.IsNull():
		diags.AddAttributeError(path.Root("all_objects"), "Argument does not fit", "Only one of objects and all_objects can be given: all_objects takes in every object.")
	}
	validateObjects(m.Objects, t, &diags)
	return diags
}

func exampleOf(t privilege.ObjectType) string {
	if t.Signature {
		return "total(integer, text)"
	}
	return "orders"
}

// validateObjects checks names, or signatures.
func validateObjects(objects types.Set, t privilege.ObjectType, diags *diag.Diagnostics) {
	for _, v := range objects.Elements() {
		name, ok := v.(types.String)
		if !ok || name.IsUnknown() || name.IsNull() {
			continue
		}
		err := resolve.CheckIdentifier("object", name.ValueString())
		if t.Signature {
			err = privilege.CheckSignature(name.ValueString())
		}
		if err != nil {
			diags.AddAttributeError(path.Root("objects").AtSetValue(v), "Invalid value", sentence(err))
		}
	}
}

// validateReach checks the arguments that widen or narrow what objects are
// meant.
func validateReach(m grantModel, t privilege.ObjectType, diags *diag.Diagnostics) {
	if !m.Columns.IsNull() {
		switch {
		case len(t.OfColumns) == 0:
			forbid(diags, fmt.Sprintf("does not fit with object_type %q: only tables have columns", t.Name), map[string]attr.Value{"columns": m.Columns})
		case m.AllObjects.ValueBool():
			forbid(diags, "does not fit with all_objects: name the tables that have the columns in objects", map[string]attr.Value{"columns": m.Columns})
		}
	}
	if m.Future.ValueBool() && !m.AllObjects.IsUnknown() && !m.AllObjects.ValueBool() {
		diags.AddAttributeError(path.Root("future"), "Argument does not fit", "Objects that are made later cannot be named: future needs all_objects = true.")
	}
	if !m.CreatedBy.IsNull() && !m.Future.IsUnknown() && !m.Future.ValueBool() {
		forbid(diags, "says whose later objects are meant: it needs future = true", map[string]attr.Value{"created_by": m.CreatedBy})
	}
	if m.Option.ValueBool() && m.Role.ValueString() == privilege.Public {
		diags.AddAttributeError(path.Root("with_grant_option"), "Argument does not fit", "Postgres gives no grant option to PUBLIC: grant it to a role.")
	}
}

func validatePrivileges(ctx context.Context, m grantModel, t privilege.ObjectType, diags *diag.Diagnostics) {
	if !fullyKnown(ctx, m.Privileges) {
		return
	}
	at := path.Root("privileges")
	names := stringsOf(m.Privileges)
	for _, name := range names {
		switch {
		case !m.Columns.IsNull() && t.Has(name) && len(t.OfColumns) > 0 && !slices.Contains(t.OfColumns, name):
			diags.Append(refusal(at.AtSetValue(types.StringValue(name)), fmt.Sprintf("is no privilege on columns: use %s, or %q alone", listed(t.OfColumns), privilege.All), name))
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
		// Nothing declares it; what is held is adopted as it is.
		return s.AdoptGrant(ctx, like)
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
