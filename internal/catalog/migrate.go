package catalog

import (
	"context"
	"embed"
	"fmt"
	"io/fs"
	"strings"

	"github.com/datatable-io/terraform-provider-datatable/internal/postgres"
)

//go:embed sql/strangers.sql
var strangersSQL string

//go:embed migrations
var migrations embed.FS

// A Store is one of the two schemas, with the migrations that make it.
type Store struct {
	schema string
	files  []string
}

// The two stores.
var (
	// Catalog is schema datatable_catalog of the catalog database.
	Catalog = newStore("datatable_catalog", "migrations/catalog")
	// Ledger is schema datatable_ledger of a data table's database.
	Ledger = newStore("datatable_ledger", "migrations/ledger")
)

func newStore(schema, dir string) Store {
	files, err := fs.Glob(migrations, dir+"/*.sql") // sorted, and named by version
	if err != nil || len(files) == 0 {
		panic("no migrations in " + dir)
	}
	return Store{schema: schema, files: files}
}

// A VersionError is a store written by a newer provider.
type VersionError struct {
	Schema          string
	Found, Supports int
}

func (e *VersionError) Error() string {
	return fmt.Sprintf("schema %s has version %d, and this provider knows up to %d: "+
		"a newer provider has written it, use that version or a later one", e.Schema, e.Found, e.Supports)
}

// Version asks which migrations the store has, 0 where it does not exist. One
// from a newer provider is a *VersionError.
func (s Store) Version(ctx context.Context, tx *postgres.Tx) (int, error) {
	version, err := s.version(ctx, tx)
	switch {
	case postgres.IsDenied(err):
		return 0, fmt.Errorf("schema %s was made by another login than the provider's, and is for that one alone. Use the login that made it: %w", s.schema, err)
	case err == nil && version > len(s.files):
		return 0, &VersionError{Schema: s.schema, Found: version, Supports: len(s.files)}
	}
	return version, err
}

func (s Store) version(ctx context.Context, tx *postgres.Tx) (version int, err error) {
	exists := false
	// Before anything of it is read or written, since a view or a trigger runs
	// as who reads or writes.
	var strangers []string
	err = tx.Batch(ctx, postgres.Query{
		SQL:  strangersSQL,
		Args: []any{s.schema},
		Each: func(scan func(...any) error) error {
			var what string
			err := scan(&what)
			strangers = append(strangers, what)
			return err
		},
	}, postgres.Query{
		SQL:  "SELECT pg_catalog.to_regclass($1) IS NOT NULL",
		Args: []any{s.schema + ".migration"},
		Each: func(scan func(...any) error) error { return scan(&exists) },
	})
	if err == nil && len(strangers) > 0 {
		return 0, fmt.Errorf("schema %s has %s, which another login than the provider's could change, and is not used. "+
			"Drop the schema, or pass it and all in it to the provider's login", s.schema, strings.Join(strangers, ", "))
	}
	if err != nil || !exists {
		return 0, err
	}
	err = tx.Batch(ctx, postgres.Query{
		SQL:  "SELECT coalesce(max(version), 0) FROM " + s.schema + ".migration",
		Each: func(scan func(...any) error) error { return scan(&version) },
	})
	return version, err
}

// Migrate brings the store to the version that this provider knows, in the
// caller's transaction.
func (s Store) Migrate(ctx context.Context, tx *postgres.Tx) error {
	version, err := s.Version(ctx, tx)
	if err != nil || version == len(s.files) {
		return err
	}
	var statements []postgres.Statement
	if version == 0 {
		statements = append(statements,
			postgres.Statement("CREATE SCHEMA IF NOT EXISTS "+s.schema),
			postgres.Statement("CREATE TABLE "+s.schema+".migration (version integer PRIMARY KEY, applied_at timestamptz NOT NULL DEFAULT pg_catalog.now())"))
	}
	for i, file := range s.files[version:] {
		text, err := migrations.ReadFile(file)
		if err != nil {
			return fmt.Errorf("read migration %s: %w", file, err)
		}
		for _, part := range strings.Split(string(text), ";\n") {
			if strings.TrimSpace(part) != "" {
				statements = append(statements, postgres.Statement(part))
			}
		}
		statements = append(statements,
			postgres.Statement(fmt.Sprintf("INSERT INTO %s.migration (version) VALUES (%d)", s.schema, version+i+1)))
	}
	shut, err := migrations.ReadFile("migrations/close.sql")
	if err != nil {
		return fmt.Errorf("read migrations: %w", err)
	}
	statements = append(statements, postgres.Statement(strings.ReplaceAll(string(shut), "$SCHEMA", s.schema)))
	if err := tx.Run(ctx, statements); err != nil {
		return fmt.Errorf("make schema %s: %w", s.schema, err)
	}
	return nil
}
