package doctor

import (
	"bytes"
	"context"
	"fmt"

	"github.com/google/uuid"

	"payonce/boundaries"
)

type recordID struct{ ID uuid.UUID }

// storedAnswer is what a caller's key replays.
type storedAnswer struct {
	Record     uuid.UUID
	RecordCode *int
	Code       *int
	Headers    *string
	Body       []byte // sealed, then opened
	Waiting    bool   // the record is completed, the window is open and the key has no answer
}

// replays: every key of a record that holds an answer holds the same one.
func (e *examiner) replays(ctx context.Context) error {
	c := e.check("replays", 3, "every key of a record replays the same code, headers and bytes")
	err := page(ctx, e, `SELECT id FROM payonce.idempotency_records WHERE id > $1 ORDER BY id LIMIT $2`, nil,
		func(r recordID) uuid.UUID { return r.ID },
		func(records []recordID) error {
			ids := make([]uuid.UUID, len(records))
			for i, record := range records {
				ids[i] = record.ID
			}
			answers, err := collect[storedAnswer](ctx, e, `
				SELECT k.record, r.response_code, k.response_code, k.response_headers::text, k.response_body,
				       r.status = 'completed' AND k.response_code IS NULL AND k.expires_at > $2 AND k.expires_at < 'infinity'
				FROM payonce.idempotency_keys k JOIN payonce.idempotency_records r ON r.id = k.record
				WHERE k.record = ANY($1) ORDER BY k.record, k.created_at, k.caller_key`, ids, e.now)
			if err != nil {
				return err
			}
			return e.compareAnswers(c, answers)
		})
	if err != nil {
		return fmt.Errorf("check %s: %w", c.Name, err)
	}
	return nil
}

// compareAnswers compares each answer with the first of its record.
func (e *examiner) compareAnswers(c *Check, answers []storedAnswer) error {
	var first *storedAnswer
	for i := range answers {
		answer := &answers[i]
		if first != nil && first.Record != answer.Record {
			first = nil
		}
		if answer.Code == nil {
			if answer.Waiting {
				e.report.note("record "+answer.Record.String(), "the next repeat of the key copies the answer from its sibling",
					"is completed and one of its keys has no answer yet")
			}
			continue
		}
		body, err := e.Sealer.Open(boundaries.ColumnResponseBody, answer.Body)
		c.Examined++
		subject := "record " + answer.Record.String()
		const next = "stop replaying this key: no caller may be told two things of one command"
		if err != nil {
			c.violate(subject, "is this the keyset that the system runs with?", "holds an answer that does not open: %s", err)
			continue
		}
		answer.Body = body
		if answer.RecordCode == nil || *answer.RecordCode != *answer.Code {
			c.violate(subject, next, "has a key that replays another code (%d) than its own", *answer.Code)
		}
		if first == nil {
			first = answer
			continue
		}
		if *first.Code != *answer.Code || !bytes.Equal(first.Body, answer.Body) || textOf(first.Headers) != textOf(answer.Headers) {
			c.violate(subject, next, "has two keys that replay different answers")
		}
	}
	return nil
}

func textOf(headers *string) string {
	if headers == nil {
		return ""
	}
	return *headers
}
