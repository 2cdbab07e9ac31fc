// Command idle is the provider with nothing behind it: the same schemas, and
// resources that become what was planned. What Terraform takes for it is what
// no provider can save.
package main

import (
	"context"
	"log"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/provider"
	"github.com/hashicorp/terraform-plugin-framework/provider/schema"
	"github.com/hashicorp/terraform-plugin-framework/providerserver"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	datatable "github.com/datatable-io/terraform-provider-datatable/internal/provider"
)

func main() {
	err := providerserver.Serve(context.Background(), func() provider.Provider { return idle{datatable.New("bench")} }, providerserver.ServeOpts{
		Address:         "registry.terraform.io/datatable-io/datatable",
		ProtocolVersion: 6,
	})
	if err != nil {
		log.Fatal(err)
	}
}

type idle struct{ of *datatable.Provider }

func (p idle) Metadata(ctx context.Context, req provider.MetadataRequest, resp *provider.MetadataResponse) {
	p.of.Metadata(ctx, req, resp)
}

func (p idle) Schema(ctx context.Context, req provider.SchemaRequest, resp *provider.SchemaResponse) {
	resp.Schema = schema.Schema{}
	p.of.Schema(ctx, req, resp)
}

func (idle) Configure(context.Context, provider.ConfigureRequest, *provider.ConfigureResponse) {}

func (p idle) Resources(ctx context.Context) []func() resource.Resource {
	all := p.of.Resources(ctx)
	made := make([]func() resource.Resource, len(all))
	for i, of := range all {
		made[i] = func() resource.Resource { return idleResource{of()} }
	}
	return made
}

func (p idle) DataSources(ctx context.Context) []func() datasource.DataSource {
	all := p.of.DataSources(ctx)
	made := make([]func() datasource.DataSource, len(all))
	for i, of := range all {
		made[i] = func() datasource.DataSource { return idleData{of()} }
	}
	return made
}

// idleResource has a resource's name and schema, and none of its methods.
type idleResource struct{ of resource.Resource }

func (r idleResource) Metadata(ctx context.Context, req resource.MetadataRequest, resp *resource.MetadataResponse) {
	r.of.Metadata(ctx, req, resp)
}

func (r idleResource) Schema(ctx context.Context, req resource.SchemaRequest, resp *resource.SchemaResponse) {
	r.of.Schema(ctx, req, resp)
}

func (idleResource) Create(_ context.Context, req resource.CreateRequest, resp *resource.CreateResponse) {
	resp.State.Raw = known(req.Plan.Raw)
}

func (idleResource) Read(context.Context, resource.ReadRequest, *resource.ReadResponse) {}

func (idleResource) Update(_ context.Context, req resource.UpdateRequest, resp *resource.UpdateResponse) {
	resp.State.Raw = known(req.Plan.Raw)
}

func (idleResource) Delete(context.Context, resource.DeleteRequest, *resource.DeleteResponse) {}

// idleData leaves null what a data source would find.
type idleData struct{ of datasource.DataSource }

func (d idleData) Metadata(ctx context.Context, req datasource.MetadataRequest, resp *datasource.MetadataResponse) {
	d.of.Metadata(ctx, req, resp)
}

func (d idleData) Schema(ctx context.Context, req datasource.SchemaRequest, resp *datasource.SchemaResponse) {
	d.of.Schema(ctx, req, resp)
}

func (idleData) Read(_ context.Context, req datasource.ReadRequest, resp *datasource.ReadResponse) {
	resp.State.Raw = req.Config.Raw
}

// known puts null in the place of what is unknown.
func known(object tftypes.Value) tftypes.Value {
	value, err := tftypes.Transform(object, func(_ *tftypes.AttributePath, v tftypes.Value) (tftypes.Value, error) {
		if v.IsKnown() {
			return v, nil
		}
		return tftypes.NewValue(v.Type(), nil), nil
	})
	if err != nil {
		log.Panic(err)
	}
	return value
}
