package doctor_test

import (
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"payonce/boundaries"
	"payonce/payments"
	"payonce/recovery/doctor"
	"payonce/stripesim/control"
)

func held(p *patient) uuid.UUID      { return p.held.UUID }
func returned(p *patient) uuid.UUID  { return p.returned.UUID }
func succeeded(p *patient) uuid.UUID { return p.refunds[0].UUID }
func pending(p *patient) uuid.UUID   { return p.refunds[1].UUID }
func failed(p *patient) uuid.UUID    { return p.refunds[2].UUID }
func elsewhere(p *patient) uuid.UUID { return p.refunds[3].UUID }

const (
	journalsOff  = `ALTER TABLE payonce.ledger_journals DISABLE TRIGGER USER`
	journalsOn   = `ALTER TABLE payonce.ledger_journals ENABLE TRIGGER USER`
	captureOfOne = ` WHERE payment = $1 AND operation = 'capture_payment'`
)

// journals plants by a statement about one thing while journals may be changed.
func journals(about func(*patient) uuid.UUID, statement string) func(*testing.T, *patient, pgx.Tx) {
	return func(t *testing.T, p *patient, tx pgx.Tx) {
		t.Helper()
		p.exec(t, tx, journalsOff)
		p.exec(t, tx, statement, about(p))
		p.exec(t, tx, journalsOn)
	}
}

func illnessesOfMoney() []illness {
	return slices.Concat(illnessesOfHolds(), illnessesOfRefunds(), illnessesOfTelling(), illnessesOfDisputes(), illnessesOfPayouts(), illnessesOfProvisions(),
		illnessesOfDestinations())
}

func illnessesOfHolds() []illness {
	return []illness{
		{name: "a hold that is not in the journals", check: "held", sees: "its journals hold 700", plant: of(held,
			`UPDATE payonce.payments SET amount_held = 600 WHERE id = $1`)},
		{name: "a hold of a payment that is over", check: "held", sees: "still holds 5", plant: of(paid,
			`UPDATE payonce.payments SET amount_held = 5 WHERE id = $1`)},
		{name: "a hold beyond what can be captured", check: "held", sees: "699 can be captured", also: []string{"modelled"}, plant: of(held,
			`UPDATE payonce.payments SET amount_capturable = 699 WHERE id = $1`)},
		{name: "a posting that ends a hold and does not name it", check: "held", sees: "do not name it", plant: journals(held,
			`UPDATE payonce.ledger_journals SET resolves = NULL WHERE payment = $1 AND posting_key LIKE 'payment/%/hold/700'`)},
		{name: "a hold that nobody is to see to", check: "payments", sees: "nobody is to see to it", plant: of(held,
			`UPDATE payonce.payments SET hold_due_at = NULL WHERE id = $1`)},
		{name: "a hold that was not seen to", check: "payments", sees: "was to be seen to", running: true, plant: of(held,
			`UPDATE payonce.payments SET hold_due_at = payonce.clock() - interval '1 day' WHERE id = $1`)},
		{name: "a hold to be seen to where there is none", check: "stages", sees: "holds nothing", plant: of(paid,
			`UPDATE payonce.payments SET hold_due_at = payonce.clock() WHERE id = $1`)},
		{name: "a hold of which it is not known until when", check: "positions", sees: "not noted until when", plant: of(held,
			`UPDATE payonce.payments SET capture_before = NULL WHERE id = $1`)},
		{name: "a capture under a foreign id", check: "records", sees: "its owner key derives", plant: of(held,
			`UPDATE payonce.idempotency_records SET resource_id = gen_random_uuid()`+captureOfOne)},
		{name: "a capture under another payment's owner key", check: "records", sees: "names another payment", plant: of(held,
			`UPDATE payonce.idempotency_records SET owner_key = 'order/parcel-1'`+captureOfOne)},
		{name: "a capture that does not know the total before it", check: "records", sees: "does not say what was captured before", plant: of(held,
			`UPDATE payonce.idempotency_records SET captured_before = NULL`+captureOfOne)},
		{name: "a capture from more than was captured", check: "records", sees: "says that 400 was captured before it", plant: of(held,
			`UPDATE payonce.idempotency_records SET captured_before = 400`+captureOfOne)},
		{name: "a part without its total", check: "records", sees: "takes a part", plant: of(held,
			`UPDATE payonce.idempotency_records SET captured_after = NULL`+captureOfOne)},
		{name: "a capture beyond the payment", check: "records", sees: "from 0 to 1001 of 1000", plant: of(held,
			`UPDATE payonce.idempotency_records SET captured_after = 1001`+captureOfOne)},
		{name: "a capture that was answered and not made", check: "records", sees: "was answered as taken", plant: of(held,
			`UPDATE payonce.idempotency_records SET captured_after = 301`+captureOfOne)},
	}
}

