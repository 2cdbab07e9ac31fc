package provider

import (
	"context"
	"maps"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/datatable-io/terraform-provider-datatable/internal/datatable"
	"github.com/datatable-io/terraform-provider-datatable/internal/resolve"
)

// connectionInput is how a connection is asked for.
type connectionInput struct {
	Workspace types.String `tfsdk:"workspace"`
	Reference types.String `tfsdk:"reference"`
	Datatable types.String `tfsdk:"datatable"`
	Role      types.String `tfsdk:"role"`
	As        types.String `tfsdk:"as"`
	Identity  *personModel `tfsdk:"identity"`
	Viewer    *personModel `tfsdk:"viewer"`
}

type connectionModel struct {
	connectionInput

	Allowed  types.Bool    `tfsdk:"allowed"`
	Refusal  *refusalModel `tfsdk:"refusal"`
	Kind     types.String  `tfsdk:"kind"`
	Login    types.String  `tfsdk:"login"`
	Roles    types.List    `tfsdk:"roles"`
	Host     types.String  `tfsdk:"host"`
	Port     types.Int64   `tfsdk:"port"`
	Database types.String  `tfsdk:"database"`
	Schema   types.String  `tfsdk:"schema"`
	CacheKey types.String  `tfsdk:"cache_key"`
	Trace    types.List    `tfsdk:"trace"`
}

type personModel struct {
	User    types.String `tfsdk:"user"`
	Email   types.String `tfsdk:"email"`
	Groups  types.Set    `tfsdk:"groups"`
	Folders types.Set    `tfsdk:"folders"`
	Admin   types.Bool   `tfsdk:"admin"`
}

type refusalModel struct {
	Code    types.String `tfsdk:"code"`
	Message types.String `tfsdk:"message"`
}

func connectionLookup() lookup[connectionModel] {
	return lookup[connectionModel]{
		typeName:  "datatable_connection",
		schema:    connectionSchema(),
		validate:  validateConnection,
		workspace: func(m *connectionModel) *types.String { return &m.Workspace },
		read: func(ctx context.Context, s *datatable.Service, m *connectionModel) (diag.Diagnostics, error) {
			c, err := m.resolve(ctx, s)
			if err == nil {
				showConnection(c, m)
			}
			return nil, err
		},
	}
}

func connectionSchema() schema.Schema {
	attributes := connectionInputs()
	maps.Copy(attributes, map[string]schema.Attribute{
		"allowed": schema.BoolAttribute{Computed: true, MarkdownDescription: "Whether there is a connection."},
		"refusal": schema.SingleNestedAttribute{
			Computed:            true,
			MarkdownDescription: "Why there is none; null where there is one.",
			Attributes: map[string]schema.Attribute{
				"code": schema.StringAttribute{Computed: true, MarkdownDescription: "One of `malformed_reference`, `unknown_datatable`, `governor_missing`, `reference_loop`, " +
					"`roles_not_enabled`, `not_a_member`, `unknown_role`, `role_disabled`, `role_not_on_datatable`, `not_a_tenant`, `role_not_provisioned`, `not_provisioned`, `no_viewer`, `no_role`."},
				"message": schema.StringAttribute{Computed: true, MarkdownDescription: "The reason in words, with what would make it work."},
			},
		},
		"kind":      schema.StringAttribute{Computed: true, MarkdownDescription: "What the login is: `owner`, `role`, `set` (several roles held at once) or `principal`."},
		"login":     schema.StringAttribute{Computed: true, MarkdownDescription: "The Postgres role that the connection logs in as. A set login is made when it is first used."},
		"roles":     schema.ListAttribute{Computed: true, ElementType: types.StringType, MarkdownDescription: "Roles that the connection holds, sorted; `admin` for the owner."},
		"host":      schema.StringAttribute{Computed: true, MarkdownDescription: "Host of the server."},
		"port":      schema.Int64Attribute{Computed: true, MarkdownDescription: "Port of the server."},
		"database":  schema.StringAttribute{Computed: true, MarkdownDescription: "Database of the data table."},
		"schema":    schema.StringAttribute{Computed: true, MarkdownDescription: "Search path that the reference asks for; null where it asks for none."},
		"cache_key": schema.StringAttribute{Computed: true, MarkdownDescription: "A hash over the data table, the identity, the viewer and the login. A result read through one person's roles is kept under it, so that it is served to no other."},
		"trace":     schema.ListAttribute{Computed: true, ElementType: types.StringType, MarkdownDescription: "Each step of the decision in words."},
	})
	return schema.Schema{
		MarkdownDescription: "Which login a connection gets, for an identity and a viewer, and why. A refusal is a value and no error, so that `check` blocks and tests can assert on it. " +
			"It changes nothing in any database.\n\n" +
			"Refer to the workspace and the data table, by attribute or `depends_on`: what it does not refer to it may be read before, and then a check on it passes one apply too long.\n\n" +
			"Identity and viewer are arguments: whoever writes the configuration vouches for them. A system that hands out connections while it runs must take the " +
			"viewer from its own session, never from a program's argument.",
		Attributes: attributes,
	}
}

