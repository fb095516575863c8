package stripesim

import (
	"crypto/sha256"
	"encoding/hex"
	"sync"

	"payonce/stripesim/control"
)

const requestsBucket = "requests"

// requestLog is every send on the wire, in order of arrival.
type requestLog struct {
	store *store

	mu     sync.Mutex
	rows   []*control.Request // rows[i].Seq = i+1
	bodies map[keyName]string // the first body's digest of every key ever sent
}

func (l *requestLog) load() error {
	return load(l.store, requestsBucket, func(r *control.Request) {
		l.rows = append(l.rows, r)
		l.compare(r)
	})
}

// compare notes whether a key comes with other bytes than when it was first sent.
func (l *requestLog) compare(r *control.Request) {
	if r.IdempotencyKey == "" {
		return
	}
	if l.bodies == nil {
		l.bodies = map[keyName]string{}
	}
	name := keyName{scope{r.Account, r.Livemode}, r.IdempotencyKey}
	first, known := l.bodies[name]
	if !known {
		l.bodies[name] = r.BodySHA256
	}
	r.BodyDiffers = known && first != r.BodySHA256
}

// arrive files a send and writes it, so that it is known even if the twin dies before it answers.
func (l *requestLog) arrive(r control.Request, body []byte) *control.Request {
	sum := sha256.Sum256(body)
	r.BodySHA256, r.Body = hex.EncodeToString(sum[:]), string(body)
	l.mu.Lock()
	r.Seq = int64(len(l.rows)) + 1
	row := &r
	l.rows = append(l.rows, row)
	l.compare(row)
	b := &batch{}
	b.put(requestsBucket, row.Seq, row)
	l.store.submitLate(b)
	l.mu.Unlock()
	return row
}

// update changes a row and adds it, as it then is, to a batch.
func (l *requestLog) update(row *control.Request, b *batch, change func(*control.Request)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	change(row)
	now := *row
	b.put(requestsBucket, row.Seq, &now)
}

// after copies at most limit rows with a greater seq.
func (l *requestLog) after(seq int64, limit int) []control.Request {
	l.mu.Lock()
	defer l.mu.Unlock()
	rows := []control.Request{}
	for i := max(seq, 0); i < int64(len(l.rows)) && len(rows) < limit; i++ {
		rows = append(rows, *l.rows[i])
	}
	return rows
}

func (l *requestLog) clear() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.rows, l.bodies = nil, nil
}
