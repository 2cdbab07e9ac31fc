package provider

import (
	"context"
	"maps"
	"slices"

	"github.com/hashicorp/terraform-plugin-framework-validators/mapvalidator"
	"github.com/hashicorp/terraform-plugin-framework-validators/setvalidator"
	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/booldefault"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringdefault"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/datatable-io/terraform-provider-datatable/internal/datatable"
	"github.com/datatable-io/terraform-provider-datatable/internal/resolve"
)

type datatableModel struct {
	Name              types.String  `tfsdk:"name"`
	Workspace         types.String  `tfsdk:"workspace"`
	Database          types.String  `tfsdk:"database"`
	Access            types.String  `tfsdk:"access"`
	DefaultRole       types.String  `tfsdk:"default_role"`
	Tenants           types.Map     `tfsdk:"tenants"`
	UnnamedRolesFrom  types.String  `tfsdk:"unnamed_roles_from"`
	RevokePublic      types.Bool    `tfsdk:"revoke_public"`
	AcceptReplication types.Set     `tfsdk:"accept_replication"`
	UnmanagedGrants   types.String  `tfsdk:"unmanaged_grants"`
	GovernedBy        *governorRefs `tfsdk:"governed_by"`
	Reference         types.String  `tfsdk:"reference"`
	Owner             types.String  `tfsdk:"owner"`
	Unmanaged         types.List    `tfsdk:"unmanaged"`
	Statements        types.List    `tfsdk:"statements"`
}

type governorRefs struct {
	Workspace types.String `tfsdk:"workspace"`
	Datatable types.String `tfsdk:"datatable"`
}

// mainDatatable is the data table that a reference without a name means.
const mainDatatable = "main"

func datatableKind() kind[datatableModel, datatable.Datatable, datatable.EntrySeen] {
	return kind[datatableModel, datatable.Datatable, datatable.EntrySeen]{
		typeName: "datatable",
		schema:   datatableSchema(),
		anew:     []string{"name", "workspace", "database"},
		validate: validateDatatable,
		wanted: func(_ context.Context, m datatableModel) (datatable.Datatable, diag.Diagnostics) {
			return datatableOf(m), nil
		},
		show: showDatatable,
		computed: func(d datatable.Datatable, seen datatable.EntrySeen, m *datatableModel) {
			m.Reference = types.StringValue(resolve.Reference{Datatable: d.Key.Datatable}.String())
			m.Owner, m.Unmanaged = optional(d.Owner), stringList(seen.Lines())
		},
		volatile: []string{"owner", "unmanaged"},
		preview:  datatable.PreviewDatatable,
		read: func(ctx context.Context, s *datatable.Service, d datatable.Datatable) (datatable.Datatable, datatable.EntrySeen, bool, error) {
			return s.Datatable(ctx, d.Key)
		},
		create: func(ctx context.Context, s *datatable.Service, d datatable.Datatable) (datatable.Datatable, datatable.EntrySeen, error) {
			return s.PutDatatable(ctx, nil, d, datatable.EntrySeen{})
		},
		update: func(ctx context.Context, s *datatable.Service, prior, next datatable.Datatable, seen datatable.EntrySeen) (datatable.Datatable, datatable.EntrySeen, error) {
			return s.PutDatatable(ctx, &prior, next, seen)
		},
		remove: func(ctx context.Context, s *datatable.Service, d datatable.Datatable, seen datatable.EntrySeen) error {
			return s.DeleteDatatable(ctx, d, seen)
		},
		locate: func(ctx context.Context, s *datatable.Service, id string) (datatable.Datatable, error) {
			parts, err := splitID(id, "workspace", "datatable")
			if err != nil {
				return datatable.Datatable{}, err
			}
			d, _, ok, err := s.Datatable(ctx, resolve.Key{Workspace: parts[0], Datatable: parts[1]})
			if err == nil && !ok {
				err = notFound("data table", id)
			}
			return d, err
		},
	}
}

