// Command bench measures what the provider costs: for a number of grants, with
// roles, policies and connections beside them, each step of their life, next to
// the same steps of a provider that does nothing and of terraform_data. It also
// measures single objects that are large.
//
//	go run ./internal/bench [-n 10,100,1000] [-repeat 3]
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"

	"github.com/datatable-io/terraform-provider-datatable/internal/acctest/server"
)

func main() {
	sizes := flag.String("n", "10,100,1000", "numbers of grants, separated by commas")
	repeat := flag.Int("repeat", 3, "how often a plan without changes is measured; the fastest counts")
	large := flag.Bool("large", true, "measure large objects too")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, *sizes, *repeat, *large)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "The benchmark failed:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, sizes string, repeat int, large bool) (err error) {
	var numbers []int
	for text := range strings.SplitSeq(sizes, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(text))
		if err != nil || n < 1 {
			return fmt.Errorf("-n: %q is no number of grants: use 10,100,1000", text)
		}
		numbers = append(numbers, n)
	}
	dir, err := os.MkdirTemp("", "datatable-bench-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	db, err := server.Start(ctx, server.Options{Log: os.Stderr})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Stop()) }()
	b, err := newBench(ctx, dir, db.URL(), repeat)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.proxy.Close()) }()
	fmt.Printf("%s, %s\n", b.describe, db.Describe())
	for _, n := range numbers {
		if err := b.many(ctx, n); err != nil {
			return err
		}
	}
	if large {
		return b.large(ctx)
	}
	return nil
}
