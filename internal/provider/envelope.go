package provider

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/datatable-io/terraform-provider-datatable/internal/datatable"
	"github.com/datatable-io/terraform-provider-datatable/internal/postgres"
)

// A kind describes one type of resource: how its model M becomes a value W
// that the service wants, and which use cases of the service it is made of. S
// is what a refresh sees beyond the attributes; it is kept in private state,
// so that a plan depends on nothing but configuration and state.
//
// What is the same for every resource is in the methods of [managed].
type kind[M, W, S any] struct {
	// typeName of the resource, "datatable_grant".
	typeName string
	schema   schema.Schema

	// validate checks what attributes' validators cannot. Anything may be
	// unknown. It may be nil.
	validate func(ctx context.Context, m M) diag.Diagnostics
	// wanted turns a model without unknowns into the service's value.
	wanted func(ctx context.Context, m M) (W, diag.Diagnostics)
	// show writes a value into a model, and keeps the model's null where the
	// value is empty.
	show func(ctx context.Context, w W, m *M) diag.Diagnostics
	// computed writes into a model what only the service knows.
	computed func(w W, seen S, m *M)
	// volatile are computed attributes that a change may give another value.
	volatile []string

	// anew are the arguments whose change makes a new object.
	anew []string

	preview func(prior, next *W, seen S) datatable.Preview
	// needs warns of what a planned change will need; prior is nil where a new
	// object is planned. It may be nil.
	needs func(s *datatable.Service, prior, next *W, diags *diag.Diagnostics)
	// dependents warns of what else a planned change of an object will meet, next
	// being nil where it goes. It may look at what is there, by reads that are
	// shared, since it changes nothing about the plan. It may be nil.
	dependents func(ctx context.Context, s *datatable.Service, prior W, next *W) []datatable.Warning

	read   func(ctx context.Context, s *datatable.Service, w W) (W, S, bool, error)
	create func(ctx context.Context, s *datatable.Service, w W) (W, S, error)
	update func(ctx context.Context, s *datatable.Service, prior, next W, seen S) (W, S, error)
	remove func(ctx context.Context, s *datatable.Service, w W, seen S) error
	// locate finds what an import id names. The error says what an id is.
	locate func(ctx context.Context, s *datatable.Service, id string) (W, error)
}

// managed is a kind as Terraform sees it.
type managed[M, W, S any] struct {
	kind[M, W, S]
	client *client
}

var (
	_ resource.ResourceWithConfigure      = (*managed[int, int, int])(nil)
	_ resource.ResourceWithModifyPlan     = (*managed[int, int, int])(nil)
	_ resource.ResourceWithImportState    = (*managed[int, int, int])(nil)
	_ resource.ResourceWithValidateConfig = (*managed[int, int, int])(nil)
)

func newResource[M, W, S any](k kind[M, W, S]) func() resource.Resource {
	return func() resource.Resource { return &managed[M, W, S]{kind: k} }
}

func (r *managed[M, W, S]) Metadata(_ context.Context, _ resource.MetadataRequest, resp *resource.MetadataResponse) {
	resp.TypeName = r.typeName
}

func (r *managed[M, W, S]) Schema(_ context.Context, _ resource.SchemaRequest, resp *resource.SchemaResponse) {
	resp.Schema = r.schema
}

func (r *managed[M, W, S]) Configure(_ context.Context, req resource.ConfigureRequest, _ *resource.ConfigureResponse) {
	r.client, _ = req.ProviderData.(*client) // nil while validating
}

func (r *managed[M, W, S]) ValidateConfig(ctx context.Context, req resource.ValidateConfigRequest, resp *resource.ValidateConfigResponse) {
	if r.validate == nil {
		return
	}
	var m M
	resp.Diagnostics.Append(req.Config.Get(ctx, &m)...)
	if !resp.Diagnostics.HasError() {
		resp.Diagnostics.Append(r.validate(ctx, m)...)
	}
}

var (
	statementsPath = path.Root("statements")
	workspacePath  = path.Root("workspace")
)

