package devstack

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"payonce/internal/postgres"
	"payonce/internal/seal"
	"payonce/internal/stack"
)

// superuser owns a cluster of internal/stack.
const superuser = "postgres"

// fileKeyset holds the sealing keyset.
const fileKeyset = "keyset.json"

// startPostgres runs the cluster of the state directory, unless a server was given.
func (s *Stack) startPostgres(ctx context.Context) error {
	if s.config.DatabaseURL != "" {
		s.DatabaseURL, s.adminURL = s.config.DatabaseURL, s.config.DatabaseURL
		return nil
	}
	cluster, err := stack.StartCluster(ctx, stack.ClusterConfig{StateDir: s.config.State.Path("postgres"), Log: s.config.Out})
	if err != nil {
		return err
	}
	if err := s.supervisor.Add("postgres", cluster.Address(), cluster); err != nil {
		return err
	}
	s.clusterDir = cluster.Dir()
	s.adminURL, s.DatabaseURL = cluster.URL(superuser, database), cluster.URL(postgres.RoleOwner, database)
	return createDatabase(ctx, cluster)
}

func createDatabase(ctx context.Context, cluster *stack.Cluster) error {
	conn, err := pgx.Connect(ctx, cluster.SuperuserURL())
	if err != nil {
		return fmt.Errorf("postgres: %w", err)
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	var there bool
	if err := conn.QueryRow(ctx, `SELECT EXISTS (SELECT FROM pg_database WHERE datname = $1)`, database).Scan(&there); err != nil {
		return fmt.Errorf("look for the database: %w", err)
	}
	if there {
		return nil
	}
	if _, err := conn.Exec(ctx, `CREATE DATABASE `+pgx.Identifier{database}.Sanitize()); err != nil {
		return fmt.Errorf("create database: %w", err)
	}
	return nil
}

// openDatabase brings the schema up to date and opens the pools and the sealer.
func (s *Stack) openDatabase(ctx context.Context) error {
	if err := postgres.Migrate(ctx, s.adminURL); err != nil {
		return err
	}
	if err := s.letOwnerSeeSessions(ctx); err != nil {
		return err
	}
	var err error
	if s.Reader, err = openPool(ctx, s.adminURL); err != nil {
		return err
	}
	systemURL, err := postgres.WithRole(s.DatabaseURL, postgres.RoleSystem)
	if err != nil {
		return err
	}
	if s.system, err = openPool(ctx, systemURL); err != nil {
		return err
	}
	return s.openSealer(ctx)
}

// letOwnerSeeSessions lets the doctor, which runs as the owner, see sessions that stay idle in a transaction. On a server that was given, who may
// see what is not ours to decide, and the doctor says that it could not look.
func (s *Stack) letOwnerSeeSessions(ctx context.Context) error {
	if s.clusterDir == "" {
		return nil
	}
	conn, err := pgx.Connect(ctx, s.adminURL)
	if err != nil {
		return fmt.Errorf("postgres: %w", err)
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	if _, err := conn.Exec(ctx, `GRANT pg_read_all_stats TO `+postgres.RoleOwner); err != nil {
		return fmt.Errorf("let %s see sessions: %w", postgres.RoleOwner, err)
	}
	return nil
}

func openPool(ctx context.Context, url string) (*pgxpool.Pool, error) {
	const statement = 30 * time.Second
	return postgres.Open(ctx, postgres.PoolConfig{
		URL: url, MaxConns: 4, StatementTimeout: statement, LockTimeout: statement, IdleTransactionTimeout: statement,
	})
}

// openSealer makes the keyset once. It refuses a new one over data that another has sealed: nothing of that could be opened again.
func (s *Stack) openSealer(ctx context.Context) error {
	keyset, err := s.config.State.Secret(fileKeyset, func() (string, error) {
		var sealed bool
		if err := s.system.QueryRow(ctx, `SELECT EXISTS (SELECT FROM payonce.provider_accounts)`).Scan(&sealed); err != nil {
			return "", fmt.Errorf("look for sealed data: %w", err)
		}
		if sealed {
			return "", fmt.Errorf("%s is gone, and the database holds what it sealed: put it back, or remove the database too (%s)",
				s.config.State.Path(fileKeyset), s.clusterDir)
		}
		made, err := seal.NewKeyset()
		return string(made), err
	})
	if err != nil {
		return err
	}
	s.Sealer, err = seal.New([]byte(keyset))
	return err
}
