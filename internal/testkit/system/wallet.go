package system

import (
	"payonce/boundaries"
	"payonce/ledger"
	"payonce/payments"
)

// AddWallet gives the tenant a wallet, with which a payment may share its money, and answers its account.
func (s *System) AddWallet(owner, network string, currency payments.Currency) string {
	s.t.Helper()
	name := ledger.Wallet(owner, network)
	s.Exec(`INSERT INTO payonce.ledger_accounts (id, tenant, name, currency, kind, created_at) VALUES ($1, $2, $3, $4, $5, payonce.clock())
		ON CONFLICT DO NOTHING`, boundaries.LedgerAccountID(s.Tenant, string(name), currency), s.Tenant.UUID, string(name), currency, ledger.Guarded)
	return string(name)
}