// ModifyPlan fills in the workspace and makes the plan the preview: statements
// are those of the change that is planned.
func (r *managed[M, W, S]) ModifyPlan(ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	diags := &resp.Diagnostics
	var prior, next *W
	var seen S
	if !req.State.Raw.IsNull() {
		prior, seen = r.value(ctx, req.State, diags), privateSeen[S](ctx, req.Private, diags)
	}
	if !req.Plan.Raw.IsNull() {
		r.planWorkspace(ctx, req, resp)
		r.planReplacement(ctx, req, resp)
	}
	if diags.HasError() {
		return
	}
	if req.Plan.Raw.IsNull() || prior != nil && len(resp.RequiresReplace) > 0 {
		// Terraform shows no statements of what goes, so they are a warning. A
		// replacement is planned again as a create, and keeps the warning.
		addWarnings(diags, r.preview(prior, nil, seen))
		r.warnOfDependents(ctx, prior, nil, diags)
		return
	}
	if !req.Config.Raw.IsFullyKnown() || unknownAt(ctx, resp.Plan, workspacePath, r.schema) {
		diags.Append(resp.Plan.SetAttribute(ctx, statementsPath, types.ListUnknown(types.StringType))...)
		return
	}
	if next = r.value(ctx, resp.Plan, diags); diags.HasError() {
		return
	}
	if r.needs != nil && r.client.service != nil {
		r.needs(r.client.service, prior, next, diags)
	}
	preview := r.preview(prior, next, seen)
	addWarnings(diags, preview)
	r.warnOfDependents(ctx, prior, next, diags)
	if prior != nil {
		// Terraform has made it unknown where any argument changed, also one that
		// a plan modifier has set back.
		var statements types.List
		diags.Append(req.State.GetAttribute(ctx, statementsPath, &statements)...)
		diags.Append(resp.Plan.SetAttribute(ctx, statementsPath, statements)...)
	}
	if prior == nil || len(preview.Statements) > 0 || !resp.Plan.Raw.Equal(req.State.Raw) {
		diags.Append(resp.Plan.SetAttribute(ctx, statementsPath, statementList(preview))...)
		for _, name := range r.volatile {
			// Terraform does so itself only where an argument changes.
			resp.Plan.Raw = withUnknown(resp.Plan.Raw, name, diags)
		}
	}
}

func (r *managed[M, W, S]) warnOfDependents(ctx context.Context, prior, next *W, diags *diag.Diagnostics) {
	if r.dependents != nil && prior != nil && r.client.service != nil && len(r.client.unknown) == 0 {
		addWarnings(diags, datatable.Preview{Warnings: r.dependents(ctx, r.client.service, *prior, next)})
	}
}

// planReplacement asks for a new object where an argument changes that an
// object has for life.
func (r *managed[M, W, S]) planReplacement(ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	if req.State.Raw.IsNull() {
		return
	}
	for _, name := range r.anew {
		var before, after attr.Value
		at := path.Root(name)
		resp.Diagnostics.Append(req.State.GetAttribute(ctx, at, &before)...)
		resp.Diagnostics.Append(resp.Plan.GetAttribute(ctx, at, &after)...)
		if !resp.Diagnostics.HasError() && !before.IsNull() && !before.Equal(after) {
			resp.RequiresReplace = append(resp.RequiresReplace, at)
		}
	}
}

// withUnknown makes an attribute of an object unknown.
func withUnknown(object tftypes.Value, name string, diags *diag.Diagnostics) tftypes.Value {
	var attributes map[string]tftypes.Value
	if err := object.As(&attributes); err != nil {
		diags.AddError("The plan cannot be read", err.Error())
		return object
	}
	attributes[name] = tftypes.NewValue(attributes[name].Type(), tftypes.UnknownValue)
	return tftypes.NewValue(object.Type(), attributes)
}

