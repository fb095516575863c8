package activities

import (
	"slices"
	"time"

	"payonce/boundaries"
	"payonce/internal/stripeapi"
	"payonce/internal/timing"
	"payonce/ledger"
	"payonce/notifications"
	"payonce/payments"
)

// change is what a fact makes of a payment. decide makes it without touching anything: the end state depends on what happened, never on who
// brought it or in which order.
type change struct {
	after              payments.Payment
	facts              []string // newly true
	postings           []ledger.Posting
	messages           []message // newly implied, or offered again
	suppressedPostings int
	settled            []command
	engine             payments.Operation // what the engine asks for itself: the intent must be canceled before the payment may end, a hold runs out
	waitsAnew          bool               // the time in which the payer is to come back begins anew
	verdict            Verdict
	before             payments.Status
}

// message is a notification that a fact implies.
type message struct {
	kind    notifications.Kind
	subject string
	refund  *payments.RefundView  // what it tells of beside the payment; may be nil
	dispute *payments.DisputeView // the same
}

// render makes the message's bytes. at is when the thing happened.
func (m message) render(view payments.View, at time.Time) ([]byte, error) {
	if m.dispute != nil {
		return notifications.RenderDispute(m.kind, m.subject, view, *m.dispute, at)
	}
	return notifications.Render(m.kind, m.subject, view, m.refund, at)
}

// decide says what the fact makes of the payment, which it is bound to or may be bound to.
func decide(s situation, learnt Learnt, durations timing.Timing) change {
	ch := change{after: s.payment, verdict: VerdictStale, before: s.payment.Status}
	ch.endFor(s, learnt)
	if learnt.Answer != nil && learnt.Answer.Decline != nil {
		ch.declined(s, learnt, *learnt.Answer.Decline, !s.fencedOut(learnt.Answer))
	}
	if learnt.Intent != nil {
		ch.follow(s, learnt, *learnt.Intent)
		ch.holdUntil(*learnt.Intent, durations)
	}
	if learnt.HoldDue {
		ch.seeToHold(s, durations)
	}
	if ch.after.Status != s.payment.Status {
		ch.verdict = VerdictApplied
		ch.announce(ch.after.Status)
	} else if learnt.Implied || learnt.Event != nil && learnt.Intent != nil && learnt.Intent.Status.Absorbing() {
		ch.offerAgain(s.payment)
	}
	if learnt.refused(payments.OperationCancel) && !ch.after.Status.Terminal() {
		ch.after.Failure = nil // it was to end, and goes on
	}
	ch.settle(s, learnt)
	ch.waitsAnew = ch.after.Status != s.payment.Status || ch.after.Failure == nil && (s.payment.Failure != nil || len(ch.settled) > 0)
	return ch
}

// endFor ends the payment for what was not sent in time, was given up, or was refused for good.
func (ch *change) endFor(s situation, learnt Learnt) {
	switch {
	case learnt.Unsent:
		ch.end(s, payments.Failure{Code: payments.FailureExpiredUnsent}, payments.StatusExpired)
	case learnt.Abandoned:
		ch.end(s, payments.Failure{Code: payments.FailureAbandoned}, payments.StatusExpired)
	case learnt.refused(payments.OperationCapture):
		ch.after.LastError = learnt.Answer.Refusal
	case learnt.Answer != nil && learnt.Answer.Refusal != nil && !learnt.refused(payments.OperationCancel):
		ch.after.LastError = learnt.Answer.Refusal
		ch.end(s, payments.Failure{Code: payments.FailureProviderRefused, Message: learnt.Answer.Refusal.Message}, payments.StatusFailed)
	}
}

// refused tells whether the fact is that Stripe refused an operation's call.
func (l Learnt) refused(operation payments.Operation) bool {
	return l.Answer != nil && l.Answer.Refusal != nil && l.Answer.Call.Operation == operation
}

