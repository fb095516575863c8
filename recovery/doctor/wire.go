package doctor

import (
	"context"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"payonce/boundaries"
	"payonce/payments"
	"payonce/stripesim/control"
)

// wire: every POST of ours had a key that is frozen here, with the frozen path and bytes. So no key of ours had two bodies.
func (e *examiner) wire(ctx context.Context) error {
	c := e.check("wire", 2, "every POST of ours at Stripe had our key, and each key one path and one body: the frozen ones")
	once := tally{
		check: e.check("once", 2, "a capture or a refund of ours took effect at Stripe once, whatever its tries and its keys"), effects: map[uuid.UUID]int{},
	}
	if e.Twin == nil {
		c.Skipped, once.check.Skipped = "no twin was given", "no twin was given"
		return nil
	}
	accounts, err := e.accounts(ctx)
	if err != nil {
		return err
	}
	mine := map[payments.Account]bool{}
	for _, account := range accounts {
		mine[account] = true
	}
	after := int64(0)
	for {
		requests, err := e.Twin.Requests(ctx, after, pageSize)
		if err != nil {
			return fmt.Errorf("read the twin's requests: %w", err)
		}
		if len(requests) == 0 {
			return nil
		}
		after = requests[len(requests)-1].Seq
		if err := e.requests(ctx, c, once, mine, requests); err != nil {
			return err
		}
	}
}

// requests judges a page of the log.
func (e *examiner) requests(ctx context.Context, c *Check, once tally, mine map[payments.Account]bool, all []control.Request) error {
	var posts []control.Request
	for _, r := range all {
		if r.Method == http.MethodPost && mine[payments.Account{ID: r.Account, Livemode: r.Livemode}] && !e.outsider(r.IdempotencyKey) {
			posts = append(posts, r)
		}
	}
	frozen, err := e.frozen(ctx, posts)
	if err != nil {
		return err
	}
	ours, err := e.ours(ctx, posts)
	if err != nil {
		return err
	}
	for _, r := range posts {
		call, known := frozen[r.IdempotencyKey]
		subject := fmt.Sprintf("request %d, POST %s", r.Seq, r.Path)
		switch {
		case known && e.cutOff(call, r):
		case known:
			c.Examined++
			call.compare(c, subject, r)
			once.count(call, r)
		case !ours(r), e.maySurprise(r.Time):
		case r.IdempotencyKey == "":
			c.Examined++
			c.violate(subject, "find the call that went out beside payonce.provider_calls", "is about ours and had no Idempotency-Key")
		default:
			c.Examined++
			c.violate(subject, "find the call that went out beside payonce.provider_calls; a person's tool is named with --outsider",
				"is about ours, and its key %q is not frozen here", r.IdempotencyKey)
		}
	}
	return nil
}

func (e *examiner) outsider(key string) bool {
	for _, prefix := range e.Outsiders {
		if strings.HasPrefix(key, prefix) {
			return true
		}
	}
	return false
}

// frozenCall is what must have been sent under a key.
type frozenCall struct {
	Key      uuid.UUID
	Path     string
	SHA256   []byte
	Account  string
	Livemode bool

	ResourceKind string
	ResourceID   uuid.UUID
	Body         []byte // sealed
}

// cutOff tells whether the sender was killed while it sent: nothing was executed or answered, and what arrived is the beginning of what is frozen.
func (e *examiner) cutOff(call frozenCall, r control.Request) bool {
	if r.Executed || r.Status != 0 {
		return false
	}
	body, err := e.Sealer.Open(boundaries.ColumnCallBody, call.Body)
	return err == nil && len(r.Body) < len(body) && strings.HasPrefix(string(body), r.Body)
}

func (f frozenCall) compare(c *Check, subject string, r control.Request) {
	const next = "stop the worker: what is sent must be what the row says; compare the row of payonce.provider_calls"
	if sent := hex.EncodeToString(f.SHA256); sent != r.BodySHA256 {
		c.violate(subject, next, "had other bytes than are frozen under its key %s", r.IdempotencyKey)
	}
	if f.Path != r.Path || r.Query != "" {
		c.violate(subject, next, "went to another path than is frozen under its key %s (%s)", r.IdempotencyKey, f.Path)
	}
	if f.Account != r.Account || f.Livemode != r.Livemode {
		c.violate(subject, next, "went to account %s, and its key %s is frozen for %s", r.Account, r.IdempotencyKey, f.Account)
	}
}

func (e *examiner) frozen(ctx context.Context, posts []control.Request) (map[string]frozenCall, error) {
	var keys []uuid.UUID
	for _, r := range posts {
		if key, err := uuid.Parse(r.IdempotencyKey); err == nil {
			keys = append(keys, key)
		}
	}
	calls, err := collect[frozenCall](ctx, e, `
		SELECT idempotency_key, path, body_sha256, account, livemode, resource_kind, resource_id, body
		FROM payonce.provider_calls WHERE idempotency_key = ANY($1)`, keys)
	if err != nil {
		return nil, fmt.Errorf("read frozen calls: %w", err)
	}
	byKey := map[string]frozenCall{}
	for _, call := range calls {
		byKey[call.Key.String()] = call
	}
	return byKey, nil
}

// ours tells which requests are about what is this database's: the intent in the path is bound to a payment of it, or the body names its tenant.
// A twin, as Stripe, may serve others on the same account.
func (e *examiner) ours(ctx context.Context, posts []control.Request) (func(control.Request) bool, error) {
	var intents []string
	var named []uuid.UUID
	for _, r := range posts {
		intents = append(intents, intentOf(r))
		named = append(named, tenantOf(r))
	}
	tenants, err := e.tenants(ctx, named)
	if err != nil {
		return nil, err
	}
	found, err := e.Owner.Query(ctx, `SELECT intent_id FROM payonce.payments WHERE intent_id = ANY($1)`, intents)
	if err != nil {
		return nil, fmt.Errorf("read bound intents: %w", err)
	}
	held, err := pgx.CollectRows(found, pgx.RowTo[string])
	if err != nil {
		return nil, fmt.Errorf("read bound intents: %w", err)
	}
	bound := map[string]bool{}
	for _, intent := range held {
		bound[intent] = true
	}
	return func(r control.Request) bool { return bound[intentOf(r)] || tenants[tenantOf(r)] }, nil
}

func intentOf(r control.Request) string {
	rest, found := strings.CutPrefix(r.Path, "/v1/payment_intents/")
	if !found {
		return ""
	}
	intent, _, _ := strings.Cut(rest, "/")
	return intent
}

func tenantOf(r control.Request) uuid.UUID {
	form, err := url.ParseQuery(r.Body)
	if err != nil {
		return uuid.Nil
	}
	tenant, err := uuid.Parse(form.Get("metadata[" + payments.MetadataTenant + "]"))
	if err != nil {
		return uuid.Nil
	}
	return tenant
}
