package doctor

import (
	"context"
	"fmt"
	"hash/fnv"
	"slices"

	"github.com/google/uuid"

	"payonce/payments"
	"payonce/stripesim/control"
)

// atStripe holds the checks that one walk through Stripe's books answers.
type atStripe struct {
	positions, intents, executed, statuses, givenBack, takenBack, totals *Check

	money money
	seen  []uint64 // hashes of the bound intents met: eight bytes an intent is all that grows with the books
}

// stripe compares Stripe's books with ours, intent by intent, both ways.
func (e *examiner) stripe(ctx context.Context) error {
	at := &atStripe{
		positions: e.check("positions", 1, "a payment's ledger position is Stripe's captured - refunded - disputed + reinstated - known fees; its hold is there"),
		totals:    e.check("totals", 1, "a tenant's receivable and suspense are the sums of Stripe's books"),
		intents:   e.check("intents", 2, "one bound intent a payment; any other of ours is canceled and was never confirmed"),
		executed:  e.check("executed", 2, "at Stripe one executed confirm an attempt, one capture a capture, one charge a payment"),
		statuses:  e.check("statuses", 7, "a payment's status is that of its intent"),
		givenBack: e.check("given_back", 2, "each refund at Stripe is one refund here, with its amount and status, and none of ours was made twice"),
		takenBack: e.check("taken_back", 2, "each dispute at Stripe is one dispute here, with its status and what it withdrew and gave back"),
		money:     money{},
	}
	if e.Twin == nil {
		for _, c := range []*Check{at.positions, at.intents, at.executed, at.statuses, at.givenBack, at.takenBack, at.totals} {
			c.Skipped = "no twin was given"
		}
		return nil
	}
	accounts, err := e.accounts(ctx)
	if err != nil {
		return err
	}
	for _, account := range accounts {
		if err := e.books(ctx, at, account); err != nil {
			return fmt.Errorf("books of %s: %w", account.ID, err)
		}
	}
	if err := e.unknownAtStripe(ctx, at); err != nil {
		return err
	}
	return e.totals(ctx, at)
}

// accounts are the Stripe accounts of this database: others of the same twin are nobody's business here.
func (e *examiner) accounts(ctx context.Context) ([]payments.Account, error) {
	return collect[payments.Account](ctx, e, `SELECT account, livemode FROM payonce.provider_accounts ORDER BY account, livemode`)
}

// books walks the books of an account.
func (e *examiner) books(ctx context.Context, at *atStripe, account payments.Account) error {
	query := control.BooksQuery{Account: account.ID, Livemode: &account.Livemode, Limit: pageSize}
	for {
		books, err := e.Twin.Books(ctx, query)
		if err != nil || len(books) == 0 {
			return err
		}
		known, err := e.known(ctx, account, books)
		if err != nil {
			return err
		}
		for _, book := range books {
			if err := e.book(ctx, at, account, known, book); err != nil {
				return err
			}
		}
		query.After = books[len(books)-1].Seq
	}
}

// book judges one intent by whose it is: bound to a payment, made by us and not bound, claiming to be ours, or foreign.
func (e *examiner) book(ctx context.Context, at *atStripe, account payments.Account, known known, book control.Book) error {
	if p, bound := known.byIntent[book.ID]; bound {
		at.seen = append(at.seen, hashOf(book.ID))
		p, book, err := e.settledView(ctx, account, p, book)
		if err != nil {
			return err
		}
		at.money.add(p.Tenant, book, false)
		e.bound(at.intents, p, book)
		e.position(at.positions, p, book)
		e.effects(at.executed, p, book)
		e.status(at.statuses, p, book)
		e.givenBack(at.givenBack, p, book)
		e.takenBack(at.takenBack, p, book)
		return nil
	}
	p, named := known.byID[metadataID(book, payments.MetadataPayment)]
	ours := known.tenants[metadataID(book, payments.MetadataTenant)]
	switch {
	case named:
		at.money.add(p.Tenant, book, true)
		e.unbound(at.intents, p, book, ours)
	case ours:
		at.intents.Examined++
		at.intents.violate("intent "+book.ID, "the database has lost a payment: stop the effects and restore it to a later point",
			"was made for payment %s of our tenant, which is not here (captured %d %s)",
			book.Metadata[payments.MetadataPayment], book.Captured, book.Currency)
	}
	return nil
}

// settledView reads both sides again, ours first, when they differ: between the two reads of a running system money may move, and then Stripe may
// be ahead, and never we.
func (e *examiner) settledView(ctx context.Context, account payments.Account, p paymentRow, book control.Book) (paymentRow, control.Book, error) {
	if p.Position == net(book) && agrees(p.Status, book) && p.Held == heldAt(book) && refundsAgree(p, book) && disputesAgree(p, book) {
		return p, book, nil
	}
	again, err := e.known(ctx, account, []control.Book{book})
	if err != nil {
		return p, book, err
	}
	if p, bound := again.byIntent[book.ID]; bound {
		books, err := e.Twin.Books(ctx, control.BooksQuery{Account: account.ID, Livemode: &account.Livemode, After: book.Seq - 1, Limit: 1})
		if err != nil || len(books) != 1 || books[0].ID != book.ID {
			return p, book, err
		}
		return p, books[0], nil
	}
	return p, book, nil
}

type boundPayment struct {
	ID     uuid.UUID
	Intent string
}

// unknownAtStripe looks from our side: every intent that a payment was bound to before we began to look is in the books.
func (e *examiner) unknownAtStripe(ctx context.Context, at *atStripe) error {
	slices.Sort(at.seen)
	return page(ctx, e, `
		SELECT id, intent_id FROM payonce.payments
		WHERE id > $1 AND intent_id IS NOT NULL AND coalesce(external_resource_created_at, created_at) < $3 ORDER BY id LIMIT $2`, []any{e.now},
		func(p boundPayment) uuid.UUID { return p.ID },
		func(rows []boundPayment) error {
			for _, p := range rows {
				if _, met := slices.BinarySearch(at.seen, hashOf(p.Intent)); !met {
					at.intents.violate("payment "+p.ID.String(), "is this the twin that the system speaks to? If so, it has lost its state",
						"is bound to intent %s, which Stripe does not know", p.Intent)
				}
			}
			return nil
		})
}

func hashOf(intent string) uint64 {
	hash := fnv.New64a()
	_, _ = hash.Write([]byte(intent))
	return hash.Sum64()
}

func metadataID(book control.Book, name string) uuid.UUID {
	id, err := uuid.Parse(book.Metadata[name])
	if err != nil {
		return uuid.Nil
	}
	return id
}
