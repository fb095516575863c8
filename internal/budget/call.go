package budget

import "payonce/payments"

// Endpoint is a path of Stripe's API and its method, the ids taken out: Stripe limits each by itself (https://docs.stripe.com/rate-limits).
type Endpoint string

// The endpoints that are called.
const (
	CreateIntent  Endpoint = "create"
	ConfirmIntent Endpoint = "confirm"
	CancelIntent  Endpoint = "cancel"
	CaptureIntent Endpoint = "capture"
	CreateRefund  Endpoint = "refund"
	ReadRefund    Endpoint = "read refund"
	ListRefunds   Endpoint = "list refunds"
	ReadIntent    Endpoint = "read"
	ListIntents   Endpoint = "list"

	ReadDispute      Endpoint = "read dispute"
	ListTransactions Endpoint = "transactions"
	ListEvents       Endpoint = "events"

	CreatePayout Endpoint = "payout"
	ReadPayout   Endpoint = "read payout"
	ListPayouts  Endpoint = "list payouts"

	CreateCustomer         Endpoint = "customer"
	ListCustomers          Endpoint = "list customers"
	CreateConnectedAccount Endpoint = "account"
	ListConnectedAccounts  Endpoint = "list accounts"
)

// EndpointOf is the endpoint that an operation's call goes to.
func EndpointOf(operation payments.Operation) Endpoint {
	switch operation {
	case payments.OperationCreate:
		return CreateIntent
	case payments.OperationConfirm:
		return ConfirmIntent
	case payments.OperationCancel:
		return CancelIntent
	case payments.OperationCapture:
		return CaptureIntent
	case payments.OperationRefund:
		return CreateRefund
	case payments.OperationPayout:
		return CreatePayout
	case payments.OperationCustomer:
		return CreateCustomer
	case payments.OperationConnectedAccount:
		return CreateConnectedAccount
	default:
		return Endpoint(operation)
	}
}

// Priority orders the calls that wait; the lowest goes first.
type Priority int

// The priorities.
const (
	GivesBack Priority = iota // a refund, a cancel
	Live                      // any other command, while somebody may still wait for it
	Reads                     // what Stripe says
	Backlog                   // what waits for long already, and polls
)

// reserve is the share of a bucket that is left to calls of higher priority, those of other processes too.
func (p Priority) reserve() float64 {
	switch p {
	case GivesBack:
		return 0
	case Live:
		return 0.1
	case Reads:
		return 0.25
	default:
		return 0.5
	}
}

// PriorityOf is the priority of an operation's call. waits tells that its command waits for long already.
func PriorityOf(operation payments.Operation, waits bool) Priority {
	switch {
	case operation == payments.OperationCancel, operation == payments.OperationRefund:
		return GivesBack
	case waits:
		return Backlog
	default:
		return Live
	}
}

// Call is one call that wants to go.
type Call struct {
	Account  payments.Account
	Endpoint Endpoint
	Priority Priority
}
