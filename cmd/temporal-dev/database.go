package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strconv"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"go.temporal.io/server/common/auth"
	"go.temporal.io/server/common/config"
	"go.temporal.io/server/common/log"
	_ "go.temporal.io/server/common/persistence/sql/sqlplugin/postgresql" // registers postgres12_pgx
	"go.temporal.io/server/tools/common/schema"
	"go.temporal.io/server/tools/sql"
)

// pluginName is the server's Postgres driver that speaks through pgx.
const pluginName = "postgres12_pgx"

// Connections per store and service; the server opens one pool of each store
// for each of its four services, so at most 4*(20+10) together.
const (
	mainConns       = 20
	visibilityConns = 10
)

// database is one of the two databases of the server.
type database struct {
	sql    config.SQL
	url    string // the same database, for pgx
	schema string // directory of its schema inside the server's embedded assets
}

// databases derives both databases from the cluster's URL.
func databases(set settings) (main, visibility database, err error) {
	parsed, err := pgx.ParseConfig(set.postgresURL)
	if err != nil {
		return main, visibility, fmt.Errorf("--postgres-url: %w", err)
	}
	address, err := url.Parse(set.postgresURL)
	if err != nil || address.Host == "" {
		return main, visibility, errors.New("--postgres-url: give a URL with a TCP host, postgres://user@host:port/database")
	}
	of := func(name, schema string, conns int) database {
		own := *address
		own.Path = "/" + name
		return database{
			url:    own.String(),
			schema: schema,
			sql: config.SQL{
				PluginName:      pluginName,
				User:            parsed.User,
				Password:        parsed.Password,
				ConnectProtocol: "tcp",
				ConnectAddr:     net.JoinHostPort(parsed.Host, strconv.Itoa(int(parsed.Port))),
				DatabaseName:    name,
				MaxConns:        conns,
				MaxIdleConns:    conns,
				TLS:             tlsOf(address.Query().Get("sslmode")),
			},
		}
	}
	main = of(set.prefix+"temporal", "postgresql/v12/temporal", mainConns)
	visibility = of(set.prefix+"temporal_visibility", "postgresql/v12/visibility", visibilityConns)
	return main, visibility, nil
}

// tlsOf maps libpq's sslmode: the driver knows only off, encrypted and verified.
func tlsOf(sslmode string) *auth.TLS {
	switch sslmode {
	case "require":
		return &auth.TLS{Enabled: true}
	case "verify-ca", "verify-full":
		return &auth.TLS{Enabled: true, EnableHostVerification: true}
	}
	return nil
}

// createDatabases creates what is missing; a database that another process
// creates at the same moment counts as there.
func createDatabases(ctx context.Context, clusterURL string, all ...database) error {
	conn, err := pgx.Connect(ctx, clusterURL)
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	for _, db := range all {
		_, err := conn.Exec(ctx, "CREATE DATABASE "+pgx.Identifier{db.sql.DatabaseName}.Sanitize())
		var refused *pgconn.PgError
		if errors.As(err, &refused) && (refused.Code == "42P04" || refused.Code == "23505") {
			continue // duplicate_database, or the unique index of pg_database in a race
		}
		if err != nil {
			return fmt.Errorf("create database %s: %w", db.sql.DatabaseName, err)
		}
	}
	return nil
}

// migrate brings a database to the schema version of the embedded assets.
// Running it again changes nothing.
func migrate(db database, logger log.Logger) error {
	sqlConfig := db.sql
	conn, err := sql.NewConnection(&sqlConfig, logger)
	if err != nil {
		return fmt.Errorf("connect to %s: %w", db.sql.DatabaseName, err)
	}
	defer conn.Close()
	if _, err := conn.ReadSchemaVersion(); err != nil { // no version table yet
		setup := schema.NewSetupSchemaTask(conn, &schema.SetupConfig{InitialVersion: "0.0"}, logger)
		if err := setup.Run(); err != nil {
			return fmt.Errorf("set up the schema of %s: %w", db.sql.DatabaseName, err)
		}
	}
	update := schema.NewUpdateSchemaTask(conn, &schema.UpdateConfig{DBName: db.sql.DatabaseName, SchemaName: db.schema}, logger)
	if err := update.Run(); err != nil {
		return fmt.Errorf("update the schema of %s: %w", db.sql.DatabaseName, err)
	}
	return nil
}

// keptIndexes are the visibility indexes that serve an ordinary list of
// workflows: all, by id, by type, by status, by time, and the schedules.
//
// The schema has 74 indexes on executions_visibility, most of them for search
// attributes that nobody here defines, and each workflow writes all of them
// twice. Dropping the other 67 took the measured rate from 92 to 128 workflows
// a second on two cores. A search by another attribute still works, by scanning.
// The server's authors do not support this: when the server's version is raised
// and one of its migrations names a dropped index, recreate that index first.
func keptIndexes() []string {
	return []string{
		"executions_visibility_pkey", "default_idx", "by_workflow_id", "by_workflow_type",
		"by_status", "by_execution_time", "by_temporal_namespace_division",
	}
}

// dropUnusedIndexes drops every index of executions_visibility that is not kept.
func dropUnusedIndexes(ctx context.Context, visibility database) error {
	conn, err := pgx.Connect(ctx, visibility.url)
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	rows, err := conn.Query(ctx, `
		SELECT indexname FROM pg_indexes
		WHERE tablename = 'executions_visibility' AND schemaname = current_schema()`)
	if err != nil {
		return err
	}
	names, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return err
	}
	batch := &pgx.Batch{}
	for _, name := range names {
		if !slices.Contains(keptIndexes(), name) {
			batch.Queue("DROP INDEX IF EXISTS " + pgx.Identifier{name}.Sanitize())
		}
	}
	return conn.SendBatch(ctx, batch).Close()
}
