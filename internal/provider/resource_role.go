package provider

import (
	"context"
	"errors"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework-validators/int64validator"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/booldefault"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/int64default"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/datatable-io/terraform-provider-datatable/internal/datatable"
)

type roleModel struct {
	ID              types.String `tfsdk:"id"`
	Name            types.String `tfsdk:"name"`
	Enabled         types.Bool   `tfsdk:"enabled"`
	Adopt           types.Bool   `tfsdk:"adopt"`
	PasswordVersion types.Int64  `tfsdk:"password_version"`
	Comment         types.String `tfsdk:"comment"`
	Statements      types.List   `tfsdk:"statements"`
}

func roleKind() kind[roleModel, datatable.Role, datatable.RoleSeen] {
	return kind[roleModel, datatable.Role, datatable.RoleSeen]{
		typeName: "datatable_role",
		schema: schema.Schema{
			MarkdownDescription: "A role of the cluster-wide role catalog: a Postgres role that can log in, with a generated password that only the catalog " +
				"has, encrypted. It can do nothing until a `datatable_grant` gives it something, and nobody may use it until a data table lists it in `tenants`.\n\n" +
				"A role that exists in Postgres already and is not of this catalog is left alone: creating one of its name is an error, unless `adopt` says to take it over. " +
				"Destroying it, as disabling and renaming it, warns of what names it: data tables, and row policies of tables that have a `datatable_policy`. What it owns goes to the owner of the database it is in. Functions, operators, views, rules, and tables whose indexes, triggers or types call such code " +
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
				"adopt": schema.BoolAttribute{
					Optional: true, Computed: true, Default: booldefault.StaticBool(false),
					MarkdownDescription: "Whether to take over a role of this name that Postgres has already. Default false: then it is an error. The role gets a new password, the attributes of a role " +
						"in the place of CREATEDB and the like, and the catalog's comment in the place of its own; its open sessions are ended. What it owns and holds stays, " +
						"and so do its settings (`ALTER ROLE … SET`); what no grant declares of it is then listed in `unmanaged` of the data table. From then on it is the catalog's, and destroying it drops it. Refused, and nothing changed, are a superuser, the provider's own login, " +
						"a role that owns a database, one that is a member of others, one that others are members of, and one of another catalog. " +
						"It is looked at only when the role is made: for one that exists, changing it is no change.",
					PlanModifiers: []planmodifier.Bool{whenMade{}},
				},
				"password_version": schema.Int64Attribute{
					Optional: true, Computed: true, Default: int64default.StaticInt64(1),
					MarkdownDescription: "Stands for the role's password, a number from 1. Default 1. Changing it, up or down, gives the role a new random password, which the plan shows with the password left out. " +
						"Whoever has the old one logs in no more; sessions that are open stay, and those of set logins are not concerned: set `enabled` to false to end them. The number is kept in the catalog, " +
						"so that an import and an older state that was restored are not mistaken about it.",
					Validators: []validator.Int64{int64validator.AtLeast(1)},
				},
				"comment": schema.StringAttribute{
					Optional: true,
					MarkdownDescription: "A note about the role. It is a part of the role's comment in Postgres, below the line that marks the role as one of the catalog. " +
						"Comments on roles can be read by everyone who can connect to any database of the cluster: write no secret into it. Changing it changes the comment in place.",
					Validators: []validator.String{note},
				},
				"statements": statementsAttribute(),
			},
		},
		wanted: func(_ context.Context, m roleModel) (datatable.Role, diag.Diagnostics) {
			return datatable.Role{
				ID: m.ID.ValueString(), Name: m.Name.ValueString(), Enabled: m.Enabled.ValueBool(),
				Adopt: m.Adopt.ValueBool(), PasswordVersion: m.PasswordVersion.ValueInt64(), Comment: m.Comment.ValueString(),
			}, nil
		},
		show: func(_ context.Context, r datatable.Role, m *roleModel) diag.Diagnostics {
			m.Name, m.Enabled = types.StringValue(r.Name), types.BoolValue(r.Enabled)
			m.PasswordVersion, m.Comment = types.Int64Value(r.PasswordVersion), optional(r.Comment)
			// Nothing but state knows how the role was made.
			m.Adopt = types.BoolValue(m.Adopt.ValueBool())
			return nil
		},
		computed: func(r datatable.Role, _ datatable.RoleSeen, m *roleModel) { m.ID = types.StringValue(r.ID) },
		preview:  datatable.PreviewRole,
		dependents: func(ctx context.Context, s *datatable.Service, prior datatable.Role, next *datatable.Role) []datatable.Warning {
			return s.RoleDependents(ctx, prior, next)
		},
		needs: func(s *datatable.Service, prior, next *datatable.Role, diags *diag.Diagnostics) {
			making := "Making a role"
			if prior != nil {
				if prior.PasswordVersion == next.PasswordVersion {
					return
				}
				making = "A new password"
			}
			switch missing, err := s.NeedsKey(); {
			case missing:
				diags.AddWarning(making+" will need the provider's encryption_key", sentence(err))
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

// whenMade keeps the value of an argument that matters only when the object is
// made: for one that exists, changing it is no change.
type whenMade struct{}

func (whenMade) Description(context.Context) string { return "matters when the object is made" }

func (whenMade) MarkdownDescription(context.Context) string { return "matters when the object is made" }

func (whenMade) PlanModifyBool(_ context.Context, req planmodifier.BoolRequest, resp *planmodifier.BoolResponse) {
	if !req.StateValue.IsNull() {
		resp.PlanValue = req.StateValue
	}
}

var note = rule{what: "a note", check: func(text string) error {
	switch {
	case text == "":
		return errors.New("the comment is empty: write one, or leave the argument out")
	case strings.ContainsRune(text, 0):
		return errors.New("the comment has a NUL character in it, which no text in Postgres can have: leave it out")
	}
	return nil
}}
