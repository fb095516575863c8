// Package pg gives each test a Postgres database of its own: a clone of a
// template that has all migrations.
//
// The template is made once per cluster and content of the migrations. A clone
// costs a fraction of a second and is dropped after the test, so tests run in
// parallel and need no clean-up. Without a cluster the test fails and says what
// to run.
//
// It imports internal/postgres for the migrations and the test kit's services;
// it must not know what any table means, but for the clock's offset.
package pg

import (
	"context"
	"net/url"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"payonce/internal/postgres"
	"payonce/internal/testkit/services"
)

// Database is one test's database. Each URL opens it as another role; the
// cluster trusts them all. Pools are the caller's, and should be closed before
// the test ends: the database is dropped under them otherwise.
type Database struct {
	Name         string
	OwnerURL     string // payonce_owner: owns every object, may move the clock
	TenantURL    string // payonce_tenant: the API
	SystemURL    string // payonce_system: worker, webhooks, recovery
	TwinURL      string // payonce_twin: may read the clock and nothing else
	SuperuserURL string // for what a test must see or break from outside
}

// NewDatabase clones the migrated template, and drops the clone after the test.
func NewDatabase(t testing.TB) *Database {
	t.Helper()
	cluster, err := services.Postgres()
	require.NoError(t, err)
	source, err := migrations()
	require.NoError(t, err)
	name := "test_" + uuid.NewString()
	require.NoError(t, clone(t.Context(), cluster, source, name), "clone the migrated template")
	require.NoError(t, accept(t.Context(), cluster, name))
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		require.NoError(t, drop(ctx, cluster, name), "drop the test's database")
	})
	as := func(role string) string { return urlOf(t, cluster, role, name) }
	return &Database{
		Name:         name,
		OwnerURL:     as(postgres.RoleOwner),
		TenantURL:    as(postgres.RoleTenant),
		SystemURL:    as(postgres.RoleSystem),
		TwinURL:      as(postgres.RoleTwin),
		SuperuserURL: as(""),
	}
}

// AdvanceClock moves payonce.clock() of this database by the duration, which may
// be negative.
func (d *Database) AdvanceClock(t testing.TB, by time.Duration) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), d.OwnerURL)
	require.NoError(t, err)
	defer func() { require.NoError(t, conn.Close(t.Context())) }()
	done, err := conn.Exec(t.Context(), "UPDATE payonce.clock_offset SET offset_interval = offset_interval + $1", by)
	require.NoError(t, err)
	require.EqualValues(t, 1, done.RowsAffected(), "payonce.clock_offset has one row")
}

// urlOf is the cluster's URL for a database and a role; no role keeps the
// superuser.
func urlOf(t testing.TB, cluster, role, database string) string {
	t.Helper()
	u, err := withDatabase(cluster, database)
	require.NoError(t, err)
	if role != "" {
		u.User = url.User(role)
	}
	return u.String()
}

func withDatabase(cluster, database string) (*url.URL, error) {
	u, err := url.Parse(cluster)
	if err != nil {
		return nil, err
	}
	u.Path = "/" + database
	return u, nil
}
