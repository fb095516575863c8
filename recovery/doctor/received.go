package doctor

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"

	"github.com/google/uuid"
)

// columnMessageBody is the sealed column of a message's frozen bytes, as the notification boundary names it.
const columnMessageBody = "notifications.body"

type sentMessage struct {
	ID       uuid.UUID
	About    uuid.UUID // the payment or the payout
	Endpoint uuid.UUID
	Sequence int
	Body     []byte // sealed
}

// line is the way of the messages of a payment or a payout to one endpoint.
type line struct{ about, endpoint uuid.UUID }

// received: a receiver was sent the frozen bytes, each time the same, and met the messages of a payment or a payout in their order.
func (e *examiner) received(ctx context.Context) error {
	c := e.check("received", 5, "a receiver gets the frozen bytes under each id, and the messages of a payment or a payout in their order")
	if e.Received == nil {
		c.Skipped = "no receiver's log was given"
		return nil
	}
	first, firstBytes := firstArrivals(c, e.Received)
	newest := map[line]int{}
	for start := 0; start < len(first); start += pageSize {
		arrivals := first[start:min(start+pageSize, len(first))]
		frozen, err := e.sent(ctx, arrivals)
		if err != nil {
			return err
		}
		for _, id := range arrivals {
			message, known := frozen[id]
			if !known {
				c.violate("message "+id.String(), "is this receiver one of this database's endpoints?", "was received and is not one of ours")
				continue
			}
			if err := e.arrived(c, message, firstBytes[id], newest); err != nil {
				return err
			}
		}
	}
	return nil
}

// firstArrivals are the ids in the order of their first arrival, with the hash of what arrived; a repeat must hold the same bytes.
func firstArrivals(c *Check, all []Received) ([]uuid.UUID, map[uuid.UUID][sha256.Size]byte) {
	var first []uuid.UUID
	sums := map[uuid.UUID][sha256.Size]byte{}
	for _, message := range all {
		c.Examined++
		id, err := uuid.Parse(message.ID)
		if err != nil {
			c.violate("message "+message.ID, "find who else sends to this receiver", "was received under an id that is not ours")
			continue
		}
		sum := sha256.Sum256(message.Body)
		held, repeat := sums[id]
		if !repeat {
			first = append(first, id)
			sums[id] = sum
		} else if held != sum {
			c.violate("message "+message.ID, "what is sent must be the frozen body; compare the row of payonce.notifications", "was received with two bodies")
		}
	}
	return first, sums
}

func (e *examiner) sent(ctx context.Context, ids []uuid.UUID) (map[uuid.UUID]sentMessage, error) {
	rows, err := collect[sentMessage](ctx, e, `SELECT id, coalesce(payment, payout), endpoint, sequence, body FROM payonce.notifications WHERE id = ANY($1)`, ids)
	if err != nil {
		return nil, fmt.Errorf("read messages: %w", err)
	}
	byID := map[uuid.UUID]sentMessage{}
	for _, row := range rows {
		byID[row.ID] = row
	}
	return byID, nil
}

// arrived compares a first arrival with the frozen row and with the newest of its line.
func (e *examiner) arrived(c *Check, message sentMessage, received [sha256.Size]byte, newest map[line]int) error {
	subject := "message " + message.ID.String()
	body, err := e.Sealer.Open(columnMessageBody, message.Body)
	if err != nil {
		return fmt.Errorf("%s: %w", subject, err)
	}
	frozen := sha256.Sum256(body)
	if !bytes.Equal(frozen[:], received[:]) {
		c.violate(subject, "what is sent must be the frozen body; compare the row of payonce.notifications", "was received with other bytes than are frozen")
	}
	way := line{message.About, message.Endpoint}
	if message.Sequence < newest[way] {
		c.violate(subject, "compare first_sent_at of these messages", "is number %d of %s and came after number %d",
			message.Sequence, message.About, newest[way])
	}
	newest[way] = max(newest[way], message.Sequence)
	return nil
}
