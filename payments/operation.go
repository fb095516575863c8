package payments

// Operation names a command of the API and the scope of its keys.
type Operation string

// The operations on a payment.
const (
	OperationCreate  Operation = "create_payment"
	OperationConfirm Operation = "confirm_payment"
	OperationCancel  Operation = "cancel_payment"
	OperationCapture Operation = "capture_payment"
	OperationRefund  Operation = "create_refund"
	OperationPayout  Operation = "create_payout"
)

// The operations that link something to an owner.
const (
	OperationCustomer         Operation = "create_customer"
	OperationConnectedAccount Operation = "create_connected_account"
	OperationWallet           Operation = "create_wallet"
)

// Kinds of payment method that an intent may take, in Stripe's words (https://docs.stripe.com/api/payment_intents/create).
const (
	MethodTypeCard      = "card"
	MethodTypeUSBank    = "us_bank_account"
	MethodTypeSEPADebit = "sepa_debit"
)

// CaptureMethod is when an authorised amount is taken, in Stripe's words.
type CaptureMethod string

// The capture methods.
const (
	CaptureAutomatic CaptureMethod = "automatic"
	CaptureManual    CaptureMethod = "manual"
)

// HoldExpiry is what the engine does with a hold that is about to run out.
type HoldExpiry string

// The policies.
const (
	HoldCapture HoldExpiry = "capture" // take all of it
	HoldVoid    HoldExpiry = "void"    // give it back
)
