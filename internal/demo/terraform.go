package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"
)

// graceTime is how long a program may take to stop before it is killed.
const graceTime = 10 * time.Second

// terraform runs the CLI in a folder of its own, with a provider built from the
// source.
type terraform struct {
	cli    string
	dir    string   // the configuration's
	config string   // path of the CLI's configuration
	env    []string // NAME=value
}

func findCLI() (string, error) {
	// The variable that tests with Terraform know.
	if path := os.Getenv("TF_ACC_TERRAFORM_PATH"); path != "" {
		return path, nil
	}
	for _, name := range []string{"terraform", "tofu"} {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", errors.New("neither terraform nor tofu is on the PATH: install Terraform 1.8 or newer, or OpenTofu, " +
		"or set TF_ACC_TERRAFORM_PATH to where one is")
}

// prepare builds the provider into a folder, tells the CLI to take it from
// there, and copies the configuration, so that no state comes into the source.
func (tf terraform) prepare(ctx context.Context, root, provider string) error {
	name := "terraform-provider-datatable"
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	if err := os.Mkdir(provider, 0o700); err != nil {
		return err
	}
	build := command(ctx, "go", "build", "-o", filepath.Join(provider, name), ".")
	build.Dir = root
	// An interrupted build leaves its temporary files, here in a folder that goes.
	build.Env = append(os.Environ(), "GOTMPDIR="+provider)
	var out bytes.Buffer
	build.Stdout, build.Stderr = &out, &out
	if err := runWhole(build); err != nil {
		return fmt.Errorf("build the provider: %w\n%s", err, out.String())
	}
	rc := fmt.Sprintf("provider_installation {\n  dev_overrides {\n    \"datatable-io/datatable\" = %q\n  }\n  direct {}\n}\n", provider)
	if err := os.WriteFile(tf.config, []byte(rc), 0o600); err != nil {
		return err
	}
	return copyFiles(tf.dir, filepath.Join(root, "examples", "demo", "*.tf"))
}

func copyFiles(to, pattern string) error {
	files, err := filepath.Glob(pattern)
	if err != nil {
		return err
	}
	if err := os.Mkdir(to, 0o700); err != nil {
		return err
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(to, filepath.Base(file)), text, 0o600); err != nil {
			return err
		}
	}
	return nil
}

// run runs one command of the CLI. What it says about an error is in the error.
func (tf terraform) run(ctx context.Context, stdout io.Writer, args ...string) error {
	cmd := command(ctx, tf.cli, args...)
	cmd.Dir = tf.dir
	// What somebody has set up for their own configurations is not for this one.
	cmd.Env = slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "TF_") })
	cmd.Env = append(append(cmd.Env, "TF_CLI_CONFIG_FILE="+tf.config, "TF_IN_AUTOMATION=1", "CHECKPOINT_DISABLE=1"), tf.env...)
	var stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = stdout, &stderr
	if err := runWhole(cmd); err != nil {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		return fmt.Errorf("%s %s: %w\n%s", filepath.Base(tf.cli), args[0], err, stderr.String())
	}
	return nil
}

// command is a program that is asked to stop when ctx ends, and killed when it
// does not.
func command(ctx context.Context, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, name, args...)
	apart(cmd)
	cmd.Cancel = func() error { return interrupt(cmd.Process) }
	cmd.WaitDelay = graceTime // for Terraform, which lets its resources finish
	return cmd
}

// runWhole runs a command, and ends what it started and left running.
func runWhole(cmd *exec.Cmd) error {
	err := cmd.Run()
	if cmd.Process != nil {
		kill(cmd.Process)
	}
	return err
}

// devOverrides is the warning that the CLI gives on every command with a
// provider that is not installed.
const devOverrides = "Provider development overrides are in effect"

// An event is a line of the CLI's output for machines.
type event struct {
	Message    string `json:"@message"`
	Type       string `json:"type"`
	Diagnostic struct {
		Severity string `json:"severity"`
		Summary  string `json:"summary"`
		Detail   string `json:"detail"`
	} `json:"diagnostic"`
	Hook struct {
		Action   string `json:"action"`
		Resource struct {
			Address string `json:"addr"`
		} `json:"resource"`
	} `json:"hook"`
}

// apply applies the configuration and prints each resource when it is there. A
// warning is an error here: a check of the configuration that fails is one.
func (tf terraform) apply(ctx context.Context, out io.Writer) error {
	read, write := io.Pipe()
	var failed error
	done := make(chan struct{})
	go func() {
		defer close(done)
		failed = progress(read, out)
		_, _ = io.Copy(io.Discard, read)
	}()
	err := tf.run(ctx, write, "apply", "-auto-approve", "-input=false", "-json")
	_ = write.Close()
	<-done
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return errors.Join(failed, err)
}

func progress(events io.Reader, out io.Writer) error {
	var failed error
	lines := json.NewDecoder(events)
	for {
		var e event
		if err := lines.Decode(&e); err != nil {
			if !errors.Is(err, io.EOF) {
				failed = errors.Join(failed, fmt.Errorf("read Terraform's output: %w", err))
			}
			return failed
		}
		switch {
		case e.Type == "apply_complete" && e.Hook.Action == "create":
			_, _ = fmt.Fprintln(out, "  +", e.Hook.Resource.Address)
		case e.Type == "change_summary" && strings.HasPrefix(e.Message, "Apply"):
			_, _ = fmt.Fprintln(out, e.Message)
		case e.Type == "diagnostic" && e.Diagnostic.Summary != devOverrides:
			failed = errors.Join(failed, fmt.Errorf("%s: %s: %s", e.Diagnostic.Severity, e.Diagnostic.Summary, e.Diagnostic.Detail))
		}
	}
}

// plan writes a plan of the configuration with a variable changed to a file.
func (tf terraform) plan(ctx context.Context, variable, file string) error {
	return tf.run(ctx, io.Discard, "plan", "-input=false", "-var", variable, "-out", file)
}

// show prints a plan as people read it.
func (tf terraform) show(ctx context.Context, out io.Writer, file string) error {
	args := []string{"show", file}
	if !isTerminal(out) {
		args = []string{"show", "-no-color", file}
	}
	return tf.run(ctx, out, args...)
}

func isTerminal(out io.Writer) bool {
	file, ok := out.(interface{ Stat() (os.FileInfo, error) })
	if !ok {
		return false
	}
	info, err := file.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0 && os.Getenv("NO_COLOR") == ""
}

// statements returns the statements of each resource that a plan changes, by
// address.
func (tf terraform) statements(ctx context.Context, file string) (map[string][]string, error) {
	var out bytes.Buffer
	if err := tf.run(ctx, &out, "show", "-json", file); err != nil {
		return nil, err
	}
	var plan struct {
		Changes []struct {
			Address string `json:"address"`
			Mode    string `json:"mode"`
			Change  struct {
				Actions []string `json:"actions"`
				After   struct {
					Statements []string `json:"statements"`
				} `json:"after"`
			} `json:"change"`
		} `json:"resource_changes"`
	}
	if err := json.Unmarshal(out.Bytes(), &plan); err != nil {
		return nil, err
	}
	changed := map[string][]string{}
	for _, c := range plan.Changes {
		if c.Mode == "managed" && !slices.Equal(c.Change.Actions, []string{"no-op"}) {
			changed[c.Address] = c.Change.After.Statements
		}
	}
	return changed, nil
}
