package provider

import (
	"context"
	"errors"

	"github.com/hashicorp/terraform-plugin-framework-validators/mapvalidator"
	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/booldefault"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/datatable-io/terraform-provider-datatable/internal/datatable"
	"github.com/datatable-io/terraform-provider-datatable/internal/resolve"
)

type workspaceModel struct {
	Name       types.String `tfsdk:"name"`
	Parent     types.String `tfsdk:"parent"`
	Members    types.Map    `tfsdk:"members"`
	Groups     types.Map    `tfsdk:"groups"`
	Folders    types.Map    `tfsdk:"folders"`
	Statements types.List   `tfsdk:"statements"`
}

var memberType = types.ObjectType{AttrTypes: map[string]attr.Type{"email": types.StringType, "admin": types.BoolType}}

func workspaceKind() kind[workspaceModel, resolve.Workspace, struct{}] {
	return kind[workspaceModel, resolve.Workspace, struct{}]{
		typeName: "datatable_workspace",
		schema: schema.Schema{
			MarkdownDescription: "A workspace: the directory of people, groups and folders that tenant patterns name. " +
				"It changes no Postgres object; what it says decides who may use which role.",
			Attributes: map[string]schema.Attribute{
				"name": schema.StringAttribute{
					Required:            true,
					MarkdownDescription: "Name of the workspace, 1 to 63 bytes. Changing it makes a new workspace.",
					Validators:          []validator.String{identifier("workspace")},
				},
				"parent": schema.StringAttribute{
					Optional:            true,
					MarkdownDescription: "Name of the parent workspace, where there is one. Permissions are not inherited through it; a data table takes those of another one by `governed_by`.",
					Validators:          []validator.String{identifier("workspace")},
				},
				"members": schema.MapNestedAttribute{
					Optional: true,
					MarkdownDescription: "The people, by username. A person is also found by email, in any letter case, so no two members may have the same, " +
						"and no username may be another one's email.",
					NestedObject: schema.NestedAttributeObject{Attributes: map[string]schema.Attribute{
						"email": schema.StringAttribute{
							Required:            true,
							MarkdownDescription: "Email of the person. It also tells who someone is in another workspace.",
						},
						"admin": schema.BoolAttribute{
							Optional: true, Computed: true, Default: booldefault.StaticBool(false),
							MarkdownDescription: "Whether the person administers the workspace, and may name any role of its data tables. Default false.",
						},
					}},
				},
				"groups": schema.MapAttribute{
					Optional: true, ElementType: setType,
					MarkdownDescription: "Usernames by group. Each must be a member.",
				},
				"folders": schema.MapAttribute{
					Optional: true, ElementType: setType,
					MarkdownDescription: "Who can read a folder, by folder: `u/<username>` and `g/<group>`.",
					Validators:          []validator.Map{mapvalidator.KeysAre(nonEmpty("folder"))},
				},
				"statements": statementsAttribute(),
			},
		},
		anew:     []string{"name"},
		validate: validateWorkspace,
		wanted: func(_ context.Context, m workspaceModel) (resolve.Workspace, diag.Diagnostics) {
			return workspaceOf(m), nil
		},
		show: func(_ context.Context, w resolve.Workspace, m *workspaceModel) diag.Diagnostics {
			m.Name, m.Parent = types.StringValue(w.Name), optional(w.Parent)
			m.Members = membersOr(m.Members, w.Members)
			m.Groups, m.Folders = setMapOr(m.Groups, w.Groups), setMapOr(m.Folders, w.Folders)
			return nil
		},
		computed: func(resolve.Workspace, struct{}, *workspaceModel) {},
		preview:  func(_, _ *resolve.Workspace, _ struct{}) datatable.Preview { return datatable.Preview{} },
		read: func(ctx context.Context, s *datatable.Service, w resolve.Workspace) (resolve.Workspace, struct{}, bool, error) {
			found, ok, err := s.Workspace(ctx, w.Name)
			return found, struct{}{}, ok, err
		},
		create: func(ctx context.Context, s *datatable.Service, w resolve.Workspace) (resolve.Workspace, struct{}, error) {
			return w, struct{}{}, s.PutWorkspace(ctx, w)
		},
		update: func(ctx context.Context, s *datatable.Service, _, next resolve.Workspace, _ struct{}) (resolve.Workspace, struct{}, error) {
			return next, struct{}{}, s.PutWorkspace(ctx, next)
		},
		remove: func(ctx context.Context, s *datatable.Service, w resolve.Workspace, _ struct{}) error {
			return s.DeleteWorkspace(ctx, w.Name)
		},
		locate: func(ctx context.Context, s *datatable.Service, id string) (resolve.Workspace, error) {
			parts, err := splitID(id, "workspace")
			if err != nil {
				return resolve.Workspace{}, err
			}
			w, ok, err := s.Workspace(ctx, parts[0])
			if err == nil && !ok {
				err = notFound("workspace", id)
			}
			return w, err
		},
	}
}

func workspaceOf(m workspaceModel) resolve.Workspace {
	w := resolve.Workspace{
		Name: m.Name.ValueString(), Parent: m.Parent.ValueString(),
		Groups: listsOf(m.Groups), Folders: listsOf(m.Folders),
	}
	for username, v := range m.Members.Elements() {
		object, ok := v.(types.Object)
		if !ok {
			continue
		}
		member := resolve.Member{Username: username}
		if email, ok := object.Attributes()["email"].(types.String); ok {
			member.Email = email.ValueString()
		}
		if admin, ok := object.Attributes()["admin"].(types.Bool); ok {
			member.Admin = admin.ValueBool()
		}
		w.Members = append(w.Members, member)
	}
	return w
}

func membersOr(before types.Map, members []resolve.Member) types.Map {
	if len(members) == 0 && before.IsNull() {
		return types.MapNull(memberType)
	}
	elements := make(map[string]attr.Value, len(members))
	for _, m := range members {
		elements[m.Username] = types.ObjectValueMust(memberType.AttrTypes, map[string]attr.Value{
			"email": types.StringValue(m.Email), "admin": types.BoolValue(m.Admin),
		})
	}
	return types.MapValueMust(memberType, elements)
}

// validateWorkspace refuses a directory that breaks its own rules. It needs all
// of it, so it waits where a part is not known yet.
func validateWorkspace(ctx context.Context, m workspaceModel) (diags diag.Diagnostics) {
	for _, v := range []attr.Value{m.Members, m.Groups, m.Folders} {
		if !fullyKnown(ctx, v) {
			return nil
		}
	}
	for _, err := range workspaceOf(m).Check() {
		at := path.Empty()
		var directory *resolve.DirectoryError
		if errors.As(err, &directory) {
			at = path.Root(directory.Field).AtMapKey(directory.Key)
		}
		diags.AddAttributeError(at, "Invalid directory", sentence(err))
	}
	return diags
}
