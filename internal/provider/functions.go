package provider

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/function"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/datatable-io/terraform-provider-datatable/internal/postgres"
	"github.com/datatable-io/terraform-provider-datatable/internal/resolve"
)

// textFunction is a function from one text to a value.
type textFunction struct {
	name       string
	definition function.Definition
	run        func(text string) (any, error)
}

var _ function.Function = textFunction{}

func (f textFunction) Metadata(_ context.Context, _ function.MetadataRequest, resp *function.MetadataResponse) {
	resp.Name = f.name
}

func (f textFunction) Definition(_ context.Context, _ function.DefinitionRequest, resp *function.DefinitionResponse) {
	resp.Definition = f.definition
}

func (f textFunction) Run(ctx context.Context, req function.RunRequest, resp *function.RunResponse) {
	var text string
	if resp.Error = req.Arguments.Get(ctx, &text); resp.Error != nil {
		return
	}
	result, err := f.run(text)
	if err != nil {
		resp.Error = function.NewArgumentFuncError(0, sentence(err))
		return
	}
	resp.Error = resp.Result.Set(ctx, result)
}

func newTextFunction(name, summary, description, parameter, about string, returns function.Return, run func(string) (any, error)) func() function.Function {
	return func() function.Function {
		return textFunction{name: name, run: run, definition: function.Definition{
			Summary: summary, MarkdownDescription: description,
			Parameters: []function.Parameter{function.StringParameter{Name: parameter, MarkdownDescription: about}},
			Return:     returns,
		}}
	}
}

var referenceType = map[string]attr.Type{
	"datatable": types.StringType, "schema": types.StringType, "role": types.StringType, "as": types.StringType,
}

// viewer is the only value of the key "as".
const viewer = "viewer"

func newParseReference() function.Function {
	return newTextFunction("parse_reference", "Takes a reference apart",
		"Takes a reference to a data table, such as `datatable://main:analytics?role=reader`, apart into an object with `datatable`, `schema`, `role` and `as`; "+
			"what the reference leaves out is null. A malformed reference is an error that says where.",
		"text", "The reference.", function.ObjectReturn{AttributeTypes: referenceType},
		func(text string) (any, error) {
			r, err := resolve.ParseReference(text)
			if err != nil {
				return nil, err
			}
			as := types.StringNull()
			if r.AsViewer {
				as = types.StringValue(viewer)
			}
			return types.ObjectValueMust(referenceType, map[string]attr.Value{
				"datatable": types.StringValue(r.Datatable), "schema": optional(r.Schema), "role": optional(r.Role), "as": as,
			}), nil
		})()
}

// memberOf is the condition that a connection holds one of several roles.
type memberOf struct{}

func newMemberOf() function.Function { return memberOf{} }

func (memberOf) Metadata(_ context.Context, _ function.MetadataRequest, resp *function.MetadataResponse) {
	resp.Name = "member_of"
}

func (memberOf) Definition(_ context.Context, _ function.DefinitionRequest, resp *function.DefinitionResponse) {
	resp.Definition = function.Definition{
		Summary: "Condition: the connection holds a role",
		MarkdownDescription: "Returns the SQL condition that is true for a connection that holds the role, alone or among others, to be used in a policy: " +
			"`pg_catalog.pg_has_role(current_user, 'role', 'member')`. With several roles it is true for a connection that holds any of them: the conditions of " +
			"each, with `OR` between them and parentheses around all. A list or set is given with three dots: `member_of(local.roles...)`. For a connection that has to hold " +
			"all of several roles, put `AND` between one call for each.",
		Parameters:        []function.Parameter{function.StringParameter{Name: "role", MarkdownDescription: "Name of a role."}},
		VariadicParameter: function.StringParameter{Name: "roles", MarkdownDescription: "Names of further roles."},
		Return:            function.StringReturn{},
	}
}

func (memberOf) Run(ctx context.Context, req function.RunRequest, resp *function.RunResponse) {
	var first string
	var more []string
	if resp.Error = req.Arguments.Get(ctx, &first, &more); resp.Error != nil {
		return
	}
	roles := append([]string{first}, more...)
	conditions := make([]string, len(roles))
	for i, role := range roles {
		if err := resolve.CheckRoleName(role); err != nil {
			resp.Error = function.NewArgumentFuncError(int64(i), sentence(err))
			return
		}
		conditions[i] = fmt.Sprintf("pg_catalog.pg_has_role(current_user, %s, 'member')", postgres.Literal(role))
	}
	condition := strings.Join(conditions, " OR ")
	if len(conditions) > 1 {
		condition = "(" + condition + ")"
	}
	resp.Error = resp.Result.Set(ctx, condition)
}