// end ends a payment that has no intent, and has the intent canceled first where there is one.
func (ch *change) end(s situation, failure payments.Failure, status payments.Status) {
	if s.payment.Status.Terminal() || s.payment.Failure != nil {
		return
	}
	ch.after.Failure = &failure
	ch.facts = append(ch.facts, string(failure.Code))
	if s.payment.IntentID == "" {
		ch.after.Status = status
		return
	}
	ch.engine = payments.OperationCancel
}

// follow binds the intent, books what it took and moves the status if the intent is ahead.
func (ch *change) follow(s situation, learnt Learnt, intent stripeapi.Intent) {
	if ch.after.ClientSecret == "" {
		ch.after.ClientSecret = intent.ClientSecret
	}
	if ch.after.IntentID == "" {
		ch.after.IntentID = intent.ID
		ch.facts = append(ch.facts, "intent_created")
		ch.verdict = VerdictApplied
	}
	ch.book(s, learnt, intent)
	if !learnt.fresh(s.payment) {
		ch.exists(s)
		return
	}
	defer ch.hold(s, learnt, intent)
	if begun := learnt.BegunAt; !begun.IsZero() && (s.payment.ReadBegunAt == nil || begun.After(*s.payment.ReadBegunAt)) {
		ch.after.ReadBegunAt = &begun
	}
	if intent.LastError != nil && intent.Status == stripeapi.IntentRequiresPaymentMethod {
		ownAnswer := learnt.Answer != nil && !s.fencedOut(learnt.Answer)
		ch.declined(s, learnt, *intent.LastError, s.openConfirm() == nil || learnt.readAfterSend() || ownAnswer)
	}
	ch.move(statusFor(ch.after, s, intent), intent)
	if intent.Status.Absorbing() || !ch.after.Status.Terminal() { // else the intent was so before the payment ended
		ch.after.AmountCapturable = intent.AmountCapturable
	}
	ch.after.NextAction = nil
	if ch.after.Status == payments.StatusRequiresAction {
		ch.after.NextAction = intent.NextAction
	}
}

// exists moves a payment without a confirm to what is least true of it once its intent is known, also from an old snapshot: the answer to its
// create is the same whoever brings the intent first.
func (ch *change) exists(s situation) {
	if ch.after.Status == payments.StatusSubmitted && !s.confirmAnswers() {
		ch.after.Status = payments.StatusRequiresPaymentMethod
		ch.facts = append(ch.facts, string(payments.StatusRequiresPaymentMethod))
	}
}

// fresh tells whether the intent in the fact may move the status: an absorbing state is true in any snapshot, any other only from a read that no
// later-begun read has overtaken.
func (l Learnt) fresh(p payments.Payment) bool {
	if l.Intent.Status.Absorbing() {
		return true
	}
	return !l.BegunAt.IsZero() && (p.ReadBegunAt == nil || !l.BegunAt.Before(*p.ReadBegunAt))
}

// move goes along an edge of the transition table, or stays.
func (ch *change) move(to payments.Status, intent stripeapi.Intent) {
	if to == ch.after.Status || !ch.after.Status.CanBecome(to) {
		return
	}
	ch.after.Status = to
	ch.facts = append(ch.facts, string(to))
	if intent.LatestCharge != "" {
		ch.after.LatestCharge = intent.LatestCharge
	}
	if to == payments.StatusSucceeded || to == payments.StatusRequiresCapture {
		ch.after.LastError = nil
	}
	if to == payments.StatusExpired && ch.after.Failure == nil {
		ch.after.Failure = &payments.Failure{Code: payments.FailureHoldExpired} // nothing else expires by itself at Stripe
	}
	if to == payments.StatusSucceeded {
		ch.after.Failure = nil // it was to end otherwise, and was paid first
	}
}

