package webhooks

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"payonce/boundaries"
	"payonce/internal/clock"
	"payonce/internal/httpbody"
	"payonce/internal/outage"
	"payonce/internal/seal"
	"payonce/internal/tenants"
	"payonce/payments"
)

// MaxBody is the largest event taken, in bytes. Genuine events reach some hundred KiB.
const MaxBody = 1 << 20

// Reasons for which an event is stored as ignored.
const (
	IgnoredType    = "type_not_consumed"
	IgnoredMode    = "mode_not_known"     // a test event at a live deployment, or the reverse
	IgnoredAccount = "account_not_known"  // of a connected account that is not ours to handle
	IgnoredSigner  = "signer_not_trusted" // signed with a secret that does not speak for the account and mode that it names
)

// Config is what a Handler needs. Every field is required.
type Config struct {
	APIVersion   string        // that the engine was built against: an event of another one is taken, and said once
	Pool         *pgxpool.Pool // of the system role, with synchronous_commit on
	Sealer       *seal.Sealer
	Log          *slog.Logger
	Nudge        func()        // wakes the applier; must not block
	StoreWithin  time.Duration // below two seconds: Stripe must get its answer in time
	BodyWithin   time.Duration // in which a body must have arrived
	RefreshEvery time.Duration // after which a new or rolled signing secret counts
}

// Handler answers /webhooks/stripe.
type Handler struct {
	config Config
	events *boundaries.Events
	known  atomic.Pointer[known]
	others versions
}

// known is what the handler knows of the accounts until it reads again.
type known struct {
	secrets   []tenants.WebhookSecret
	platforms map[payments.Account]string // of every account; empty: it is connected to none
}

func (k *known) has(account payments.Account) bool {
	_, stored := k.platforms[account]
	return stored
}

// New reads the signing secrets and refuses an empty one, since it would verify what anybody signs. Without any account
// every delivery is refused until Run has seen one.
func New(ctx context.Context, config Config) (*Handler, error) {
	h := &Handler{config: config, events: boundaries.NewEvents(config.Pool, config.Sealer, config.StoreWithin)}
	if err := h.Refresh(ctx); err != nil {
		return nil, err
	}
	return h, nil
}

// Refresh reads the accounts and their signing secrets again. On an error what is held stays.
func (h *Handler) Refresh(ctx context.Context) error {
	secrets, err := tenants.WebhookSecrets(ctx, h.config.Pool, h.config.Sealer)
	if err != nil {
		return err
	}
	for _, secret := range secrets {
		if strings.TrimSpace(secret.Secret) == "" {
			return errors.New("an empty signing secret of account " + secret.Account.ID)
		}
	}
	platforms, err := tenants.Platforms(ctx, h.config.Pool)
	if err != nil {
		return err
	}
	h.known.Store(&known{secrets: secrets, platforms: platforms})
	return nil
}

// Run refreshes what New read until the context ends.
func (h *Handler) Run(ctx context.Context) {
	ticker := time.NewTicker(h.config.RefreshEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			if err := h.Refresh(ctx); err != nil && ctx.Err() == nil {
				h.config.Log.ErrorContext(ctx, "signing secrets not refreshed", "error", err)
			}
		}
	}
}

// ServeHTTP stores a delivery and answers 200 once it is committed, also for one that was stored before. Nothing is stored of
// a delivery that is refused.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		refuse(w, "method_not_allowed")
		return
	}
	body, err := httpbody.Read(w, r, MaxBody, h.config.BodyWithin)
	switch {
	case errors.Is(err, httpbody.ErrTooLarge):
		refuse(w, "body_too_large")
		return
	case errors.Is(err, httpbody.ErrTooSlow):
		refuse(w, "body_too_slow")
		return
	case err != nil: // cut, or not well-formed HTTP; without an answer it would count as received
		refuse(w, "body_unreadable")
		return
	}
	signer, err := h.verify(r, body)
	if err != nil {
		h.config.Log.WarnContext(r.Context(), "webhook refused", "reason", err)
		refuse(w, "signature_invalid")
		return
	}
	event, err := parseEnvelope(body)
	if err != nil {
		h.config.Log.WarnContext(r.Context(), "webhook refused", "reason", err, "account", signer.Account.ID)
		refuse(w, "event_invalid")
		return
	}
	h.store(w, r, signer, event, body)
}

