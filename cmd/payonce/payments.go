package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jedib0t/go-pretty/v6/table"

	"payonce/activities"
	"payonce/boundaries"
	"payonce/payments"
)

type paymentsCommand struct {
	Reviews paymentReviewsCommand `cmd:"" help:"List the payments, payouts, customers and connected accounts that wait for a person, the oldest first, with what is known."`
	Resolve paymentResolveCommand `cmd:"" help:"Settle what only a person can: it is checked at Stripe, and kept with who said it and why."`
}

type paymentReviewsCommand struct {
	listFlags
}

// reviewRow is a payment, a payout or a provision that waits for a person.
type reviewRow struct {
	Kind      string          `json:"kind"`               // payment, payout, customer or connected_account
	Payment   *uuid.UUID      `json:"payment"`            // null of all else
	Payout    *uuid.UUID      `json:"payout"`             // null of all else
	Provision *uuid.UUID      `json:"provision"`          // null of all but a customer or a connected account
	Owner     *string         `json:"owner,omitempty"`    // whose the provision is, in the caller's words
	Currency  *string         `json:"currency,omitempty"` // of a connected account
	Tenant    string          `json:"tenant"`
	Since     time.Time       `json:"since"`
	Reason    string          `json:"reason"`
	Status    string          `json:"status"`
	AtStripe  *string         `json:"at_stripe"` // pi_…, po_…, cus_… or acct_…, when it is known
	Unknown   []string        `json:"unknown"`   // operations whose outcome nobody knows
	Evidence  json.RawMessage `json:"evidence"`
}

// id is what resolve takes.
func (r reviewRow) id() uuid.UUID {
	for _, id := range []*uuid.UUID{r.Payment, r.Payout, r.Provision} {
		if id != nil {
			return *id
		}
	}
	return uuid.Nil
}

// what says what waits: of a provision, whose.
func (r reviewRow) what() string {
	what := r.Kind
	if r.Owner != nil {
		what += " of " + *r.Owner
	}
	if r.Currency != nil {
		what += " in " + *r.Currency
	}
	return what
}

// maxReviews bounds the list; the oldest come first.
const maxReviews = 1000

// Run lists the reviews.
func (c *paymentReviewsCommand) Run(ctx context.Context, out io.Writer) error {
	return list(ctx, out, c.listFlags, table.Row{"what", "id", "tenant", "since", "reason", "status", "at Stripe", "unknown"},
		func(system *pgxpool.Pool) ([]reviewRow, error) {
			rows, err := system.Query(ctx, `
				SELECT 'payment', p.id, NULL::uuid, NULL::uuid, NULL, NULL, t.name, p.review_since, p.review_reason, p.status, p.intent_id,
				       ARRAY(SELECT r.operation FROM payonce.idempotency_records r
				             WHERE r.payment = p.id AND r.status = 'unknown' ORDER BY r.number),
				       coalesce(p.review_evidence, '{}')
				FROM payonce.payments p JOIN payonce.tenants t ON t.id = p.tenant
				WHERE p.review_reason IS NOT NULL
				UNION ALL
				SELECT 'payout', NULL, p.id, NULL, NULL, NULL, t.name, p.review_since, p.review_reason, p.status, p.payout_id,
				       ARRAY(SELECT r.operation FROM payonce.idempotency_records r WHERE r.id = p.record AND r.status = 'unknown'),
				       coalesce(p.review_evidence, '{}')
				FROM payonce.payouts p JOIN payonce.tenants t ON t.id = p.tenant
				WHERE p.review_reason IS NOT NULL
				UNION ALL
				SELECT p.kind, NULL, NULL, p.id, p.owner, nullif(p.currency, ''), t.name, p.review_since, p.review_reason, p.status, p.provider_id,
				       ARRAY(SELECT r.operation FROM payonce.idempotency_records r WHERE r.id = p.record AND r.status = 'unknown'),
				       coalesce(p.review_evidence, '{}')
				FROM payonce.provisions p JOIN payonce.tenants t ON t.id = p.tenant
				WHERE p.review_reason IS NOT NULL
				ORDER BY 8 LIMIT $1`, maxReviews)
			if err != nil {
				return nil, err
			}
			return pgx.CollectRows(rows, pgx.RowToStructByPos[reviewRow])
		},
		func(r reviewRow) table.Row {
			atStripe := ""
			if r.AtStripe != nil {
				atStripe = *r.AtStripe
			}
			return table.Row{r.what(), r.id(), r.Tenant, moment(&r.Since), r.Reason, r.Status, atStripe, strings.Join(r.Unknown, ", ")}
		})
}

