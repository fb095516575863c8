package doctor_test

import (
	"crypto/sha256"
	"encoding/hex"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"payonce/payments"
	"payonce/recovery/doctor"
	"payonce/stripesim/control"
)

// atStripe is a violation planted in Stripe's books or log, and the checks that must see it.
type atStripe struct {
	name   string
	checks []string
	sees   string
	books  func(p *patient, books []control.Book) []control.Book
	log    func(p *patient, log []control.Request) []control.Request
}

func bookOf(books []control.Book, payment payments.PaymentID) *control.Book {
	for i := range books {
		if books[i].Metadata[payments.MetadataPayment] == payment.String() {
			return &books[i]
		}
	}
	panic("no book")
}

// change alters the book of a payment.
func change(payment func(*patient) uuid.UUID, alter func(*control.Book)) func(*patient, []control.Book) []control.Book {
	return func(p *patient, books []control.Book) []control.Book {
		alter(bookOf(books, payments.PaymentID{UUID: payment(p)}))
		return books
	}
}

// another adds an intent that is bound to nothing.
func another(alter func(p *patient, book *control.Book)) func(*patient, []control.Book) []control.Book {
	return func(p *patient, books []control.Book) []control.Book {
		book := control.Book{
			Seq: books[len(books)-1].Seq + 1, ID: "pi_another", Account: "acct_merchant", Status: "requires_payment_method", Amount: 1000, Currency: "usd",
			Metadata: map[string]string{payments.MetadataPayment: p.paid.String(), payments.MetadataTenant: p.tenant.String()}, Created: time.Unix(0, 0),
		}
		alter(p, &book)
		return append(books, book)
	}
}

// resent alters a copy of our first confirm, sent again.
func resent(alter func(p *patient, r *control.Request)) func(*patient, []control.Request) []control.Request {
	return resentOf("/confirm", alter)
}

// resentOf alters a copy of our first request to a path, sent again.
func resentOf(path string, alter func(p *patient, r *control.Request)) func(*patient, []control.Request) []control.Request {
	return func(p *patient, log []control.Request) []control.Request {
		at := slices.IndexFunc(log, func(r control.Request) bool { return strings.HasSuffix(r.Path, path) })
		again := log[at]
		again.Seq = log[len(log)-1].Seq + 1
		alter(p, &again)
		sum := sha256.Sum256([]byte(again.Body))
		again.BodySHA256 = hex.EncodeToString(sum[:])
		return append(log, again)
	}
}

func illnessesAtStripe() []atStripe {
	return []atStripe{
		{name: "a capture that is not in the ledger", checks: []string{"positions", "totals"}, sees: "in the ledger and",
			books: change(declined, func(b *control.Book) { b.Captured = 400 })},
		{name: "a ledger that holds more than Stripe", checks: []string{"positions", "totals"}, sees: "1000 usd in the ledger and 900 at Stripe",
			books: change(paid, func(b *control.Book) { b.Refunded = 100 })},
		{name: "a confirm that was executed twice", checks: []string{"executed"}, sees: "2 confirms executed",
			books: change(paid, func(b *control.Book) { b.ConfirmsExecuted = 2 })},
		{name: "a confirm of a payment that was never to be confirmed", checks: []string{"executed"}, sees: "for 0 confirm attempts",
			books: change(begun, func(b *control.Book) { b.ConfirmsExecuted = 1 })},
		{name: "a capture that nobody asked for", checks: []string{"executed"}, sees: "1 captures executed",
			books: change(paid, func(b *control.Book) { b.CapturesExecuted = 1 })},
		{name: "a second charge", checks: []string{"executed"}, sees: "was charged 2 times",
			books: change(paid, func(b *control.Book) { b.ChargesSucceeded = 2 })},
		{name: "a bound intent of another amount", checks: []string{"intents"}, sees: "for 1500 usd",
			books: change(paid, func(b *control.Book) { b.Amount = 1500 })},
		{name: "a bound intent that names another payment", checks: []string{"intents"}, sees: "which names payment",
			books: change(paid, func(b *control.Book) { b.Metadata = map[string]string{payments.MetadataPayment: uuid.NewString()} })},
		{name: "a status ahead of Stripe", checks: []string{"statuses"}, sees: "is succeeded, and its intent",
			books: change(paid, func(b *control.Book) { b.Status = "processing" })},
		{name: "a status behind Stripe in a settled system", checks: []string{"statuses"}, sees: "is requires_payment_method, and its intent",
			books: change(begun, func(b *control.Book) { b.Status, b.Canceled = "canceled", true })},
		{name: "an intent that Stripe does not know", checks: []string{"intents"}, sees: "which Stripe does not know",
			books: func(p *patient, books []control.Book) []control.Book {
				return slices.DeleteFunc(books, func(b control.Book) bool { return b.Metadata[payments.MetadataPayment] == p.begun.String() })
			}},
		{name: "a payment that this database has lost", checks: []string{"intents"}, sees: "which is not here",
			books: another(func(_ *patient, b *control.Book) { b.Metadata[payments.MetadataPayment] = uuid.NewString() })},
		{name: "a surplus intent left open", checks: []string{"intents"}, sees: "whoever holds its secret can pay it",
			books: another(func(*patient, *control.Book) {})},
		{name: "a surplus intent that we confirmed", checks: []string{"intents"}, sees: "confirmed by us",
			books: another(func(_ *patient, b *control.Book) { b.ConfirmsExecuted, b.Status, b.Canceled = 1, "canceled", true })},
		{name: "money on an unbound intent that nobody sees", checks: []string{"intents", "totals"}, sees: "which it is not bound to, took 1000 usd",
			books: another(func(_ *patient, b *control.Book) {
				b.PayerConfirms, b.Captured, b.Status = 1, 1000, "succeeded"
				delete(b.Metadata, payments.MetadataTenant)
			})},
		{name: "a POST of ours without a key", checks: []string{"wire"}, sees: "had no Idempotency-Key",
			log: resent(func(_ *patient, r *control.Request) { r.IdempotencyKey = "" })},
		{name: "a create of ours without a key", checks: []string{"wire"}, sees: "had no Idempotency-Key",
			log: resent(func(p *patient, r *control.Request) {
				r.IdempotencyKey, r.Path = "", "/v1/payment_intents"
				r.Body = url.Values{"metadata[" + payments.MetadataTenant + "]": {p.tenant.String()}}.Encode()
			})},
		{name: "a key that is not frozen", checks: []string{"wire"}, sees: "is not frozen here",
			log: resent(func(_ *patient, r *control.Request) { r.IdempotencyKey = uuid.NewString() })},
		{name: "a key with two bodies", checks: []string{"wire"}, sees: "had other bytes",
			log: resent(func(_ *patient, r *control.Request) { r.Body += "&off_session=true" })},
		{name: "a beginning of our bytes that took effect", checks: []string{"wire"}, sees: "had other bytes",
			log: resent(func(_ *patient, r *control.Request) { r.Body, r.Status = r.Body[:7], 0 })},
		{name: "other bytes that were not answered", checks: []string{"wire"}, sees: "had other bytes",
			log: resent(func(_ *patient, r *control.Request) { r.Body, r.Status, r.Executed = "off_session=true", 0, false })},
		{name: "a key with two paths", checks: []string{"wire"}, sees: "went to another path",
			log: resent(func(_ *patient, r *control.Request) { r.Path = strings.Replace(r.Path, "/confirm", "/cancel", 1) })},
	}
}

