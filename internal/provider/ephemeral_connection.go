package provider

import (
	"context"

	data "github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/ephemeral"
	"github.com/hashicorp/terraform-plugin-framework/ephemeral/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

type openedModel struct {
	connectionInput

	Username types.String `tfsdk:"username"`
	Password types.String `tfsdk:"password"`
	Host     types.String `tfsdk:"host"`
	Port     types.Int64  `tfsdk:"port"`
	Database types.String `tfsdk:"database"`
	URL      types.String `tfsdk:"url"`
}

type connectionEphemeral struct{ client *client }

var (
	_ ephemeral.EphemeralResourceWithConfigure      = (*connectionEphemeral)(nil)
	_ ephemeral.EphemeralResourceWithValidateConfig = (*connectionEphemeral)(nil)
)

func newConnectionEphemeral() ephemeral.EphemeralResource { return &connectionEphemeral{} }

func (e *connectionEphemeral) Metadata(_ context.Context, _ ephemeral.MetadataRequest, resp *ephemeral.MetadataResponse) {
	resp.TypeName = "datatable_connection"
}

func (e *connectionEphemeral) Configure(_ context.Context, req ephemeral.ConfigureRequest, _ *ephemeral.ConfigureResponse) {
	e.client, _ = req.ProviderData.(*client) // nil while validating
}

func (e *connectionEphemeral) Schema(_ context.Context, _ ephemeral.SchemaRequest, resp *ephemeral.SchemaResponse) {
	attributes := map[string]schema.Attribute{
		"username": schema.StringAttribute{Computed: true, MarkdownDescription: "Login of the connection."},
		"password": schema.StringAttribute{Computed: true, Sensitive: true, MarkdownDescription: "Its password."},
		"host":     schema.StringAttribute{Computed: true, MarkdownDescription: "Host of the server."},
		"port":     schema.Int64Attribute{Computed: true, MarkdownDescription: "Port of the server."},
		"database": schema.StringAttribute{Computed: true, MarkdownDescription: "Database of the data table."},
		"url": schema.StringAttribute{
			Computed: true, Sensitive: true,
			MarkdownDescription: "All of it as a `postgres://` URL, with the search path that the reference asks for. It leaves `sslmode` to who uses it.",
		},
	}
	for name, a := range connectionInputs() {
		attributes[name] = asEphemeral(a)
	}
	resp.Schema = schema.Schema{
		MarkdownDescription: "Credentials for the connection that an identity and a viewer get. Nothing of it is written to state or plan. A refusal is an error. " +
			"It is opened by a plan as well, where all of its arguments are known: refer to the data table by `datatable.main.reference`, which is known when the data table exists. " +
			"A set login is made when it is first opened. Credentials of the owner are handed out only where the provider itself logs in as the owner.\n\n" +
			"Identity and viewer are arguments: whoever writes the configuration vouches for them. Needs Terraform 1.10 or OpenTofu 1.11, and the provider's `encryption_key`.",
		Attributes: attributes,
	}
}

// asEphemeral turns an input of the data source into one of the ephemeral
// resource, which is asked in the same way.
func asEphemeral(a data.Attribute) schema.Attribute {
	switch a := a.(type) {
	case data.StringAttribute:
		return schema.StringAttribute{Required: a.Required, Optional: a.Optional, Computed: a.Computed, MarkdownDescription: a.MarkdownDescription, Validators: a.Validators}
	case data.BoolAttribute:
		return schema.BoolAttribute{Required: a.Required, Optional: a.Optional, MarkdownDescription: a.MarkdownDescription}
	case data.SetAttribute:
		return schema.SetAttribute{Required: a.Required, Optional: a.Optional, ElementType: a.ElementType, MarkdownDescription: a.MarkdownDescription}
	case data.SingleNestedAttribute:
		nested := make(map[string]schema.Attribute, len(a.Attributes))
		for name, inner := range a.Attributes {
			nested[name] = asEphemeral(inner)
		}
		return schema.SingleNestedAttribute{Required: a.Required, Optional: a.Optional, Attributes: nested, MarkdownDescription: a.MarkdownDescription}
	}
	panic("an input of a kind that asEphemeral does not know")
}

func (e *connectionEphemeral) ValidateConfig(ctx context.Context, req ephemeral.ValidateConfigRequest, resp *ephemeral.ValidateConfigResponse) {
	resp.Diagnostics.Append(validateConnection(ctx, req.Config)...)
}

func (e *connectionEphemeral) Open(ctx context.Context, req ephemeral.OpenRequest, resp *ephemeral.OpenResponse) {
	var m openedModel
	resp.Diagnostics.Append(req.Config.Get(ctx, &m)...)
	if resp.Diagnostics.HasError() || !e.client.usable(&resp.Diagnostics) {
		return
	}
	if m.Workspace.IsNull() {
		m.Workspace = e.client.workspace
	}
	c, err := m.resolve(ctx, e.client.service)
	if err != nil {
		addError(&resp.Diagnostics, "Cannot open datatable_connection", err, func(string) bool { return false })
		return
	}
	opened, err := e.client.service.Credentials(ctx, c)
	if err != nil {
		addError(&resp.Diagnostics, "Cannot open datatable_connection", err, func(string) bool { return false })
		return
	}
	m.Username, m.Password = types.StringValue(opened.Username), types.StringValue(opened.Password)
	m.Host, m.Port, m.Database = types.StringValue(opened.Host), types.Int64Value(int64(opened.Port)), types.StringValue(opened.Database)
	m.URL = types.StringValue(opened.URL())
	resp.Diagnostics.Append(resp.Result.Set(ctx, &m)...)
}