// connectionInputs are the attributes of [connectionInput].
func connectionInputs() map[string]schema.Attribute {
	return map[string]schema.Attribute{
		"workspace": schema.StringAttribute{
			Optional: true, Computed: true,
			MarkdownDescription: "Workspace that the data table is asked for in. Default is the provider's `workspace`.",
			Validators:          []validator.String{identifier("workspace")},
		},
		"reference": schema.StringAttribute{
			Optional: true,
			MarkdownDescription: "How a program names the connection: `datatable://NAME[:SCHEMA][?role=ROLE]`, or `?as=viewer` to hold the viewer's roles; `datatable` alone is the data table `main`. " +
				"This, or `datatable`, `role` and `as`. A malformed one is the refusal `malformed_reference`.",
		},
		"datatable": schema.StringAttribute{
			Optional:            true,
			MarkdownDescription: "Name of the data table. Default `main`.",
			Validators:          []validator.String{identifier("data table")},
		},
		"role": schema.StringAttribute{Optional: true, MarkdownDescription: "Role that the connection names, `admin` for the owner.", Validators: []validator.String{nonEmpty("role")}},
		"as": schema.StringAttribute{
			Optional:            true,
			MarkdownDescription: "`viewer`: hold the viewer's roles. Not together with `role`.",
			Validators:          []validator.String{oneOf{viewer}},
		},
		"identity": schema.SingleNestedAttribute{
			Required:            true,
			MarkdownDescription: "Who the job runs as.",
			Attributes:          personAttributes(),
		},
		"viewer": schema.SingleNestedAttribute{
			Optional:            true,
			MarkdownDescription: "Who the result is shown to. Left out where nobody is looking: a schedule, a trigger, an anonymous visitor.",
			Attributes:          personAttributes(),
		},
	}
}

func personAttributes() map[string]schema.Attribute {
	return map[string]schema.Attribute{
		"user":    schema.StringAttribute{Required: true, MarkdownDescription: "Username or email, looked up in the directory unless groups, folders or the admin flag are spelled out.", Validators: []validator.String{nonEmpty("user")}},
		"email":   schema.StringAttribute{Optional: true, MarkdownDescription: "Email of the person."},
		"groups":  schema.SetAttribute{Optional: true, ElementType: types.StringType, MarkdownDescription: "Groups the person is in, instead of the directory's."},
		"folders": schema.SetAttribute{Optional: true, ElementType: types.StringType, MarkdownDescription: "Folders the person can read, instead of the directory's."},
		"admin":   schema.BoolAttribute{Optional: true, MarkdownDescription: "Whether the person administers the governing workspace, instead of what the directory says."},
	}
}

// validateConnection refuses a connection that is asked for in two ways.
func validateConnection(ctx context.Context, config tfsdk.Config) (diags diag.Diagnostics) {
	given := map[string]types.String{}
	for _, name := range []string{"reference", "datatable", "role", "as"} {
		var value types.String
		diags.Append(config.GetAttribute(ctx, path.Root(name), &value)...)
		given[name] = value
	}
	if !given["reference"].IsNull() {
		forbid(&diags, "does not fit with reference, which has a place for it", map[string]attr.Value{
			"datatable": given["datatable"], "role": given["role"], "as": given["as"],
		})
		return diags
	}
	if !given["role"].IsNull() && !given["as"].IsNull() {
		diags.AddAttributeError(path.Root("as"), "Argument does not fit", "A connection that names a role holds that role alone, so as cannot be given with role.")
	}
	return diags
}

func (m connectionInput) resolve(ctx context.Context, s *datatable.Service) (datatable.Connection, error) {
	r := resolve.Request{Workspace: m.Workspace.ValueString(), Identity: m.Identity.person()}
	if m.Viewer != nil {
		person := m.Viewer.person()
		r.Viewer = &person
	}
	if m.Reference.IsNull() {
		r.Reference = resolve.Reference{Datatable: mainDatatable, Role: m.Role.ValueString(), AsViewer: !m.As.IsNull()}
		if !m.Datatable.IsNull() {
			r.Reference.Datatable = m.Datatable.ValueString()
		}
		return s.Resolve(ctx, r)
	}
	return s.ResolveText(ctx, m.Reference.ValueString(), r)
}

func (p personModel) person() resolve.Person {
	return resolve.Person{
		User: p.User.ValueString(), Email: p.Email.ValueString(),
		Groups: stringsOf(p.Groups), Folders: stringsOf(p.Folders), Admin: p.Admin.ValueBool(),
		SpelledOut: !p.Groups.IsNull() || !p.Folders.IsNull() || !p.Admin.IsNull(),
	}
}

func showConnection(c datatable.Connection, m *connectionModel) {
	m.Allowed = types.BoolValue(c.Allowed())
	m.Kind, m.Login = optional(string(c.Kind)), optional(c.Login)
	m.Roles, m.Trace = stringList(c.Roles), stringList(c.Trace)
	m.Schema, m.CacheKey = optional(c.Schema), optional(c.CacheKey)
	m.Host, m.Database, m.Port = optional(c.Host), optional(c.Database), types.Int64Null()
	m.Refusal = nil
	if c.Refusal != nil {
		m.Refusal = &refusalModel{Code: types.StringValue(string(c.Refusal.Code)), Message: types.StringValue(c.Refusal.Message)}
		return
	}
	m.Port = types.Int64Value(int64(c.Port))
}

func stringList(values []string) types.List {
	elements := make([]attr.Value, len(values))
	for i, v := range values {
		elements[i] = types.StringValue(v)
	}
	return types.ListValueMust(types.StringType, elements)
}
