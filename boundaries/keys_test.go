package boundaries_test

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"payonce/boundaries"
	"payonce/payments"
)

var update = flag.Bool("update", false, "write the golden file: it may only grow")

// The keys are held by Stripe, by receivers and by backups: a changed line is a doubled charge.
func TestDerivedKeysAreWireFormat(t *testing.T) {
	tenant := payments.TenantID{UUID: uuid.MustParse("018f0000-0000-7000-8000-000000000001")}
	other := payments.TenantID{UUID: uuid.MustParse("018f0000-0000-7000-8000-000000000002")}
	endpoint := uuid.MustParse("018f0000-0000-7000-8000-00000000000e")
	payment := boundaries.PaymentID(tenant, "order-1", 1)
	call := boundaries.ProviderKey{
		Tenant: tenant, ResourceKind: boundaries.ResourcePayment, ResourceID: payment.UUID, Operation: payments.OperationConfirm, Attempt: 1,
	}
	secondAttempt, secondGeneration := call, call
	secondAttempt.Attempt, secondGeneration.Generation = 2, 1
	derived := map[string]string{
		"payment":                         payment.String(),
		"payment, attempt 2":              boundaries.PaymentID(tenant, "order-1", 2).String(),
		"payment, other tenant":           boundaries.PaymentID(other, "order-1", 1).String(),
		"owner: create":                   string(boundaries.CreateOwnerKey("order-1", 1)),
		"owner: confirm":                  string(boundaries.ConfirmOwnerKey(payment, 1)),
		"owner: cancel":                   string(boundaries.CancelOwnerKey(payment, 1)),
		"owner: capture":                  string(boundaries.CaptureOwnerKey(payment, 1)),
		"owner: release":                  string(boundaries.ReleaseOwnerKey(payment)),
		"owner: part":                     string(boundaries.PartOwnerKey(payment, "parcel-1")),
		"owner: part, named as the whole": string(boundaries.PartOwnerKey(payment, "capture#1")),
		"owner: referenced":               string(boundaries.ReferencedOwnerKey(payment, "return-1")),
		"owner: payout":                   string(boundaries.PayoutOwnerKey("acct_merchant", "usd", "week-1")),
		"owner: provisioning":             string(boundaries.ProvisioningOwnerKey("customer-1", "usd", "", 1)),
		"owner: provisioning, attempt 2":  string(boundaries.ProvisioningOwnerKey("customer-1", "usd", "", 2)),
		"owner: customer":                 string(boundaries.ProvisioningOwnerKey("customer-1", "", "", 1)),
		"owner: wallet":                   string(boundaries.ProvisioningOwnerKey("customer-1", "usd", "main", 1)),
		"customer":                        boundaries.ProvisionID(tenant, payments.ProvisionCommand{Kind: payments.ProvisionCustomer, Owner: "customer-1"}).String(),
		"record":                          boundaries.RecordID(tenant, payments.OperationCreate, "order-1#1").String(),
		"resource":                        boundaries.ResourceID(tenant, payments.OperationRefund, "x/return-1").String(),
		"stripe: confirm":                 call.IdempotencyKey().String(),
		"stripe: confirm, attempt 2":      secondAttempt.IdempotencyKey().String(),
		"stripe: confirm, generation 1":   secondGeneration.IdempotencyKey().String(),
		"notification":                    boundaries.NotificationID(tenant, "payment/x", "payment.succeeded", endpoint).String(),
		"ledger account":                  boundaries.LedgerAccountID(tenant, "merchant:balance", "usd").String(),
		"posting: capture":                string(boundaries.CapturePostingKey("ch_1", 1000)),
		"posting: hold":                   string(boundaries.HoldPostingKey(payment)),
		"posting: refund out":             string(boundaries.RefundOutPostingKey(endpoint)),
		"posting: refund back":            string(boundaries.RefundBackPostingKey(endpoint)),
		"posting: fee":                    string(boundaries.FeePostingKey("txn_1")),
		"posting: dispute":                string(boundaries.DisputePostingKey("dp_1", "txn_1")),
		"posting: reverse":                string(boundaries.ReversePostingKey(endpoint, 0)),
		"posting: reverse in parts":       string(boundaries.ReversePostingKey(endpoint, 2)),
		"posting: suspense":               string(boundaries.SuspensePostingKey("ch_1", 1000)),
		"posting: hold falls":             string(boundaries.HoldLeftPostingKey(payment, 400)),
		"posting: dispute lost":           string(boundaries.DisputeLostPostingKey("dp_1")),
		"posting: dispute regained":       string(boundaries.DisputeRegainedPostingKey("dp_1", 0)),
		"posting: fx":                     string(boundaries.FXPostingKey("txn_1")),
		"posting: payout out":             string(boundaries.PayoutOutPostingKey(endpoint)),
		"posting: payout back":            string(boundaries.PayoutBackPostingKey(endpoint)),
		"payout made elsewhere":           boundaries.ExternalPayoutID(tenant, payments.Account{ID: "acct_merchant"}, "po_1").String(),
		"refund made elsewhere":           boundaries.ExternalRefundID(tenant, payments.Account{ID: "acct_merchant"}, "re_1").String(),
		"dispute":                         boundaries.DisputeID(tenant, payments.Account{ID: "acct_merchant"}, "dp_1").String(),
		"dispute, live":                   boundaries.DisputeID(tenant, payments.Account{ID: "acct_merchant", Livemode: true}, "dp_1").String(),
		"workflow":                        boundaries.PaymentWorkflowID(payment),
		"workflow: sync":                  boundaries.SyncWorkflowID(payment),
		"workflow: refund":                boundaries.RefundWorkflowID(payments.RefundID{UUID: endpoint}),
		"workflow: payout":                boundaries.PayoutWorkflowID(payments.PayoutID{UUID: endpoint}),
	}
	golden := filepath.Join("testdata", "keys.golden.json")
	if *update {
		body, err := json.MarshalIndent(derived, "", "  ")
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(golden, append(body, '\n'), 0o644))
	}
	body, err := os.ReadFile(golden)
	require.NoError(t, err)
	var want map[string]string
	require.NoError(t, json.Unmarshal(body, &want))
	require.Equal(t, want, derived)
}

