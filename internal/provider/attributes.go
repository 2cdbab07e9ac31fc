package provider

import (
	"context"
	"maps"
	"slices"
	"strconv"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringdefault"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/datatable-io/terraform-provider-datatable/internal/resolve"
)

// Attributes that several resources have.

func statementsAttribute() schema.ListAttribute {
	return schema.ListAttribute{
		Computed: true, ElementType: types.StringType,
		MarkdownDescription: "The SQL of the latest change, known when it is planned: `terraform plan` shows each statement word for word. " +
			"Apply runs no more than these, and leaves out what holds already. Secrets are left out.",
	}
}

func workspaceAttribute() schema.StringAttribute {
	return schema.StringAttribute{
		Optional: true, Computed: true,
		MarkdownDescription: "Workspace of the data table. Default is the provider's `workspace`. Changing it makes a new resource.",
		Validators:          []validator.String{identifier("workspace")},
	}
}

func datatableAttribute() schema.StringAttribute {
	return schema.StringAttribute{
		Required:            true,
		MarkdownDescription: "Name of the data table; refer to it as `datatable.main.name`, so that it is made first. Changing it makes a new resource.",
		Validators:          []validator.String{identifier("data table")},
	}
}

// choice is an attribute that takes one of few values and has a default.
func choice(description, otherwise string, values ...string) schema.StringAttribute {
	return schema.StringAttribute{
		Optional: true, Computed: true, Default: stringdefault.StaticString(otherwise),
		MarkdownDescription: description,
		Validators:          []validator.String{oneOf(values)},
	}
}

// rule validates a string by a function of the model.
type rule struct {
	what  string
	check func(string) error
}

func (r rule) Description(context.Context) string         { return r.what }
func (r rule) MarkdownDescription(context.Context) string { return r.what }

func (r rule) ValidateString(_ context.Context, req validator.StringRequest, resp *validator.StringResponse) {
	if req.ConfigValue.IsNull() || req.ConfigValue.IsUnknown() {
		return
	}
	if err := r.check(req.ConfigValue.ValueString()); err != nil {
		resp.Diagnostics.AddAttributeError(req.Path, "Invalid value", sentence(err))
	}
}

func identifier(what string) validator.String {
	return rule{what: "1 to 63 bytes", check: func(name string) error { return resolve.CheckIdentifier(what, name) }}
}

var (
	roleName   = rule{what: "the name of a role", check: resolve.CheckRoleName}
	tenant     = rule{what: "a tenant pattern", check: resolve.CheckTenant}
	userSchema = rule{what: "a schema of data", check: resolve.CheckSchema}
)

// orElseRole takes some reserved words besides roles.
func orElseRole(words ...string) validator.String {
	return rule{what: "the name of a role, or one of the reserved words that fit here", check: func(name string) error {
		if slices.Contains(words, name) {
			return nil
		}
		return resolve.CheckRoleName(name)
	}}
}

type oneOf []string

func (o oneOf) Description(context.Context) string         { return "one of " + listed(o) }
func (o oneOf) MarkdownDescription(context.Context) string { return "one of " + listed(o) }

func (o oneOf) ValidateString(_ context.Context, req validator.StringRequest, resp *validator.StringResponse) {
	if v := req.ConfigValue; !v.IsNull() && !v.IsUnknown() && !slices.Contains(o, v.ValueString()) {
		resp.Diagnostics.Append(refusal(req.Path, "is not known here: use one of "+listed(o), v.ValueString()))
	}
}

func quoted(text string) string { return strconv.Quote(text) }

func listed(values []string) string {
	text := ""
	for i, v := range values {
		if i > 0 {
			text += ", "
		}
		text += quoted(v)
	}
	return text
}

// Values between Terraform and the service. Sets are made by hand, since
// reflection is slow where there are thousands.

func stringSet(values []string) types.Set {
	elements := make([]attr.Value, len(values))
	for i, v := range values {
		elements[i] = types.StringValue(v)
	}
	return types.SetValueMust(types.StringType, elements)
}

// stringSetOr is the set, or null where it is empty and was null before.
func stringSetOr(before types.Set, values []string) types.Set {
	if len(values) == 0 && before.IsNull() {
		return types.SetNull(types.StringType)
	}
	return stringSet(values)
}

func stringsOf(set types.Set) []string {
	if set.IsNull() || set.IsUnknown() {
		return nil
	}
	values := make([]string, 0, len(set.Elements()))
	for _, v := range set.Elements() {
		if text, ok := v.(types.String); ok {
			values = append(values, text.ValueString())
		}
	}
	slices.Sort(values)
	return values
}

var setType = types.SetType{ElemType: types.StringType}

// setMap turns lists by name into a map of sets.
func setMap(lists map[string][]string) types.Map {
	elements := make(map[string]attr.Value, len(lists))
	for key, values := range lists {
		elements[key] = stringSet(values)
	}
	return types.MapValueMust(setType, elements)
}

func setMapOr(before types.Map, lists map[string][]string) types.Map {
	if len(lists) == 0 && before.IsNull() {
		return types.MapNull(setType)
	}
	return setMap(lists)
}

// listsOf is the reverse of setMap; null is nil.
func listsOf(m types.Map) map[string][]string {
	if m.IsNull() || m.IsUnknown() {
		return nil
	}
	lists := make(map[string][]string, len(m.Elements()))
	for key, v := range m.Elements() {
		if set, ok := v.(types.Set); ok {
			lists[key] = stringsOf(set)
		}
	}
	return lists
}

// fullyKnown says whether a collection and all in it is known.
func fullyKnown(ctx context.Context, v attr.Value) bool {
	value, err := v.ToTerraformValue(ctx)
	return err == nil && value.IsFullyKnown()
}

func optional(text string) types.String {
	if text == "" {
		return types.StringNull()
	}
	return types.StringValue(text)
}

func pointer(v types.String) *string { return v.ValueStringPointer() }

// some validates a set that has to have something in it.
type some string

func (s some) Description(context.Context) string         { return "at least one " + string(s) }
func (s some) MarkdownDescription(context.Context) string { return "at least one " + string(s) }

func (s some) ValidateSet(_ context.Context, req validator.SetRequest, resp *validator.SetResponse) {
	if v := req.ConfigValue; !v.IsNull() && !v.IsUnknown() && len(v.Elements()) == 0 {
		resp.Diagnostics.AddAttributeError(req.Path, "Invalid value", "The set is empty: write at least one "+string(s)+", or leave the argument out.")
	}
}

// forbid refuses attributes that are set and do not fit with another one.
func forbid(diags *diag.Diagnostics, because string, attributes map[string]attr.Value) {
	for _, name := range slices.Sorted(maps.Keys(attributes)) {
		if v := attributes[name]; !v.IsNull() {
			diags.AddAttributeError(path.Root(name), "Argument does not fit", "The argument "+name+" "+because+".")
		}
	}
}
