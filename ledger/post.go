package ledger

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"payonce/boundaries"
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
func Post(ctx context.Context, tx pgx.Tx, postings ...Posting) ([]Result, error) {
	for _, posting := range postings {
		if err := posting.Validate(); err != nil {
			return nil, err
		}
	}
	if len(postings) == 0 {
		return nil, nil
	}
	red, err := guard(ctx, tx, postings)
	if err != nil {
		return nil, err
	}
	rows, err := rowsOf(postings)
	if err != nil {
		return nil, err
	}
	claimed, err := rows.post(ctx, tx)
	if err != nil {
		return nil, fmt.Errorf("post %s: %w", postings[0].Key, err)
	}
	var stored []standing
	if len(claimed) < len(postings) {
		batch := &pgx.Batch{}
		queueStanding(batch, postings, &stored)
		if err := tx.SendBatch(ctx, batch).Close(); err != nil {
			return nil, fmt.Errorf("post %s: %w", postings[0].Key, err)
		}
	}
	return rows.judge(postings, claimed, stored, red)
}

// rows are the postings as the columns of three tables.
type rows struct {
	journals                                      []uuid.UUID
	journalTenants                                []uuid.UUID
	keys, journalRules, sources                   []string
	memos                                         []*string
	hashes                                        [][]byte
	payments                                      []*uuid.UUID
	effective                                     []time.Time
	entryJournals, entryAccounts                  []uuid.UUID
	lines                                         []int16
	amounts                                       []int64
	entryCurrencies                               []string
	accounts, accountTenants                      []uuid.UUID
	accountNames, accountCurrencies, accountKinds []string
}

func rowsOf(postings []Posting) (*rows, error) {
	r := &rows{}
	seen := map[uuid.UUID]bool{}
	for _, posting := range postings {
		journal, err := uuid.NewV7()
		if err != nil {
			return nil, fmt.Errorf("make journal id: %w", err)
		}
		r.addJournal(journal, posting)
		for i, entry := range posting.Entries {
			account := accountID(posting.Tenant, entry.Account, entry.Currency)
			r.entryJournals = append(r.entryJournals, journal)
			r.lines = append(r.lines, int16(i+1))
			r.entryAccounts = append(r.entryAccounts, account)
			r.amounts = append(r.amounts, entry.Amount)
			r.entryCurrencies = append(r.entryCurrencies, string(entry.Currency))
			if seen[account] {
				continue
			}
			seen[account] = true
			if err := r.addAccount(account, posting, entry); err != nil {
				return nil, err
			}
		}
	}
	return r, nil
}

func (r *rows) addJournal(journal uuid.UUID, posting Posting) {
	r.journals = append(r.journals, journal)
	r.journalTenants = append(r.journalTenants, posting.Tenant.UUID)
	r.keys = append(r.keys, string(posting.Key))
	r.journalRules = append(r.journalRules, posting.Rule)
	r.hashes = append(r.hashes, posting.contentHash())
	r.sources = append(r.sources, posting.Source)
	r.effective = append(r.effective, posting.EffectiveAt)
	var memo *string
	if posting.Memo != "" {
		memo = &posting.Memo
	}
	r.memos = append(r.memos, memo)
	var payment *uuid.UUID
	if posting.Payment != nil {
		payment = &posting.Payment.UUID
	}
	r.payments = append(r.payments, payment)
}

func (r *rows) addAccount(id uuid.UUID, posting Posting, entry Entry) error {
	kind, err := KindOf(entry.Account)
	if err != nil {
		return err
	}
	r.accounts = append(r.accounts, id)
	r.accountTenants = append(r.accountTenants, posting.Tenant.UUID)
	r.accountNames = append(r.accountNames, string(entry.Account))
	r.accountCurrencies = append(r.accountCurrencies, string(entry.Currency))
	r.accountKinds = append(r.accountKinds, string(kind))
	return nil
}

// post sends the claim and its effect, and returns the journals that were claimed now. Accounts that are missing are made on the way; a known one
// costs an index look-up and no write. Rows are inserted in the order of their unique keys, so that two transactions with the same postings wait for
// each other and never both.
func (r *rows) post(ctx context.Context, tx pgx.Tx) ([]uuid.UUID, error) {
	found, err := tx.Query(ctx, `
		WITH accounts AS (
			INSERT INTO payonce.ledger_accounts (id, tenant, name, currency, kind, created_at)
			SELECT a.id, a.tenant, a.name, a.currency, a.kind, payonce.clock()
			FROM unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[], $5::text[]) AS a (id, tenant, name, currency, kind)
			WHERE (SELECT known.id FROM payonce.ledger_accounts known WHERE known.id = a.id) IS NULL -- look up each: as an anti join it may read all
			ORDER BY a.id
			ON CONFLICT DO NOTHING
		), claimed AS (
			INSERT INTO payonce.ledger_journals
				(id, tenant, posting_key, rule, content_hash, phase, payment, source, memo, effective_at, booked_at, epoch)
			SELECT j.id, j.tenant, j.posting_key, j.rule, j.content_hash, 'posted', j.payment, j.source, j.memo,
				j.effective_at, payonce.clock(), (SELECT epoch FROM payonce.restore_epoch)
			FROM unnest($6::uuid[], $7::uuid[], $8::text[], $9::text[], $10::bytea[], $11::uuid[], $12::text[], $13::text[],
				$14::timestamptz[]) AS j (id, tenant, posting_key, rule, content_hash, payment, source, memo, effective_at)
			ORDER BY j.tenant, j.posting_key
			ON CONFLICT (tenant, posting_key) DO NOTHING
			RETURNING id
		), entries AS (
			INSERT INTO payonce.ledger_entries (journal, line, account, amount, currency, epoch)
			SELECT e.journal, e.line, e.account, e.amount, e.currency, (SELECT epoch FROM payonce.restore_epoch)
			FROM unnest($15::uuid[], $16::smallint[], $17::uuid[], $18::bigint[], $19::text[])
				AS e (journal, line, account, amount, currency)
			JOIN claimed ON claimed.id = e.journal
		)
		SELECT id FROM claimed`,
		r.accounts, r.accountTenants, r.accountNames, r.accountCurrencies, r.accountKinds,
		r.journals, r.journalTenants, r.keys, r.journalRules, r.hashes, r.payments, r.sources, r.memos, r.effective,
		r.entryJournals, r.lines, r.entryAccounts, r.amounts, r.entryCurrencies)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(found, pgx.RowTo[uuid.UUID])
}

// judge compares what stands under each key with what was offered.
func (r *rows) judge(postings []Posting, claimed []uuid.UUID, stored []standing, red [][]AccountName) ([]Result, error) {
	byIdentity := make(map[identity]standing, len(stored))
	for _, journal := range stored {
		byIdentity[journal.identity] = journal
	}
	results := make([]Result, len(postings))
	for i, posting := range postings {
		if slices.Contains(claimed, r.journals[i]) {
			results[i] = Result{Outcome: boundaries.Acquired, Journal: r.journals[i], InTheRed: red[i]}
			continue
		}
		journal, found := byIdentity[identityOf(posting)]
		if !found {
			return nil, fmt.Errorf("post %s: the claim left no journal (the transaction must be READ COMMITTED)", posting.Key)
		}
		results[i] = Result{Outcome: journal.outcomeFor(r.journals[i], r.hashes[i]), Journal: journal.id}
	}
	return results, nil
}
