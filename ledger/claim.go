package ledger

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// claim is one posting on its way into the database.
type claim struct {
	Posting
	journal  uuid.UUID
	hash     []byte
	accounts []uuid.UUID // of the entries, in their order
	taken    bool        // the key was free: the journal and its entries are inserted
}

func claimsOf(postings []Posting) ([]*claim, error) {
	claims := make([]*claim, len(postings))
	for i, posting := range postings {
		journal, err := uuid.NewV7()
		if err != nil {
			return nil, fmt.Errorf("make journal id: %w", err)
		}
		claims[i] = &claim{Posting: posting, journal: journal, hash: posting.contentHash(), accounts: make([]uuid.UUID, len(posting.Entries))}
		for n, entry := range posting.Entries {
			claims[i].accounts[n] = accountID(posting.Tenant, entry.Account, entry.Currency)
		}
	}
	return claims, nil
}

// inOrder are the claims in the order of their unique keys, those that resolve a journal last: what they resolve may be among the first. A key always
// resolves or never does, so this is one order for all transactions.
func inOrder(claims []*claim) []*claim {
	if len(claims) == 1 {
		return claims
	}
	return slices.SortedStableFunc(slices.Values(claims), func(a, b *claim) int {
		return cmp.Or(cmp.Compare(a.rank(), b.rank()), bytes.Compare(a.Tenant.UUID[:], b.Tenant.UUID[:]), cmp.Compare(a.Key, b.Key))
	})
}

// rank is 1 for a claim that needs another journal to stand, else 0.
func (c *claim) rank() int {
	if c.Resolves == "" {
		return 0
	}
	return 1
}

func allTaken(claims []*claim) bool {
	return !slices.ContainsFunc(claims, func(c *claim) bool { return !c.taken })
}

// queue queues the claim and its effect.
func (c *claim) queue(batch *pgx.Batch) {
	statement, arguments := c.statement()
	batch.Queue(statement, arguments...).Exec(func(tag pgconn.CommandTag) error {
		c.taken = tag.RowsAffected() > 0
		return nil
	})
}

// exec makes the claim and its effect by themselves.
func (c *claim) exec(ctx context.Context, tx pgx.Tx) error {
	statement, arguments := c.statement()
	tag, err := tx.Exec(ctx, statement, arguments...)
	c.taken = tag.RowsAffected() > 0
	return err
}

// statement is the claim and its effect as one statement.
func (c *claim) statement() (statement string, arguments []any) {
	var payment *uuid.UUID
	if c.Payment != nil {
		payment = &c.Payment.UUID
	}
	var memo *string
	if c.Memo != "" {
		memo = &c.Memo
	}
	arguments = make([]any, 0, 10+3*len(c.Entries))
	arguments = append(arguments, c.journal, c.Tenant.UUID, string(c.Key), c.Rule, c.hash, payment, c.Source, memo, c.EffectiveAt)
	for i, entry := range c.Entries {
		arguments = append(arguments, c.accounts[i], entry.Amount, string(entry.Currency))
	}
	statement = claimMirrored
	switch {
	case c.Resolves != "":
		statement = claimStatement(insertResolving(c.Phase, len(arguments)+1), len(c.Entries))
		arguments = append(arguments, string(c.Resolves))
	case c.Phase == Pending:
		statement = claimStatement(insertPending, len(c.Entries))
	case len(c.Entries) != mirroredEntries:
		statement = claimStatement(insertPosted, len(c.Entries))
	}
	return statement, arguments
}

// claimMirrored is the statement of nearly every posting: one debit and its credit. It is made once.
var claimMirrored = claimStatement(insertPosted, mirroredEntries) //nolint:gochecknoglobals // a constant, never written

const mirroredEntries = 2

// insertPosted inserts a journal of the first nine parameters: nearly all are this.
const insertPosted = `INSERT INTO payonce.ledger_journals
				(id, tenant, posting_key, rule, content_hash, phase, payment, source, memo, effective_at, booked_at)
			VALUES ($1, $2, $3, $4, $5, 'posted', $6, $7, $8, $9, payonce.clock())`

// insertPending inserts the journal of a hold.
const insertPending = `INSERT INTO payonce.ledger_journals
				(id, tenant, posting_key, rule, content_hash, phase, payment, source, memo, effective_at, booked_at)
			VALUES ($1, $2, $3, $4, $5, 'pending', $6, $7, $8, $9, payonce.clock())`

// insertResolving inserts a journal that resolves the one whose posting key is the parameter of that number, and nothing when there is none.
func insertResolving(phase Phase, parameter int) string {
	return `INSERT INTO payonce.ledger_journals
				(id, tenant, posting_key, rule, content_hash, phase, resolves, payment, source, memo, effective_at, booked_at)
			SELECT $1::uuid, $2::uuid, $3::text, $4::text, $5::bytea, '` + phase.String() + `', earlier.id, $6::uuid, $7::text, $8::text, $9::timestamptz,
				payonce.clock()
			FROM payonce.ledger_journals earlier WHERE earlier.tenant = $2 AND earlier.posting_key = $` + strconv.Itoa(parameter) + `::text`
}

// claimStatement claims the key of a journal with that many entries and inserts them. The epoch is the columns' default. An entry is a row of VALUES:
// arrays to unnest would cost a posting of two entries a twentieth more, and nearly all have two, so that few statements are ever prepared.
func claimStatement(insert string, entries int) string {
	values := make([]byte, 0, 64*entries)
	for i := range entries {
		if i > 0 {
			values = append(values, ", "...)
		}
		values = append(strconv.AppendInt(append(values, '('), int64(i+1), 10), "::smallint"...)
		for column, kind := range [...]string{"uuid", "bigint", "text"} {
			values = strconv.AppendInt(append(values, ", $"...), int64(10+3*i+column), 10)
			values = append(append(values, "::"...), kind...)
		}
		values = append(values, ')')
	}
	return `
		WITH claimed AS (
			` + insert + `
			ON CONFLICT (tenant, posting_key) DO NOTHING
			RETURNING id
		)
		INSERT INTO payonce.ledger_entries (journal, line, account, amount, currency)
		SELECT claimed.id, e.line, e.account, e.amount, e.currency
		FROM claimed, (VALUES ` + string(values) + `) AS e (line, account, amount, currency)`
}
