package workflows

import "payonce/payments"

// Act names what an activity acts on. It crosses into Temporal: ids and enums only.
type Act struct {
	Version int                `json:"version"` // 1
	Payment payments.PaymentID `json:"payment"`
	Owner   string             `json:"owner"` // the workflow's id: the owner of the record's lease
	Local   bool               `json:"local"` // the short first try
}

// Step is where a payment stands after an act, and what comes next. It crosses into Temporal.
type Step struct {
	Version int                `json:"version"` // 1
	Stage   payments.Stage     `json:"stage"`
	Status  payments.Status    `json:"status"`
	Next    payments.Operation `json:"next,omitempty"` // the open command with the lowest number; empty: nothing to do
	Over    bool               `json:"over,omitempty"` // terminal, and no command is open
}