func (h *Handler) verify(r *http.Request, body []byte) (tenants.WebhookSecret, error) {
	headers := r.Header.Values("Stripe-Signature")
	switch len(headers) {
	case 0:
		return tenants.WebhookSecret{}, errUnsigned
	case 1:
		return verify(headers[0], body, h.known.Load().secrets, clock.Wall())
	default:
		return tenants.WebhookSecret{}, errMalformed
	}
}

// store commits the event and answers. It does not end with the sender's connection: an event that is being stored is stored.
func (h *Handler) store(w http.ResponseWriter, r *http.Request, signer tenants.WebhookSecret, event envelope, body []byte) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), h.config.StoreWithin)
	defer cancel()
	account, ignored := h.judge(signer, event)
	outcome, _, err := h.events.Store(ctx, boundaries.Event{
		Account: account, ID: event.ID, Type: event.Type, APIVersion: event.APIVersion, ObjectKind: event.ObjectKind,
		ObjectID: event.ObjectID, IntentID: event.IntentID, Created: event.Created, Body: body,
		Source: boundaries.EventFromWebhook, Ignored: ignored,
	})
	if err != nil {
		h.config.Log.ErrorContext(ctx, "event not stored", "event", event.ID, "type", event.Type, "error", err)
		if outage.Is(err) {
			w.Header().Set("Retry-After", "1")
			refuse(w, "unavailable")
			return
		}
		refuse(w, "internal")
		return
	}
	h.config.Log.DebugContext(ctx, "event stored", "event", event.ID, "type", event.Type, "account", account.ID,
		"outcome", outcome, "ignored", ignored, "api_version", event.APIVersion)
	if event.APIVersion != h.config.APIVersion && h.others.first(account, event.APIVersion) {
		h.config.Log.WarnContext(ctx, "events of another API version: they are taken and applied; compare the dashboard's version with the engine's",
			"account", account.ID, "livemode", account.Livemode, "api_version", event.APIVersion, "expected", h.config.APIVersion)
	}
	answer(w, http.StatusOK, "application/json", []byte(`{"received":true}`))
	h.config.Nudge()
}

// judge names the account and mode of an event, and why it is not consumed, if so. The account is the one whose secret
// verified the delivery; on a platform's endpoint the connected account that the event names wins
// (https://docs.stripe.com/connect/webhooks). A signer that does not speak for what it names is kept under its own account,
// where it cannot take the place of a true event.
func (h *Handler) judge(signer tenants.WebhookSecret, event envelope) (account payments.Account, ignored string) {
	account = payments.Account{ID: signer.Account.ID, Livemode: event.Livemode}
	if event.Account != "" {
		account.ID = event.Account
	}
	otherMode := payments.Account{ID: account.ID, Livemode: !account.Livemode}
	known := h.known.Load()
	switch {
	case known.has(account) && !known.speaks(signer, account):
		return signer.Account, IgnoredSigner
	case known.has(account) && boundaries.EventIsConsumed(event.Type):
		return account, ""
	case known.has(account):
		return account, IgnoredType
	case known.has(otherMode):
		return account, IgnoredMode
	default:
		return account, IgnoredAccount
	}
}

// speaks tells whether the holder of a signing secret may tell of the account: its own secrets may, and those of its platform, of which one of test mode
// never speaks for live mode, and one of live mode does for both (https://docs.stripe.com/connect/webhooks). Whoever holds one account's secret could
// else make another's payments paid.
func (k *known) speaks(signer tenants.WebhookSecret, account payments.Account) bool {
	own := slices.ContainsFunc(k.secrets, func(s tenants.WebhookSecret) bool { return s.Account == account && s.Secret == signer.Secret })
	return own || signer.Account.ID == k.platforms[account] && (signer.Account.Livemode || !account.Livemode)
}

func answer(w http.ResponseWriter, status int, contentType string, body []byte) {
	w.Header().Set("Content-Type", contentType)
	w.WriteHeader(status)
	_, _ = w.Write(body) // a sender that is gone sends again
}
