package doctor_test

import (
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"payonce/recovery/doctor"
)

// illness is a violation planted in the database, and the only checks that must see it.
type illness struct {
	name    string
	check   string
	also    []string // checks that must see it too
	sees    string   // part of the violation
	running bool     // planted in a running system, where ages are held against bounds
	plant   func(*testing.T, *patient, pgx.Tx)
}

// sql plants by statements.
func sql(statements ...string) func(*testing.T, *patient, pgx.Tx) {
	return func(t *testing.T, p *patient, tx pgx.Tx) {
		t.Helper()
		for _, statement := range statements {
			p.exec(t, tx, statement)
		}
	}
}

// of plants by statements about one payment, their $1.
func of(payment func(*patient) uuid.UUID, statements ...string) func(*testing.T, *patient, pgx.Tx) {
	return func(t *testing.T, p *patient, tx pgx.Tx) {
		t.Helper()
		for _, statement := range statements {
			p.exec(t, tx, statement, payment(p))
		}
	}
}

func paid(p *patient) uuid.UUID     { return p.paid.UUID }
func declined(p *patient) uuid.UUID { return p.declined.UUID }
func begun(p *patient) uuid.UUID    { return p.begun.UUID }

const (
	triggersOff = `ALTER TABLE payonce.ledger_entries DISABLE TRIGGER USER`
	triggersOn  = `ALTER TABLE payonce.ledger_entries ENABLE TRIGGER USER`
	// both legs change, so that balances still follow from entries.
	anEntry = `INSERT INTO payonce.ledger_entries (journal, line, account, amount, currency)
		SELECT e.journal, 9, e.account, 1, e.currency FROM payonce.ledger_entries e JOIN payonce.ledger_accounts a ON a.id = e.account
		WHERE a.name = 'merchant:balance' LIMIT 1`
	reopened = `UPDATE payonce.idempotency_records SET status = 'in_progress', completed_at = NULL, response_code = NULL,
		next_wake_at = payonce.clock() + interval '1 hour' WHERE payment = $1 AND operation = 'create_payment'`
	unanswered = `UPDATE payonce.idempotency_keys SET response_code = NULL, response_headers = NULL, response_body = NULL
		WHERE record IN (SELECT id FROM payonce.idempotency_records WHERE payment = $1)`
)