// book posts what the intent took beyond what is posted: a fact, whatever the status says.
func (ch *change) book(s situation, learnt Learnt, intent stripeapi.Intent) {
	if intent.AmountReceived == 0 {
		return
	}
	posting, isNew := ledger.Captured(ledger.Capture{
		Tenant: s.payment.Tenant, Payment: s.payment.ID, Charge: intent.LatestCharge, Currency: intent.Money.Currency,
		NewTotal: intent.AmountReceived, PreviousTotal: s.payment.AmountCaptured, Destinations: s.payment.Shares(),
		Source: string(learnt.Source), EffectiveAt: learnt.EffectiveAt,
	})
	if !isNew {
		return
	}
	ch.postings = append(ch.postings, posting)
	ch.captureHeld(s, learnt, intent, intent.AmountReceived-s.payment.AmountCaptured)
	ch.after.AmountCaptured = intent.AmountReceived
	if intent.Status == stripeapi.IntentRequiresCapture {
		ch.tell(notifications.PaymentPartiallyCaptured, notifications.Of{Charge: intent.LatestCharge, Total: intent.AmountReceived})
	}
	ch.after.LatestCharge = intent.LatestCharge
	if s.payment.Status.Terminal() && s.payment.Status != payments.StatusSucceeded {
		ch.after.Review = &payments.Review{Reason: "money_after_end", Since: s.now, Facts: map[string]any{
			"intent": intent.ID, "amount_received": intent.AmountReceived,
		}}
	}
}

// statusFor is our word for the intent's status. While a confirm is open, an unconfirmed intent says nothing new.
func statusFor(p payments.Payment, s situation, intent stripeapi.Intent) payments.Status {
	switch intent.Status {
	case stripeapi.IntentRequiresAction:
		return payments.StatusRequiresAction
	case stripeapi.IntentProcessing:
		return payments.StatusProcessing
	case stripeapi.IntentRequiresCapture:
		return payments.StatusRequiresCapture
	case stripeapi.IntentSucceeded:
		return payments.StatusSucceeded
	case stripeapi.IntentCanceled:
		if p.Failure == nil && intent.CaptureMethod == payments.CaptureManual && intent.CancellationReason == "automatic" {
			return payments.StatusExpired // Stripe let the hold go (https://docs.stripe.com/payments/place-a-hold-on-a-payment-method)
		}
		return p.EndedAs()
	default:
		if s.confirmAnswers() && p.Status == payments.StatusSubmitted {
			return p.Status
		}
		return payments.StatusRequiresPaymentMethod
	}
}

// declined notes a refused attempt; the payment stays open for another method. own tells that it is the outcome of the open confirm, or that
// none is open: an event may tell of a decline while the confirm's own answer is still under way.
func (ch *change) declined(s situation, learnt Learnt, refusal payments.ProviderError, own bool) {
	if s.payment.Status.Terminal() {
		return
	}
	refusal.Attempt = s.attemptOf(refusal, learnt.Answer != nil)
	if held := ch.after.LastError; held == nil || !held.SameAttempt(refusal) {
		ch.after.LastError = &refusal
		ch.verdict = VerdictApplied
		if refusal.Charge != "" {
			ch.after.LatestCharge = refusal.Charge
		}
		ch.tell(notifications.PaymentDeclined, notifications.Of{Charge: refusal.Charge, Confirm: refusal.Attempt})
	}
	if own && ch.after.LastError.Attempt == refusal.Attempt && ch.after.Status.CanBecome(payments.StatusRequiresPaymentMethod) {
		ch.after.Status = payments.StatusRequiresPaymentMethod
	}
}

// tell adds a message, and for a decline the fact that it tells of. A decline that names neither a charge nor a confirm of ours tells nothing.
func (ch *change) tell(kind notifications.Kind, of notifications.Of) {
	subject, err := kind.Subject(ch.after.ID, of)
	if err != nil {
		return
	}
	if kind == notifications.PaymentDeclined {
		ch.facts = append(ch.facts, "declined/"+subject)
	}
	ch.messages = append(ch.messages, message{kind: kind, subject: subject})
}

// readAfterSend tells whether the fact is a read begun after the command's newest send had ended.
func (l Learnt) readAfterSend() bool {
	return l.Source == SourceRead && l.LastSendEnd != nil && !l.BegunAt.Before(*l.LastSendEnd)
}

// announce adds the message of a new status.
func (ch *change) announce(status payments.Status) {
	if kind, isTold := notifications.KindOf(status); isTold {
		ch.tell(kind, notifications.Of{})
	}
}

