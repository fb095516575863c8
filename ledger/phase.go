package ledger

import "fmt"

// Phase is on which side of the books a journal stands.
type Phase string

// The phases.
const (
	Posted  Phase = ""        // money that moved, or on the pending side the part of a hold that was captured
	Pending Phase = "pending" // a hold: money that may move
	Void    Phase = "void"    // the part of a hold that was released
)

// String is the phase as it is stored.
func (p Phase) String() string {
	if p == Posted {
		return "posted"
	}
	return string(p)
}

// validatePhase holds the sides apart: a hold and what ends it stand on the pending side alone, all else on the other, and what ends a hold or
// takes back a journal names it.
func (p Posting) validatePhase() error {
	side := p.Entries[0].Account.pending()
	for _, entry := range p.Entries[1:] {
		if entry.Account.pending() != side {
			return fmt.Errorf("%w: %s has entries on both sides", ErrInvalidPosting, p.Key)
		}
	}
	resolves, allowed := p.Resolves != "", false
	switch p.Phase {
	case Posted:
		allowed = !side || resolves
	case Pending:
		allowed = side && !resolves
	case Void:
		allowed = side && resolves
	}
	if !allowed || len(p.Resolves) > maxKey {
		return fmt.Errorf("%w: %s is %s, resolves %q and stands on accounts like %s", ErrInvalidPosting, p.Key, p.Phase, p.Resolves, p.Entries[0].Account)
	}
	return nil
}