func newOwnedBy() function.Function {
	return newTextFunction("owned_by", "Condition: the row is the person's own",
		"Returns the SQL condition that is true for a row whose column has the email of the person who is connected, to be used in a policy: "+
			"`\"column\" = wm_email()`, the column's name quoted.\n\n"+
			"It is for data tables where every member has a login of their own. This version of the provider has no such access, and no database has a function `wm_email` by itself: "+
			"a policy with this condition is refused until somebody makes one that returns the email as `text`.",
		"column", "Name of the column, without that of its table, as Postgres has it: `email`, or `Created by`.", function.StringReturn{},
		func(column string) (any, error) {
			if err := resolve.CheckIdentifier("column", column); err != nil {
				return nil, err
			}
			return postgres.Ident(column) + " = wm_email()", nil
		})()
}

func newQuoteIdent() function.Function {
	return newTextFunction("quote_ident", "Quotes an SQL identifier",
		"Quotes a name for use in SQL, always, so that it means the same whatever words Postgres reserves.",
		"name", "The name.", function.StringReturn{},
		func(name string) (any, error) {
			if err := noNUL(name); err != nil {
				return nil, err
			}
			return postgres.Ident(name), nil
		})()
}

func newQuoteLiteral() function.Function {
	return newTextFunction("quote_literal", "Quotes an SQL string",
		"Quotes a text for use as a string in SQL, as Postgres's own `quote_literal` does.",
		"text", "The text.", function.StringReturn{},
		func(text string) (any, error) {
			if err := noNUL(text); err != nil {
				return nil, err
			}
			return postgres.Literal(text), nil
		})()
}

func noNUL(text string) error {
	if strings.ContainsRune(text, 0) {
		return errors.New("the text has a NUL byte, which no name and no string in Postgres can hold: take it out")
	}
	return nil
}

// formatReference is the reverse of parse_reference.
type formatReference struct{}

func newFormatReference() function.Function { return formatReference{} }

func (formatReference) Metadata(_ context.Context, _ function.MetadataRequest, resp *function.MetadataResponse) {
	resp.Name = "format_reference"
}

func (formatReference) Definition(_ context.Context, _ function.DefinitionRequest, resp *function.DefinitionResponse) {
	resp.Definition = function.Definition{
		Summary: "Puts a reference together",
		MarkdownDescription: "Puts a reference to a data table together from an object with `datatable` and, where wanted, `schema`, and one of `role` and `as`. " +
			"Names are percent-encoded where needed; `parse_reference` of the result gives the same parts.",
		Parameters: []function.Parameter{function.DynamicParameter{
			Name: "parts", MarkdownDescription: "An object with `datatable`, `schema`, `role` and `as`. Without `datatable` it is `main`; the others may be left out or null.",
		}},
		Return: function.StringReturn{},
	}
}

func (formatReference) Run(ctx context.Context, req function.RunRequest, resp *function.RunResponse) {
	var given types.Dynamic
	if resp.Error = req.Arguments.Get(ctx, &given); resp.Error != nil {
		return
	}
	r, err := referenceOf(given.UnderlyingValue())
	if err == nil {
		err = r.Check()
	}
	if err != nil {
		resp.Error = function.NewArgumentFuncError(0, sentence(err))
		return
	}
	resp.Error = resp.Result.Set(ctx, r.String())
}

func referenceOf(given attr.Value) (resolve.Reference, error) {
	r := resolve.Reference{Datatable: mainDatatable}
	var parts map[string]attr.Value
	switch v := given.(type) {
	case types.Object:
		parts = v.Attributes()
	case types.Map:
		parts = v.Elements()
	default:
		return r, errors.New("an object is needed, such as { datatable = \"main\", role = \"reader\" }")
	}
	for _, name := range slices.Sorted(maps.Keys(parts)) {
		if parts[name].IsNull() {
			continue
		}
		text, ok := parts[name].(types.String)
		if !ok {
			return r, fmt.Errorf("%q is no string", name)
		}
		switch value := text.ValueString(); name {
		case "datatable":
			r.Datatable = value
		case "schema":
			r.Schema = value
		case "role":
			r.Role = value
		case "as":
			if value != viewer {
				return r, fmt.Errorf("as is %q, and can only be %q", value, viewer)
			}
			r.AsViewer = true
		default:
			return r, fmt.Errorf("%q is no part of a reference: use datatable, schema, and one of role and as", name)
		}
	}
	return r, nil
}