func datatableSchema() schema.Schema {
	workspace := workspaceAttribute()
	return schema.Schema{
		MarkdownDescription: "A data table: a named entry of a workspace that is one physical Postgres database, and who connects to it as what.\n\n" +
			"Under `access = \"open\"` everyone in the workspace is the owner, and nothing is enforced. Under `access = \"roles\"` a connection gets the login " +
			"of the roles it may use: `tenants` says who may use a role, `default_role` what a connection that names none starts from. " +
			"Turning `roles` on changes nothing by itself: the default role is `admin`, and without `tenants` everyone is a tenant of it.",
		Attributes: map[string]schema.Attribute{
			"name": schema.StringAttribute{
				Optional: true, Computed: true, Default: stringdefault.StaticString(mainDatatable),
				MarkdownDescription: "Name of the data table, 1 to 63 bytes. Default `main`, the one that a reference without a name means. Changing it makes a new data table.",
				Validators:          []validator.String{identifier("data table")},
			},
			"workspace": workspace,
			"database": schema.StringAttribute{
				Required:            true,
				MarkdownDescription: "Name of the Postgres database, which must exist. Several data tables may share one. Changing it makes a new data table; grants and policies on it must go first, or be replaced with it by `lifecycle { replace_triggered_by }`.",
				Validators:          []validator.String{identifier("database")},
			},
			"access": choice("Access model: `open` (default), `roles`, or `principals`, in which every member has a login of their own. This version makes no such logins: "+
				"under `principals` a workspace admin is the owner, and anyone else is refused with `not_provisioned`. "+
				"Changing it to `open` lets everyone in the workspace in as the owner, and the plan warns.",
				string(resolve.AccessOpen), resolve.Accesses()...),
			"default_role": schema.StringAttribute{
				Optional: true, Computed: true, Default: stringdefault.StaticString(resolve.RoleAdmin),
				MarkdownDescription: "What a connection that names no role starts from: `admin` (default), `none`, or a role that `tenants` lists. " +
					"When the role is dropped there is none; nothing ever sets it back to `admin`.",
				Validators: []validator.String{orElseRole(resolve.RoleAdmin, resolve.DefaultNone)},
			},
			"tenants": schema.MapAttribute{
				Optional: true, ElementType: setType,
				MarkdownDescription: "Who may use a role, by role; `admin` is the owner. Patterns are `u/<username>`, `g/<group>`, `f/<folder>` (who can read it) and `*` (everyone in the workspace). " +
					"Once given it is the whole truth: a role that is not listed, `admin` too, is for workspace admins alone. Each listed role may connect to the database. " +
					"Write a key as `(datatable_role.reader.name)`, so that the role is made first.",
				Validators: []validator.Map{
					mapvalidator.KeysAre(orElseRole(resolve.RoleAdmin)),
					mapvalidator.ValueSetsAre(setvalidator.ValueStringsAre(tenant)),
				},
			},
			"unnamed_roles_from": choice("Whose roles a connection that names none gets. `viewer` (default): the default role if the identity may use it, and the roles that tenant lists give the viewer; "+
				"a program that names no role then runs with its viewer's reach into the data table, and naming a role pins it. `identity`: all of them are those of the identity.",
				string(resolve.RuleViewer), resolve.Rules()...),
			"revoke_public": schema.BoolAttribute{
				Optional: true, Computed: true, Default: booldefault.StaticBool(true),
				MarkdownDescription: "Unless `access` is `open`, take CONNECT on the database and CREATE on schema `public` from PUBLIC, and put back what was taken when the data table leaves. Default true.",
			},
			"accept_replication": schema.SetAttribute{
				Optional: true, ElementType: types.StringType,
				MarkdownDescription: "Logical replication slots and publications, by name, that may carry rows out of the database. Replication asks neither grants nor policies, " +
					"so unless `access` is `open` a database that has any is refused unless each is named here.",
			},
			"unmanaged_grants": choice("What to do about privileges in the database that no `datatable_grant` declares, of PUBLIC and of every role of the catalog: `report` (default) lists them in `unmanaged` and warns, "+
				"`revoke` revokes them, as the plan shows, `ignore` does not look. What owners hold and what extensions made is left alone, and so is what Postgres gives PUBLIC in every new database: "+
				"TEMPORARY and CONNECT, and USAGE and CREATE on schema `public`. Under `access = \"open\"` nothing is enforced, and nothing is looked at.",
				datatable.Report, datatable.Ignore, datatable.Report, datatable.Revoke),
			"governed_by": schema.SingleNestedAttribute{
				Optional: true,
				MarkdownDescription: "Another data table whose permissions count instead of this one's; forbids the permission arguments. People are matched with that " +
					"workspace's members by email, and being an admin of this workspace counts for nothing. Where this entry is another database than the governing one, nothing is closed in it: PUBLIC keeps what it holds there.",
				Attributes: map[string]schema.Attribute{
					"workspace": schema.StringAttribute{Required: true, MarkdownDescription: "Workspace of the governing data table.", Validators: []validator.String{identifier("workspace")}},
					"datatable": schema.StringAttribute{Required: true, MarkdownDescription: "Name of the governing data table.", Validators: []validator.String{identifier("data table")}},
				},
			},
			"reference": schema.StringAttribute{
				Computed: true,
				MarkdownDescription: "How a program names the data table: `datatable://main`. Known once the data table exists, so what refers to it waits for that, " +
					"as an ephemeral connection has to.",
				PlanModifiers: []planmodifier.String{stringplanmodifier.UseStateForUnknown()},
			},
			"owner": schema.StringAttribute{Computed: true, MarkdownDescription: "Owner of the database, as Postgres says. The login of `admin`."},
			"unmanaged": schema.ListAttribute{
				Computed: true, ElementType: types.StringType,
				MarkdownDescription: "Privileges that are held and that no grant declares, one line each. Empty where `unmanaged_grants` is `ignore`.",
			},
			"statements": statementsAttribute(),
		},
	}
}