// planWorkspace puts the provider's default in the place of a workspace that
// the configuration leaves out.
func (r *managed[M, W, S]) planWorkspace(ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	if _, ok := r.schema.Attributes["workspace"]; !ok {
		return
	}
	var configured types.String
	resp.Diagnostics.Append(req.Config.GetAttribute(ctx, workspacePath, &configured)...)
	if configured.IsNull() {
		resp.Diagnostics.Append(resp.Plan.SetAttribute(ctx, workspacePath, r.client.workspace)...)
	}
}

func (r *managed[M, W, S]) Create(ctx context.Context, req resource.CreateRequest, resp *resource.CreateResponse) {
	var m M
	resp.Diagnostics.Append(req.Plan.Get(ctx, &m)...)
	next := r.value(ctx, req.Plan, &resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	made, seen, err := r.create(ctx, r.client.service, *next)
	if err != nil {
		r.fail(&resp.Diagnostics, "create", err)
		return
	}
	r.keep(ctx, &m, made, seen, r.preview(nil, next, seen), &resp.State, resp.Private, &resp.Diagnostics)
}

// keep writes what a create or update made into state. Shown are its statements,
// for where they could not be told in the plan.
func (r *managed[M, W, S]) keep(ctx context.Context, m *M, made W, seen S, shown datatable.Preview, state *tfsdk.State, to private, diags *diag.Diagnostics) {
	r.computed(made, seen, m)
	diags.Append(state.Set(ctx, m)...)
	setPrivateSeen(ctx, to, seen, diags)
	var statements types.List
	diags.Append(state.GetAttribute(ctx, statementsPath, &statements)...)
	if statements.IsUnknown() {
		diags.Append(state.SetAttribute(ctx, statementsPath, statementList(shown))...)
	}
}

func (r *managed[M, W, S]) Read(ctx context.Context, req resource.ReadRequest, resp *resource.ReadResponse) {
	var m M
	resp.Diagnostics.Append(req.State.Get(ctx, &m)...)
	w := r.value(ctx, req.State, &resp.Diagnostics)
	if resp.Diagnostics.HasError() || !r.client.usable(&resp.Diagnostics) {
		return
	}
	found, seen, ok, err := r.read(ctx, r.client.service, *w)
	switch {
	case err != nil:
		r.fail(&resp.Diagnostics, "read", err)
	case !ok:
		resp.State.RemoveResource(ctx)
	default:
		resp.Diagnostics.Append(r.show(ctx, found, &m)...)
		r.computed(found, seen, &m)
		resp.Diagnostics.Append(resp.State.Set(ctx, &m)...)
		setPrivateSeen(ctx, resp.Private, seen, &resp.Diagnostics)
		if drifted := !resp.State.Raw.Equal(req.State.Raw) || len(r.preview(&found, &found, seen).Statements) > 0; drifted {
			// What repairs it may be the very statements that were run last, and
			// a plan shows no value that stays as it is.
			resp.Diagnostics.Append(resp.State.SetAttribute(ctx, statementsPath, statementList(datatable.Preview{}))...)
		}
	}
}

func (r *managed[M, W, S]) Update(ctx context.Context, req resource.UpdateRequest, resp *resource.UpdateResponse) {
	var m M
	resp.Diagnostics.Append(req.Plan.Get(ctx, &m)...)
	next, prior := r.value(ctx, req.Plan, &resp.Diagnostics), r.value(ctx, req.State, &resp.Diagnostics)
	seen := privateSeen[S](ctx, req.Private, &resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	made, after, err := r.update(ctx, r.client.service, *prior, *next, seen)
	if err != nil {
		r.fail(&resp.Diagnostics, "update", err)
		return
	}
	r.keep(ctx, &m, made, after, r.preview(prior, next, seen), &resp.State, resp.Private, &resp.Diagnostics)
}

func (r *managed[M, W, S]) Delete(ctx context.Context, req resource.DeleteRequest, resp *resource.DeleteResponse) {
	prior, seen := r.value(ctx, req.State, &resp.Diagnostics), privateSeen[S](ctx, req.Private, &resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	if err := r.remove(ctx, r.client.service, *prior, seen); err != nil {
		r.fail(&resp.Diagnostics, "destroy", err)
	}
}

func (r *managed[M, W, S]) ImportState(ctx context.Context, req resource.ImportStateRequest, resp *resource.ImportStateResponse) {
	if !r.client.usable(&resp.Diagnostics) {
		return
	}
	w, err := r.locate(ctx, r.client.service, req.ID)
	if err != nil {
		r.fail(&resp.Diagnostics, "import", err)
		return
	}
	var m M
	// The state is null before its first attribute is set.
	resp.Diagnostics.Append(resp.State.SetAttribute(ctx, statementsPath, statementList(datatable.Preview{}))...)
	resp.Diagnostics.Append(resp.State.Get(ctx, &m)...)
	resp.Diagnostics.Append(r.show(ctx, w, &m)...)
	var seen S // Read follows, and looks
	r.computed(w, seen, &m)
	resp.Diagnostics.Append(resp.State.Set(ctx, &m)...)
}

func (r *managed[M, W, S]) fail(diags *diag.Diagnostics, verb string, err error) {
	addError(diags, fmt.Sprintf("Cannot %s %s", verb, r.typeName), err, func(field string) bool {
		_, ok := r.schema.Attributes[field]
		return ok
	})
}

func statementList(p datatable.Preview) types.List { return stringList(p.Texts()) }

type source interface {
	Get(ctx context.Context, target any) diag.Diagnostics
}

func (r *managed[M, W, S]) value(ctx context.Context, from source, diags *diag.Diagnostics) *W {
	var m M
	diags.Append(from.Get(ctx, &m)...)
	if diags.HasError() {
		return nil
	}
	w, more := r.wanted(ctx, m)
	diags.Append(more...)
	return &w
}

func unknownAt(ctx context.Context, from interface {
	GetAttribute(ctx context.Context, at path.Path, target any) diag.Diagnostics
}, at path.Path, s schema.Schema,
) bool {
	if _, ok := s.Attributes[at.String()]; !ok {
		return false
	}
	var value attr.Value
	from.GetAttribute(ctx, at, &value)
	return value != nil && value.IsUnknown()
}

const seenKey = "seen"

// private is the part of private state that a provider may use.
type private interface {
	GetKey(ctx context.Context, key string) ([]byte, diag.Diagnostics)
	SetKey(ctx context.Context, key string, value []byte) diag.Diagnostics
}

func privateSeen[S any](ctx context.Context, from private, diags *diag.Diagnostics) (seen S) {
	text, more := from.GetKey(ctx, seenKey)
	diags.Append(more...)
	if len(text) > 0 {
		if err := json.Unmarshal(text, &seen); err != nil {
			diags.AddError("Private state cannot be read", fmt.Sprintf("What the last refresh saw is not what this provider writes: %v. Refresh again.", err))
		}
	}
	return seen
}

func setPrivateSeen[S any](ctx context.Context, to private, seen S, diags *diag.Diagnostics) {
	text, err := json.Marshal(seen)
	if err != nil {
		diags.AddError("Private state cannot be written", err.Error())
		return
	}
	diags.Append(to.SetKey(ctx, seenKey, text)...)
}

func addWarnings(diags *diag.Diagnostics, p datatable.Preview) {
	for _, w := range p.Warnings {
		w.Detail = postgres.Legible(w.Detail)
		if w.Field == "" {
			diags.AddWarning(w.Summary, w.Detail)
		} else {
			diags.AddAttributeWarning(path.Root(w.Field), w.Summary, w.Detail)
		}
	}
}

// addError turns an error into a diagnostic, at the attribute that caused it
// where the error says which and there is one.
func addError(diags *diag.Diagnostics, summary string, err error, has func(field string) bool) {
	var input *datatable.InputError
	if errors.As(err, &input) && has(input.Field) {
		diags.AddAttributeError(path.Root(input.Field), summary, sentence(err))
		return
	}
	diags.AddError(summary, sentence(err))
}
