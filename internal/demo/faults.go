package demo

import (
	"context"
	"fmt"
	"math/rand/v2"

	"payonce/stripesim/control"
)

// Globs of the calls that change something.
const (
	createPath  = "/v1/payment_intents"
	confirmPath = "/v1/payment_intents/*/confirm"
	capturePath = "/v1/payment_intents/*/capture"
	refundPath  = "/v1/refunds"

	customersPath = "/v1/customers"
	accountsPath  = "/v1/accounts"
)

// kindsOfFaults are the kinds that the demo must see fire: all of the twin's but the two that are definite refusals (401 and a 400), after which an
// order is rightly not paid, and a key that Stripe knows otherwise, after which a person is asked.
func kindsOfFaults() []string {
	return []string{
		control.FaultAnswerLost, control.FaultReset, control.FaultErrorBefore, control.FaultErrorBeforeStored, control.FaultErrorAfter,
		control.FaultRateLimited, control.FaultLockTimeout, control.FaultSlow, control.FaultSlowBefore,
		control.FaultDouble, control.FaultReorder, control.FaultDelay, control.FaultDrop, control.FaultBeforeAnswer,
	}
}

// Rules are the faults of a run. What is rare comes by count, so that it does come: the first calls that it lets pass are drawn from the seed; the
// rest comes by the twin's own seed.
func Rules(seed int64, run int) []control.Rule {
	random := rand.New(rand.NewPCG(uint64(seed), uint64(run)))
	post := func(path string) control.Match { return control.Match{Method: "POST", Path: path} }
	rules := []control.Rule{
		{Fault: control.FaultAnswerLost, Match: post(createPath), Probability: 0.06},
		{Fault: control.FaultAnswerLost, Match: post(confirmPath), Probability: 0.08},
		{Fault: control.FaultReset, Match: post(""), Probability: 0.04},
		{Fault: control.FaultErrorBefore, Match: post(""), Probability: 0.04},
		{Fault: control.FaultErrorBefore, Match: control.Match{Method: "GET"}, Probability: 0.05},
		{Fault: control.FaultErrorAfter, Match: post(createPath), After: 5 + random.IntN(60), Times: 3},
		{Fault: control.FaultErrorAfter, Match: post(confirmPath), After: 5 + random.IntN(60), Times: 4},
		{Fault: control.FaultErrorBeforeStored, Match: post(createPath), After: 70 + random.IntN(40), Times: 2},
		{Fault: control.FaultErrorBeforeStored, Match: post(confirmPath), After: 70 + random.IntN(40), Times: 2},
		{Fault: control.FaultRateLimited, Match: post(""), Probability: 0.03},
		{Fault: control.FaultRateLimited, Match: post(confirmPath), After: 20 + random.IntN(60), Times: 3, RetryAfterS: 1},
		{Fault: control.FaultLockTimeout, Match: post(confirmPath), Probability: 0.05},
		{Fault: control.FaultSlow, Match: post(""), Probability: 0.05, DelayMS: 400},
		{Fault: control.FaultSlow, Match: post(confirmPath), After: 30 + random.IntN(60), Times: 3, DelayMS: 1000},
		{Fault: control.FaultSlowBefore, Match: post(confirmPath), Probability: 0.04, DelayMS: 900},
		{Fault: control.FaultSlowBefore, Match: post(createPath), After: 10 + random.IntN(60), Times: 2, DelayMS: 900},
		{Fault: control.FaultAnswerLost, Match: post(capturePath), After: random.IntN(8), Times: 3},
		{Fault: control.FaultErrorAfter, Match: post(capturePath), After: 10 + random.IntN(5), Times: 1},
		{Fault: control.FaultAnswerLost, Match: post(refundPath), After: random.IntN(8), Times: 3},
		{Fault: control.FaultErrorAfter, Match: post(refundPath), After: 12 + random.IntN(5), Times: 1},
		{Fault: control.FaultErrorBeforeStored, Match: post(refundPath), After: 18 + random.IntN(5), Times: 1},
		{Fault: control.FaultDouble, Probability: 0.10},
		{Fault: control.FaultReorder, Probability: 0.08},
		{Fault: control.FaultDelay, Probability: 0.08, DelayMS: 500},
		{Fault: control.FaultDrop, Probability: 0.10},
		{Fault: control.FaultBeforeAnswer, Probability: 0.06},
		{Fault: control.FaultAnswerLost, Match: post(customersPath), After: random.IntN(3), Times: 2},
		{Fault: control.FaultErrorAfter, Match: post(customersPath), After: 5 + random.IntN(2), Times: 1},
		{Fault: control.FaultAnswerLost, Match: post(accountsPath), After: random.IntN(3), Times: 2},
	}
	for i := range rules {
		rules[i].ID = fmt.Sprintf("run-%d-%d-%s", run, i+1, rules[i].Fault)
	}
	return rules
}

// plantFaults replaces what an earlier run may have left.
func plantFaults(ctx context.Context, twin *control.Client, rules []control.Rule) error {
	if err := liftFaults(ctx, twin); err != nil {
		return err
	}
	for _, rule := range rules {
		if _, err := twin.AddFault(ctx, rule); err != nil {
			return fmt.Errorf("plant fault %s: %w", rule.ID, err)
		}
	}
	return nil
}

func liftFaults(ctx context.Context, twin *control.Client) error {
	if err := twin.DeleteFault(ctx, ""); err != nil {
		return fmt.Errorf("lift faults: %w", err)
	}
	return nil
}

// FaultCount is how often a kind of fault fired.
type FaultCount struct {
	Fault string `json:"fault"`
	Fired int    `json:"fired"`
}

// countFaults reads how often each kind fired.
func countFaults(ctx context.Context, twin *control.Client) ([]FaultCount, error) {
	rules, err := twin.Faults(ctx)
	if err != nil {
		return nil, fmt.Errorf("count faults: %w", err)
	}
	fired := map[string]int{}
	for _, rule := range rules {
		fired[rule.Fault] += rule.Fired
	}
	counts := make([]FaultCount, 0, len(fired))
	for _, kind := range kindsOfFaults() {
		counts = append(counts, FaultCount{Fault: kind, Fired: fired[kind]})
	}
	return counts, nil
}
