// Command terraform-provider-datatable serves the provider to Terraform.
package main

import (
	"context"
	"flag"
	"log"
	"os"
	"runtime/debug"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/provider"
	"github.com/hashicorp/terraform-plugin-framework/providerserver"

	datatable "github.com/datatable-io/terraform-provider-datatable/internal/provider"
)

// version is set when a release is built.
var version = "dev"

// collectAt is how much garbage, in percent of what is in use, starts a
// collection. Nearly all that a call makes is garbage when it returns.
const collectAt = 50

func main() {
	debugged := flag.Bool("debug", false, "wait for a debugger, and print how Terraform reaches this process")
	flag.Parse()
	if !*debugged {
		silence()
	}
	debug.SetGCPercent(collectAt)
	p := datatable.New(version)
	err := providerserver.Serve(context.Background(), func() provider.Provider { return p }, providerserver.ServeOpts{
		Address:         "registry.terraform.io/datatable-io/datatable",
		Debug:           *debugged,
		ProtocolVersion: 6,
	})
	p.Close()
	if err != nil {
		log.Fatal(err)
	}
}

// silence turns logs off that nobody reads. Terraform drops what a provider logs
// unless a TF_LOG variable asks for it, and making it would take a fifth of the
// provider's time.
func silence() {
	for _, variable := range os.Environ() {
		if name, value, _ := strings.Cut(variable, "="); strings.HasPrefix(name, "TF_LOG") && value != "" {
			return
		}
	}
	for _, name := range []string{"TF_LOG_SDK", "TF_LOG_SDK_FRAMEWORK", "TF_LOG_SDK_PROTO", "TF_LOG_PROVIDER_DATATABLE"} {
		_ = os.Setenv(name, "ERROR")
	}
}
