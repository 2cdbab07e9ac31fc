package acctest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
)

// build makes the provider's binary once for all tests of a package.
var build = sync.OnceValues(func() (dir string, err error) {
	dir, err = os.MkdirTemp("", "datatable-provider-")
	if err != nil {
		return "", err
	}
	name := "terraform-provider-datatable"
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	built = dir
	out, err := exec.Command("go", "build", "-o", filepath.Join(dir, name),
		"github.com/datatable-io/terraform-provider-datatable").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("build the provider: %w\n%s", err, out)
	}
	rc := fmt.Sprintf("provider_installation {\n  dev_overrides {\n    \"datatable-io/datatable\" = %q\n  }\n  direct {}\n}\n", dir)
	return dir, os.WriteFile(filepath.Join(dir, "terraformrc"), []byte(rc), 0o600)
})

var built string

func removeBuild() {
	if built != "" {
		_ = os.RemoveAll(built)
	}
}

const requiredProviders = `terraform {
  required_providers {
    datatable = {
      source = "datatable-io/datatable"
    }
  }
}
`

// A Module is a folder with a configuration that the Terraform CLI runs with
// the provider in a process of its own.
type Module struct {
	t   *testing.T
	dir string
	rc  string
	// Env are further environment variables, NAME=value.
	Env []string
}

// NewModule writes a configuration into a folder of its own. "§" is not replaced.
func NewModule(t *testing.T, hcl string) *Module {
	t.Helper()
	bin, err := build()
	if err != nil {
		t.Fatal(err)
	}
	m := &Module{t: t, dir: t.TempDir(), rc: filepath.Join(bin, "terraformrc")}
	m.Write("terraform.tf", requiredProviders)
	m.Write("main.tf", hcl)
	return m
}

// Write writes a file into the module's folder.
func (m *Module) Write(name, text string) {
	m.t.Helper()
	if err := os.WriteFile(filepath.Join(m.dir, name), []byte(text), 0o600); err != nil {
		m.t.Fatal(err)
	}
}

// Read reads a file of the module's folder.
func (m *Module) Read(name string) string {
	m.t.Helper()
	text, err := os.ReadFile(filepath.Join(m.dir, name))
	if err != nil {
		m.t.Fatal(err)
	}
	return string(text)
}

// Dir is the module's folder.
func (m *Module) Dir() string { return m.dir }

// Run runs the CLI and returns what it printed, and its error.
func (m *Module) Run(args ...string) (string, error) {
	m.t.Helper()
	cmd := exec.Command(os.Getenv("TF_ACC_TERRAFORM_PATH"), args...)
	cmd.Dir = m.dir
	cmd.Env = append(os.Environ(), append([]string{"TF_CLI_CONFIG_FILE=" + m.rc, "TF_IN_AUTOMATION=1", "TF_CLI_ARGS=-no-color"}, m.Env...)...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	return out.String(), err
}

// HasEphemeral says whether the CLI knows ephemeral resources: Terraform from
// 1.10, OpenTofu from 1.11.
func HasEphemeral(t *testing.T) bool {
	t.Helper()
	out, err := exec.Command(os.Getenv("TF_ACC_TERRAFORM_PATH"), "version").Output()
	if err != nil {
		t.Fatal(err)
	}
	var name string
	var major, minor int
	if _, err := fmt.Sscanf(string(out), "%s v%d.%d", &name, &major, &minor); err != nil {
		t.Fatalf("the version of the CLI: %v\n%s", err, out)
	}
	needed := 10
	if name == "OpenTofu" {
		needed = 11
	}
	return major > 1 || minor >= needed
}

// MustRun is Run for what has to succeed.
func (m *Module) MustRun(args ...string) string {
	m.t.Helper()
	out, err := m.Run(args...)
	if err != nil {
		m.t.Fatalf("%s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return out
}

// A Diagnostic is an error or a warning as Terraform prints it for machines.
type Diagnostic struct {
	Severity string `json:"severity"`
	Summary  string `json:"summary"`
	Detail   string `json:"detail"`
	Range    struct {
		Start struct {
			Line int `json:"line"`
		} `json:"start"`
	} `json:"range"`
	Snippet struct {
		Context string `json:"context"`
		Code    string `json:"code"`
	} `json:"snippet"`
}

// Validate runs terraform validate and returns what it found.
func (m *Module) Validate() []Diagnostic {
	m.t.Helper()
	out, _ := m.Run("validate", "-json") // its exit code says what the output says
	var result struct {
		Diagnostics []Diagnostic `json:"diagnostics"`
	}
	if err := json.Unmarshal([]byte(out), &result); err != nil {
		m.t.Fatalf("validate: %v\n%s", err, out)
	}
	return result.Diagnostics
}
