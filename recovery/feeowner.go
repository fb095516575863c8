package recovery

import (
	"context"
	"fmt"
	"strings"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"payonce/activities"
	"payonce/internal/stripeapi"
	"payonce/ledger"
	"payonce/payments"
)

// feeOwner is the payment that a balance transaction belongs to.
type feeOwner struct {
	ID     uuid.UUID
	Tenant uuid.UUID
	Intent string
}

// feeOwners are the payments of a page of transactions.
type feeOwners struct {
	byIntent map[string]feeOwner
	byID     map[string]feeOwner
}

// of is the owner of a transaction: the payment that is bound to its intent, else the one that the intent's metadata name.
func (o feeOwners) of(t stripeapi.BalanceTransaction) (feeOwner, bool) {
	if owner, bound := o.byIntent[t.Intent()]; bound {
		return owner, true
	}
	owner, named := o.byID[t.PaymentMetadata()]
	return owner, named
}

// owners finds the payments of transactions, all at once. One of another account than the transaction's owns nothing of it.
func (f *Fees) owners(ctx context.Context, account payments.Account, transactions []stripeapi.BalanceTransaction) (feeOwners, error) {
	var intents []string
	var named []uuid.UUID
	for _, t := range transactions {
		if intent := t.Intent(); intent != "" {
			intents = append(intents, intent)
		}
		if id, err := uuid.Parse(t.PaymentMetadata()); err == nil {
			named = append(named, id)
		}
	}
	owners := feeOwners{byIntent: map[string]feeOwner{}, byID: map[string]feeOwner{}}
	rows, err := f.Pool.Query(ctx, `
		SELECT id, tenant, coalesce(intent_id, '') FROM payonce.payments
		WHERE provider = $1 AND account = $2 AND livemode = $3 AND intent_id = ANY ($4)
		UNION
		SELECT id, tenant, coalesce(intent_id, '') FROM payonce.payments
		WHERE id = ANY ($5) AND provider = $1 AND account = $2 AND livemode = $3`,
		payments.Provider, account.ID, account.Livemode, intents, named)
	if err != nil {
		return owners, fmt.Errorf("find the payments of fees: %w", err)
	}
	found, err := pgx.CollectRows(rows, pgx.RowToStructByPos[feeOwner])
	if err != nil {
		return owners, fmt.Errorf("find the payments of fees: %w", err)
	}
	for _, owner := range found {
		owners.byID[owner.ID.String()] = owner
		if owner.Intent != "" {
			owners.byIntent[owner.Intent] = owner
		}
	}
	return owners, nil
}

// goneThrough is what became of the first transactions of a page.
type goneThrough struct {
	passed   int // the others wait
	postings []ledger.Posting
	foreign  int64
	unclear  int64
}

// judge goes through transactions, oldest first, up to one that has to wait: a payment of ours that is not known yet, for FeesWait.
func (f *Fees) judge(c feeCursor, transactions []stripeapi.BalanceTransaction, owners feeOwners) goneThrough {
	var gone goneThrough
	for _, t := range transactions {
		owner, known := owners.of(t)
		switch {
		case known && t.Dispute != nil: // booked with it, fee and all
		case known:
			postings, told := feePostings(t, owner)
			gone.postings = append(gone.postings, postings...)
			if !told {
				f.Log.Error("what a balance transaction exchanged is not clear: book it by hand", "transaction", t.ID, "source", t.Source, "payment", owner.ID)
				gone.unclear++
			}
		case t.PaymentMetadata() != "" && t.Created.After(c.Now.Add(-f.Timing.FeesWait)):
			return gone
		case t.PaymentMetadata() != "":
			f.Log.Warn("a balance transaction names a payment that is not here", "transaction", t.ID, "source", t.Source, "payment", t.PaymentMetadata())
			gone.foreign++
		case t.Dispute == nil && !strings.HasPrefix(t.Type, "payout"): // those are booked with their own objects
			gone.foreign++
		}
		gone.passed++
	}
	return gone
}

// feePostings are the journals of a transaction: the exchange, where the account settles in another currency than the payment's, and the fee. They
// answer false when what was exchanged cannot be told: of a charge that may be captured several times the total tells no part.
func feePostings(t stripeapi.BalanceTransaction, owner feeOwner) (postings []ledger.Posting, told bool) {
	tenant, source := payments.TenantID{UUID: owner.Tenant}, string(activities.SourcePoll)
	var payment *payments.PaymentID
	if owner.Intent == "" || owner.Intent == t.Intent() { // else it is the money of an intent that fits no payment
		payment = &payments.PaymentID{UUID: owner.ID}
	}
	presented, told := presentedBy(t)
	exchange, exchanged := ledger.Exchanged(ledger.Exchange{
		Tenant: tenant, Payment: payment, BalanceTransaction: t.ID, Presented: presented, Settled: t.Money, Source: source, EffectiveAt: t.Created,
	})
	if exchanged && told {
		postings = append(postings, exchange)
	}
	fee, taken := ledger.FeeTaken(ledger.Fee{
		Tenant: tenant, Payment: payment, BalanceTransaction: t.ID, Currency: t.Money.Currency, Amount: t.Fee, Source: source, EffectiveAt: t.Created,
	})
	if taken {
		postings = append(postings, fee)
	}
	return postings, told || !exchanged
}

// presentedBy is what a transaction moved, in the currency that the payer knows; false when that cannot be told.
func presentedBy(t stripeapi.BalanceTransaction) (presented payments.Money, told bool) {
	if t.Refund != nil {
		presented, told = t.Refund.Money, true
	} else {
		presented = payments.Money{Amount: t.Charge.AmountCaptured, Currency: t.Charge.Money.Currency}
		told = !t.Charge.Multicapture
	}
	if t.Money.Amount < 0 {
		presented.Amount = -presented.Amount
	}
	return presented, told
}