func illnesses() []illness {
	return []illness{
		// 1 money
		{name: "a journal that does not sum to zero", check: "journals", sees: "sums to 1 usd", also: []string{"modelled"},
			plant: sql(triggersOff, anEntry, triggersOn)},
		{name: "a journal without entries", check: "journals", sees: "has no entries", plant: sql(`
			INSERT INTO payonce.ledger_journals (id, tenant, posting_key, rule, content_hash, phase, source, effective_at, booked_at)
			SELECT gen_random_uuid(), tenant, 'empty', rule, content_hash, 'posted', source, effective_at, booked_at FROM payonce.ledger_journals LIMIT 1`)},
		{name: "a roll-up that is not its entries", check: "balances", sees: "sum to", plant: sql(`UPDATE payonce.ledger_rollups SET balance = balance + 1`)},
		{name: "an account under a foreign id", check: "balances", sees: "does not derive", plant: sql(`
			INSERT INTO payonce.ledger_accounts (id, tenant, name, currency, kind, created_at)
			SELECT gen_random_uuid(), tenant, 'suspense', 'eur', 'free', created_at FROM payonce.ledger_accounts LIMIT 1`)},
		{name: "a payment that says more than its journals", check: "captured", sees: "booked 1000", also: []string{"modelled"}, plant: of(paid,
			`UPDATE payonce.payments SET amount_captured = 1001 WHERE id = $1`)},

		// 2 at Stripe
		{name: "a key that does not derive", check: "calls", sees: "does not derive", plant: of(declined,
			`UPDATE payonce.provider_calls SET generation = 5 WHERE payment = $1 AND operation = 'create_payment'`)},
		{name: "frozen bytes that are not those of their hash", check: "calls", sees: "other frozen bytes", plant: of(declined, `
			UPDATE payonce.provider_calls c SET body = o.body FROM payonce.provider_calls o
			WHERE c.payment = $1 AND c.operation = 'create_payment' AND o.payment = $1 AND o.operation = 'confirm_payment'`)},

		// 3 outcomes
		{name: "a completed record without an outcome", check: "outcomes", sees: "has no outcome", plant: of(begun,
			`UPDATE payonce.idempotency_records SET response_code = NULL WHERE payment = $1`, unanswered)},
		{name: "a create that is answered before its confirm", check: "outcomes", sees: "which answers it", plant: of(paid, `
			UPDATE payonce.idempotency_records SET status = 'failed', response_code = NULL WHERE payment = $1 AND operation = 'confirm_payment'`)},
		{name: "two keys of a record with two codes", check: "replays", sees: "another code", plant: sql(
			`UPDATE payonce.idempotency_keys SET response_code = 202 WHERE caller_key = 'key-2'`)},
		{name: "two keys of a record with two bodies", check: "replays", sees: "different answers", plant: func(t *testing.T, p *patient, tx pgx.Tx) {
			t.Helper()
			sealed, err := p.app.Sealer.Seal("idempotency_keys.response_body", []byte(`{"another":"answer"}`))
			require.NoError(t, err)
			p.exec(t, tx, `UPDATE payonce.idempotency_keys SET response_body = $1 WHERE caller_key = 'key-2'`, sealed)
		}},

		// 4 waits
		{name: "an open payment that nobody polls", check: "payments", sees: "never polled", plant: of(begun,
			`UPDATE payonce.payments SET next_poll_at = NULL WHERE id = $1`)},
		{name: "an overdue poll", check: "payments", sees: "was to be polled", running: true, plant: of(begun,
			`UPDATE payonce.payments SET next_poll_at = payonce.clock() - interval '1 day' WHERE id = $1`)},
		{name: "an overdue command", check: "commands", sees: "was to be woken", running: true, plant: of(begun, unanswered, reopened,
			`UPDATE payonce.idempotency_records SET next_wake_at = payonce.clock() - interval '1 day' WHERE payment = $1`)},
		{name: "a command whose outcome is not learnt for days", check: "commands", sees: "has not been learnt", running: true, plant: of(begun, unanswered, reopened,
			`UPDATE payonce.provider_calls SET first_sent_at = payonce.clock() - interval '3 days' WHERE payment = $1`)},
		{name: "an open command in a settled system", check: "commands", sees: "the system is settled", plant: of(begun, unanswered, reopened)},
		{name: "an unknown outcome that nobody sees", check: "commands", sees: "not marked for review", plant: of(begun, unanswered, `
			UPDATE payonce.idempotency_records SET status = 'unknown', completed_at = NULL, response_code = NULL WHERE payment = $1`)},
		{name: "an overdue event", check: "events", sees: "was to be tried", running: true, plant: sql(`
			UPDATE payonce.provider_events SET status = 'stored', settled_at = NULL, next_try_at = payonce.clock() - interval '1 day'`)},
		{name: "an event parked for ever", check: "events", sees: "is parked since", running: true, plant: sql(`
			UPDATE payonce.provider_events SET status = 'parked', settled_at = NULL, next_try_at = payonce.clock(), received_at = payonce.clock() - interval '2 days'`)},
		{name: "an unsettled event in a settled system", check: "events", sees: "the system is settled", plant: sql(`
			UPDATE payonce.provider_events SET status = 'stored', settled_at = NULL, next_try_at = payonce.clock()`)},
		{name: "a list of Stripe's events that nobody goes through", check: "listed", sees: "was gone through until", running: true, plant: sql(`
			UPDATE payonce.event_cursors SET seen_until = payonce.clock() - interval '2 hours'`)},
		{name: "an applied event without a payment", check: "events", sees: "names no payment", plant: sql(`UPDATE payonce.provider_events SET payment = NULL`)},
		{name: "an overdue message", check: "messages", sees: "was to be tried", running: true, plant: of(paid, `
			UPDATE payonce.notifications SET status = 'queued', settled_at = NULL, next_try_at = payonce.clock() - interval '1 day' WHERE payment = $1`)},
		{name: "a queued message in a settled system", check: "messages", sees: "the system is settled", plant: of(paid, `
			UPDATE payonce.notifications SET status = 'queued', settled_at = NULL, next_try_at = payonce.clock() WHERE payment = $1`)},

		// 5 messages
		{name: "a message under a foreign id", check: "message_ids", sees: "whose message is", plant: of(paid, `
			INSERT INTO payonce.notifications (id, tenant, subject, kind, endpoint, payment, sequence, body, status, created_at, settled_at)
			SELECT gen_random_uuid(), tenant, 'payment/again', kind, endpoint, payment, 2, body, 'parked', created_at, created_at
			FROM payonce.notifications WHERE payment = $1`,
			`UPDATE payonce.payments SET last_message = 2 WHERE id = $1`)},
		{name: "a message that went before an earlier one", check: "message_order", sees: "before an earlier one", plant: second(
			`UPDATE payonce.notifications SET first_sent_at = first_sent_at + interval '1 second' WHERE payment = $1 AND sequence = 1`)},
		{name: "two messages with one number", check: "message_order", sees: "shares the number", plant: second(
			`UPDATE payonce.notifications SET sequence = 1 WHERE payment = $1`)},
		{name: "a message beyond its payment's numbers", check: "message_order", sees: "numbered 0", plant: of(paid,
			`UPDATE payonce.payments SET last_message = 0 WHERE id = $1`)},

		// 7 identities
		{name: "a record under a foreign owner key", check: "records", sees: "does not derive", plant: of(paid,
			`UPDATE payonce.idempotency_records SET owner_key = 'another#1' WHERE payment = $1 AND operation = 'confirm_payment'`)},
		{name: "a record whose key was not the one sent", check: "records", sees: "was sent", plant: of(paid,
			`UPDATE payonce.idempotency_records SET idempotency_key = gen_random_uuid() WHERE payment = $1 AND operation = 'create_payment'`)},
		{name: "a payment under a foreign reference", check: "records", sees: "derive", plant: of(paid,
			`UPDATE payonce.payments SET reference = 'another order' WHERE id = $1`)},
		{name: "an accepted command without a payment", check: "records", sees: "has no payment", plant: of(paid,
			`UPDATE payonce.idempotency_records SET payment = NULL, number = NULL WHERE payment = $1 AND operation = 'confirm_payment'`)},
		{name: "a command beyond its payment's numbers", check: "records", sees: "is command 9", plant: of(paid,
			`UPDATE payonce.idempotency_records SET number = 9 WHERE payment = $1 AND number = 2`)},
		{name: "a payment ahead of its stage", check: "stages", sees: "has the stage processing", plant: of(paid,
			`UPDATE payonce.payments SET stage = 'processing' WHERE id = $1`)},
		{name: "a reached stage without its time", check: "stages", sees: "lacks the time", plant: of(paid,
			`UPDATE payonce.payments SET ledger_applied_at = NULL WHERE id = $1`)},
		{name: "a further attempt that replaces nothing", check: "references", sees: "does not name", plant: of(paid,
			`UPDATE payonce.payments SET replaces = $1 WHERE id = $1`)},
		{name: "a constraint that is gone", check: "guards", sees: "a message is queued once", plant: sql(
			`ALTER TABLE payonce.notifications DROP CONSTRAINT notifications_identity`)},
		{name: "a trigger that is off", check: "guards", sees: "an entry is never changed", plant: sql(
			`ALTER TABLE payonce.ledger_entries DISABLE TRIGGER ledger_entries_append_only`)},
	}
}

