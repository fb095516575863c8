package notifications_test

import (
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"payonce/notifications"
	"payonce/payments"
)

// newPayout inserts a payout that was made elsewhere.
func (o *outbox) newPayout() payments.PayoutID {
	o.t.Helper()
	id := payments.PayoutID{UUID: uuid.New()}
	o.exec(`INSERT INTO payonce.payouts (id, tenant, amount, currency, status, stage, submitted_at, account, livemode, created_at, updated_at)
		VALUES ($1, $2, 1000, 'usd', 'paid', 'ledger_applied', payonce.clock(), 'acct_test', false, payonce.clock(), payonce.clock())`,
		id.UUID, o.tenant.UUID)
	return id
}

func (o *outbox) messageOfPayout(kind notifications.Kind, payout payments.PayoutID, sequence int) notifications.Message {
	o.t.Helper()
	subject, err := kind.Subject(payments.PaymentID{}, notifications.Of{Payout: payout.String()})
	require.NoError(o.t, err)
	body, err := notifications.RenderPayout(kind, subject, payments.PayoutView{ID: payout, Object: "payout"}, day(1))
	require.NoError(o.t, err)
	return notifications.Message{Tenant: o.tenant, Subject: subject, Kind: kind, Payout: payout, Sequence: sequence, Body: body}
}

// That a payout failed is not sent before that it was paid has arrived, however that fails; and neither waits for other payouts or payments.
func TestMessagesOfAPayoutArriveInOrder(t *testing.T) {
	t.Parallel()
	o := openOutbox(t)
	var refuse atomic.Bool
	refuse.Store(true)
	r := newReceiverThat(t, func(w http.ResponseWriter, _ *http.Request, _ delivery) {
		if refuse.Load() {
			w.WriteHeader(http.StatusInternalServerError)
		}
	})
	o.newEndpoint(r.URL)
	payout, other := o.newPayout(), o.newPayout()
	paid := o.messageOfPayout(notifications.PayoutPaid, payout, 1)
	require.Equal(t, notifications.Queued{Queued: 1}, o.enqueue(paid))
	require.Equal(t, notifications.Queued{Suppressed: 1}, o.enqueue(paid))
	o.enqueue(o.messageOfPayout(notifications.PayoutFailed, payout, 2))
	o.enqueue(o.messageOfPayout(notifications.PayoutPaid, other, 1))
	o.enqueue(o.message(o.newPayment("order-1"), 1))
	dispatcher := o.dispatcher(patient(), r)

	o.dispatch(dispatcher, 3) // the first message of each
	refuse.Store(false)
	o.db.AdvanceClock(t, patient().BackoffMax)
	o.dispatch(dispatcher, 4)

	var told []string
	for _, d := range r.deliveries()[3:] {
		if strings.Contains(d.body, payout.String()) {
			told = append(told, d.body[:strings.Index(d.body, `,`)])
		}
	}
	require.Equal(t, []string{`{"type":"payout.paid"`, `{"type":"payout.failed"`}, told)
}
