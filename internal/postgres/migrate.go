package postgres

import (
	"context"
	"database/sql"
	"embed"
	_ "embed" // the role and schema bootstrap
	"fmt"
	"io/fs"

	_ "github.com/jackc/pgx/v5/stdlib" // database/sql driver for goose
	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/database"
)

// Migrations holds the numbered migrations and the bootstrap that precedes them.
//
//go:embed bootstrap.sql migrations/*.sql
var Migrations embed.FS

// versionTable records the applied migrations.
const versionTable = "payonce.schema_version"

// Migrate brings the database at url to the newest schema. The role of url must be payonce_owner, or one that may become it
// and, the first time, may create roles.
func Migrate(ctx context.Context, url string) error {
	return MigrateTo(ctx, url, NewestMigration())
}

// MigrateTo is Migrate up to the migration of that number: the schema that an older release left.
func MigrateTo(ctx context.Context, url string, version int64) error {
	db, err := sql.Open("pgx", url)
	if err != nil {
		return fmt.Errorf("open database: %w", err)
	}
	defer func() { _ = db.Close() }()
	if err := bootstrap(ctx, db); err != nil {
		return err
	}
	provider, err := newProvider(db)
	if err != nil {
		return err
	}
	if _, err := provider.UpTo(ctx, version); err != nil {
		return fmt.Errorf("migrate: %w", err)
	}
	return nil
}

// Pending tells whether the database at url lacks a migration that this binary brings.
func Pending(ctx context.Context, url string) (bool, error) {
	db, err := sql.Open("pgx", url)
	if err != nil {
		return false, fmt.Errorf("open database: %w", err)
	}
	defer func() { _ = db.Close() }()
	provider, err := newProvider(db)
	if err != nil {
		return false, err
	}
	pending, err := provider.HasPending(ctx)
	if err != nil {
		return false, fmt.Errorf("read schema version: %w", err)
	}
	return pending, nil
}

func newProvider(db *sql.DB) (*goose.Provider, error) {
	migrations, err := fs.Sub(Migrations, "migrations")
	if err != nil {
		return nil, err
	}
	store, err := database.NewStore(database.DialectPostgres, versionTable)
	if err != nil {
		return nil, err
	}
	provider, err := goose.NewProvider("", db, migrations, goose.WithStore(store))
	if err != nil {
		return nil, fmt.Errorf("read migrations: %w", err)
	}
	return provider, nil
}

// bootstrap creates the roles and the schema under an advisory lock, since roles belong to the whole cluster.
func bootstrap(ctx context.Context, db *sql.DB) error {
	script, err := Migrations.ReadFile("bootstrap.sql")
	if err != nil {
		return err
	}
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("begin bootstrap: %w", err)
	}
	defer func() { _ = tx.Rollback() }()
	if _, err := tx.ExecContext(ctx, "SELECT pg_advisory_xact_lock(hashtext('payonce bootstrap'))"); err != nil {
		return fmt.Errorf("lock bootstrap: %w", err)
	}
	if _, err := tx.ExecContext(ctx, string(script)); err != nil {
		return fmt.Errorf("create roles and schema: %w", err)
	}
	return tx.Commit()
}

// NewestMigration is the number of the newest migration that this binary brings.
func NewestMigration() int64 {
	files, err := fs.Glob(Migrations, "migrations/*.sql")
	if err != nil {
		panic(err) // the pattern is constant
	}
	var newest int64
	for _, file := range files {
		if number, err := goose.NumericComponent(file); err == nil && number > newest {
			newest = number
		}
	}
	return newest
}
