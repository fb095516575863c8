package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"sync/atomic"

	"payonce/internal/app"
	"payonce/internal/bench/result"
	"payonce/internal/postgres"
	"payonce/internal/timing"
	"payonce/payments"
)

const rowReplay = "replay"

// replays is how many answered orders are repeated by turns.
const replays = 256

// memory is a response writer that keeps the answer.
type memory struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (m *memory) Header() http.Header { return m.header }

func (m *memory) WriteHeader(status int) { m.status = status }

func (m *memory) Write(body []byte) (int, error) { return m.body.Write(body) }

// measureReplay compares a repeated request, from its bytes to the bytes of the stored answer, with one select by primary key.
func (s *session) measureReplay(ctx context.Context) ([]result.Row, error) {
	orders, answer, err := s.still.answeredOrders(ctx)
	if err != nil {
		return nil, err
	}
	system, err := app.Open(ctx, app.Config{
		DatabaseURL: s.still.url(postgres.RoleOwner), TemporalAddress: s.temporal, TemporalNamespace: namespace, TaskQueue: s.still.taskQueue(),
		StripeURL: "http://127.0.0.1:9", Keyset: s.keyset, Timing: timing.Production(), MaxConns: microInFlight,
	}, slog.New(slog.NewTextHandler(io.Discard, nil))) //nolint:sloglint // a line a request is a part of what it costs
	if err != nil {
		return nil, err
	}
	defer system.Close()
	handler, _, err := system.Handler(ctx)
	if err != nil {
		return nil, err
	}
	raw, err := s.still.openPool(ctx, postgres.RoleTenant, microInFlight)
	if err != nil {
		return nil, err
	}
	defer raw.Close()
	var turn atomic.Int64
	next := func() order { return orders[turn.Add(1)%replays] }
	values, baselines, err := s.contest(ctx,
		func(ctx context.Context) error { return s.still.replay(ctx, handler, next(), answer) },
		func(ctx context.Context) error {
			var code int
			var headers map[string]string
			var body []byte
			return raw.QueryRow(ctx, `SELECT response_code, response_headers, response_body FROM payonce.idempotency_keys
				WHERE tenant = $1 AND operation = $2 AND caller_key = $3`, s.still.tenant.UUID, payments.OperationCreate, next().reference).Scan(&code, &headers, &body)
		})
	if err != nil {
		return nil, err
	}
	row := result.NewRow(rowReplay, "replays/s", values, "one select of the answer by its primary key, raw from pgx", baselines, result.AtLeast(0.45))
	row.Note = fmt.Sprintf("the whole HTTP handler, API key checked, without the network; %d callers", microInFlight)
	return []result.Row{row}, nil
}

func (s *site) replay(ctx context.Context, handler http.Handler, o order, want []byte) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, "/v1/payments", bytes.NewReader(o.body))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Authorization", "Bearer "+s.apiKey)
	request.Header.Set("Idempotency-Key", o.reference)
	got := &memory{header: http.Header{}}
	handler.ServeHTTP(got, request)
	if got.status != http.StatusCreated || !bytes.Equal(got.body.Bytes(), want) {
		return fmt.Errorf("replay of %s: %d %s", o.reference, got.status, got.body.Bytes())
	}
	return nil
}

// answeredOrders makes orders whose answer is stored, and returns them with that answer.
func (s *site) answeredOrders(ctx context.Context) ([]order, []byte, error) {
	c, err := s.openCommands(ctx, nil)
	if err != nil {
		return nil, nil, err
	}
	defer c.close()
	answer := filler(750)
	sealed, err := s.sealer.Seal("idempotency_keys.response_body", answer)
	if err != nil {
		return nil, nil, err
	}
	orders := make([]order, replays)
	for i := range orders {
		orders[i] = s.shop.order()
		claim, err := c.claim(ctx, orders[i].reference)
		if err != nil {
			return nil, nil, err
		}
		if err := c.complete(ctx, claim); err != nil {
			return nil, nil, err
		}
		headers := map[string]string{"Content-Type": payments.ContentTypeJSON, "Location": "/v1/payments/" + claim.Payment.String()}
		_, err = c.system.Exec(ctx, `UPDATE payonce.idempotency_keys SET response_code = 201, response_headers = $2, response_body = $3 WHERE record = $1`,
			claim.Record.UUID, headers, sealed)
		if err != nil {
			return nil, nil, fmt.Errorf("store answer: %w", err)
		}
	}
	return orders, answer, nil
}
