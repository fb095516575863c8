package payments

import "fmt"

// Stage is how far a payment has come; stages only move forward.
type Stage string

// The stages, in their order.
const (
	StageSubmitted               Stage = "submitted"
	StageExternalResourceCreated Stage = "external_resource_created"
	StageProcessing              Stage = "processing"
	StageTerminal                Stage = "terminal"
	StageLedgerApplied           Stage = "ledger_applied"
)

// Stages lists every stage in its order.
func Stages() []Stage {
	return []Stage{StageSubmitted, StageExternalResourceCreated, StageProcessing, StageTerminal, StageLedgerApplied}
}

// Rank is the place of the stage in the order, from 0. It panics on a word that is no stage.
func (s Stage) Rank() int {
	for rank, stage := range Stages() {
		if stage == s {
			return rank
		}
	}
	panic(fmt.Sprintf("payments: no stage %q", s))
}
