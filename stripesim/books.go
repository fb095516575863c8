package stripesim

import "sync"

// books are everything that Stripe knows. One lock guards them; nothing waits for a network or a disk under it.
type books struct {
	mu sync.Mutex
	shelves
}

// shelves are what a reset makes anew.
type shelves struct {
	intents      *table[*intent]
	charges      *table[*charge]
	refunds      *table[*refund]
	disputes     *table[*dispute]
	transactions *table[*balanceTransaction]
	late         *table[*lateCapture]
	payouts      *table[*payout]
	methods      *table[*method]
	customers    *table[*customer]
	connected    *table[*connectedAccount]
	accounts     *table[*account]
	events       *table[*event]
	keys         *keyring
	due          dueHeap
	now          int64 // Unix seconds, of the latest transition
	search       searchIndex
}

func newBooks() *books { return &books{shelves: newShelves()} }

func newShelves() shelves {
	return shelves{
		intents: newTable[*intent]("intents"), charges: newTable[*charge]("charges"), refunds: newTable[*refund]("refunds"),
		disputes: newTable[*dispute]("disputes"), transactions: newTable[*balanceTransaction]("balance_transactions"),
		late: newTable[*lateCapture]("late_captures"), payouts: newTable[*payout]("payouts"), methods: newTable[*method]("methods"),
		customers: newTable[*customer]("customers"),
		connected: newTable[*connectedAccount]("connected_accounts"), accounts: newTable[*account]("accounts"),
		search: searchIndex{waiting: map[string][]*intent{}}, events: newTable[*event]("events"), keys: newKeyring(),
	}
}

// load fills the books from the state file.
func (b *books) load(s *store) error {
	steps := []func() error{
		func() error { return load(s, b.intents.bucket, b.intents.file) },
		func() error { return load(s, b.charges.bucket, b.charges.file) },
		func() error { return load(s, b.refunds.bucket, b.refunds.file) },
		func() error { return load(s, b.disputes.bucket, b.disputes.file) },
		func() error { return load(s, b.transactions.bucket, b.transactions.file) },
		func() error { return load(s, b.late.bucket, b.late.file) },
		func() error { return load(s, b.payouts.bucket, b.payouts.file) },
		func() error { return load(s, b.methods.bucket, b.methods.file) },
		func() error { return load(s, b.customers.bucket, b.customers.file) },
		func() error { return load(s, b.connected.bucket, b.connected.file) },
		func() error { return load(s, b.accounts.bucket, b.accounts.file) },
		func() error { return load(s, b.events.bucket, b.events.file) },
		func() error { return load(s, keysBucket, b.keys.file) },
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	b.planAll()
	b.reindex()
	return nil
}
