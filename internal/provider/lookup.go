package provider

import (
	"context"
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/datatable-io/terraform-provider-datatable/internal/datatable"
)

// A lookup describes one type of data source, with model M. What is the same
// for every data source is in the methods of [dataSource].
type lookup[M any] struct {
	// typeName of the data source, "datatable_connection".
	typeName string
	schema   schema.Schema

	// validate checks what attributes' validators cannot. Anything may be
	// unknown. It may be nil.
	validate func(ctx context.Context, config tfsdk.Config) diag.Diagnostics
	// workspace is the model's workspace, which is the provider's where the
	// configuration names none. It may be nil.
	workspace func(m *M) *types.String
	// read fills in what is computed. An InputError is shown at its attribute.
	read func(ctx context.Context, s *datatable.Service, m *M) (diag.Diagnostics, error)
}

// dataSource is a lookup as Terraform sees it.
type dataSource[M any] struct {
	lookup[M]
	client *client
}

var (
	_ datasource.DataSourceWithConfigure      = (*dataSource[int])(nil)
	_ datasource.DataSourceWithValidateConfig = (*dataSource[int])(nil)
)

func newDataSource[M any](l lookup[M]) func() datasource.DataSource {
	return func() datasource.DataSource { return &dataSource[M]{lookup: l} }
}

func (d *dataSource[M]) Metadata(_ context.Context, _ datasource.MetadataRequest, resp *datasource.MetadataResponse) {
	resp.TypeName = d.typeName
}

func (d *dataSource[M]) Schema(_ context.Context, _ datasource.SchemaRequest, resp *datasource.SchemaResponse) {
	resp.Schema = d.schema
}

func (d *dataSource[M]) Configure(_ context.Context, req datasource.ConfigureRequest, _ *datasource.ConfigureResponse) {
	d.client, _ = req.ProviderData.(*client) // nil while validating
}

func (d *dataSource[M]) ValidateConfig(ctx context.Context, req datasource.ValidateConfigRequest, resp *datasource.ValidateConfigResponse) {
	if d.validate != nil {
		resp.Diagnostics.Append(d.validate(ctx, req.Config)...)
	}
}

func (d *dataSource[M]) Read(ctx context.Context, req datasource.ReadRequest, resp *datasource.ReadResponse) {
	var m M
	resp.Diagnostics.Append(req.Config.Get(ctx, &m)...)
	if resp.Diagnostics.HasError() || !d.client.usable(&resp.Diagnostics) {
		return
	}
	if d.workspace != nil {
		if workspace := d.workspace(&m); workspace.IsNull() {
			*workspace = d.client.workspace
		}
	}
	diags, err := d.read(ctx, d.client.service, &m)
	resp.Diagnostics.Append(diags...)
	if err != nil {
		addError(&resp.Diagnostics, fmt.Sprintf("Cannot read %s", d.typeName), err, func(field string) bool {
			_, ok := d.schema.Attributes[field]
			return ok
		})
	}
	if !resp.Diagnostics.HasError() {
		resp.Diagnostics.Append(resp.State.Set(ctx, &m)...)
	}
}
