package doctor

import (
	"github.com/google/uuid"

	"payonce/boundaries"
	"payonce/stripesim/control"
)

// tally counts the effects at Stripe of each capture and refund that was frozen here: what creates a movement may do so once, under all its keys.
type tally struct {
	check   *Check
	effects map[uuid.UUID]int // by what was to be made; some bytes a capture or refund
}

// count notes a request that went out under a frozen key.
func (t tally) count(call frozenCall, r control.Request) {
	moves := call.ResourceKind == boundaries.ResourceCapture || call.ResourceKind == boundaries.ResourceRefund
	if !moves || !r.Executed || r.Replayed {
		return
	}
	t.check.Examined++
	if t.effects[call.ResourceID]++; t.effects[call.ResourceID] == 2 {
		t.check.violate(call.ResourceKind+" "+call.ResourceID.String(),
			"the payer may have got or lost money twice: compare its rows of payonce.provider_calls with the payment's refunds and captures at Stripe",
			"took effect at Stripe more than once, the second time by request %d under the key %s", r.Seq, r.IdempotencyKey)
	}
}
