package demo

import (
	"fmt"
	"maps"
	"slices"

	"github.com/google/uuid"

	"payonce/internal/devstack"
	"payonce/payments"
)

// Floors that a run must reach, so that what it proves was put to the test.
const (
	leastSuppressed = 10
	leastDuplicates = 20
	leastAtOnce     = 10
	leastFreshKeys  = 15
)

// judgeOrders compares every order with its outcome, its payment and its charges.
func (r *Result) judgeOrders(outcomes []Outcome, found evidence) {
	sharedBy := map[uuid.UUID]int{}
	byReference := map[string]heldPayment{}
	for _, held := range found.payments {
		byReference[held.Reference] = held
	}
	for _, outcome := range outcomes {
		order := outcome.Order
		r.Orders++
		r.countStyles(outcome)
		for _, problem := range outcome.Problems {
			r.Problems = append(r.Problems, fmt.Sprintf("order %s (%s): %s", order.Reference, order.Style, problem))
		}
		held, there := byReference[order.Reference]
		if other, shared := sharedBy[outcome.Payment.ID.UUID]; shared && outcome.Payment.ID.UUID != uuid.Nil {
			r.Swallowed = append(r.Swallowed, fmt.Sprintf("order %s was answered with the payment of order %d", order.Reference, other))
		}
		sharedBy[outcome.Payment.ID.UUID] = order.Number
		if order.RepeatOf != 0 {
			r.Repeats++
		}
		switch wrong := wrongWith(order, outcome, held, there, found.books[held.ID]); {
		case wrong == "" && order.MustPay():
			r.Paid++
			if order.RepeatOf != 0 {
				r.PaidAgain++
			}
		case wrong == "":
			r.Declined++
		case !there || outcome.Payment.ID.UUID == uuid.Nil || order.MustPay() && found.books[held.ID].Charges == 0:
			r.Swallowed = append(r.Swallowed, fmt.Sprintf("order %s: %s", order.Reference, wrong))
		default:
			r.Problems = append(r.Problems, fmt.Sprintf("order %s: %s", order.Reference, wrong))
		}
	}
}

func (r *Result) countStyles(outcome Outcome) {
	r.Duplicates += outcome.Duplicates
	r.FreshKeys += outcome.FreshKeys
	r.GaveUp += outcome.GaveUp
	if outcome.AtOnce > 1 {
		r.AtOnce++
	}
}

// wrongWith says what is wrong with an order, or nothing.
func wrongWith(order Order, outcome Outcome, held heldPayment, there bool, book twinBook) string {
	switch {
	case !there:
		return "there is no payment of it"
	case outcome.Payment.ID.UUID == uuid.Nil:
		return "the checkout backend has no outcome"
	case outcome.Payment.ID.UUID != held.ID:
		return fmt.Sprintf("it was answered with payment %s and is payment %s", outcome.Payment.ID, held.ID)
	case held.Amount != order.Amount || held.Currency != order.Currency:
		return fmt.Sprintf("the payment is of %d %s, the order of %d %s", held.Amount, held.Currency, order.Amount, order.Currency)
	case outcome.Payment.Status != held.Status:
		return fmt.Sprintf("it was answered with %s and is %s", outcome.Payment.Status, held.Status)
	case held.Review != "":
		return "it waits for a review: " + held.Review
	case book.Intents != 1:
		return fmt.Sprintf("the twin has %d open or ended intents of it", book.Intents)
	case order.MustPay():
		return wrongWithPaid(order, held, book)
	default:
		return wrongWithDeclined(order, held, book)
	}
}

func wrongWithPaid(order Order, held heldPayment, book twinBook) string {
	switch {
	case held.Status != payments.StatusSucceeded || held.Stage != payments.StageLedgerApplied:
		return fmt.Sprintf("it must be paid and is %s, at stage %s", held.Status, held.Stage)
	case book.Charges != 1 || book.Captured != order.Amount || book.Currency != order.Currency:
		return fmt.Sprintf("it must be charged once with %d %s; the twin has %d charges, together %d %s",
			order.Amount, order.Currency, book.Charges, book.Captured, book.Currency)
	case held.Captured != order.Amount:
		return fmt.Sprintf("captured is %d, not %d", held.Captured, order.Amount)
	default:
		return ""
	}
}

