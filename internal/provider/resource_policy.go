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
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/setdefault"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringdefault"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/datatable-io/terraform-provider-datatable/internal/datatable"
	"github.com/datatable-io/terraform-provider-datatable/internal/postgres"
	"github.com/datatable-io/terraform-provider-datatable/internal/privilege"
	"github.com/datatable-io/terraform-provider-datatable/internal/resolve"
)

type policyModel struct {
	Name            types.String `tfsdk:"name"`
	Datatable       types.String `tfsdk:"datatable"`
	Workspace       types.String `tfsdk:"workspace"`
	Schema          types.String `tfsdk:"schema"`
	Table           types.String `tfsdk:"table"`
	Command         types.String `tfsdk:"command"`
	Restrictive     types.Bool   `tfsdk:"restrictive"`
	Roles           types.Set    `tfsdk:"roles"`
	Using           types.String `tfsdk:"using"`
	WithCheck       types.String `tfsdk:"with_check"`
	WhenLastRemoved types.String `tfsdk:"when_last_removed"`
	Statements      types.List   `tfsdk:"statements"`
}

func policyKind() kind[policyModel, datatable.Policy, datatable.PolicySeen] {
	return kind[policyModel, datatable.Policy, datatable.PolicySeen]{
		typeName: "datatable_policy",
		schema:   policySchema(),
		anew:     []string{"datatable", "workspace", "schema", "table"},
		validate: validatePolicy,
		wanted:   func(_ context.Context, m policyModel) (datatable.Policy, diag.Diagnostics) { return policyOf(m), nil },
		show:     showPolicy,
		computed: func(datatable.Policy, datatable.PolicySeen, *policyModel) {},
		preview:  datatable.PreviewPolicy,
		read: func(ctx context.Context, s *datatable.Service, p datatable.Policy) (datatable.Policy, datatable.PolicySeen, bool, error) {
			return s.Policy(ctx, p)
		},
		create: func(ctx context.Context, s *datatable.Service, p datatable.Policy) (datatable.Policy, datatable.PolicySeen, error) {
			seen, err := s.CreatePolicy(ctx, p)
			return p, seen, err
		},
		update: func(ctx context.Context, s *datatable.Service, prior, next datatable.Policy, seen datatable.PolicySeen) (datatable.Policy, datatable.PolicySeen, error) {
			after, err := s.UpdatePolicy(ctx, prior, next, seen)
			return next, after, err
		},
		remove: func(ctx context.Context, s *datatable.Service, p datatable.Policy, seen datatable.PolicySeen) error {
			return s.DeletePolicy(ctx, p, seen)
		},
		locate: locatePolicy,
	}
}

var commands = []string{"ALL", "SELECT", "INSERT", "UPDATE", "DELETE"}

func policySchema() schema.Schema {
	return schema.Schema{
		MarkdownDescription: "A row policy on a table of a data table. Creating the first one turns row-level security on in the same transaction; the owner is never subject to it. " +
			"Until then a table shows every row to whoever may select from it: make grants on it depend on its policies (`depends_on`), so that they come later and go first. " +
			"Everything but the table changes in place: where Postgres cannot alter, the policy is dropped and made again in one transaction.\n\n" +
			"`using` and `with_check` are trusted like migrations: whoever writes them can do what the provider's login can do. Compare with membership, by the function " +
			"`member_of`, never with `current_user`: a person's connection may hold several roles at once.",
		Attributes: map[string]schema.Attribute{
			"name": schema.StringAttribute{
				Required:            true,
				MarkdownDescription: "Name of the policy, 1 to 63 bytes. Changing it renames the policy in place.",
				Validators:          []validator.String{identifier("policy")},
			},
			"datatable": datatableAttribute(),
			"workspace": workspaceAttribute(),
			"schema": schema.StringAttribute{
				Optional: true, Computed: true, Default: stringdefault.StaticString("public"),
				MarkdownDescription: "Schema of the table. Default `public`. Changing it makes a new policy.",
				Validators:          []validator.String{userSchema},
			},
			"table": schema.StringAttribute{
				Required:            true,
				MarkdownDescription: "Name of the table. Changing it makes a new policy.",
				Validators:          []validator.String{identifier("table")},
			},
			"command": choice("What the policy applies to: "+ticked(commands)+". Default `ALL`.", commands[0], commands...),
			"restrictive": schema.BoolAttribute{
				Optional: true, Computed: true, Default: booldefault.StaticBool(false),
				MarkdownDescription: "Whether a row must pass this policy besides one that permits it, instead of being permitted by it. Default false.",
			},
			"roles": schema.SetAttribute{
				Optional: true, Computed: true, ElementType: types.StringType,
				Default:             setdefault.StaticValue(stringSet([]string{privilege.Public})),
				MarkdownDescription: "Roles the policy is for, those that hold them included; `public` (default) is everyone.",
				Validators:          []validator.Set{some("role"), setvalidator.ValueStringsAre(orElseRole(privilege.Public))},
			},
			"using": schema.StringAttribute{
				Optional: true,
				MarkdownDescription: "SQL expression that says which rows are seen, changed or deleted. Not for `INSERT`. Unqualified names are looked for in the table's schema, " +
					"and then in `public`.",
				Validators: []validator.String{nonEmpty("expression")},
			},
			"with_check": schema.StringAttribute{
				Optional:            true,
				MarkdownDescription: "SQL expression that a new or changed row must pass. Not for `SELECT` and `DELETE`. Without it `using` counts.",
				Validators:          []validator.String{nonEmpty("expression")},
			},
			"when_last_removed": choice("What happens to row-level security when the last policy of the table goes. `keep` (default): it stays on, so nobody but the owner sees a row. "+
				"`disable`: it is turned off where it was turned on by this provider, and whoever holds SELECT sees every row; the plan warns.",
				datatable.Keep, datatable.Keep, datatable.Disable),
			"statements": statementsAttribute(),
		},
	}
}