func illnessesOfRefunds() []illness {
	return []illness{
		{name: "a payment that says more was given back", check: "refunded", sees: "its refunds moved", plant: of(returned,
			`UPDATE payonce.payments SET amount_refunded = amount_refunded + 1 WHERE id = $1`)},
		{name: "a refund without its posting", check: "refunded", sees: "booked 0 as gone", plant: journals(succeeded,
			`UPDATE payonce.ledger_journals SET posting_key = 'refund/another/out' WHERE posting_key = 'refund/' || $1::uuid || '/out'`)},
		{name: "a failed refund without its return", check: "refunded", sees: "booked 0 as come back", plant: journals(failed,
			`UPDATE payonce.ledger_journals SET posting_key = 'refund/another/back' WHERE posting_key = 'refund/' || $1::uuid || '/back'`)},
		{name: "a refund booked for another payment", check: "refunded", sees: "names another payment", also: []string{"modelled", "positions"},
			plant: journals(succeeded, `UPDATE payonce.ledger_journals SET payment = NULL WHERE posting_key = 'refund/' || $1::uuid || '/out'`)},
		{name: "a refund that says nothing moved", check: "refunded", sees: "succeeded, and its money has not moved", also: []string{"modelled", "given_back"},
			plant: of(succeeded, `UPDATE payonce.refunds SET moved = false WHERE id = $1`)},
		{name: "a failed refund that has its money", check: "refunded", sees: "has it back: f", also: []string{"given_back"},
			plant: of(failed, `UPDATE payonce.refunds SET returned = false WHERE id = $1`)},
		{name: "refunds of ours beyond what was captured", check: "refunded", sees: "captured 1000", also: []string{"modelled", "given_back"},
			plant: of(pending, `UPDATE payonce.refunds SET amount = 1000 WHERE id = $1`)},
		{name: "a refund of ours of what a bank had withdrawn", check: "refunded", sees: "back 900 by our own refunds while 200 was withdrawn", running: true,
			plant: askedOf(ofOpen, 900, "")},
		{name: "a refund command without its refund", check: "records", sees: "made 0 refunds", also: []string{"refunds"},
			plant: of(pending, `UPDATE payonce.refunds SET record = NULL WHERE id = $1`)},
		{name: "a refund of another's command", check: "refunds", sees: "is about something else", also: []string{"records"}, plant: of(pending, `
			UPDATE payonce.refunds SET record = (
				SELECT id FROM payonce.idempotency_records r WHERE r.payment = refunds.payment AND r.operation = 'confirm_payment') WHERE id = $1`)},
		{name: "a refund made elsewhere under a foreign id", check: "refunds", sees: "which derives", also: []string{"given_back"},
			plant: of(elsewhere, `UPDATE payonce.refunds SET refund_id = 're_another' WHERE id = $1`)},
		{name: "a refund in another currency", check: "refunds", sees: "is in eur", also: []string{"refunded", "given_back"},
			plant: of(pending, `UPDATE payonce.refunds SET currency = 'eur' WHERE id = $1`)},
		{name: "a refund ahead of its stage", check: "refunds", sees: "has the stage processing", plant: of(succeeded,
			`UPDATE payonce.refunds SET stage = 'processing' WHERE id = $1`)},
		{name: "a refund without the time of its end", check: "refunds", sees: "lacks the time", plant: of(succeeded,
			`UPDATE payonce.refunds SET ledger_applied_at = NULL WHERE id = $1`)},
		{name: "a refund that is bound before its stage", check: "refunds", sees: "its stage was not reached", plant: of(succeeded,
			`UPDATE payonce.refunds SET external_resource_created_at = NULL WHERE id = $1`)},
		{name: "a refund that is over and polled", check: "refunds", sees: "is still polled", plant: of(succeeded,
			`UPDATE payonce.refunds SET next_poll_at = payonce.clock() + interval '1 hour' WHERE id = $1`)},
		{name: "a refund that was answered with another", check: "refunds", sees: "its command was answered with re_another", plant: of(succeeded, `
			UPDATE payonce.idempotency_records SET external_resource_id = 're_another' WHERE resource_id = $1`)},
		{name: "a pending refund that nobody polls", check: "refund_waits", sees: "never polled", plant: of(pending,
			`UPDATE payonce.refunds SET next_poll_at = NULL WHERE id = $1`)},
		{name: "a refund that was not polled in time", check: "refund_waits", sees: "was to be polled", running: true, plant: of(pending,
			`UPDATE payonce.refunds SET next_poll_at = payonce.clock() - interval '1 day' WHERE id = $1`)},
		{name: "a refund that nobody will wake", check: "refund_waits", sees: "waits for nothing", running: true, plant: asked(
			`UPDATE payonce.idempotency_records SET next_wake_at = NULL WHERE resource_id = $1`)},
		{name: "a refund that is only submitted in a settled system", check: "refund_waits", sees: "the system is settled", also: []string{"commands"},
			plant: asked(`UPDATE payonce.refunds SET polls = 0 WHERE id = $1`)},
		{name: "a refund that was submitted and answered", check: "refunds", sees: "its command is completed", running: true,
			also: []string{"refund_waits"}, plant: asked(`
			UPDATE payonce.idempotency_records SET status = 'completed', completed_at = payonce.clock(), response_code = 201, next_wake_at = NULL WHERE resource_id = $1`)},
	}
}

