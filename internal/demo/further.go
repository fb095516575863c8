package demo

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"golang.org/x/sync/errgroup"
)

// goOn does what the order's plan asks for as soon as its create was answered.
func (b *buyer) goOn(ctx context.Context) {
	o := b.outcome.Order
	switch o.Plan {
	case PlanCapture:
		b.ask(ctx, "capture", map[string]any{})
	case PlanPart:
		b.ask(ctx, "capture", map[string]any{"amount": 2 * o.third(), "reference": "parcel"})
	case PlanParts:
		b.ask(ctx, "capture", map[string]any{"amount": o.third(), "reference": "parcel-1", "final": false})
		b.ask(ctx, "capture", map[string]any{"amount": o.third(), "reference": "parcel-2"})
	case PlanVoid:
		b.ask(ctx, "cancel", map[string]any{})
	case PlanRefund, PlanRefundFails:
		b.ask(ctx, "refunds", map[string]any{})
	case PlanRefundPart, PlanSharedRefund:
		b.ask(ctx, "refunds", map[string]any{"amount": o.third(), "reference": "item", "reason": "requested_by_customer"})
	case PlanRefundTwice:
		b.ask(ctx, "refunds", map[string]any{"amount": o.third(), "reference": "item-1"})
		b.ask(ctx, "refunds", map[string]any{"amount": o.third(), "reference": "item-2"})
	default: // the rest happens by itself, or days later
	}
}

// ask sends a further command on the payment in the order's style: it is one command, however often it is sent, and all its answers are one answer.
func (b *buyer) ask(ctx context.Context, what string, wish map[string]any) {
	b.outcome.Further++
	body, err := json.Marshal(wish)
	if err != nil {
		panic(err) // strings, truths and numbers
	}
	path := "/v1/payments/" + b.outcome.Payment.ID.String() + "/" + what
	key := fmt.Sprintf("%s-%s-%d", b.outcome.Order.Reference, what, b.outcome.Further)
	keys := []string{key}
	style := b.outcome.Order.Style
	if style == StyleConcurrent {
		keys = []string{key, key, key}
	} else if style == StyleFreshKeys && (what != "refunds" || wish["reference"] != nil) {
		keys = []string{key, key + "-again"} // a refund without a reference is named by its key: under another it is another
	}
	answers := b.askTogether(ctx, path, keys, body)
	if style == StyleDuplicate {
		answers = append(answers, b.askTogether(ctx, path, keys, body)...)
	}
	for _, got := range answers[1:] {
		if !bytes.Equal(got.Body, answers[0].Body) {
			b.problem("%s: another answer: %s", what, got.Body)
			continue
		}
		b.outcome.Repeated++
	}
}

// askTogether sends the command under all keys at the same time and notes each answer that is no success.
func (b *buyer) askTogether(ctx context.Context, path string, keys []string, body []byte) []answer {
	answers := make([]answer, len(keys))
	group := errgroup.Group{}
	for i, key := range keys {
		group.Go(func() error {
			got, err := b.client.further(ctx, path, key, body)
			switch {
			case err != nil:
				b.problem("%s: %v", path, err)
			case got.Status != http.StatusOK && got.Status != http.StatusCreated:
				b.problem("%s: answered %d %s", path, got.Status, got.Body)
			}
			answers[i] = got
			return nil
		})
	}
	_ = group.Wait() // what fails is noted
	return answers
}
