package ledger

import (
	"context"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"payonce/boundaries"
	"payonce/internal/postgres"
)

// Result says what became of one posting.
type Result struct {
	Outcome  boundaries.Outcome // Acquired: posted now. Replay: it stood already. Mismatch: the key names other content, nothing posted
	Journal  uuid.UUID          // the journal that holds the key
	InTheRed []AccountName      // guarded accounts that a fact took below zero: raise an alarm
}

// Post books the postings in the caller's transaction, each once for ever by its key, and answers in their order.
//
// Claim and effect are one statement: the journal is inserted or skipped by its unique key, and the entries follow only an
// inserted journal. A key taken by a transaction still open is waited for. What stood before is compared by content: equal is a
// Replay, other a Mismatch, which the caller parks and alarms. None of these raises a database error, so the transaction stays usable.
//
// It needs READ COMMITTED: it reads back, in a new statement, what another transaction committed meanwhile. One round trip; one more when a key
// was taken, and one more when a posting lowers a guarded account. Errors: the refusals of errors.go, or the database's.
//
// A posting may resolve another one of the same call, which itself resolves none.
func Post(ctx context.Context, tx pgx.Tx, postings ...Posting) ([]Result, error) {
	return PostWith(ctx, tx, &pgx.Batch{}, postings...)
}

// PostWith is Post; what the batch holds already travels with the claims, and is sent without postings too.
func PostWith(ctx context.Context, tx pgx.Tx, batch *pgx.Batch, postings ...Posting) ([]Result, error) {
	for _, posting := range postings {
		if err := posting.Validate(); err != nil {
			return nil, err
		}
	}
	if len(postings) == 0 {
		return nil, tx.SendBatch(ctx, batch).Close()
	}
	red, err := guard(ctx, tx, postings)
	if err != nil {
		return nil, err
	}
	claims, err := claimsOf(postings)
	if err != nil {
		return nil, err
	}
	if err := send(ctx, tx, batch, claims); err != nil {
		return nil, fmt.Errorf("post %s: %w", postings[0].Key, err)
	}
	var stored []standing
	if !allTaken(claims) {
		batch := &pgx.Batch{}
		queueStanding(batch, postings, &stored)
		if err := tx.SendBatch(ctx, batch).Close(); err != nil {
			return nil, fmt.Errorf("post %s: %w", postings[0].Key, err)
		}
	}
	return judge(claims, stored, red)
}

// send makes the accounts that may be missing and takes the claims, in one round trip with what the batch holds. Accounts and journals are inserted in
// the order of their unique keys, so that two transactions with the same postings wait for each other and never both.
func send(ctx context.Context, tx pgx.Tx, batch *pgx.Batch, claims []*claim) error {
	seen := seenBy(tx.Conn())
	seen.queueMissing(batch, claims)
	err := sendIn(ctx, tx, batch, inOrder(claims))
	if postgres.Violates(err, "ledger_entries_account_currency") {
		seen.forget() // should the database have lost an account, then the next try makes it
	}
	return err
}

func sendIn(ctx context.Context, tx pgx.Tx, batch *pgx.Batch, claims []*claim) error {
	if batch.Len() == 0 && len(claims) == 1 {
		return claims[0].exec(ctx, tx) // nothing travels with it, and a batch of one costs more than a statement
	}
	for _, claim := range claims {
		claim.queue(batch)
	}
	return tx.SendBatch(ctx, batch).Close()
}

// judge compares what stands under each key with what was offered.
func judge(claims []*claim, stored []standing, red [][]AccountName) ([]Result, error) {
	byIdentity := make(map[identity]standing, len(stored))
	for _, journal := range stored {
		byIdentity[journal.identity] = journal
	}
	results := make([]Result, len(claims))
	for i, claim := range claims {
		if claim.taken {
			results[i] = Result{Outcome: boundaries.Acquired, Journal: claim.journal, InTheRed: red[i]}
			continue
		}
		journal, found := byIdentity[identityOf(claim.Posting)]
		if !found && claim.Resolves != "" {
			return nil, fmt.Errorf("post %s: %w: %s", claim.Key, ErrNothingToResolve, claim.Resolves)
		}
		if !found {
			return nil, fmt.Errorf("post %s: the claim left no journal (the transaction must be READ COMMITTED)", claim.Key)
		}
		results[i] = Result{Outcome: journal.outcomeFor(claim.journal, claim.hash), Journal: journal.id}
	}
	return results, nil
}
