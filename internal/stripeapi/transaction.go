package stripeapi

import (
	"cmp"
	"context"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/stripe/stripe-go/v76"

	"payonce/payments"
)

// BalanceTransaction is a change of the account's balance at Stripe (https://docs.stripe.com/api/balance_transactions/object).
type BalanceTransaction struct {
	ID       string
	Account  payments.Account // where it was read
	Type     string           // for instance charge, payment, refund, payment_refund, adjustment, payout, stripe_fee
	Category string           // reporting_category, for instance charge, refund, dispute, dispute_reversal, payout, fee
	Money    payments.Money   // gross, in the currency that the account settles in; negative when it leaves the balance
	Fee      int64            // minor units of that currency, in Money and not beside it: Net = Money.Amount - Fee; negative when it is given back
	Net      int64

	// ExchangeRate is what one minor unit of the object's currency is in minor units of this one, as text: it is shown and never counted with. Empty
	// when nothing was exchanged. It is read as a number with 15 digits, and Stripe writes fewer.
	ExchangeRate string

	Source  string   // what moved the balance: ch_…, re_…, dp_…, po_…; empty for a fee of the account
	Charge  *Charge  // the source, when it came expanded and is one
	Refund  *Refund  // the same
	Dispute *Dispute // the same
	Created time.Time
}

// Intent is the intent whose charge, refund or dispute moved the balance; empty when the source did not come expanded, or has none.
func (t BalanceTransaction) Intent() string {
	switch {
	case t.Charge != nil:
		return t.Charge.Intent
	case t.Refund != nil:
		return t.Refund.Intent
	case t.Dispute != nil:
		return t.Dispute.Intent
	default:
		return ""
	}
}

// PaymentMetadata is the payment that the source says it belongs to; empty when it says nothing, as a refund or a dispute that Stripe or a person made.
func (t BalanceTransaction) PaymentMetadata() string {
	switch {
	case t.Charge != nil:
		return t.Charge.PaymentMetadata()
	case t.Refund != nil:
		return t.Refund.Metadata[payments.MetadataPayment]
	default:
		return ""
	}
}

// Transactions asks for balance transactions: those created within [From, To], beside either place in the list.
type Transactions struct {
	From   time.Time // zero: however old
	To     time.Time // zero: however new
	Above  string    // txn_…: the page that ends just before it, which is the next newer one
	Below  string    // txn_…: the page that begins just after it, which is the next older one
	Source string    // only those of this ch_…, re_…, dp_…, po_…
}

// TransactionPage is a page of balance transactions.
type TransactionPage struct {
	Transactions []BalanceTransaction // newest first
	More         bool                 // in the direction of the request: newer ones with Above, else older ones
}

// ListTransactions lists a page of balance transactions with their sources in full, newest first (https://docs.stripe.com/api/balance_transactions/list).
func (c *Client) ListTransactions(ctx context.Context, credentials Credentials, which Transactions) (TransactionPage, error) {
	query := url.Values{"limit": {strconv.Itoa(PageLimit)}, "expand[]": {"data.source"}}
	for name, at := range map[string]time.Time{"created[gte]": which.From, "created[lte]": which.To} {
		if !at.IsZero() {
			query.Set(name, strconv.FormatInt(at.Unix(), 10))
		}
	}
	for name, value := range map[string]string{"ending_before": which.Above, "starting_after": which.Below, "source": which.Source} {
		if value != "" {
			query.Set(name, value)
		}
	}
	var list listPage[*stripe.BalanceTransaction]
	if err := c.read(ctx, credentials, "/v1/balance_transactions", query, &list); err != nil {
		return TransactionPage{}, err
	}
	return TransactionPage{
		More: list.HasMore, Transactions: mapped(list.Data, func(t *stripe.BalanceTransaction) BalanceTransaction { return transactionOf(t, credentials.Account) }),
	}, nil
}

// OldestFirst are the transactions of a page in the order in which they came to be.
func (p TransactionPage) OldestFirst() []BalanceTransaction {
	turned := slices.Clone(p.Transactions)
	slices.Reverse(turned)
	return turned
}

func transactionOf(from *stripe.BalanceTransaction, account payments.Account) BalanceTransaction {
	transaction := BalanceTransaction{
		ID:       from.ID,
		Account:  account,
		Type:     string(from.Type),
		Category: string(from.ReportingCategory),
		Money:    payments.Money{Amount: from.Amount, Currency: payments.Currency(from.Currency)},
		Fee:      from.Fee,
		Net:      from.Net,
		Created:  moment(from.Created),
	}
	if from.ExchangeRate != 0 {
		transaction.ExchangeRate = strconv.FormatFloat(from.ExchangeRate, 'f', -1, 64)
	}
	source := from.Source
	if source == nil {
		return transaction
	}
	transaction.Source = source.ID
	transaction.Charge = expandedCharge(source.Charge, account)
	if source.Refund != nil {
		refund := refundOf(source.Refund, account)
		transaction.Refund = &refund
	}
	if source.Dispute != nil {
		dispute := disputeOf(source.Dispute, account)
		transaction.Dispute = &dispute
	}
	return transaction
}

// transactionsOf are the transactions in the order in which they came to be.
func transactionsOf(from []*stripe.BalanceTransaction, account payments.Account) []BalanceTransaction {
	all := mapped(from, func(t *stripe.BalanceTransaction) BalanceTransaction { return transactionOf(t, account) })
	slices.SortStableFunc(all, func(a, b BalanceTransaction) int {
		return cmp.Or(a.Created.Compare(b.Created), cmp.Compare(a.Money.Amount, b.Money.Amount))
	})
	return all
}

// expandedTransaction is the transaction, or nil when only its id came.
func expandedTransaction(from *stripe.BalanceTransaction, account payments.Account) *BalanceTransaction {
	if from == nil || from.Object == "" {
		return nil
	}
	transaction := transactionOf(from, account)
	return &transaction
}

func transactionID(from *stripe.BalanceTransaction) string {
	if from == nil {
		return ""
	}
	return from.ID
}
