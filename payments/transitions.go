package payments

// Edge is one permitted change of status.
type Edge struct {
	From, To Status
	Why      string
}

// Transitions is the one table of permitted changes of status; docs and tests are made from it. Staying is always permitted.
// An edge from a terminal status does not exist: succeeded and canceled absorb.
func Transitions() []Edge {
	return []Edge{
		{StatusSubmitted, StatusRequiresPaymentMethod, "the intent exists unconfirmed, or its first confirm was declined"},
		{StatusSubmitted, StatusRequiresAction, "the confirm asks the payer to authenticate"},
		{StatusSubmitted, StatusProcessing, "the confirm was accepted and settles later"},
		{StatusSubmitted, StatusRequiresCapture, "the confirm authorised a manual capture"},
		{StatusSubmitted, StatusSucceeded, "the confirm took the money"},
		{StatusSubmitted, StatusFailed, "a definite refusal, and no intent is open"},
		{StatusSubmitted, StatusCanceled, "canceled before the first confirm"},
		{StatusSubmitted, StatusExpired, "the command was not sent in time, and no intent is open"},
		{StatusRequiresPaymentMethod, StatusRequiresAction, "a further confirm asks the payer to authenticate"},
		{StatusRequiresPaymentMethod, StatusProcessing, "a further confirm was accepted and settles later"},
		{StatusRequiresPaymentMethod, StatusRequiresCapture, "a further confirm authorised a manual capture"},
		{StatusRequiresPaymentMethod, StatusSucceeded, "a further confirm took the money"},
		{StatusRequiresPaymentMethod, StatusFailed, "a definite refusal, and the intent was canceled"},
		{StatusRequiresPaymentMethod, StatusCanceled, "canceled by command, by policy or elsewhere"},
		{StatusRequiresPaymentMethod, StatusExpired, "abandoned, or the confirm was not sent in time, and the intent was canceled"},
		{StatusRequiresAction, StatusRequiresPaymentMethod, "authentication failed"},
		{StatusRequiresAction, StatusProcessing, "authenticated, settles later"},
		{StatusRequiresAction, StatusRequiresCapture, "authenticated, authorised"},
		{StatusRequiresAction, StatusSucceeded, "authenticated, paid"},
		{StatusRequiresAction, StatusFailed, "a definite refusal, and the intent was canceled"},
		{StatusRequiresAction, StatusCanceled, "canceled by command, by policy or elsewhere"},
		{StatusRequiresAction, StatusExpired, "abandoned, and the intent was canceled"},
		{StatusProcessing, StatusRequiresPaymentMethod, "the debit was refused"},
		{StatusProcessing, StatusRequiresAction, "the method asks for another step"},
		{StatusProcessing, StatusRequiresCapture, "authorised"},
		{StatusProcessing, StatusSucceeded, "the debit settled"},
		{StatusProcessing, StatusFailed, "a definite refusal, and the intent was canceled"},
		{StatusProcessing, StatusCanceled, "canceled elsewhere"},
		{StatusRequiresCapture, StatusSucceeded, "captured"},
		{StatusRequiresCapture, StatusCanceled, "the hold was released"},
		{StatusRequiresCapture, StatusExpired, "the hold ran out"},
		{StatusRequiresCapture, StatusFailed, "a definite refusal, and the intent was canceled"},
	}
}

// CanBecome tells whether Transitions permits the change, or nothing changes.
func (s Status) CanBecome(to Status) bool {
	if s == to {
		return true
	}
	for _, edge := range Transitions() {
		if edge.From == s && edge.To == to {
			return true
		}
	}
	return false
}

// StageOf is the least stage of a payment in the status whose facts are all booked.
func (s Status) StageOf() Stage {
	switch s {
	case StatusSubmitted:
		return StageSubmitted
	case StatusRequiresPaymentMethod:
		return StageExternalResourceCreated
	case StatusRequiresAction, StatusProcessing, StatusRequiresCapture:
		return StageProcessing
	default:
		return StageLedgerApplied
	}
}
