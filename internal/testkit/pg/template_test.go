package pg

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/fstest"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"payonce/internal/testkit/services"
)

func TestTheTemplateIsMadeOnceHoweverManyAskForIt(t *testing.T) {
	t.Parallel()
	cluster := clusterURL(t)
	var made atomic.Int32
	from := fakeSource(t, cluster, func(context.Context, string) error { made.Add(1); return nil })

	var all errgroup.Group
	for range 6 {
		name := "test_" + uuid.NewString()
		t.Cleanup(func() { require.NoError(t, drop(context.Background(), cluster, name)) })
		all.Go(func() error { return clone(t.Context(), cluster, from, name) })
	}

	require.NoError(t, all.Wait())
	require.EqualValues(t, 1, made.Load())
}

func TestATemplateThatCouldNotBeMigratedIsMadeAnew(t *testing.T) {
	t.Parallel()
	cluster := clusterURL(t)
	broken := errors.New("broken migration")
	from := fakeSource(t, cluster, func(context.Context, string) error { return broken })
	name := "test_" + uuid.NewString()
	t.Cleanup(func() { require.NoError(t, drop(context.Background(), cluster, name)) })
	require.ErrorIs(t, clone(t.Context(), cluster, from, name), broken)

	from.migrate = func(ctx context.Context, url string) error {
		conn, err := pgx.Connect(ctx, url)
		if err != nil {
			return err
		}
		defer func() { _ = conn.Close(ctx) }()
		_, err = conn.Exec(ctx, "CREATE TABLE migrated ()")
		return err
	}
	require.NoError(t, clone(t.Context(), cluster, from, name))

	url, err := withDatabase(cluster, name)
	require.NoError(t, err)
	conn, err := pgx.Connect(t.Context(), url.String())
	require.NoError(t, err)
	defer func() { _ = conn.Close(t.Context()) }()
	_, err = conn.Exec(t.Context(), "TABLE migrated")
	require.NoError(t, err, "the clone has what the migration made")
}

func TestTheTemplateIsNamedAfterTheMigrationsContent(t *testing.T) {
	first, err := templateName(fstest.MapFS{"migrations/1.sql": {Data: []byte("CREATE TABLE a ()")}})
	require.NoError(t, err)
	same, err := templateName(fstest.MapFS{"migrations/1.sql": {Data: []byte("CREATE TABLE a ()")}})
	require.NoError(t, err)
	changed, err := templateName(fstest.MapFS{"migrations/1.sql": {Data: []byte("CREATE TABLE b ()")}})
	require.NoError(t, err)
	renamed, err := templateName(fstest.MapFS{"migrations/2.sql": {Data: []byte("CREATE TABLE a ()")}})
	require.NoError(t, err)

	require.Equal(t, first, same)
	require.NotEqual(t, first, changed)
	require.NotEqual(t, first, renamed)
}

// fakeSource has a template of its own, dropped after the test.
func fakeSource(t *testing.T, cluster string, migrate func(context.Context, string) error) source {
	t.Helper()
	from := source{name: "payonce_template_test_" + uuid.NewString()[:8], migrate: migrate}
	t.Cleanup(func() {
		require.NoError(t, drop(context.Background(), cluster, from.name))
		require.NoError(t, drop(context.Background(), cluster, from.name+"_building"))
	})
	return from
}

func clusterURL(t *testing.T) string {
	t.Helper()
	cluster, err := services.Postgres()
	require.NoError(t, err)
	return cluster
}
