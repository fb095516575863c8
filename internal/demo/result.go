package demo

import "fmt"

// Result is what a run came to: everything that is printed, and why it failed if it did.
type Result struct {
	Run       int     `json:"run"`
	Seed      int64   `json:"seed"`
	Seconds   float64 `json:"seconds"`
	Phases    []Phase `json:"phases"`
	Orders    int     `json:"orders"`
	Paid      int     `json:"paid"`     // as ordered: one charge of the right amount, in the ledger
	Declined  int     `json:"declined"` // as ordered: no charge
	Voided    int     `json:"voided"`   // as ordered: the hold was let go
	Captures  int     `json:"captures"` // of holds, by us
	Refunds   int     `json:"refunds"`  // whoever made them
	Payouts   int     `json:"payouts"`  // as wished for: one reached the bank, one came back
	Disputes  int     `json:"disputes"` // at the twin
	Owners    int     `json:"owners"`   // each asked for by two callers at once: one customer and one connected account
	Repeats   int     `json:"repeats"`  // honest repeats, equal in all but reference
	PaidAgain int     `json:"repeats_paid"`

	Duplicates int `json:"duplicate_submits"`
	AtOnce     int `json:"concurrent_orders"`
	FreshKeys  int `json:"fresh_keys"`
	GaveUp     int `json:"given_up"`
	Further    int `json:"further_commands"` // captures, cancels and refunds that were asked for
	Repeated   int `json:"further_repeats"`  // and how often one of them was sent again
	NoAnswer   int `json:"without_answer"`
	InProgress int `json:"answered_in_progress"`
	SentAway   int `json:"answered_202"`

	Redelivered int            `json:"events_redelivered"`
	Faults      []FaultCount   `json:"faults"`
	Kills       []Kill         `json:"kills"`
	Suppressed  Suppressed     `json:"suppressed"`
	Receiver    ReceiverCount  `json:"receiver"`
	Facts       []FactCount    `json:"facts"`
	Journals    int            `json:"journals"`
	Effects     int            `json:"effects"` // that must have a journal each: holds, captures, releases, refunds
	Charges     int            `json:"charges"`
	Plans       []PlanCount    `json:"plans"`
	Messages    []MessageCount `json:"messages"`
	Books       []BookLine     `json:"books"`

	Swallowed  []string `json:"swallowed"`  // orders wished for that are not there as they should be
	Problems   []string `json:"problems"`   // of orders, answers and messages
	Violations []string `json:"violations"` // the doctor's
	Checks     []Check  `json:"checks"`     // the doctor's
	Failures   []string `json:"failures"`   // why the run failed; empty: it passed
}

// Phase is how long a part of the run took.
type Phase struct {
	Name    string  `json:"name"`
	Seconds float64 `json:"seconds"`
}

// BookLine is a currency in our books and in the twin's, in minor units.
type BookLine struct {
	Currency     string `json:"currency"`
	OurPayments  int    `json:"our_payments"`
	OurCaptured  int64  `json:"our_captured"`
	OurLedger    int64  `json:"our_ledger"`
	TwinPayments int    `json:"twin_payments"`
	TwinCaptured int64  `json:"twin_captured"`
	OurRefunded  int64  `json:"our_refunded"`
	TwinRefunded int64  `json:"twin_refunded"`
}

// Check is one of the doctor's.
type Check struct {
	Name       string `json:"name"`
	Invariant  int    `json:"invariant"`
	Examined   int    `json:"examined"`
	Violations int    `json:"violations"`
}

// FaultsFired is how many faults fired in all.
func (r *Result) FaultsFired() int {
	sum := 0
	for _, fault := range r.Faults {
		sum += fault.Fired
	}
	return sum
}

// violations is how many the doctor found: it lists some of them.
func (r *Result) violations() int {
	sum := 0
	for _, check := range r.Checks {
		sum += check.Violations
	}
	return sum
}

// LastLine is the line that programs read.
func (r *Result) LastLine() string {
	return fmt.Sprintf("demo: orders=%d paid=%d captures=%d refunds=%d payouts=%d disputes=%d faults=%d "+
		"suppressed_command=%d suppressed_event=%d suppressed_ledger=%d suppressed_notification=%d kills=%d swallowed=%d violations=%d",
		r.Orders, r.Paid, r.Captures, r.Refunds, r.Payouts, r.Disputes, r.FaultsFired(), r.Suppressed.Command, r.Suppressed.Event, r.Suppressed.Ledger,
		r.Suppressed.Notification, len(r.Kills), len(r.Swallowed), r.violations())
}
