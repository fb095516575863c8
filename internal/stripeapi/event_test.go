package stripeapi_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"payonce/internal/stripeapi"
	"payonce/payments"
)

func TestAnEventCarriesItsObject(t *testing.T) {
	t.Parallel()
	parse := func(object string) stripeapi.Event {
		event, err := stripeapi.ParseEvent([]byte(`{"id":"evt_1","type":"charge.updated","created":1700000000,"data":{"object":`+object+`}}`), merchant.Account)
		require.NoError(t, err)
		return event
	}
	charged := parse(holdJSON)
	require.Equal(t, &hold, charged.Charge)
	require.Equal(t, "pi_1", charged.IntentID)
	require.Nil(t, charged.Refund)
	refunded := parse(refundJSON)
	require.Equal(t, &refund, refunded.Refund)
	require.Equal(t, "pi_1", refunded.IntentID)
	disputed := parse(disputeJSON)
	require.Equal(t, &dispute, disputed.Dispute)
	require.Equal(t, "pi_1", disputed.IntentID)
	paid := parse(payoutJSON)
	require.Equal(t, &payout, paid.Payout)
	require.Empty(t, paid.IntentID)
	require.Nil(t, paid.Intent)
}

// Before 2014-08-20 a dispute had one balance transaction, and newer versions may write anything: the event still names what is to be read.
func TestAnObjectOfAnotherVersionThatCannotBeDecodedIsStillNamed(t *testing.T) {
	t.Parallel()
	event, err := stripeapi.ParseEvent([]byte(`{"id":"evt_1","type":"charge.dispute.created","data":{"object":{"id":"dp_1","object":"dispute",
		"payment_intent":"pi_1","balance_transactions":{"object":"list"}}}}`), merchant.Account)
	require.NoError(t, err)
	require.Equal(t, "dp_1", event.Object)
	require.Equal(t, "pi_1", event.IntentID)
	require.Nil(t, event.Dispute)
}

func TestAnEventOfNoTimeIsUnreadable(t *testing.T) {
	for _, created := range []string{"-1", "253402300800", "9000000000000000000"} {
		_, err := stripeapi.ParseEvent([]byte(`{"id":"evt_1","created":`+created+`,"data":{"object":{"id":"ch_1","object":"charge"}}}`), payments.Account{})
		require.ErrorContains(t, err, created)
	}
}
