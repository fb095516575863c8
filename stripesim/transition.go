package stripesim

import (
	"encoding/json"
	"time"
)

// transition is one change of the books, made under their lock: what it touched is written together with the events
// that it caused, their deliveries and the stored answer.
type transition struct {
	books *books
	now   time.Time
	who   origin

	touched []record
	seen    map[record]bool
	before  map[*intent]*intent // what intents were before the change, for the search that lags
	events  []*event
}

// origin is whose request a change comes from. The zero value is the clock or the payer's bank.
type origin struct {
	scope
	platform  string // the account of the key, when it acts for another
	requestID string
	key       string
	base      string // where the payer finds the twin's pages, such as http://127.0.0.1:12111
}

func (b *books) begin(now time.Time, who origin) *transition {
	b.search.advance(now)
	b.now = now.Unix()
	return &transition{books: b, now: now, who: who, seen: map[record]bool{}}
}

// open remembers what an intent is before this change; whoever changes an intent that was there calls it first.
func (t *transition) open(in *intent) {
	if t.before == nil {
		t.before = map[*intent]*intent{}
	}
	if t.before[in] == nil {
		was := *in
		t.before[in] = &was
	}
}

// touch notes that a row has to be written.
func (t *transition) touch(row record) {
	if !t.seen[row] {
		t.seen[row] = true
		t.touched = append(t.touched, row)
	}
}

// about is whose event it is and, where it is of a payment, which intent's.
type about struct {
	scope
	platform string
	intent   string
}

func (in *intent) about() about { return about{in.owner(), in.Platform, in.ID} }

// emit files an event with a snapshot of the object as it is now.
func (t *transition) emit(kind string, of about, object any, previous map[string]any) {
	e := &event{ID: newID("evt"), Account: of.Account, Platform: of.platform, Livemode: of.Livemode, Created: t.now.Unix(),
		Type: kind, Version: apiVersion, Object: encode(object), RequestID: t.who.requestID, IdempotencyKey: t.who.key, Intent: of.intent}
	if previous != nil {
		e.Previous = json.RawMessage(encode(previous))
	}
	t.books.events.add(e)
	t.events = append(t.events, e)
	t.touch(e)
}

func (t *transition) emitIntent(kind string, in *intent) {
	t.emit(kind, in.about(), t.books.renderIntent(in, nil), nil)
}

func (t *transition) emitCharge(kind string, in *intent, c *charge) {
	t.emit(kind, in.about(), t.books.renderCharge(c, nil), nil)
}

// batch is what has to be written.
func (t *transition) batch() *batch {
	b := &batch{}
	for _, row := range t.touched {
		b.put(t.bucketOf(row), *row.number(), row)
	}
	return b
}

func (t *transition) bucketOf(row record) string {
	switch row.(type) {
	case *intent:
		return t.books.intents.bucket
	case *charge:
		return t.books.charges.bucket
	case *refund:
		return t.books.refunds.bucket
	case *dispute:
		return t.books.disputes.bucket
	case *lateCapture:
		return t.books.late.bucket
	case *payout:
		return t.books.payouts.bucket
	case *account:
		return t.books.accounts.bucket
	case *balanceTransaction:
		return t.books.transactions.bucket
	case *method:
		return t.books.methods.bucket
	case *customer:
		return t.books.customers.bucket
	case *connectedAccount:
		return t.books.connected.bucket
	default:
		return t.books.events.bucket
	}
}
