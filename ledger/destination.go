package ledger

import "payonce/payments"

// IsDestination tells whether the chart has the account as one that money of a payment may be sent to: the merchant's balance, or a wallet.
func IsDestination(name AccountName) bool {
	kind, err := KindOf(name)
	return err == nil && kind == Guarded
}

// shared are entries of one sign, 1 debits and -1 credits, for what each destination gets or gives back; of an amount that names nobody, the merchant's.
func shared(among []payments.Destination, amount, sign int64, currency payments.Currency) []Entry {
	if len(among) == 0 {
		return []Entry{{Account: MerchantBalance, Amount: sign * amount, Currency: currency}}
	}
	entries := make([]Entry, len(among))
	for i, d := range among {
		entries[i] = Entry{Account: AccountName(d.Account), Amount: sign * d.Amount, Currency: currency}
	}
	return entries
}
