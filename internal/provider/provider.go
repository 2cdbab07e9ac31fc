// Package provider is what Terraform sees: schemas, models, and how a model
// becomes a call of the service. One file for each resource, data source and
// function; what they share is in envelope.go and attributes.go.
package provider

import (
	"context"
	"os"
	"sync"
	"time"

	"github.com/hashicorp/terraform-plugin-framework-validators/int64validator"
	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/ephemeral"
	"github.com/hashicorp/terraform-plugin-framework/function"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/provider"
	"github.com/hashicorp/terraform-plugin-framework/provider/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/datatable-io/terraform-provider-datatable/internal/catalog"
	"github.com/datatable-io/terraform-provider-datatable/internal/datatable"
	"github.com/datatable-io/terraform-provider-datatable/internal/postgres"
)

const (
	defaultWorkspace      = "default"
	defaultConnections    = 4
	defaultConnectTimeout = "15s"
	defaultLockTimeout    = "60s"
)

// Provider is the datatable provider. Make one with [New].
type Provider struct {
	version string

	mu       sync.Mutex
	services []*datatable.Service
}

var (
	_ provider.ProviderWithFunctions          = (*Provider)(nil)
	_ provider.ProviderWithEphemeralResources = (*Provider)(nil)
	_ provider.ProviderWithValidateConfig     = (*Provider)(nil)
)

// New makes a provider of that version.
func New(version string) *Provider { return &Provider{version: version} }

// Close ends the connections of every configuration of the provider. Terraform
// has no call for that, so it is made when serving has ended.
func (p *Provider) Close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, s := range p.services {
		s.Close()
	}
	p.services = nil
}

// Metadata implements provider.Provider.
func (p *Provider) Metadata(_ context.Context, _ provider.MetadataRequest, resp *provider.MetadataResponse) {
	resp.TypeName = "datatable"
	resp.Version = p.version
}

// Schema implements provider.Provider.
func (p *Provider) Schema(_ context.Context, _ provider.SchemaRequest, resp *provider.SchemaResponse) {
	resp.Schema = schema.Schema{
		MarkdownDescription: "Declares who may do what in shared Postgres databases: data tables, roles, grants and row policies, " +
			"each as real Postgres roles, privileges and row-level security. `terraform plan` shows every statement before it runs.",
		Attributes: map[string]schema.Attribute{
			"url": schema.StringAttribute{
				Optional: true, Sensitive: true,
				MarkdownDescription: "Where the catalog database is: a `postgres://` URL or a keyword string. Without it the environment variable " +
					"`DATATABLE_URL` is used, and then the `PG*` variables, the service file and the passfile as libpq reads them. " +
					"The login must be a superuser, or have `CREATEROLE` and own the databases.",
			},
			"password": schema.StringAttribute{
				Optional: true, Sensitive: true,
				MarkdownDescription: "Password of the login, in the place of the one in `url`. May come from an ephemeral value.",
			},
			"workspace": schema.StringAttribute{
				Optional:            true,
				MarkdownDescription: "Workspace of resources that name none. Default `default`.",
				Validators:          []validator.String{identifier("workspace")},
			},
			"encryption_key": schema.StringAttribute{
				Optional: true, Sensitive: true,
				MarkdownDescription: "Base64 of 32 bytes, under which the catalog keeps the passwords of logins (AES-256-GCM). Without it the environment " +
					"variable `DATATABLE_ENCRYPTION_KEY` is used. Needed only by what makes or opens a login. " + catalog.HowToMakeAKey + ".",
			},
			"previous_encryption_key": schema.StringAttribute{
				Optional: true, Sensitive: true,
				MarkdownDescription: "The key that `encryption_key` takes the place of. Without it the environment variable `DATATABLE_PREVIOUS_ENCRYPTION_KEY` is used. " +
					"To change the key, give the new one as `encryption_key` and the old one here, apply, and take this one out. While both are given, passwords under either can be read, " +
					"and the plan shows each role whose password is under the old one as an update. The first of these encrypts every password of the catalog anew, all in one transaction: " +
					"those of roles and of set logins, whichever configuration declares them. The passwords themselves stay, and so do sessions. Afterwards the old key opens nothing. " +
					"Without a role in the configuration nothing is encrypted anew.",
			},
			"max_connections": schema.Int64Attribute{
				Optional:            true,
				MarkdownDescription: "How many connections to the server are open at most. Default 4, at least 2.",
				Validators:          []validator.Int64{int64validator.Between(2, 1000)},
			},
			"connect_timeout": schema.StringAttribute{
				Optional:            true,
				MarkdownDescription: "How long a connection is waited for, a duration such as `15s`, which is the default.",
				Validators:          []validator.String{duration{}},
			},
			"lock_timeout": schema.StringAttribute{
				Optional:            true,
				MarkdownDescription: "How long a lock that another session holds is waited for, a duration such as `60s`, which is the default.",
				Validators:          []validator.String{duration{}},
			},
		},
	}
}

type configuration struct {
	URL            types.String `tfsdk:"url"`
	Password       types.String `tfsdk:"password"`
	Workspace      types.String `tfsdk:"workspace"`
	EncryptionKey  types.String `tfsdk:"encryption_key"`
	PreviousKey    types.String `tfsdk:"previous_encryption_key"`
	MaxConnections types.Int64  `tfsdk:"max_connections"`
	ConnectTimeout types.String `tfsdk:"connect_timeout"`
	LockTimeout    types.String `tfsdk:"lock_timeout"`
}

