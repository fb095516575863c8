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
	Reviews paymentReviewsCommand `cmd:"" help:"List the payments and payouts that wait for a person, the oldest first, with what is known."`
	Resolve paymentResolveCommand `cmd:"" help:"Settle what only a person can: it is checked at Stripe, and kept with who said it and why."`
}

type paymentReviewsCommand struct {
	listFlags
}

// reviewRow is a payment or a payout that waits for a person.
type reviewRow struct {
	Payment  *uuid.UUID      `json:"payment"` // null of a payout
	Payout   *uuid.UUID      `json:"payout"`  // null of a payment
	Tenant   string          `json:"tenant"`
	Since    time.Time       `json:"since"`
	Reason   string          `json:"reason"`
	Status   string          `json:"status"`
	AtStripe *string         `json:"at_stripe"` // pi_… or po_…, when it is known
	Unknown  []string        `json:"unknown"`   // operations whose outcome nobody knows
	Evidence json.RawMessage `json:"evidence"`
}

// maxReviews bounds the list; the oldest come first.
const maxReviews = 1000

// Run lists the reviews.
func (c *paymentReviewsCommand) Run(ctx context.Context, out io.Writer) error {
	return list(ctx, out, c.listFlags, table.Row{"payment or payout", "tenant", "since", "reason", "status", "at Stripe", "unknown"},
		func(system *pgxpool.Pool) ([]reviewRow, error) {
			rows, err := system.Query(ctx, `
				SELECT p.id, NULL::uuid, t.name, p.review_since, p.review_reason, p.status, p.intent_id,
				       ARRAY(SELECT r.operation FROM payonce.idempotency_records r
				             WHERE r.payment = p.id AND r.status = 'unknown' ORDER BY r.number),
				       coalesce(p.review_evidence, '{}')
				FROM payonce.payments p JOIN payonce.tenants t ON t.id = p.tenant
				WHERE p.review_reason IS NOT NULL
				UNION ALL
				SELECT NULL, p.id, t.name, p.review_since, p.review_reason, p.status, p.payout_id,
				       ARRAY(SELECT r.operation FROM payonce.idempotency_records r WHERE r.id = p.record AND r.status = 'unknown'),
				       coalesce(p.review_evidence, '{}')
				FROM payonce.payouts p JOIN payonce.tenants t ON t.id = p.tenant
				WHERE p.review_reason IS NOT NULL
				ORDER BY 4 LIMIT $1`, maxReviews)
			if err != nil {
				return nil, err
			}
			return pgx.CollectRows(rows, pgx.RowToStructByPos[reviewRow])
		},
		func(r reviewRow) table.Row {
			atStripe, id := "", r.Payment
			if r.AtStripe != nil {
				atStripe = *r.AtStripe
			}
			if id == nil {
				id = r.Payout
			}
			return table.Row{id, r.Tenant, moment(&r.Since), r.Reason, r.Status, atStripe, strings.Join(r.Unknown, ", ")}
		})
}

type paymentResolveCommand struct {
	systemFlags
	ID     uuid.UUID `arg:"" help:"The payment or the payout, as payonce payments reviews shows it."`
	As     string    `required:"" enum:"executed,not_executed,seen" help:"executed: the command took effect at Stripe. not_executed: it did not and cannot any more, and is sent again. seen: nothing is unknown, the mark was looked at."`
	Reason string    `required:"" help:"Why you say so: kept for ever with it."`
	By     string    `env:"USER" required:"" help:"Who says so: kept with it."`
	Intent string    `help:"Of a create whose intent is not known: pi_…, as you found it at Stripe."`
	JSON   bool      `help:"Print the result as JSON."`
}

// Run resolves the payment, or the payout: the id decides.
func (c *paymentResolveCommand) Run(ctx context.Context, out io.Writer) error {
	system, err := c.open(ctx)
	if err != nil {
		return err
	}
	defer system.Close()
	kind, said := "payment", activities.Resolution{As: c.As, Reason: c.Reason, By: c.By, Intent: c.Intent}
	var payout bool
	if err := system.System.QueryRow(ctx, `SELECT EXISTS (SELECT FROM payonce.payouts WHERE id = $1)`, c.ID).Scan(&payout); err != nil {
		return fmt.Errorf("look for the payout: %w", err)
	}
	if payout {
		kind, err = "payout", system.Activities.ResolvePayout(ctx, payments.PayoutID{UUID: c.ID}, said)
	} else {
		err = system.Activities.Resolve(ctx, payments.PaymentID{UUID: c.ID}, said)
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
