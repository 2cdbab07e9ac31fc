package server

import (
	"context"
	"fmt"
	"os"

	"github.com/jackc/pgx/v5"
)

// fromURL takes the running server at EnvURL.
func fromURL(ctx context.Context, opt Options) (*Server, error) {
	url := os.Getenv(EnvURL)
	config, err := pgx.ParseConfig(url)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", EnvURL, err)
	}
	version, err := serverVersion(ctx, url)
	if err != nil {
		return nil, fmt.Errorf("connecting to the server of %s: %w", EnvURL, err)
	}
	if len(opt.Settings) > 0 {
		_, _ = fmt.Fprintf(opt.Log, "the server of %s keeps its own settings\n", EnvURL)
	}
	return &Server{
		url:      url,
		describe: fmt.Sprintf("PostgreSQL %s of %s (%s:%d)", version, EnvURL, config.Host, config.Port),
		remove:   func() error { return nil },
	}, nil
}