func TestEveryIllnessAtStripeIsSeenByItsChecksAlone(t *testing.T) {
	p := newPatient(t)
	for _, ill := range slices.Concat(illnessesAtStripe(), illnessesOfMoneyAtStripe(), illnessesOfDisputesAtStripe()) {
		t.Run(ill.name, func(t *testing.T) {
			books, log := copies(p)
			if ill.books != nil {
				books = ill.books(p, books)
			}
			if ill.log != nil {
				log = ill.log(p, log)
			}

			report, err := doctor.Examine(t.Context(), p.config(t, p.superuser, books, log))

			require.NoError(t, err)
			found := failing(report)
			slices.Sort(found)
			require.Equal(t, ill.checks, found, report.String())
			require.Contains(t, report.String(), ill.sees)
		})
	}
}

// What is not ours, or may still be under way, is no violation.
func TestWhatIsAnothersOrUnderWayAtStripeIsNoViolation(t *testing.T) {
	p := newPatient(t)
	for name, plant := range map[string]atStripe{
		"a foreign intent": {books: another(func(_ *patient, b *control.Book) { b.Metadata, b.Captured = nil, 500 })},
		"an intent of another database on the same account": {books: another(func(_ *patient, b *control.Book) {
			b.Metadata = map[string]string{payments.MetadataPayment: uuid.NewString(), payments.MetadataTenant: uuid.NewString()}
		})},
		"a canceled surplus intent":                {books: another(func(_ *patient, b *control.Book) { b.Status, b.Canceled = "canceled", true })},
		"a surplus intent made just now":           {books: another(func(_ *patient, b *control.Book) { b.Created = time.Now() })},
		"a capture of which no event has told yet": {books: change(declined, func(b *control.Book) { b.Captured, b.Status = 1000, "succeeded" })},
		"a repeat with the same key and bytes":     {log: resent(func(*patient, *control.Request) {})},
		"a request that was cut off with its sender": {log: resent(func(_ *patient, r *control.Request) {
			r.Body, r.Status, r.Executed = r.Body[:7], 0, false
		})},
		"a POST about a foreign intent": {log: resent(func(_ *patient, r *control.Request) {
			r.IdempotencyKey, r.Path = "foreign", "/v1/payment_intents/pi_foreign/confirm"
		})},
		"a POST of a person's tool": {log: resent(func(_ *patient, r *control.Request) { r.IdempotencyKey = "outside-1" })},
		"a POST of an account that is not ours": {log: resent(func(_ *patient, r *control.Request) {
			r.IdempotencyKey, r.Account = "", "acct_other"
		})},
	} {
		t.Run(name, func(t *testing.T) {
			books, log := copies(p)
			if plant.books != nil {
				books = plant.books(p, books)
			}
			if plant.log != nil {
				log = plant.log(p, log)
			}
			config := p.config(t, p.superuser, books, log)
			config.Settled, config.Outsiders = false, []string{"outside-"}

			report, err := doctor.Examine(t.Context(), config)

			require.NoError(t, err)
			require.Empty(t, violationsOf(report))
		})
	}
}

// copies are the twin's books and log, to be altered.
func copies(p *patient) ([]control.Book, []control.Request) {
	books := slices.Clone(p.books)
	for i := range books {
		metadata := map[string]string{}
		for name, value := range books[i].Metadata {
			metadata[name] = value
		}
		books[i].Metadata, books[i].Refunds, books[i].Disputes = metadata, slices.Clone(books[i].Refunds), slices.Clone(books[i].Disputes)
	}
	return books, slices.Clone(p.requests)
}