// offerAgain offers what the state that we hold already implies: the unique keys decide, and count.
func (ch *change) offerAgain(held payments.Payment) {
	ch.verdict = VerdictApplied
	ch.announce(held.Status)
	if held.AmountCaptured > 0 && len(ch.postings) == 0 {
		ch.suppressedPostings++
	}
}

// settle lists the open commands that have their outcome now: a create after the confirm that answers it.
func (ch *change) settle(s situation, learnt Learnt) {
	confirmSettled := false
	for _, c := range s.open {
		if c.operation == payments.OperationCreate || !ch.settles(c, learnt) {
			continue
		}
		confirmSettled = confirmSettled || c.operation == payments.OperationConfirm
		if c.operation == payments.OperationCapture && learnt.refused(payments.OperationCapture) {
			c.refused = learnt.Answer.Refusal
		}
		ch.settled = append(ch.settled, c)
	}
	for _, c := range s.open {
		if c.operation != payments.OperationCreate {
			continue
		}
		unanswered := c.answeredBy == nil && ch.after.IntentID != "" && ch.engine == "" && ch.after.Failure == nil
		if ch.after.Status.Terminal() || unanswered || c.answeredBy != nil && confirmSettled {
			ch.settled = append(ch.settled, c)
		}
	}
}

// settles tells whether an open command on the payment has its outcome now.
func (ch *change) settles(c command, learnt Learnt) bool {
	resolved := learnt.Executed != nil && *learnt.Executed == c.record && ch.executed(c)
	switch c.operation {
	case payments.OperationConfirm:
		return resolved || ch.confirmSettled(c, learnt)
	case payments.OperationCancel:
		return ch.after.Status.Terminal() || learnt.refused(payments.OperationCancel)
	case payments.OperationCapture:
		return resolved || ch.captureSettled(c, learnt)
	default:
		return false
	}
}

// confirmSettled tells whether the open confirm has its outcome: the intent went on, the payment is over, its own answer is a decline, or a read
// begun after its newest send had ended shows one.
func (ch *change) confirmSettled(c command, learnt Learnt) bool {
	if ch.after.Failure != nil && !ch.after.Status.Terminal() {
		return false // refused or unsent: it is answered once the intent is canceled
	}
	own := learnt.Answer != nil && learnt.Answer.Call.Operation == payments.OperationConfirm && learnt.Answer.Call.Fence == c.fence
	switch ch.after.Status {
	case payments.StatusSubmitted:
		return false
	case payments.StatusRequiresPaymentMethod:
		read := learnt.readAfterSend() && ch.after.LastError != nil && ch.after.LastError.Attempt == c.attempt
		return own && learnt.Answer.Decline != nil || read
	case payments.StatusRequiresAction:
		return own || learnt.readAfterSend() || ch.before == payments.StatusSubmitted // else it may be the challenge of the confirm before
	default:
		return true
	}
}

// confirmAnswers tells whether the payment's create is answered by its confirm, which is open: until then its status says nothing new.
func (s situation) confirmAnswers() bool {
	return s.openConfirm() != nil && slices.ContainsFunc(s.open, func(c command) bool { return c.answeredBy != nil })
}

// attemptOf is n of the confirm that a refused attempt belongs to: of the open one, or of the last one settled when the payer failed its challenge.
// A refusal without a charge that we hold already is the held one again, as a read shows it for as long as nothing else happens: it says nothing of
// a confirm that came after it. The answer to a confirm is never that.
func (s situation) attemptOf(refusal payments.ProviderError, isAnswer bool) int {
	held := s.payment.LastError
	if !isAnswer && held != nil && held.Charge == "" && refusal.Charge == "" && held.Code == refusal.Code && held.DeclineCode == refusal.DeclineCode {
		return held.Attempt
	}
	if confirm := s.openConfirm(); confirm != nil {
		return confirm.attempt
	}
	return s.settled
}

// openConfirm is the open confirm, or nil.
func (s situation) openConfirm() *command {
	for i := range s.open {
		if s.open[i].operation == payments.OperationConfirm && s.open[i].status != boundaries.RecordCompleted {
			return &s.open[i]
		}
	}
	return nil
}
