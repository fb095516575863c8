package doctor

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// guard is a constraint, a unique index or a trigger that is the last judge of an invariant.
type guard struct{ name, holds string }

func guards() []guard {
	return []guard{
		{"payments_reference_attempt", "a business attempt is one payment"},
		{"payments_intent", "an intent is bound to one payment"},
		{"idempotency_records_identity", "a command has one record"},
		{"idempotency_records_number", "no two commands share a place in their payment's order"},
		{"idempotency_keys_pkey", "a caller's key names one record"},
		{"provider_calls_pkey", "a key at Stripe has one frozen body"},
		{"provider_calls_identity", "a call has one key"},
		{"provider_events_identity", "a provider's fact is stored once"},
		{"ledger_journals_posting_key", "an effect is posted once"},
		{"ledger_entries_balanced", "a journal sums to zero"},
		{"ledger_entries_append_only", "an entry is never changed"},
		{"ledger_journals_append_only", "a journal is never changed"},
		{"payment_facts_append_only", "a fact is never changed"},
		{"refunds_record", "a command makes one refund"},
		{"refunds_refund_id", "a refund at Stripe is one refund here"},
		{"provisions_identity", "an owner has one customer, and one account or wallet of a kind"},
		{"provisions_provider_id", "a customer or an account at Stripe is linked to one owner"},
		{"disputes_dispute_id", "a dispute at Stripe is one dispute here"},
		{"notifications_identity", "a message is queued once"},
	}
}

// guards: what makes two of a thing impossible is there and in force.
func (e *examiner) guards(ctx context.Context) error {
	c := e.check("guards", 7, "no two intents can share a payment, posting, event or message: the constraints are in force")
	found, err := e.Owner.Query(ctx, `
		SELECT k.conname::text FROM pg_constraint k
		WHERE k.connamespace = 'payonce'::regnamespace AND k.contype IN ('p', 'u') AND k.convalidated
		UNION
		SELECT i.relname::text FROM pg_index x JOIN pg_class i ON i.oid = x.indexrelid
		WHERE i.relnamespace = 'payonce'::regnamespace AND x.indisunique AND x.indisvalid
		UNION
		SELECT t.tgname::text FROM pg_trigger t JOIN pg_class r ON r.oid = t.tgrelid
		WHERE r.relnamespace = 'payonce'::regnamespace AND NOT t.tgisinternal AND t.tgenabled IN ('O', 'A')`)
	if err != nil {
		return fmt.Errorf("check %s: %w", c.Name, err)
	}
	names, err := pgx.CollectRows(found, pgx.RowTo[string])
	if err != nil {
		return fmt.Errorf("check %s: %w", c.Name, err)
	}
	inForce := map[string]bool{}
	for _, name := range names {
		inForce[name] = true
	}
	for _, g := range guards() {
		c.Examined++
		if !inForce[g.name] {
			c.violate(g.name, "stop the effects, run `payonce migrate`, and restore the constraint before going on", "is missing or switched off: %s", g.holds)
		}
	}
	return nil
}
