package stripesim

import "time"

const keysBucket = "keys"

// keyLife is how old a key has to be, by the twin's clock, to be forgotten (Stripe docs, Idempotent requests).
const keyLife = 24 * time.Hour

// keyName is what a key is unique in: the account, the mode and its text.
type keyName struct {
	scope
	Text string
}

// keyRecord is what is kept of a key: the request that it was first used with and the answer to it.
type keyRecord struct {
	Seq       int64
	Name      keyName
	Request   string // method, path and canonical parameters
	Created   time.Time
	RequestID string // of the first request
	Status    int
	Body      []byte
	Retry     string // Stripe-Should-Retry
	running   bool
}

// keyring is the idempotency layer of API v1. It is guarded by the lock of the books.
type keyring struct {
	byName map[keyName]*keyRecord
	aged   []*keyRecord // stored ones, oldest first
	last   int64
}

func newKeyring() *keyring { return &keyring{byName: map[keyName]*keyRecord{}} }

func (k *keyring) file(r *keyRecord) {
	k.byName[r.Name] = r
	k.aged = append(k.aged, r)
	k.last = max(k.last, r.Seq)
}

// claim finds the record of a key or begins a new one (fresh = true). A refusal is a key in flight or one that was
// used with another request; that the key is in flight is found out first.
func (k *keyring) claim(name keyName, request, requestID string, now time.Time) (r *keyRecord, fresh bool, err *apiError) {
	r = k.byName[name]
	switch {
	case r == nil, !r.running && now.Sub(r.Created) >= keyLife:
		k.last++
		r = &keyRecord{Seq: k.last, Name: name, Request: request, RequestID: requestID, Created: now, running: true}
		k.byName[name] = r
		return r, true, nil
	case r.running:
		return nil, false, keyInUse(name.Text)
	case r.Request != request:
		return nil, false, keyMismatch(name.Text)
	}
	return r, false, nil
}

// forget gives up a claim whose request was refused before execution.
func (k *keyring) forget(r *keyRecord) { delete(k.byName, r.Name) }

// keep stores the answer of an executed request.
func (k *keyring) keep(r *keyRecord, a answer, b *batch) {
	r.running, r.Status, r.Body, r.Retry = false, a.status, a.body, a.shouldRetry
	k.aged = append(k.aged, r)
	b.put(keysBucket, r.Seq, r)
}

// prune forgets keys that are old enough, oldest first.
func (k *keyring) prune(now time.Time, b *batch) {
	for len(k.aged) > 0 && now.Sub(k.aged[0].Created) >= keyLife {
		old := k.aged[0]
		k.aged = k.aged[1:]
		if k.byName[old.Name] == old {
			delete(k.byName, old.Name)
		}
		b.remove(keysBucket, old.Seq)
	}
}