// nonEmpty validates a text that has to say something.
func nonEmpty(what string) validator.String {
	return rule{what: "not empty", check: func(text string) error {
		if strings.TrimSpace(text) == "" {
			return fmt.Errorf("the %s is empty: write one, or leave the argument out", what)
		}
		return nil
	}}
}

func policyOf(m policyModel) datatable.Policy {
	return datatable.Policy{
		Datatable: resolve.Key{Workspace: m.Workspace.ValueString(), Datatable: m.Datatable.ValueString()},
		Policy: postgres.Policy{
			Schema: m.Schema.ValueString(), Table: m.Table.ValueString(), Name: m.Name.ValueString(),
			Command: m.Command.ValueString(), Restrictive: m.Restrictive.ValueBool(), Roles: stringsOf(m.Roles),
			Using: pointer(m.Using), Check: pointer(m.WithCheck),
		},
		WhenLastRemoved: m.WhenLastRemoved.ValueString(),
	}
}

func showPolicy(_ context.Context, p datatable.Policy, m *policyModel) diag.Diagnostics {
	m.Datatable, m.Workspace = types.StringValue(p.Datatable.Datatable), types.StringValue(p.Datatable.Workspace)
	m.Schema, m.Table, m.Name = types.StringValue(p.Schema), types.StringValue(p.Table), types.StringValue(p.Name)
	m.Command, m.Restrictive, m.Roles = types.StringValue(p.Command), types.BoolValue(p.Restrictive), stringSet(p.Roles)
	m.Using, m.WithCheck = types.StringPointerValue(p.Using), types.StringPointerValue(p.Check)
	m.WhenLastRemoved = types.StringValue(p.WhenLastRemoved)
	return nil
}

func validatePolicy(_ context.Context, m policyModel) (diags diag.Diagnostics) {
	if names := stringsOf(m.Roles); len(names) > 1 && slices.Contains(names, privilege.Public) {
		diags.Append(refusal(path.Root("roles"), "is every role, so it takes no other beside it: write roles = [\"public\"], or leave it out", privilege.Public))
	}
	switch command := m.Command.ValueString(); {
	case m.Command.IsUnknown():
		return diags
	case command == "INSERT":
		forbid(&diags, "does not fit with command \"INSERT\", which sees no rows: write the expression as with_check", map[string]attr.Value{"using": m.Using})
	case command == "SELECT" || command == "DELETE":
		forbid(&diags, fmt.Sprintf("does not fit with command %q, which writes no rows: write the expression as using", command), map[string]attr.Value{"with_check": m.WithCheck})
	}
	if m.Using.IsNull() && m.WithCheck.IsNull() {
		diags.AddAttributeError(path.Root("using"), "Missing argument", "A policy needs using, with_check or both, such as using = \"region = 'emea'\".")
	}
	return diags
}

func locatePolicy(ctx context.Context, s *datatable.Service, id string) (datatable.Policy, error) {
	parts, err := splitID(id, "workspace", "datatable", "schema", "table", "policy")
	if err != nil {
		return datatable.Policy{}, err
	}
	p := datatable.Policy{
		Datatable: resolve.Key{Workspace: parts[0], Datatable: parts[1]},
		Policy:    postgres.Policy{Schema: parts[2], Table: parts[3], Name: parts[4]},
	}
	found, _, ok, err := s.Policy(ctx, p)
	if err == nil && !ok {
		// Nothing declares it; where it exists, it is adopted as it is.
		if err = s.AdoptPolicy(ctx, p); err == nil {
			found, _, ok, err = s.Policy(ctx, p)
		}
	}
	if err == nil && !ok {
		err = notFound("policy", id)
	}
	return found, err
}