func wrongWithDeclined(order Order, held heldPayment, book twinBook) string {
	switch {
	case held.Status != payments.StatusRequiresPaymentMethod || held.DeclineCode != order.DeclineCode:
		return fmt.Sprintf("it must be declined with %s and is %s with %q", order.DeclineCode, held.Status, held.DeclineCode)
	case book.Charges != 0 || book.Captured != 0 || held.Captured != 0:
		return fmt.Sprintf("it must not be charged; the twin has %d charges, together %d", book.Charges, book.Captured)
	case book.Declines != 1:
		return fmt.Sprintf("it must be declined once; the twin declined it %d times", book.Declines)
	default:
		return ""
	}
}

// compareBooks puts the twin's books beside ours, per currency.
func (r *Result) compareBooks(found evidence) {
	lines := map[string]*BookLine{}
	line := func(currency string) *BookLine {
		if lines[currency] == nil {
			lines[currency] = &BookLine{Currency: currency, OurLedger: found.ledger[currency]}
		}
		return lines[currency]
	}
	for _, held := range found.payments {
		if held.Captured > 0 {
			line(held.Currency).OurPayments++
			line(held.Currency).OurCaptured += held.Captured
		}
	}
	for _, book := range found.books {
		r.Charges += book.Charges
		if book.Captured > 0 {
			line(book.Currency).TwinPayments++
			line(book.Currency).TwinCaptured += book.Captured
		}
	}
	for currency := range found.ledger {
		line(currency)
	}
	for _, currency := range slices.Sorted(maps.Keys(lines)) {
		r.Books = append(r.Books, *lines[currency])
	}
}

// judge fills Failures: why the run did not prove what it is for.
func (r *Result) judge() {
	fail := func(failed bool, format string, args ...any) {
		if failed {
			r.Failures = append(r.Failures, fmt.Sprintf(format, args...))
		}
	}
	for _, fault := range r.Faults {
		fail(fault.Fired == 0, "the fault %s never fired", fault.Fault)
	}
	for _, boundary := range r.boundaries() {
		fail(boundary.count < leastSuppressed, "the %s boundary suppressed %d duplicates, fewer than %d", boundary.name, boundary.count, leastSuppressed)
	}
	for _, process := range []string{devstack.API, devstack.Worker} {
		killed := slices.ContainsFunc(r.Kills, func(k Kill) bool { return k.Process == process })
		fail(!killed, "the %s was not killed while orders were under way", process)
	}
	fail(r.Duplicates < leastDuplicates, "%d duplicate submits were replayed, fewer than %d", r.Duplicates, leastDuplicates)
	fail(r.AtOnce < leastAtOnce, "%d orders were submitted several times at once, fewer than %d", r.AtOnce, leastAtOnce)
	fail(r.FreshKeys < leastFreshKeys, "%d fresh keys named the payment of their order, fewer than %d", r.FreshKeys, leastFreshKeys)
	fail(r.Repeats != repeats || r.PaidAgain != r.Repeats, "%d of %d honest repeats were paid", r.PaidAgain, repeats)
	fail(r.Orders != orders, "%d orders were sent, not %d", r.Orders, orders)
	fail(r.Paid+r.Declined != r.Orders, "%d of %d orders have not their outcome", r.Orders-r.Paid-r.Declined, r.Orders)
	fail(len(r.Swallowed) > 0, "%d orders were swallowed", len(r.Swallowed))
	fail(len(r.Problems) > 0, "%d problems with orders, answers or messages", len(r.Problems))
	for _, line := range r.Books {
		equal := line.OurPayments == line.TwinPayments && line.OurCaptured == line.TwinCaptured && line.OurLedger == line.TwinCaptured
		fail(!equal, "the books differ in %s", line.Currency)
	}
	fail(r.Journals != r.Charges, "%d journals were posted for %d charges", r.Journals, r.Charges)
	for _, message := range r.Messages {
		fail(message.Status != "delivered", "%d messages %s are %s", message.Count, message.Kind, message.Status)
	}
	fail(len(r.Checks) == 0, "the doctor checked nothing")
	fail(r.violations() > 0, "the doctor found %d violations", r.violations())
}

type boundaryCount struct {
	name  string
	count int
	what  string
}

func (r *Result) boundaries() []boundaryCount {
	return []boundaryCount{
		{"command", r.Suppressed.Command, "requests that met the record of an earlier one"},
		{"event", r.Suppressed.Event, "deliveries of a webhook that was stored already"},
		{"ledger", r.Suppressed.Ledger, "postings that a fact implied again"},
		{"notification", r.Suppressed.Notification, "messages that a fact implied again"},
	}
}
