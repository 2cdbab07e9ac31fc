package provider

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/booldefault"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/datatable-io/terraform-provider-datatable/internal/datatable"
)

type roleModel struct {
	ID         types.String `tfsdk:"id"`
	Name       types.String `tfsdk:"name"`
	Enabled    types.Bool   `tfsdk:"enabled"`
	Statements types.List   `tfsdk:"statements"`
}

func roleKind() kind[roleModel, datatable.Role, datatable.RoleSeen] {
	return kind[roleModel, datatable.Role, datatable.RoleSeen]{
		typeName: "datatable_role",
		schema: schema.Schema{
			MarkdownDescription: "A role of the cluster-wide role catalog: a Postgres role that can log in, with a generated password that only the catalog " +
				"has, encrypted. It can do nothing until a `datatable_grant` gives it something, and nobody may use it until a data table lists it in `tenants`.\n\n" +
				"A role that exists in Postgres already and is not of this catalog is left alone: creating one of its name is an error. " +
				"Destroying it gives what it owns to the owner of the database it is in. Functions, operators, views, rules, and tables whose indexes, triggers or types call such code " +
				"are not given on, since they would run with the owner's rights: the role is shut and its sessions end, and then the error names them. Needs the provider's `encryption_key`.",
			Attributes: map[string]schema.Attribute{
				"id": schema.StringAttribute{
					Computed:            true,
					MarkdownDescription: "Id of the role in the catalog. It survives a rename.",
					PlanModifiers:       []planmodifier.String{stringplanmodifier.UseStateForUnknown()},
				},
				"name": schema.StringAttribute{
					Required: true,
					MarkdownDescription: "Name of the role, and of its login in Postgres: 1 to 63 characters of `A-Z a-z 0-9 _ -`. Refused, in any letter case: " +
						"`admin`, `postgres`, `public`, `none`, and what starts with `pg_`, `windmill_`, `custom_instance_`, `wm_set_`, `wm_u_` or `wm_g_`. " +
						"Changing it renames the role in place; grants, policies and tenants follow. The plan also shows each grant under the new name, with GRANT and REVOKE: " +
						"since privileges move with the role, none of those runs.",
					Validators: []validator.String{roleName},
				},
				"enabled": schema.BoolAttribute{
					Optional: true, Computed: true, Default: booldefault.StaticBool(true),
					MarkdownDescription: "Whether the role can log in. Default true. Setting it to false ends the open sessions of the role, and of every set login that holds it.",
				},
				"statements": statementsAttribute(),
			},
		},
		wanted: func(_ context.Context, m roleModel) (datatable.Role, diag.Diagnostics) {
			return datatable.Role{ID: m.ID.ValueString(), Name: m.Name.ValueString(), Enabled: m.Enabled.ValueBool()}, nil
		},
		show: func(_ context.Context, r datatable.Role, m *roleModel) diag.Diagnostics {
			m.Name, m.Enabled = types.StringValue(r.Name), types.BoolValue(r.Enabled)
			return nil
		},
		computed: func(r datatable.Role, _ datatable.RoleSeen, m *roleModel) { m.ID = types.StringValue(r.ID) },
		preview:  datatable.PreviewRole,
		needs: func(s *datatable.Service, diags *diag.Diagnostics) {
			switch missing, err := s.NeedsKey(); {
			case missing:
				diags.AddWarning("Making a role will need the provider's encryption_key", sentence(err))
			case err != nil:
				diags.AddError("The provider's encryption_key is of no use", sentence(err))
			}
		},
		read: func(ctx context.Context, s *datatable.Service, r datatable.Role) (datatable.Role, datatable.RoleSeen, bool, error) {
			return s.Role(ctx, r.ID)
		},
		create: func(ctx context.Context, s *datatable.Service, r datatable.Role) (datatable.Role, datatable.RoleSeen, error) {
			made, err := s.CreateRole(ctx, r)
			return made, datatable.RoleSeen{}, err
		},
		update: func(ctx context.Context, s *datatable.Service, prior, next datatable.Role, seen datatable.RoleSeen) (datatable.Role, datatable.RoleSeen, error) {
			next.ID = prior.ID
			return next, datatable.RoleSeen{}, s.UpdateRole(ctx, prior, next, seen)
		},
		remove: func(ctx context.Context, s *datatable.Service, r datatable.Role, _ datatable.RoleSeen) error {
			return s.DropRole(ctx, r)
		},
		locate: func(ctx context.Context, s *datatable.Service, id string) (datatable.Role, error) {
			parts, err := splitID(id, "role")
			if err != nil {
				return datatable.Role{}, err
			}
			r, _, ok, err := s.RoleByName(ctx, parts[0])
			if err == nil && !ok {
				err = notFound("role", id)
			}
			return r, err
		},
	}
}
