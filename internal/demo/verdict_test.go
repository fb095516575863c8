package demo

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"payonce/payments"
	"payonce/stripesim/control"
)

// world is a run in which everything is as it should be; a test spoils a piece of it.
type world struct {
	outcomes []Outcome
	found    evidence
	faults   []FaultCount
	kills    []Kill
	checks   []Check
}

func rightWorld() *world {
	w := &world{
		found: evidence{
			payments: map[uuid.UUID]heldPayment{}, books: map[uuid.UUID]twinBook{}, ledger: map[string]int64{},
			suppressed: Suppressed{Command: 10, Event: 10, Ledger: 10, Notification: 10},
			facts:      []FactCount{{"intent_created", "answer", 190}, {"intent_created", "event", 10}, {"succeeded", "event", 170}},
			messages:   []MessageCount{{"payment.succeeded", "delivered", orders - declined}},
			payouts: []heldPayout{
				{"run-1-payout-1", payments.PayoutPaid, 5000, 5000, 1}, {"run-1-payout-2", payments.PayoutFailed, 5000, 0, 1},
			},
		},
		kills: []Kill{{"api", 10}, {"worker", 20}}, checks: []Check{{Name: "journals", Examined: 1}},
	}
	for _, kind := range kindsOfFaults() {
		w.faults = append(w.faults, FaultCount{kind, 1})
	}
	for _, order := range Mix(1, 1) {
		w.add(order)
	}
	return w
}

// add adds an order that came out as it must.
func (w *world) add(order Order) {
	outcome := Outcome{Order: order, Duplicates: 1, AtOnce: 5, FreshKeys: 1, Repeated: 1}
	outcome.Payment.ID.UUID, outcome.Payment.Status = uuid.New(), order.Answered()
	held := heldPayment{
		ID: outcome.Payment.ID.UUID, Reference: order.Reference, Status: order.Ends(), Stage: payments.StageLedgerApplied,
		Amount: order.Amount, Currency: order.Currency, Captured: order.Captured(), DeclineCode: order.DeclineCode,
		Refunded: order.Refunded(), Refunds: order.Refunds(), ToSellers: order.ToSellers(),
		Dispute: order.Dispute(), Lost: order.Lost(),
	}
	book := twinBook{
		Captured: order.Captured(), Currency: order.Currency, Captures: order.Captures(), Refunded: order.Refunded(), Refunds: order.Refunds(),
	}
	if book.Lost = order.Lost(); order.Dispute() != "" {
		book.Disputes = 1
	}
	switch {
	case order.Declined():
		book.Declines = 1
	case order.MustPay():
		book.Intents, book.Charges = 1, 1
	default:
		book.Charges = 1 // held, and let go
	}
	w.found.ledger[order.Currency] += held.Captured - held.Refunded
	w.found.journals += order.Journals()
	w.found.payments[held.ID], w.found.books[held.ID] = held, book
	w.outcomes = append(w.outcomes, outcome)
}

func (w *world) judge() *Result {
	r := &Result{
		Faults: w.faults, Kills: w.kills, Checks: w.checks, Suppressed: w.found.suppressed, Journals: w.found.journals, Messages: w.found.messages,
		Facts: w.found.facts,
	}
	r.judgeOrders(w.outcomes, w.found)
	r.judgePayouts(w.found.payouts)
	r.compareBooks(w.found)
	r.judge()
	return r
}

// order is the place of the first order of a kind.
func (w *world) order(is func(Order) bool) int {
	return slices.IndexFunc(w.outcomes, func(outcome Outcome) bool { return is(outcome.Order) })
}

func paid(o Order) bool     { return o.MustPay() && o.RepeatOf == 0 && o.Plan == "" }
func refused(o Order) bool  { return o.Declined() }
func repeated(o Order) bool { return o.RepeatOf != 0 }

func planned(plan Plan) func(Order) bool { return func(o Order) bool { return o.Plan == plan } }

func (w *world) spoil(is func(Order) bool, held func(*heldPayment), book func(*twinBook)) {
	id := w.outcomes[w.order(is)].Payment.ID.UUID
	changedPayment, changedBook := w.found.payments[id], w.found.books[id]
	if held != nil {
		held(&changedPayment)
	}
	if book != nil {
		book(&changedBook)
	}
	w.found.payments[id], w.found.books[id] = changedPayment, changedBook
}