// ValidateConfig implements provider.ProviderWithValidateConfig. Keys of the
// environment are looked at when they are needed.
func (p *Provider) ValidateConfig(ctx context.Context, req provider.ValidateConfigRequest, resp *provider.ValidateConfigResponse) {
	var c configuration
	resp.Diagnostics.Append(req.Config.Get(ctx, &c)...)
	if resp.Diagnostics.HasError() {
		return
	}
	// What is unknown is empty here, as what is null.
	if argument, err := datatable.CheckKeys(datatable.Keys{Current: c.EncryptionKey.ValueString(), Previous: c.PreviousKey.ValueString()}); err != nil {
		// Not at the attribute: Terraform would print its line, key and all.
		resp.Diagnostics.AddError("The provider's "+argument+" is of no use", sentence(err))
	}
}

// Configure implements provider.Provider. It does not connect.
func (p *Provider) Configure(ctx context.Context, req provider.ConfigureRequest, resp *provider.ConfigureResponse) {
	var c configuration
	resp.Diagnostics.Append(req.Config.Get(ctx, &c)...)
	if resp.Diagnostics.HasError() {
		return
	}
	made := &client{workspace: c.Workspace}
	if c.Workspace.IsNull() {
		made.workspace = types.StringValue(defaultWorkspace)
	}
	for name, value := range map[string]attr.Value{
		"url": c.URL, "password": c.Password, "encryption_key": c.EncryptionKey,
		"previous_encryption_key": c.PreviousKey, "max_connections": c.MaxConnections,
		"connect_timeout": c.ConnectTimeout, "lock_timeout": c.LockTimeout,
	} {
		if value.IsUnknown() {
			made.unknown = append(made.unknown, name)
		}
	}
	resp.ResourceData, resp.DataSourceData, resp.EphemeralResourceData = made, made, made
	if len(made.unknown) > 0 {
		return
	}
	service, err := datatable.New(c.options("terraform-provider-datatable/" + p.version))
	if err != nil {
		// Not at the attribute: Terraform would print its line, password and all.
		resp.Diagnostics.AddError("The provider's url cannot be read", sentence(err))
		return
	}
	p.mu.Lock()
	p.services = append(p.services, service)
	p.mu.Unlock()
	made.service = service
}

func (c configuration) options(application string) datatable.Options {
	connections := int64(defaultConnections)
	if !c.MaxConnections.IsNull() {
		connections = c.MaxConnections.ValueInt64()
	}
	return datatable.Options{
		Postgres: postgres.Config{
			URL:             orElse(c.URL, os.Getenv("DATATABLE_URL")),
			Password:        c.Password.ValueString(),
			MaxConnections:  int(connections),
			ConnectTimeout:  parseDuration(orElse(c.ConnectTimeout, defaultConnectTimeout)),
			LockTimeout:     parseDuration(orElse(c.LockTimeout, defaultLockTimeout)),
			ApplicationName: application,
		},
		EncryptionKey:         orElse(c.EncryptionKey, os.Getenv("DATATABLE_ENCRYPTION_KEY")),
		PreviousEncryptionKey: orElse(c.PreviousKey, os.Getenv("DATATABLE_PREVIOUS_ENCRYPTION_KEY")),
	}
}

func orElse(value types.String, otherwise string) string {
	if value.IsNull() {
		return otherwise
	}
	return value.ValueString()
}

// parseDuration reads what the validator has let through.
func parseDuration(text string) time.Duration {
	d, _ := time.ParseDuration(text)
	return d
}

// duration validates a positive duration.
type duration struct{}

func (duration) Description(context.Context) string           { return "a duration such as 15s" }
func (d duration) MarkdownDescription(context.Context) string { return "a duration such as `15s`" }

func (duration) ValidateString(_ context.Context, req validator.StringRequest, resp *validator.StringResponse) {
	if req.ConfigValue.IsNull() || req.ConfigValue.IsUnknown() {
		return
	}
	if d, err := time.ParseDuration(req.ConfigValue.ValueString()); err != nil || d < time.Millisecond {
		resp.Diagnostics.Append(refusal(req.Path, "is no duration of at least a millisecond: write a number and a unit, such as \"15s\" or \"2m\"", req.ConfigValue.ValueString()))
	}
}

// Resources implements provider.Provider.
func (p *Provider) Resources(context.Context) []func() resource.Resource {
	return []func() resource.Resource{
		newResource(workspaceKind()),
		newResource(datatableKind()),
		newResource(roleKind()),
		newResource(grantKind()),
		newResource(policyKind()),
	}
}

// DataSources implements provider.Provider.
func (p *Provider) DataSources(context.Context) []func() datasource.DataSource {
	return []func() datasource.DataSource{
		newDataSource(connectionLookup()),
	}
}

// EphemeralResources implements provider.ProviderWithEphemeralResources.
func (p *Provider) EphemeralResources(context.Context) []func() ephemeral.EphemeralResource {
	return []func() ephemeral.EphemeralResource{newConnectionEphemeral}
}

// Functions implements provider.ProviderWithFunctions.
func (p *Provider) Functions(context.Context) []func() function.Function {
	return []func() function.Function{
		newParseReference,
		newFormatReference,
		newMemberOf,
		newOwnedBy,
		newQuoteIdent,
		newQuoteLiteral,
	}
}

// refusal is the diagnostic for a value that cannot work.
func refusal(at path.Path, rule, value string) diag.Diagnostic {
	return diag.NewAttributeErrorDiagnostic(at, "Invalid value", "Value "+quoted(value)+" "+rule+".")
}
