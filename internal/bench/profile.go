package main

import (
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jedib0t/go-pretty/v6/table"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"
	sdklog "go.temporal.io/sdk/log"

	"payonce/boundaries"
	"payonce/payments"
)

// profile runs one round of payments and writes what a payment costs: CPU by process and by database, statements, Temporal's history, and a CPU
// profile of payonce.
func (s *session) profile(ctx context.Context, out io.Writer) error {
	if err := os.MkdirAll(s.options.profile, 0o755); err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find our own program: %w", err)
	}
	profiled := payonce{name: "profiled", command: []string{childProfiled, filepath.Join(s.options.profile, "payonce.pprof")}, program: self}
	if err := s.ready(ctx, s.grown, []payonce{profiled}); err != nil {
		return err
	}
	conn, err := s.connect(ctx, s.grown.database)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	if _, err := conn.Exec(ctx, `CREATE EXTENSION IF NOT EXISTS pg_stat_statements; SELECT pg_stat_statements_reset()`); err != nil {
		return fmt.Errorf("reset statements: %w", err)
	}
	before, err := s.databases(ctx, conn)
	if err != nil {
		return err
	}
	backends := s.backends()
	took, err := s.payRound(ctx, s.grown, []payonce{profiled})
	if err != nil {
		return err
	}
	s.tell("profiled", took)
	fmt.Fprintf(out, "%d payments, %.1f/s, %.2f ms of CPU each: %s\n", took.done, took.rate, took.cpu, shares([]throughput{took}))
	spread := backends.until(s.backends())
	for _, database := range slices.Sorted(maps.Keys(spread)) {
		fmt.Fprintf(out, "postgres for %s: %.2f ms of CPU each\n", database, spread[database]/float64(took.done)*1000)
	}
	after, err := s.databases(ctx, conn)
	if err != nil {
		return err
	}
	for _, database := range slices.Sorted(maps.Keys(after)) {
		fmt.Fprintf(out, "commits in %s: %.2f each\n", database, float64(after[database]-before[database])/float64(took.done))
	}
	if err := s.statements(ctx, conn, took.done, out); err != nil {
		return err
	}
	if err := s.history(ctx, out); err != nil {
		return err
	}
	return s.grown.run(ctx) // the profile is written when the process ends
}

// databases are the transactions committed in each database so far.
func (s *session) databases(ctx context.Context, conn *pgx.Conn) (map[string]int64, error) {
	rows, err := conn.Query(ctx, `SELECT datname, xact_commit FROM pg_stat_database WHERE datname LIKE 'bench\_%'`)
	if err != nil {
		return nil, fmt.Errorf("read databases: %w", err)
	}
	commits := map[string]int64{}
	var name string
	var count int64
	_, err = pgx.ForEachRow(rows, []any{&name, &count}, func() error { commits[name] = count; return nil })
	return commits, err
}

// statements writes the statements of payonce by the time that they took.
func (s *session) statements(ctx context.Context, conn *pgx.Conn, done int, out io.Writer) error {
	rows, err := conn.Query(ctx, `
		SELECT calls, total_exec_time, rows, wal_bytes::bigint, total_plan_time, regexp_replace(query, '\s+', ' ', 'g')
		FROM pg_stat_statements WHERE dbid = (SELECT oid FROM pg_database WHERE datname = current_database())
		  AND query NOT LIKE '%pg_stat%' ORDER BY total_exec_time + total_plan_time DESC LIMIT 45`)
	if err != nil {
		return fmt.Errorf("read statements: %w", err)
	}
	written := table.NewWriter()
	written.AppendHeader(table.Row{"calls each", "ms each", "ms a call", "rows a call", "WAL bytes each", "planning ms each", "statement"})
	var calls, touched, wal int64
	var took float64
	var query string
	var planning float64
	var allCalls, allTook, allPlanned float64
	_, err = pgx.ForEachRow(rows, []any{&calls, &took, &touched, &wal, &planning, &query}, func() error {
		each := 1 / float64(done)
		allCalls += float64(calls) * each
		allTook += took * each
		allPlanned += planning * each
		if len(query) > 110 {
			query = query[:110]
		}
		written.AppendRow(table.Row{
			fmt.Sprintf("%.2f", float64(calls)*each), fmt.Sprintf("%.3f", took*each), fmt.Sprintf("%.3f", took/float64(calls)),
			fmt.Sprintf("%.1f", float64(touched)/float64(calls)), fmt.Sprintf("%.0f", float64(wal)*each), fmt.Sprintf("%.2f", planning*each), query,
		})
		return nil
	})
	if err != nil {
		return fmt.Errorf("read statements: %w", err)
	}
	fmt.Fprintf(out, "%.1f statements each: %.2f ms in them and %.2f ms to plan them\n%s\n", allCalls, allTook, allPlanned, written.Render())
	return nil
}

// history writes what Temporal keeps of one payment.
func (s *session) history(ctx context.Context, out io.Writer) error {
	c, err := client.DialContext(ctx, client.Options{HostPort: s.temporal, Namespace: namespace, Logger: sdklog.NewStructuredLogger(discard())})
	if err != nil {
		return fmt.Errorf("temporal client: %w", err)
	}
	defer c.Close()
	reference := s.grown.shop.prefix + fmt.Sprint(s.grown.shop.orders.Load())
	payment := boundaries.PaymentID(s.grown.tenant, reference, 1)
	return printHistory(ctx, c, payment, out)
}

func printHistory(ctx context.Context, c client.Client, payment payments.PaymentID, out io.Writer) error {
	events := c.GetWorkflowHistory(ctx, boundaries.PaymentWorkflowID(payment), "", false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	var kinds []string
	size := 0
	for events.HasNext() {
		event, err := events.Next()
		if err != nil {
			return fmt.Errorf("read history: %w", err)
		}
		kinds = append(kinds, event.GetEventType().String())
		size += event.Size()
	}
	fmt.Fprintf(out, "Temporal keeps %d events, %d bytes: %s\n", len(kinds), size, strings.Join(kinds, ", "))
	return nil
}