func datatableOf(m datatableModel) datatable.Datatable {
	d := datatable.Datatable{
		Datatable: resolve.Datatable{
			Key:              resolve.Key{Workspace: m.Workspace.ValueString(), Datatable: m.Name.ValueString()},
			Access:           resolve.Access(m.Access.ValueString()),
			DefaultRole:      m.DefaultRole.ValueString(),
			Tenants:          listsOf(m.Tenants),
			UnnamedRolesFrom: resolve.Rule(m.UnnamedRolesFrom.ValueString()),
			Owner:            m.Owner.ValueString(),
		},
		Database:          m.Database.ValueString(),
		RevokePublic:      m.RevokePublic.ValueBool(),
		AcceptReplication: stringsOf(m.AcceptReplication),
		UnmanagedGrants:   m.UnmanagedGrants.ValueString(),
	}
	if m.GovernedBy != nil {
		d.GovernedBy = &resolve.Key{Workspace: m.GovernedBy.Workspace.ValueString(), Datatable: m.GovernedBy.Datatable.ValueString()}
	}
	return d
}

func showDatatable(_ context.Context, d datatable.Datatable, m *datatableModel) diag.Diagnostics {
	m.Name, m.Workspace, m.Database = types.StringValue(d.Key.Datatable), types.StringValue(d.Workspace), types.StringValue(d.Database)
	m.Access, m.UnnamedRolesFrom = types.StringValue(string(d.Access)), types.StringValue(string(d.UnnamedRolesFrom))
	m.DefaultRole, m.RevokePublic = types.StringValue(d.DefaultRole), types.BoolValue(d.RevokePublic)
	m.UnmanagedGrants = types.StringValue(d.UnmanagedGrants)
	m.AcceptReplication = stringSetOr(m.AcceptReplication, d.AcceptReplication)
	m.Tenants = types.MapNull(setType)
	if d.Tenants != nil {
		m.Tenants = setMap(d.Tenants)
	}
	m.GovernedBy = nil
	if d.GovernedBy != nil {
		m.GovernedBy = &governorRefs{Workspace: types.StringValue(d.GovernedBy.Workspace), Datatable: types.StringValue(d.GovernedBy.Datatable)}
	}
	return nil
}

func validateDatatable(_ context.Context, m datatableModel) (diags diag.Diagnostics) {
	if m.GovernedBy != nil {
		forbid(&diags, "does not fit with governed_by: permissions come from the governing data table, set it there", map[string]attr.Value{
			"access": m.Access, "default_role": m.DefaultRole, "tenants": m.Tenants,
			"unnamed_roles_from": m.UnnamedRolesFrom, "revoke_public": m.RevokePublic, "unmanaged_grants": m.UnmanagedGrants, "accept_replication": m.AcceptReplication,
		})
	}
	name := m.DefaultRole.ValueString()
	if m.DefaultRole.IsNull() || m.DefaultRole.IsUnknown() || m.Tenants.IsUnknown() || name == resolve.RoleAdmin || name == resolve.DefaultNone {
		return diags
	}
	if _, ok := m.Tenants.Elements()[name]; !ok {
		diags.Append(refusal(path.Root("default_role"), "is none of \"admin\", \"none\" and the roles that tenants lists, "+
			listed(slices.Sorted(maps.Keys(m.Tenants.Elements())))+": add it to tenants, such as { "+name+" = [\"*\"] }", name))
	}
	return diags
}