func TestARightRunPassesAndSaysSoInItsLastLine(t *testing.T) {
	r := rightWorld().judge()
	require.Empty(t, r.Failures)
	require.Equal(t, "demo: orders=200 paid=161 captures=27 refunds=37 payouts=2 disputes=9 faults=14 suppressed_command=10 suppressed_event=10 suppressed_ledger=10 "+
		"suppressed_notification=10 kills=2 swallowed=0 violations=0", r.LastLine())
	require.Equal(t, 20, r.PaidAgain)
	require.Equal(t, 30, r.Declined)
	require.Equal(t, 9, r.Voided)
	var out bytes.Buffer
	r.Print(&out)
	require.True(t, strings.HasSuffix(out.String(), "\n"+r.LastLine()+"\n"), "the last line is the last")
	for _, title := range []string{"Duplicates that each boundary", "By which source", "Orders, charges", "Holds, captures, refunds, disputes", "The twin's books", "Faults", "The doctor"} {
		require.Contains(t, out.String(), title)
	}
}

func TestARunFailsForEachThingThatIsNotProved(t *testing.T) {
	for name, tc := range map[string]struct {
		spoil func(w *world)
		want  string
	}{
		"a fault that never fired": {func(w *world) { w.faults[3].Fired = 0 }, "never fired"},
		"a boundary not tested":    {func(w *world) { w.found.suppressed.Ledger = 9 }, "the ledger boundary suppressed 9"},
		"the API not killed":       {func(w *world) { w.kills = w.kills[1:] }, "the api was not killed"},
		"the worker not killed":    {func(w *world) { w.kills = w.kills[:1] }, "the worker was not killed"},
		"no doctor":                {func(w *world) { w.checks = nil }, "the doctor checked nothing"},
		"a violation":              {func(w *world) { w.checks[0].Violations = 2 }, "the doctor found 2 violations"},
		"a problem":                {func(w *world) { w.outcomes[0].Problems = []string{"x"} }, "1 problems"},
		"an order not sent":        {func(w *world) { w.outcomes = w.outcomes[:199] }, "199 orders were sent"},
		"a message not delivered":  {func(w *world) { w.found.messages[0].Status = "parked" }, "are parked"},
		"a journal too many":       {func(w *world) { w.found.journals++ }, "298 journals"},
		"the ledger off by a cent": {func(w *world) { w.found.ledger["eur"]++ }, "the books differ in eur"},
		"charged twice": {func(w *world) {
			w.spoil(paid, nil, func(b *twinBook) { b.Charges, b.Captured = 2, 2*b.Captured })
		}, "have not their outcome"},
		"charged another amount": {func(w *world) { w.spoil(paid, nil, func(b *twinBook) { b.Captured++ }) }, "have not their outcome"},
		"not charged": {func(w *world) {
			w.spoil(paid, nil, func(b *twinBook) { b.Charges, b.Captured = 0, 0 })
		}, "1 orders were swallowed"},
		"a declined one charged":     {func(w *world) { w.spoil(refused, nil, func(b *twinBook) { b.Charges = 1 }) }, "have not their outcome"},
		"declined for another cause": {func(w *world) { w.spoil(refused, func(h *heldPayment) { h.DeclineCode = "x" }, nil) }, "have not their outcome"},
		"an intent left open":        {func(w *world) { w.spoil(paid, nil, func(b *twinBook) { b.Intents = 2 }) }, "have not their outcome"},
		"a review":                   {func(w *world) { w.spoil(paid, func(h *heldPayment) { h.Review = "x" }, nil) }, "have not their outcome"},
		"a hold captured twice":      {func(w *world) { w.spoil(planned(PlanCapture), nil, func(b *twinBook) { b.Captures = 2 }) }, "5 of 6 orders were captured"},
		"a part beyond what was asked": {func(w *world) {
			w.spoil(planned(PlanPart), nil, func(b *twinBook) { b.Captured++ })
		}, "5 of 6 orders were captured in part"},
		"a voided hold captured": {func(w *world) {
			w.spoil(planned(PlanVoid), nil, func(b *twinBook) { b.Captured = 100 })
		}, "5 of 6 orders were voided"},
		"a hold that nobody saw to": {func(w *world) {
			w.spoil(planned(PlanPolicyVoid), func(h *heldPayment) { h.Status, h.Held = payments.StatusRequiresCapture, h.Amount }, nil)
		}, "2 of 3 orders were voided by its policy"},
		"money given back twice": {func(w *world) {
			w.spoil(planned(PlanRefund), nil, func(b *twinBook) { b.Refunds, b.Refunded = 2, 2*b.Refunded })
		}, "5 of 6 orders were given back"},
		"of two equal refunds one swallowed": {func(w *world) {
			w.spoil(planned(PlanRefundTwice), func(h *heldPayment) { h.Refunds = 1 }, nil)
		}, "5 of 6 orders were given back in two equal parts"},
		"a failed refund that is not credited": {func(w *world) {
			w.spoil(planned(PlanRefundFails), func(h *heldPayment) { h.Refunded = h.Amount }, nil)
		}, "2 of 3 orders were given back, which fails"},
		"a dispute that nobody told of": {func(w *world) {
			w.spoil(planned(PlanDisputeWon), func(h *heldPayment) { h.Dispute = "" }, nil)
		}, "2 of 3 orders were disputed, and won"},
		"a dispute that was lost twice": {func(w *world) {
			w.spoil(planned(PlanDisputeLost), func(h *heldPayment) { h.Lost *= 2 }, nil)
		}, "2 of 3 orders were disputed, and lost"},
		"a payout that is still at Stripe":          {func(w *world) { w.found.payouts[0].Status = payments.PayoutPending }, "1 of 2 payouts"},
		"a payout that came back and is not booked": {func(w *world) { w.found.payouts[1].InBank = 5000 }, "1 of 2 payouts"},
		"a payout that is not told":                 {func(w *world) { w.found.payouts[1].Told = 0 }, "1 of 2 payouts"},
		"a payout made twice":                       {func(w *world) { w.found.payouts = append(w.found.payouts, w.found.payouts[0]) }, "3 of 2 payouts"},
		"a debit that did not settle": {func(w *world) {
			w.spoil(planned(PlanDebit), func(h *heldPayment) { h.Status = payments.StatusProcessing }, nil)
		}, "3 of 4 orders were bank debit"},
		"no command sent again": {func(w *world) {
			for i := range w.outcomes {
				w.outcomes[i].Repeated = 0
			}
		}, "sent again, fewer than"},
		"an honest repeat not paid": {func(w *world) {
			w.spoil(repeated, func(h *heldPayment) { h.Status = payments.StatusProcessing }, nil)
		}, "19 of 20 honest repeats"},
		"an order without payment": {func(w *world) {
			delete(w.found.payments, w.outcomes[w.order(paid)].Payment.ID.UUID)
		}, "1 orders were swallowed"},
		"an order without answer": {func(w *world) {
			w.outcomes[w.order(paid)].Payment = payments.View{}
		}, "1 orders were swallowed"},
		"two orders with one payment": {func(w *world) {
			i := w.order(repeated)
			w.outcomes[i].Payment = w.outcomes[i-1].Payment
		}, "were swallowed"},
	} {
		t.Run(name, func(t *testing.T) {
			w := rightWorld()
			tc.spoil(w)
			r := w.judge()
			require.NotEmpty(t, r.Failures)
			require.Contains(t, strings.Join(r.Failures, "\n"), tc.want)
			var out bytes.Buffer
			r.Print(&out)
			require.Contains(t, out.String(), "FAILED: ")
		})
	}
}

func TestBooksOfTheTwinAreThoseOfThePaymentsAndSurplusIntentsCount(t *testing.T) {
	ours, others := uuid.New(), uuid.New()
	of := func(id uuid.UUID) map[string]string { return map[string]string{payments.MetadataPayment: id.String()} }
	books := bookByPayment([]control.Book{
		{Metadata: of(ours), Canceled: true, Currency: "eur"},
		{Metadata: of(ours), ChargesSucceeded: 1, ChargesFailed: 2, Captured: 100, Currency: "eur", CapturesExecuted: 1, Refunded: 30,
			Refunds: []control.Refund{{Amount: 30}, {Amount: 9, Released: true}}},
		{Metadata: of(others), Captured: 7}, {Captured: 9},
	}, map[uuid.UUID]heldPayment{ours: {}})
	require.Equal(t, map[uuid.UUID]twinBook{ours: {Intents: 1, Charges: 1, Declines: 2, Captured: 100, Currency: "eur", Captures: 1, Refunded: 30, Refunds: 1}}, books)
}
