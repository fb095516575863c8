package demo

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"payonce/internal/devstack"
	"payonce/payments"
	"payonce/stripesim/control"
)

// openDisputes lets the payers' banks ask for money back: with it, and once only asking.
func (s *session) openDisputes(ctx context.Context, outcomes []Outcome) error {
	s.disputes = map[string]payments.DisputeStatus{}
	for _, outcome := range outcomes {
		end := outcome.Order.Dispute()
		if end == "" || outcome.Payment.PaymentIntent == "" {
			continue
		}
		how := control.OpenDispute{}
		if end == payments.DisputeWarningClosed {
			how.Status = string(payments.DisputeWarningNeedsResponse)
		}
		opened, err := s.stack.Twin.OpenDispute(ctx, outcome.Payment.PaymentIntent, how)
		if err != nil {
			return fmt.Errorf("open a dispute: %w", err)
		}
		s.disputes[opened.ID] = end
	}
	return nil
}

// closeDisputes lets the banks decide.
func (s *session) closeDisputes(ctx context.Context) error {
	for id, end := range s.disputes {
		if _, err := s.stack.Twin.CloseDispute(ctx, id, control.CloseDispute{Status: string(end)}); err != nil {
			return fmt.Errorf("close a dispute: %w", err)
		}
	}
	return nil
}

// The payouts of a run: the bank has the first days later, and sends the second back.
const (
	payouts      = 2
	payoutAmount = 5000 // minor units of usd
)

func payoutReference(run, n int) string { return fmt.Sprintf("run-%d-payout-%d", run, n) }

// payOut pays out what Stripe has released by now, each payout asked for twice.
func (s *session) payOut(ctx context.Context) error {
	backend := newClient(s.stack.APIURL, s.stack.APIKey)
	defer backend.close()
	for n := 1; n <= payouts; n++ {
		reference := payoutReference(s.run, n)
		body, err := json.Marshal(map[string]any{"amount": payoutAmount, "currency": "usd", "reference": reference})
		if err != nil {
			return fmt.Errorf("encode payout: %w", err)
		}
		made, err := s.payOutTwice(ctx, backend, reference, body)
		if err != nil {
			return err
		}
		if n == payouts && made.Payout != "" {
			if _, err := s.stack.Twin.SettlePayout(ctx, made.Payout, control.SettlePayout{Status: "failed", FailureCode: "account_closed"}); err != nil {
				return fmt.Errorf("send a payout back: %w", err)
			}
		}
	}
	return nil
}

// payOutTwice asks for a payout, and again under another key: it is one payout, with one answer.
func (s *session) payOutTwice(ctx context.Context, backend *client, reference string, body []byte) (payments.PayoutView, error) {
	ctx, cancel := context.WithTimeout(ctx, orderWithin)
	defer cancel()
	var made payments.PayoutView
	var first answer
	for _, key := range []string{reference, reference + "-again"} {
		got, err := backend.further(ctx, "/v1/payouts", key, body)
		switch {
		case err != nil:
			return made, fmt.Errorf("pay out: %w", err)
		case got.Status != http.StatusCreated:
			s.result.Problems = append(s.result.Problems, fmt.Sprintf("payout %s: answered %d %s", reference, got.Status, got.Body))
			return made, nil
		case first.Body != nil && !bytes.Equal(got.Body, first.Body):
			s.result.Problems = append(s.result.Problems, fmt.Sprintf("payout %s: another answer: %s", reference, got.Body))
		}
		first = got
		if err := json.Unmarshal(got.Body, &made); err != nil {
			return made, fmt.Errorf("read payout: %w", err)
		}
	}
	return made, nil
}

// heldPayout is a payout of the run as Postgres holds it.
type heldPayout struct {
	Reference string
	Status    payments.PayoutStatus
	Amount    int64
	InBank    int64 // by its journals
	Told      int   // messages delivered
}

func readPayouts(ctx context.Context, stack *devstack.Stack, run int) ([]heldPayout, error) {
	return query[heldPayout](ctx, stack, `
		SELECT p.reference, p.status, p.amount,
			(SELECT coalesce(sum(e.amount), 0)::bigint FROM payonce.ledger_journals j JOIN payonce.ledger_entries e ON e.journal = j.id
			 JOIN payonce.ledger_accounts a ON a.id = e.account
			 WHERE j.tenant = p.tenant AND j.posting_key IN ('payout/' || p.id || '/out', 'payout/' || p.id || '/back') AND a.name = 'bank:settlement'),
			(SELECT count(*) FROM payonce.notifications n WHERE n.payout = p.id AND n.status = 'delivered')
		FROM payonce.payouts p WHERE p.tenant = $1 AND starts_with(p.reference, $2) ORDER BY p.reference`,
		stack.Tenant.UUID, fmt.Sprintf("run-%d-payout-", run))
}

// judgePayouts counts the payouts that are as wished for: told once, and in the bank or back.
func (r *Result) judgePayouts(found []heldPayout) {
	for i, p := range found {
		paid := p.Status == payments.PayoutPaid && p.InBank == p.Amount
		back := p.Status == payments.PayoutFailed && p.InBank == 0
		if p.Told == 1 && (i == payouts-1 && back || i != payouts-1 && paid) {
			r.Payouts++
			continue
		}
		r.Problems = append(r.Problems, fmt.Sprintf("payout %s is %s, %d of %d is in the bank, and it is told %d times",
			p.Reference, p.Status, p.InBank, p.Amount, p.Told))
	}
}
