package workflows

// Names that leave the process: a rename breaks running workflows, so a golden test pins them.
const (
	NamePayment      = "Payment"
	NameCreateIntent = "CreateIntent"
	NameConfirm      = "ConfirmIntent"
	NameCancel       = "CancelIntent"
	NameCapture      = "CaptureIntent"
	NameReadPayment  = "ReadPayment"
	NameRefund       = "Refund"
	NameCreateRefund = "CreateRefund"
	NameReadRefund   = "ReadRefund"
	NamePayout       = "Payout"
	NameCreatePayout = "CreatePayout"
	NameReadPayout   = "ReadPayout"
	SignalWake       = "wake"

	NameProvision       = "Provision"
	NameCreateProvision = "CreateProvision"
	NameReadProvision   = "ReadProvision"

	NameBackfill       = "Backfill"
	NameBackfillEvents = "BackfillEvents"
)

// TaskQueue is the default task queue of payments.
const TaskQueue = "payonce"
