package doctor_test

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"payonce/payments"
	"payonce/stripesim/control"
)

func lost(p *patient) uuid.UUID   { return p.disputes[0].UUID }
func open(p *patient) uuid.UUID   { return p.disputes[1].UUID }
func ofLost(p *patient) uuid.UUID { return p.disputed[0].UUID }
func ofOpen(p *patient) uuid.UUID { return p.disputed[1].UUID }

func illnessesOfDisputes() []illness {
	return []illness{
		{name: "a payment that says more is withdrawn", check: "disputed", sees: "its disputes took 200", plant: of(ofOpen,
			`UPDATE payonce.payments SET amount_disputed = 201 WHERE id = $1`)},
		{name: "a dispute that withdrew more than is booked", check: "disputed", sees: "its journals booked 200", also: []string{"modelled", "taken_back"},
			plant: of(open, `UPDATE payonce.disputes SET withdrawn = 250 WHERE id = $1`)},
		{name: "a dispute that gave back more than it took", check: "disputed", sees: "withdrew 200 and gave 500 back", also: []string{"modelled", "taken_back"},
			plant: of(open, `UPDATE payonce.disputes SET reinstated = 500 WHERE id = $1`)},
		{name: "a lost dispute whose loss is not booked", check: "disputed", sees: "booked 0", plant: journals(ofLost, `
			UPDATE payonce.ledger_journals SET posting_key = 'dispute/another/lost' WHERE payment = $1 AND posting_key LIKE 'dispute/%/lost'`)},
		{name: "a lost dispute that lost nothing", check: "disputed", sees: "is lost with 0, and 300 is withdrawn", plant: of(lost,
			`UPDATE payonce.disputes SET lost = 0 WHERE id = $1`)},
		{name: "an open dispute that is booked as lost", check: "disputed", sees: "is not lost, and lost 200", plant: of(open,
			`UPDATE payonce.disputes SET lost = 200 WHERE id = $1`)},
		{name: "a dispute with a journal that it does not know", check: "disputed", sees: "that it does not know", plant: of(open,
			`UPDATE payonce.disputes SET transactions = '{}' WHERE id = $1`)},
		{name: "a dispute booked for another payment", check: "disputed", sees: "names another payment", also: []string{"modelled", "positions"},
			plant: journals(ofOpen, `UPDATE payonce.ledger_journals SET payment = NULL WHERE payment = $1 AND posting_key LIKE 'dispute/%'`)},
		{name: "a dispute under a foreign id", check: "disputes", sees: "Stripe's derives", also: []string{"told"}, plant: of(open,
			`UPDATE payonce.disputes SET id = gen_random_uuid() WHERE id = $1`)},
		{name: "a dispute in another currency", check: "disputes", sees: "is in eur", also: []string{"disputed"}, plant: of(open,
			`UPDATE payonce.disputes SET currency = 'eur' WHERE id = $1`)},
		{name: "a decided dispute ahead of its stage", check: "disputes", sees: "has the stage processing", plant: of(lost,
			`UPDATE payonce.disputes SET stage = 'processing' WHERE id = $1`)},
		{name: "a decided dispute without the time of it", check: "disputes", sees: "lacks the time", plant: of(lost,
			`UPDATE payonce.disputes SET terminal_at = NULL WHERE id = $1`)},
		{name: "an open dispute behind its stage", check: "disputes", sees: "has not reached that stage", plant: of(open,
			`UPDATE payonce.disputes SET processing_at = NULL WHERE id = $1`)},
		{name: "a decided dispute that is polled", check: "disputes", sees: "is still polled", plant: of(lost,
			`UPDATE payonce.disputes SET next_poll_at = payonce.clock() + interval '1 hour' WHERE id = $1`)},
		{name: "an open dispute that nobody polls", check: "dispute_waits", sees: "never polled", plant: of(open,
			`UPDATE payonce.disputes SET next_poll_at = NULL WHERE id = $1`)},
		{name: "a dispute that was not polled in time", check: "dispute_waits", sees: "was to be polled", running: true, plant: of(open,
			`UPDATE payonce.disputes SET next_poll_at = payonce.clock() - interval '1 day' WHERE id = $1`)},
		{name: "a dispute that is not told", check: "told", sees: "was not told that it was opened", also: []string{"received"}, plant: of(open,
			`DELETE FROM payonce.notifications WHERE subject = 'dispute/' || $1::uuid`)},
		{name: "a loss that is not told", check: "told", sees: "has no message dispute.lost", also: []string{"received"}, plant: of(lost,
			`DELETE FROM payonce.notifications WHERE subject = 'dispute/' || $1::uuid AND kind = 'dispute.lost'`)},
		{name: "a dispute told as what it never was", check: "told", sees: "of dispute.won, which it never was", plant: func(t *testing.T, p *patient, tx pgx.Tx) {
			t.Helper()
			var endpoint uuid.UUID
			require.NoError(t, tx.QueryRow(t.Context(), `SELECT id FROM payonce.notification_endpoints`).Scan(&endpoint))
			subject := "dispute/" + p.disputes[1].String()
			p.exec(t, tx, `UPDATE payonce.payments SET last_message = last_message + 1 WHERE id = $1`, ofOpen(p))
			p.exec(t, tx, `
				INSERT INTO payonce.notifications (id, tenant, subject, kind, endpoint, payment, sequence, body, status, created_at, settled_at)
				SELECT $2, p.tenant, $3, 'dispute.won', $4, p.id, p.last_message, '\x00', 'parked', payonce.clock(), payonce.clock()
				FROM payonce.payments p WHERE p.id = $1`, ofOpen(p), messageID(p, subject, "dispute.won", endpoint), subject, endpoint)
		}},
	}
}

// changeDispute alters the dispute that is under way, in Stripe's books.
func changeDispute(alter func(d *control.Dispute)) func(*patient, []control.Book) []control.Book {
	return func(p *patient, books []control.Book) []control.Book {
		alter(&bookOf(books, p.disputed[1]).Disputes[0])
		return books
	}
}

func illnessesOfDisputesAtStripe() []atStripe {
	return []atStripe{
		{name: "a dispute that is not known here", checks: []string{"taken_back"}, sees: "which is not known here",
			books: func(p *patient, books []control.Book) []control.Book {
				book := bookOf(books, payments.PaymentID{UUID: p.paid.UUID})
				book.Disputes = append(book.Disputes, control.Dispute{ID: "dp_another", Status: "needs_response", Created: time.Unix(0, 0)})
				return books
			}},
		{name: "a dispute that Stripe does not know", checks: []string{"taken_back"}, sees: "is not known at Stripe",
			books: changeDispute(func(d *control.Dispute) { d.ID = "dp_another"; d.Created = time.Unix(0, 0) })},
		{name: "a dispute behind Stripe in a settled system", checks: []string{"taken_back"}, sees: "and at Stripe won",
			books: changeDispute(func(d *control.Dispute) { d.Status = "won" })},
		{name: "a dispute that withdrew more than at Stripe", checks: []string{"taken_back"}, sees: "withdrawn 150",
			books: changeDispute(func(d *control.Dispute) { d.Withdrawn = 150 })},
	}
}
