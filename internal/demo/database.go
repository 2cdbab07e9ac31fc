package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// cleanUpTime bounds what is done after the demo's context has ended.
const cleanUpTime = time.Minute

// SQLSTATE codes that are decided on.
const (
	permissionDenied = "42501"
	noSuchDatabase   = "3D000"
)

// A database of the demo's own on a server.
type database struct {
	server *url.URL // the superuser's
	name   string
}

// url is the superuser's, for the database.
func (db database) url() string {
	u := *db.server
	u.Path = "/" + db.name
	return u.String()
}

func (db database) quoted() string { return pgx.Identifier{db.name}.Sanitize() }

// create makes the database and runs a file of SQL in it.
func (db database) create(ctx context.Context, file string) error {
	sql, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	// Broken off, it may still be made, by then after it was to be dropped.
	if err := execute(context.WithoutCancel(ctx), db.server.String(), "CREATE DATABASE "+db.quoted()); err != nil {
		return err
	}
	if err := execute(ctx, db.url(), string(sql)); err != nil {
		return fmt.Errorf("run %s: %w", file, err)
	}
	return nil
}

// drop removes the database, and from the cluster the logins that its catalog
// names and the provider has marked as its own.
func (db database) drop() error {
	ctx, cancel := context.WithTimeout(context.Background(), cleanUpTime)
	defer cancel()
	logins, err := db.logins(ctx)
	if sqlState(err) == noSuchDatabase {
		return nil
	}
	if err != nil {
		return err
	}
	if err := execute(ctx, db.server.String(), fmt.Sprintf("DROP DATABASE %s WITH (FORCE)", db.quoted())); err != nil {
		return err
	}
	for _, login := range logins {
		if err := execute(ctx, db.server.String(), "DROP ROLE "+pgx.Identifier{login}.Sanitize()); err != nil {
			return err
		}
	}
	return nil
}

const (
	endSessions = `SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
		WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'`
	catalogExists = `SELECT to_regclass('datatable_catalog.role_set') IS NOT NULL`
	catalogLogins = `SELECT rolname FROM pg_roles
		JOIN (SELECT name FROM datatable_catalog.role UNION SELECT login FROM datatable_catalog.role_set) c ON rolname = c.name
		WHERE shobj_description(oid, 'pg_authid') LIKE 'datatable role %'`
)

func (db database) logins(ctx context.Context) ([]string, error) {
	conn, err := pgx.Connect(ctx, db.url())
	if err != nil {
		return nil, err
	}
	defer func() { _ = conn.Close(ctx) }()

	// A provider that was ended may have a session that still commits.
	retry := time.NewTicker(50 * time.Millisecond)
	defer retry.Stop()
	for sessions := 1; sessions > 0; {
		if err := conn.QueryRow(ctx, endSessions).Scan(&sessions); err != nil {
			return nil, err
		}
		if sessions > 0 {
			select {
			case <-ctx.Done():
				return nil, ctx.Err()
			case <-retry.C:
			}
		}
	}

	var exists bool
	if err := conn.QueryRow(ctx, catalogExists).Scan(&exists); err != nil || !exists {
		return nil, err
	}
	rows, err := conn.Query(ctx, catalogLogins)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowTo[string])
}

// execute runs statements in a session of their own.
func execute(ctx context.Context, url, sql string) error {
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	_, err = conn.PgConn().Exec(ctx, sql).ReadAll()
	return err
}

// sqlState is the server's code in an error, or empty.
func sqlState(err error) string {
	var pg *pgconn.PgError
	if errors.As(err, &pg) {
		return pg.Code
	}
	return ""
}
