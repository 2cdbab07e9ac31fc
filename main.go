// Command terraform-provider-datatable serves the provider to Terraform.
package main

import (
	"context"
	"flag"
	"log"

	"github.com/hashicorp/terraform-plugin-framework/provider"
	"github.com/hashicorp/terraform-plugin-framework/providerserver"

	datatable "github.com/datatable-io/terraform-provider-datatable/internal/provider"
)

// version is set when a release is built.
var version = "dev"

func main() {
	debug := flag.Bool("debug", false, "wait for a debugger, and print how Terraform reaches this process")
	flag.Parse()
	p := datatable.New(version)
	err := providerserver.Serve(context.Background(), func() provider.Provider { return p }, providerserver.ServeOpts{
		Address:         "registry.terraform.io/datatable-io/datatable",
		Debug:           *debug,
		ProtocolVersion: 6,
	})
	p.Close()
	if err != nil {
		log.Fatal(err)
	}
}