func illnessesOfTelling() []illness {
	return []illness{
		{name: "an ending that is not told", check: "told", sees: "is succeeded, and endpoint", also: []string{"received"}, plant: of(paid,
			`DELETE FROM payonce.notifications WHERE payment = $1`)},
		{name: "a refund that is not told", check: "told", sees: "has no message of it", also: []string{"received"}, plant: of(succeeded,
			`DELETE FROM payonce.notifications WHERE subject = 'refund/' || $1::uuid`)},
		{name: "a refund told as what it never was", check: "told", sees: "which it never was", plant: func(t *testing.T, p *patient, tx pgx.Tx) {
			t.Helper()
			var endpoint uuid.UUID
			require.NoError(t, tx.QueryRow(t.Context(), `SELECT id FROM payonce.notification_endpoints`).Scan(&endpoint))
			subject := "refund/" + p.refunds[1].String()
			p.exec(t, tx, `UPDATE payonce.payments SET last_message = last_message + 1 WHERE id = $1`, p.returned.UUID)
			p.exec(t, tx, `
				INSERT INTO payonce.notifications (id, tenant, subject, kind, endpoint, payment, sequence, body, status, created_at, settled_at)
				SELECT $2, p.tenant, $3, 'refund.succeeded', $4, p.id, p.last_message, '\x00', 'parked', payonce.clock(), payonce.clock()
				FROM payonce.payments p WHERE p.id = $1`, p.returned.UUID, messageID(p, subject, "refund.succeeded", endpoint), subject, endpoint)
		}},
		{name: "a success told after the failure", check: "told", sees: "after it had ended", also: []string{"received"}, plant: func(t *testing.T, p *patient, tx pgx.Tx) {
			t.Helper()
			p.exec(t, tx, `UPDATE payonce.notifications SET first_sent_at = payonce.clock() - interval '1 minute' WHERE payment = $1 AND first_sent_at < (
				SELECT max(first_sent_at) + interval '1 second' FROM payonce.notifications)`, p.returned.UUID)
			p.exec(t, tx, `UPDATE payonce.notifications SET first_sent_at = (SELECT min(first_sent_at) FROM payonce.notifications) WHERE payment = $1`, p.returned.UUID)
			p.exec(t, tx, `
				UPDATE payonce.notifications n SET sequence = b.low + b.high - n.sequence
				FROM (SELECT min(sequence) AS low, max(sequence) AS high FROM payonce.notifications WHERE subject = 'refund/' || $1::uuid) AS b
				WHERE n.subject = 'refund/' || $1::uuid`, p.refunds[2].UUID)
		}},
	}
}

// asked has a refund of a payment that was given back asked for, on which nobody has acted yet, and then plants about it.
func asked(statement string) func(*testing.T, *patient, pgx.Tx) {
	return askedOf(returned, 10, statement)
}

func askedOf(of func(*patient) uuid.UUID, amount int64, statement string) func(*testing.T, *patient, pgx.Tx) {
	return func(t *testing.T, p *patient, tx pgx.Tx) {
		t.Helper()
		payment := payments.PaymentID{UUID: of(p)}
		owner := boundaries.ReferencedOwnerKey(payment, "item-9")
		id := boundaries.ResourceID(p.tenant, payments.OperationRefund, owner)
		record := boundaries.RecordID(p.tenant, payments.OperationRefund, owner)
		key := boundaries.ProviderKey{
			Tenant: p.tenant, ResourceKind: boundaries.ResourceRefund, ResourceID: id, Operation: payments.OperationRefund, Attempt: 1,
		}.IdempotencyKey()
		p.exec(t, tx, `UPDATE payonce.payments SET last_command = last_command + 1, updated_at = updated_at - interval '1 day' WHERE id = $1`, payment.UUID)
		p.exec(t, tx, `
			INSERT INTO payonce.idempotency_records
				(id, tenant, operation, owner_key, idempotency_key, request_hash, request_hash_version, command, status,
				 resource_kind, resource_id, payment, number, asked_by, next_wake_at, created_at)
			SELECT $2, p.tenant, 'create_refund', $3, $4, sha256('\x00'), 1, '\x00', 'in_progress', 'refund', $5, p.id, p.last_command, 'caller',
				payonce.clock() + interval '1 minute', payonce.clock()
			FROM payonce.payments p WHERE p.id = $1`, payment.UUID, record.UUID, string(owner), key, id)
		p.exec(t, tx, `
			INSERT INTO payonce.refunds (id, tenant, payment, record, amount, currency, status, stage, submitted_at, account, livemode, created_at, updated_at)
			SELECT $2, tenant, id, $3, $4, currency, 'submitted', 'submitted', payonce.clock(), account, livemode, payonce.clock(), payonce.clock()
			FROM payonce.payments WHERE id = $1`, payment.UUID, id, record.UUID, amount)
		if statement != "" {
			p.exec(t, tx, statement, id)
		}
	}
}

