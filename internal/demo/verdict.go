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
	leastRepeated   = 10
)

// judgeOrders compares every order with its outcome, its payment and its charges.
func (r *Result) judgeOrders(outcomes []Outcome, found evidence) {
	r.Plans = Plans()
	sharedBy := map[uuid.UUID]int{}
	byReference := map[string]heldPayment{}
	for _, held := range found.payments {
		byReference[held.Reference] = held
	}
	for _, outcome := range outcomes {
		order := outcome.Order
		r.Orders++
		r.Effects += order.Journals()
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
		case wrong == "":
			r.countRight(order, found.books[held.ID])
		case !there || outcome.Payment.ID.UUID == uuid.Nil || order.MustPay() && found.books[held.ID].Charges == 0:
			r.Swallowed = append(r.Swallowed, fmt.Sprintf("order %s: %s", order.Reference, wrong))
		default:
			r.Problems = append(r.Problems, fmt.Sprintf("order %s: %s", order.Reference, wrong))
		}
	}
}

// countRight counts an order that came out as it was wished for.
func (r *Result) countRight(order Order, book twinBook) {
	switch {
	case order.Declined():
		r.Declined++
	case order.MustPay():
		r.Paid++
	default:
		r.Voided++
	}
	if order.RepeatOf != 0 {
		r.PaidAgain++
	}
	r.Captures += book.Captures
	r.Refunds += book.Refunds
	r.Disputes += book.Disputes
	for i := range r.Plans {
		if r.Plans[i].Plan == order.Plan {
			r.Plans[i].Right++
		}
	}
}

func (r *Result) countStyles(outcome Outcome) {
	r.Duplicates += outcome.Duplicates
	r.FreshKeys += outcome.FreshKeys
	r.GaveUp += outcome.GaveUp
	r.Further += outcome.Further
	r.Repeated += outcome.Repeated
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
	case outcome.Payment.Status != order.Answered():
		return fmt.Sprintf("it was answered with %s, not %s", outcome.Payment.Status, order.Answered())
	case held.Status != order.Ends() || held.Stage != payments.StageLedgerApplied:
		return fmt.Sprintf("it must end as %s and is %s, at stage %s", order.Ends(), held.Status, held.Stage)
	case held.Review != "":
		return "it waits for a review: " + held.Review
	case order.Declined():
		return wrongWithDeclined(order, held, book)
	default:
		return wrongWithMoney(order, held, book)
	}
}

// wrongWithMoney compares what was taken, held and given back, here and at the twin, with what was wished for.
func wrongWithMoney(order Order, held heldPayment, book twinBook) string {
	charges := 0
	if order.MustPay() {
		charges = 1
	}
	switch {
	case book.Intents != charges || book.Charges > 1 || book.Charges < charges:
		return fmt.Sprintf("the twin has %d intents and %d charges of it", book.Intents, book.Charges)
	case book.Captured != order.Captured() || book.Currency != order.Currency || held.Captured != order.Captured() || held.Held != 0:
		return fmt.Sprintf("%d %s must be taken; the twin took %d %s, the payment says %d and still holds %d",
			order.Captured(), order.Currency, book.Captured, book.Currency, held.Captured, held.Held)
	case book.Captures != order.Captures():
		return fmt.Sprintf("its hold must be captured %d times, and was %d times", order.Captures(), book.Captures)
	case book.Refunded != order.Refunded() || held.Refunded != order.Refunded():
		return fmt.Sprintf("%d must be given back; at the twin it is %d, the payment says %d", order.Refunded(), book.Refunded, held.Refunded)
	case held.Dispute != order.Dispute() || held.Lost != order.Lost() || book.Lost != order.Lost():
		return fmt.Sprintf("its dispute must end as %q with %d lost; it is %q, lost %d, and at the twin %d",
			order.Dispute(), order.Lost(), held.Dispute, held.Lost, book.Lost)
	case held.ToSellers != order.ToSellers():
		return fmt.Sprintf("%d must be owed to sellers, and by its journals it is %d", order.ToSellers(), held.ToSellers)
	case book.Refunds != order.Refunds() || held.Refunds != order.Refunds():
		return fmt.Sprintf("it must have %d refunds; the twin has %d, and here are %d", order.Refunds(), book.Refunds, held.Refunds)
	default:
		return ""
	}
}

func wrongWithDeclined(order Order, held heldPayment, book twinBook) string {
	switch {
	case held.DeclineCode != order.DeclineCode:
		return fmt.Sprintf("it must be declined with %s and was with %q", order.DeclineCode, held.DeclineCode)
	case book.Intents != 0:
		return fmt.Sprintf("the twin has %d open intents of it", book.Intents)
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
			line(held.Currency).OurRefunded += held.Refunded
		}
	}
	for _, book := range found.books {
		r.Charges += book.Charges
		if book.Captured > 0 {
			line(book.Currency).TwinPayments++
			line(book.Currency).TwinCaptured += book.Captured
			line(book.Currency).TwinRefunded += book.Refunded
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
	fail(r.Paid+r.Declined+r.Voided != r.Orders, "%d of %d orders have not their outcome", r.Orders-r.Paid-r.Declined-r.Voided, r.Orders)
	for _, plan := range r.Plans {
		fail(plan.Right != plan.Orders, "%d of %d orders were %s", plan.Right, plan.Orders, plan.Plan)
	}
	fail(r.Payouts != payouts, "%d of %d payouts are as wished for", r.Payouts, payouts)
	fail(r.Repeated < leastRepeated, "%d captures, cancels and refunds were sent again, fewer than %d", r.Repeated, leastRepeated)
	fail(len(r.Swallowed) > 0, "%d orders were swallowed", len(r.Swallowed))
	fail(len(r.Problems) > 0, "%d problems with orders, answers or messages", len(r.Problems))
	for _, line := range r.Books {
		equal := line.OurPayments == line.TwinPayments && line.OurCaptured == line.TwinCaptured && line.OurRefunded == line.TwinRefunded &&
			line.OurLedger == line.TwinCaptured-line.TwinRefunded
		fail(!equal, "the books differ in %s", line.Currency)
	}
	fail(r.Journals != r.Effects, "%d journals were posted for %d effects", r.Journals, r.Effects)
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
