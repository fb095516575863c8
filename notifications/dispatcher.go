package notifications

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"payonce/internal/seal"
)

// Dispatcher delivers what is queued, at least once and under a stable id, in order per (payment or payout, endpoint). Any number may run on
// one database.
type Dispatcher struct {
	pool   *pgxpool.Pool
	sealer *seal.Sealer
	config Config
	log    *slog.Logger
	client *http.Client
	owner  uuid.UUID // names this dispatcher's leases
	nudge  chan struct{}
}

// NewDispatcher makes a dispatcher of the system role's pool, or answers what is wrong with the configuration.
func NewDispatcher(pool *pgxpool.Pool, sealer *seal.Sealer, addresses *Addresses, config Config, log *slog.Logger) (*Dispatcher, error) {
	if err := config.Validate(); err != nil {
		return nil, err
	}
	return &Dispatcher{
		pool: pool, sealer: sealer, config: config, log: log, client: newClient(addresses, config),
		owner: uuid.New(), nudge: make(chan struct{}, 1),
	}, nil
}

// Nudge tells a running dispatcher that something was queued. It never blocks; a nudge lost is made up for by polling.
func (d *Dispatcher) Nudge() {
	select {
	case d.nudge <- struct{}{}:
	default:
	}
}

// Run delivers until ctx ends, and then lets the tries under way finish: at most SendTimeout + MarkTimeout. A database that is away is waited
// for. It answers nil.
func (d *Dispatcher) Run(ctx context.Context) error {
	defer d.client.CloseIdleConnections()
	for ctx.Err() == nil {
		if _, err := d.drain(ctx); err != nil && ctx.Err() == nil {
			d.log.LogAttrs(ctx, slog.LevelError, "dispatch messages", slog.Any("error", err))
		}
		d.rest(ctx, nil)
	}
	return nil
}

// DispatchDue tries what is due now, and what becomes due meanwhile, and answers the number of tries. The error joins what could not be claimed
// or stored; such a message is tried again, under the same id, when its lease ends.
func (d *Dispatcher) DispatchDue(ctx context.Context) (int, error) {
	defer d.client.CloseIdleConnections()
	return d.drain(ctx)
}

// drain claims and sends until nothing is due and nothing under way. While a slow receiver holds its slots it goes on looking for others' messages.
func (d *Dispatcher) drain(ctx context.Context) (tries int, err error) {
	sends := sends{busy: map[uuid.UUID]int{}, ended: make(chan ended, d.config.MaxSends)}
	for ctx.Err() == nil {
		claims, err := d.claim(ctx, sends.busy, d.config.MaxSends-sends.underWay)
		if err != nil {
			sends.failures = append(sends.failures, err)
			break
		}
		tries += len(claims)
		for _, c := range claims {
			sends.begin(c.endpoint, func() error { return d.deliver(ctx, c) })
		}
		if sends.underWay == 0 {
			break
		}
		d.rest(ctx, &sends)
	}
	for sends.underWay > 0 {
		sends.settle(<-sends.ended)
	}
	return tries, errors.Join(sends.failures...)
}

// rest waits until a send ends, for a nudge, the poll interval or the end of ctx. sends may be nil.
func (d *Dispatcher) rest(ctx context.Context, sends *sends) {
	poll := time.NewTimer(d.config.PollInterval)
	defer poll.Stop()
	var end chan ended
	if sends != nil {
		end = sends.ended
	}
	select {
	case e := <-end:
		sends.settle(e)
	case <-d.nudge:
	case <-poll.C:
	case <-ctx.Done():
	}
}

// deliver makes one try and stores what it came to. Both have their own deadlines: a try that has begun is not cut off by the end of the
// process, since the receiver may have taken it.
func (d *Dispatcher) deliver(ctx context.Context, c claim) error {
	ctx = context.WithoutCancel(ctx)
	sending, cancel := context.WithTimeout(ctx, d.config.SendTimeout)
	result := d.send(sending, c)
	cancel()
	marking, cancel := context.WithTimeout(ctx, d.config.MarkTimeout)
	defer cancel()
	return d.mark(marking, c, result)
}