func TestNoNameOfAPartMeetsAnotherCaptures(t *testing.T) {
	payment := payments.PaymentID{UUID: uuid.UUID{15: 1}}
	engines := []boundaries.OwnerKey{boundaries.CaptureOwnerKey(payment, 1), boundaries.CaptureOwnerKey(payment, 12), boundaries.ReleaseOwnerKey(payment)}
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.OneOf(rapid.StringMatching(`/{0,3}(capture#1|capture#12|release)x?`), rapid.StringMatching(`[/a-c#1]{1,6}`))
		one, two := name.Draw(t, "one"), name.Draw(t, "two")
		require.NotContains(t, engines, boundaries.PartOwnerKey(payment, one))
		require.Equal(t, one == two, boundaries.PartOwnerKey(payment, one) == boundaries.PartOwnerKey(payment, two))
	})
}

func TestNoTwoIntentsShareAKey(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`[a-z0-9/#]{1,12}`)
		tenants := rapid.SliceOfNDistinct(rapid.Uint8(), 2, 2, rapid.ID).Draw(t, "tenants")
		tenant := func(i int) payments.TenantID { return payments.TenantID{UUID: uuid.UUID{15: tenants[i]}} }
		one, two := text.Draw(t, "one"), text.Draw(t, "two")
		require.NotEqual(t, boundaries.PaymentID(tenant(0), one, 1), boundaries.PaymentID(tenant(1), one, 1), "tenants never meet")
		require.NotEqual(t, boundaries.PaymentID(tenant(0), one, 1), boundaries.PaymentID(tenant(0), one, 2), "attempts never meet")
		if one != two {
			require.NotEqual(t, boundaries.PaymentID(tenant(0), one, 1), boundaries.PaymentID(tenant(0), two, 1))
			require.NotEqual(t,
				boundaries.RecordID(tenant(0), payments.Operation(one), boundaries.OwnerKey(two)),
				boundaries.RecordID(tenant(0), payments.Operation(two), boundaries.OwnerKey(one)), "parts do not run into each other")
		}
	})
}
