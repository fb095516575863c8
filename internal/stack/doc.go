// Package stack runs what payonce needs on one machine: a Postgres cluster, a
// Temporal server, and any other program, as child processes that end with us.
//
// Cluster keeps a Postgres cluster in a directory and runs it. Supervisor starts
// named programs in order, waits until each is ready, prints where it listens,
// and stops all in reverse. Nothing is restarted silently and nothing outlives
// the parent: on Linux not even a parent that was killed.
//
// It is for development, demo and tests: trust authentication on loopback, no
// backups. It imports pgx (to see whether Postgres answers) and no other package
// of payonce; it must not know what the programs do. Linux and macOS.
package stack