// A refund that is asked for long after its payment ended is under way, and nothing of it is late.
func TestARefundUnderWayOfAPaymentLongOverIsHealthy(t *testing.T) {
	p := newPatient(t)
	tx, err := p.superuser.Begin(t.Context())
	require.NoError(t, err)
	defer func() { require.NoError(t, tx.Rollback(t.Context())) }()
	asked("")(t, p, tx)
	config := p.config(t, tx, p.books, p.requests)
	config.Settled = false

	report, err := doctor.Examine(t.Context(), config)

	require.NoError(t, err)
	require.Empty(t, violationsOf(report))
}

// refundIn is a payment's refund in the books.
func refundIn(p *patient, b *control.Book, of func(*patient) uuid.UUID) *control.Refund {
	for i := range b.Refunds {
		r := &b.Refunds[i]
		if r.Metadata[payments.MetadataRefund] == of(p).String() {
			return r
		}
	}
	panic("no refund")
}

// changeRefunds alters the book of the payment that was given back.
func changeRefunds(alter func(p *patient, b *control.Book)) func(*patient, []control.Book) []control.Book {
	return func(p *patient, books []control.Book) []control.Book {
		alter(p, bookOf(books, p.returned))
		return books
	}
}

func illnessesOfMoneyAtStripe() []atStripe {
	return []atStripe{
		{name: "a hold that Stripe has let go", checks: []string{"positions", "statuses"}, sees: "holds 700 usd in the ledger, and Stripe 0",
			books: change(held, func(b *control.Book) { b.Status, b.Canceled = "canceled", true })},
		{name: "a refund that is not known here", checks: []string{"given_back"}, sees: "which is not known here",
			books: changeRefunds(func(_ *patient, b *control.Book) {
				b.Refunds = append(b.Refunds, control.Refund{ID: "re_another", Amount: 10, Currency: "usd", Status: "succeeded", Created: time.Unix(0, 0)})
			})},
		{name: "a refund that Stripe does not know", checks: []string{"given_back"}, sees: "has no such refund",
			books: changeRefunds(func(_ *patient, b *control.Book) { b.Refunds = b.Refunds[1:] })},
		{name: "a release of a hold that was taken for a refund", checks: []string{"given_back"}, sees: "has no such refund of captured money",
			books: changeRefunds(func(p *patient, b *control.Book) { refundIn(p, b, succeeded).Released = true })},
		{name: "a refund of ours made twice", checks: []string{"given_back"}, sees: "and Stripe has also re_again of it",
			books: changeRefunds(func(p *patient, b *control.Book) {
				again := *refundIn(p, b, succeeded)
				again.ID = "re_again"
				b.Refunds = append(b.Refunds, again)
			})},
		{name: "a refund of another amount", checks: []string{"given_back"}, sees: "of 7 usd",
			books: changeRefunds(func(p *patient, b *control.Book) { refundIn(p, b, succeeded).Amount = 7 })},
		{name: "a refund of ours without our name", checks: []string{"given_back"}, sees: `made for refund ""`,
			books: changeRefunds(func(p *patient, b *control.Book) { refundIn(p, b, succeeded).Metadata = nil })},
		{name: "a refund ahead of Stripe", checks: []string{"given_back"}, sees: "is succeeded (moved: true",
			books: changeRefunds(func(p *patient, b *control.Book) { refundIn(p, b, succeeded).Status = "pending" })},
		{name: "a refund behind Stripe in a settled system", checks: []string{"given_back"}, sees: "is pending (moved: true",
			books: changeRefunds(func(p *patient, b *control.Book) { refundIn(p, b, pending).Status = "failed" })},
		{name: "a refund that took effect twice", checks: []string{"once"}, sees: "took effect at Stripe more than once",
			log: resentOf("/v1/refunds", func(*patient, *control.Request) {})},
		{name: "a capture that took effect twice", checks: []string{"once"}, sees: "took effect at Stripe more than once",
			log: resentOf("/capture", func(*patient, *control.Request) {})},
	}
}
