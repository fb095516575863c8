package stripesim

import (
	"container/heap"
	"sync"
	"time"
)

// books are everything that Stripe knows. One lock guards them; nothing waits for a network or a disk under it.
type books struct {
	mu           sync.Mutex
	intents      *table[*intent]
	charges      *table[*charge]
	transactions *table[*balanceTransaction]
	methods      *table[*method]
	customers    *table[*customer]
	events       *table[*event]
	keys         *keyring
	due          dueHeap
	search       searchIndex
}

func newBooks() *books {
	return &books{
		intents: newTable[*intent]("intents"), charges: newTable[*charge]("charges"),
		transactions: newTable[*balanceTransaction]("balance_transactions"), methods: newTable[*method]("methods"),
		customers: newTable[*customer]("customers"), search: searchIndex{waiting: map[string][]*intent{}},
		events: newTable[*event]("events"), keys: newKeyring(),
	}
}

// load fills the books from the state file.
func (b *books) load(s *store) error {
	steps := []func() error{
		func() error { return load(s, b.intents.bucket, b.intents.file) },
		func() error { return load(s, b.charges.bucket, b.charges.file) },
		func() error { return load(s, b.transactions.bucket, b.transactions.file) },
		func() error { return load(s, b.methods.bucket, b.methods.file) },
		func() error { return load(s, b.customers.bucket, b.customers.file) },
		func() error { return load(s, b.events.bucket, b.events.file) },
		func() error { return load(s, keysBucket, b.keys.file) },
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	for _, in := range b.intents.all {
		b.plan(in)
	}
	b.reindex()
	return nil
}

// plan notes that the clock will do something to this intent.
func (b *books) plan(in *intent) {
	if in.DueAt != 0 {
		heap.Push(&b.due, dueItem{at: in.DueAt, intent: in.ID})
	}
}

// nextDue takes the next intent that is due at now, or nil.
func (b *books) nextDue(now time.Time) *intent {
	for len(b.due) > 0 && b.due[0].at <= now.Unix() {
		item := heap.Pop(&b.due).(dueItem)
		if in := b.intents.byID[item.intent]; in != nil && in.DueAt == item.at {
			return in
		}
	}
	return nil
}

type dueItem struct {
	at     int64
	intent string
}

type dueHeap []dueItem

func (h dueHeap) Len() int           { return len(h) }
func (h dueHeap) Less(i, j int) bool { return h[i].at < h[j].at }
func (h dueHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *dueHeap) Push(item any)     { *h = append(*h, item.(dueItem)) }
func (h *dueHeap) Pop() any {
	last := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return last
}