type paymentResolveCommand struct {
	systemFlags
	ID     uuid.UUID `arg:"" help:"The payment, payout, customer or connected account, as payonce payments reviews shows it."`
	As     string    `required:"" enum:"executed,not_executed,seen" help:"executed: the command took effect at Stripe. not_executed: it did not and cannot any more, and is sent again. seen: nothing is unknown, the mark was looked at."`
	Reason string    `required:"" help:"Why you say so: kept for ever with it."`
	By     string    `env:"USER" required:"" help:"Who says so: kept with it."`
	Intent string    `help:"Of a create whose intent is not known: pi_…, as you found it at Stripe."`
	JSON   bool      `help:"Print the result as JSON."`
}

// Run resolves the payment, the payout or the provision: the id decides.
func (c *paymentResolveCommand) Run(ctx context.Context, out io.Writer) error {
	system, err := c.open(ctx)
	if err != nil {
		return err
	}
	defer system.Close()
	var kind string
	err = system.System.QueryRow(ctx, `
		SELECT coalesce((SELECT 'payout' FROM payonce.payouts WHERE id = $1), (SELECT kind FROM payonce.provisions WHERE id = $1), 'payment')`,
		c.ID).Scan(&kind)
	if err != nil {
		return fmt.Errorf("look for what is resolved: %w", err)
	}
	said := activities.Resolution{As: c.As, Reason: c.Reason, By: c.By, Intent: c.Intent}
	switch kind {
	case "payment":
		err = system.Activities.Resolve(ctx, payments.PaymentID{UUID: c.ID}, said)
	case boundaries.ResourcePayout:
		err = system.Activities.ResolvePayout(ctx, payments.PayoutID{UUID: c.ID}, said)
	default:
		err = system.Activities.ResolveProvision(ctx, payments.ProvisionID{UUID: c.ID}, said)
	}
	if err != nil {
		return resolveAdvice(err)
	}
	if c.JSON {
		return json.NewEncoder(out).Encode(map[string]any{kind: c.ID, "as": c.As, "by": c.By})
	}
	_, err = fmt.Fprintf(out, "%s %s resolved as %s\n", kind, c.ID, c.As)
	return err
}

// resolveAdvice says what to do about a resolution that was refused.
func resolveAdvice(err error) error {
	var next string
	switch {
	case errors.Is(err, activities.ErrNotShown):
		next = "look at it at Stripe; if it certainly did not happen, resolve it as not_executed"
	case errors.Is(err, activities.ErrShown):
		next = "what Stripe shows is applied: read it; `--as seen` takes the mark off"
	case errors.Is(err, activities.ErrTooEarly):
		next = "ask again 15 minutes after the last send ended"
	case errors.Is(err, activities.ErrNothingUnknown):
		next = "`--as seen` takes the mark off"
	case errors.Is(err, activities.ErrStillUnknown):
		next = "`payonce payments reviews` names the command: say `--as executed` or `--as not_executed`"
	default:
		return advised(err)
	}
	return fmt.Errorf("%w\nnext: %s", err, next)
}

type claimsCommand struct {
	Release claimReleaseCommand `cmd:"" help:"Give back the claim of a caller without a workflow, whose process is gone before it sent anything."`
}

type claimReleaseCommand struct {
	officeFlags
	ID uuid.UUID `arg:"" help:"The record."`
}

// Run releases the claim, or says why not.
func (c *claimReleaseCommand) Run(ctx context.Context, out io.Writer) error {
	return c.with(ctx, func(system *pgxpool.Pool) error {
		if err := boundaries.ReleaseByHand(ctx, system, payments.RecordID{UUID: c.ID}); err != nil {
			return err
		}
		_, err := fmt.Fprintf(out, "record %s released: the next claim of it is acquired\n", c.ID)
		return err
	})
}
