package main

import (
	"bytes"
	"context"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/datatable-io/terraform-provider-datatable/internal/acctest/proxy"
)

const module = "github.com/datatable-io/terraform-provider-datatable"

// encryptionKey is base64 of 32 bytes that keep no secret.
const encryptionKey = "MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE="

type bench struct {
	dir      string
	cli      string
	url      *url.URL // of the superuser, past the proxy
	proxy    *proxy.Proxy
	repeat   int
	describe string
}

func newBench(ctx context.Context, dir, serverURL string, repeat int) (*bench, error) {
	b := &bench{dir: dir, cli: os.Getenv("TF_ACC_TERRAFORM_PATH"), repeat: repeat}
	for _, name := range []string{"terraform", "tofu"} {
		if path, err := exec.LookPath(name); err == nil && b.cli == "" {
			b.cli = path
		}
	}
	version, err := exec.CommandContext(ctx, b.cli, "version").Output()
	if err != nil {
		return nil, fmt.Errorf("neither terraform nor tofu runs; put one on the PATH, or name it in TF_ACC_TERRAFORM_PATH: %w", err)
	}
	first, _, _ := strings.Cut(string(version), "\n")
	b.describe = fmt.Sprintf("%s, %s, %d CPUs (%s)", runtime.Version(), first, runtime.NumCPU(), runtime.GOOS+"/"+runtime.GOARCH)
	if b.url, err = url.Parse(serverURL); err != nil {
		return nil, err
	}
	if b.proxy, err = proxy.Start(b.url.Host); err != nil {
		return nil, err
	}
	for name, source := range map[string]string{"real": module, "idle": module + "/internal/bench/idle"} {
		bin := filepath.Join(dir, name)
		out, err := exec.CommandContext(ctx, "go", "build", "-o", filepath.Join(bin, "terraform-provider-datatable"), source).CombinedOutput()
		if err != nil {
			return nil, fmt.Errorf("build %s: %w\n%s", source, err, out)
		}
		rc := fmt.Sprintf("provider_installation {\n  dev_overrides {\n    \"datatable-io/datatable\" = %q\n  }\n  direct {}\n}\n", bin)
		if err := os.WriteFile(bin+".rc", []byte(rc), 0o600); err != nil {
			return nil, err
		}
	}
	return b, nil
}

// database makes a database anew and runs statements in it.
func (b *bench) database(ctx context.Context, name string, statements ...string) error {
	if err := b.exec(ctx, "postgres", "DROP DATABASE IF EXISTS "+name, "CREATE DATABASE "+name); err != nil {
		return err
	}
	return b.exec(ctx, name, statements...)
}

func (b *bench) exec(ctx context.Context, database string, statements ...string) error {
	u := *b.url
	u.Path = "/" + database
	conn, err := pgx.Connect(ctx, u.String())
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	for _, sql := range statements {
		if _, err := conn.Exec(ctx, sql); err != nil {
			return fmt.Errorf("%s: %w", sql, err)
		}
	}
	return nil
}

// A folder is a configuration under one of the providers.
type folder struct {
	*bench
	path string
	rc   string
}

func (b *bench) folder(name, provider, config string) (folder, error) {
	f := folder{b, filepath.Join(b.dir, name), filepath.Join(b.dir, provider+".rc")}
	if err := os.MkdirAll(f.path, 0o700); err != nil {
		return f, err
	}
	return f, os.WriteFile(filepath.Join(f.path, "main.tf"), []byte(config), 0o600)
}

// header is what a configuration of the provider starts with.
func (b *bench) header(database string) string {
	u := *b.url
	u.Host, u.Path = b.proxy.Addr(), "/"+database
	return fmt.Sprintf(`terraform {
  required_providers {
    datatable = {
      source = "datatable-io/datatable"
    }
  }
}
provider "datatable" {
  url            = %q
  encryption_key = %q
}
`, u.String(), encryptionKey)
}

// A cost is what one run of the CLI took.
type cost struct {
	wall   time.Duration
	memory int64 // bytes of the provider's process at most; 0 where unknown
	counts proxy.Counts
}

func (f folder) run(ctx context.Context, args ...string) (cost, error) {
	cmd := exec.CommandContext(ctx, f.cli, append(args, "-no-color")...)
	cmd.Dir = f.path
	cmd.Env = append(os.Environ(), "TF_CLI_CONFIG_FILE="+f.rc, "TF_IN_AUTOMATION=1", "CHECKPOINT_DISABLE=1")
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	f.proxy.Reset()
	start := time.Now()
	if err := cmd.Start(); err != nil {
		return cost{}, err
	}
	done := make(chan struct{})
	peak := make(chan int64)
	go func() { peak <- watch(cmd.Process.Pid, done) }()
	err := cmd.Wait()
	close(done)
	c := cost{wall: time.Since(start), memory: <-peak, counts: f.proxy.Counts()}
	if err != nil {
		return c, fmt.Errorf("%s %s: %w\n%s", f.cli, strings.Join(args, " "), err, out.String())
	}
	return c, nil
}

// watch reads how much memory the children of a process took at most.
func watch(parent int, done <-chan struct{}) (peak int64) {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-done:
			return peak
		case <-tick.C:
			children, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", parent))
			for _, file := range children {
				pids, _ := os.ReadFile(file)
				for _, pid := range strings.Fields(string(pids)) {
					peak = max(peak, highWater(pid))
				}
			}
		}
	}
}

// highWater is the most memory that a process has had, in bytes.
func highWater(pid string) int64 {
	status, err := os.ReadFile("/proc/" + pid + "/status")
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(status), "VmHWM:")
	kilobytes, _, _ := strings.Cut(strings.TrimSpace(rest), " ")
	n, _ := strconv.ParseInt(kilobytes, 10, 64)
	return n * 1024
}