// second gives the paid payment a second message to the same endpoint, under its derived id, and then plants.
func second(statement string) func(*testing.T, *patient, pgx.Tx) {
	return func(t *testing.T, p *patient, tx pgx.Tx) {
		t.Helper()
		var endpoint uuid.UUID
		require.NoError(t, tx.QueryRow(t.Context(), `SELECT id FROM payonce.notification_endpoints`).Scan(&endpoint))
		p.exec(t, tx, `
			INSERT INTO payonce.notifications (id, tenant, subject, kind, endpoint, payment, sequence, body, status, first_sent_at, created_at, settled_at)
			SELECT $2, tenant, 'charge/second', 'payment.declined', endpoint, payment, 2, body, 'delivered', first_sent_at, created_at, settled_at
			FROM payonce.notifications WHERE payment = $1`, p.paid.UUID, messageID(p, "charge/second", "payment.declined", endpoint))
		p.exec(t, tx, `UPDATE payonce.payments SET last_message = 2 WHERE id = $1`, p.paid.UUID)
		p.exec(t, tx, statement, p.paid.UUID)
	}
}

func TestEveryIllnessOfTheDatabaseIsSeenByItsCheckAlone(t *testing.T) {
	p := newPatient(t)
	for _, ill := range append(illnesses(), illnessesOfMoney()...) {
		t.Run(ill.name, func(t *testing.T) {
			tx, err := p.superuser.Begin(t.Context())
			require.NoError(t, err)
			defer func() { require.NoError(t, tx.Rollback(t.Context())) }()
			ill.plant(t, p, tx)
			config := p.config(t, tx, p.books, p.requests)
			config.Settled = !ill.running

			report, err := doctor.Examine(t.Context(), config)

			require.NoError(t, err)
			require.ElementsMatch(t, append([]string{ill.check}, ill.also...), failing(report), report.String())
			require.Contains(t, report.String(), ill.sees)
			for _, check := range report.Checks {
				for _, violation := range check.Violations {
					require.NotEmpty(t, violation.Next, "a violation says what to do")
					require.NotEmpty(t, violation.Subject)
				}
			}
		})
	}
}
