package boundaries

// Outcome is what a claim answers; content is compared before status.
type Outcome string

// The four outcomes.
const (
	Acquired   Outcome = "acquired"    // act
	Replay     Outcome = "replay"      // it is done: the stored result stands
	InProgress Outcome = "in_progress" // somebody acts: come back later
	Mismatch   Outcome = "mismatch"    // the key names other content: refuse, alarm
)

// Name is one of the four boundaries.
type Name string

// The boundaries: they derive from one business reference and never replace one another.
const (
	CommandBoundary      Name = "command"
	EventBoundary        Name = "event"
	LedgerBoundary       Name = "ledger"
	NotificationBoundary Name = "notification"
)

// Names lists the boundaries in the order a payment passes them.
func Names() []Name {
	return []Name{CommandBoundary, EventBoundary, LedgerBoundary, NotificationBoundary}
}
