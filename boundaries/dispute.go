package boundaries

import "payonce/payments"

// DisputeID is the id of a dispute: every one is made elsewhere, and named by Stripe's id.
func DisputeID(tenant payments.TenantID, account payments.Account, dispute string) payments.DisputeID {
	return payments.DisputeID{UUID: derive("dispute", tenant.String(), account.ID, mode(account.Livemode), dispute)}
}
