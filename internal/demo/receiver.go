package demo

import (
	"crypto/sha256"
	"fmt"
	"hash/fnv"
	"net/http"
	"sync"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"payonce/internal/devstack"
	"payonce/recovery/doctor"
)

// receiver stands in for the merchant's backend that takes messages: it verifies each, takes each id once, and for some fails at first, before or
// after it took the message.
type receiver struct {
	seed int64

	mutex      sync.Mutex
	verifier   *standardwebhooks.Webhook
	taken      map[string]*taken
	log        []doctor.Received // what was taken, repeats included, in order of arrival
	accepted   int               // messages taken
	refused    int               // answered 500 before anything was taken
	lost       int               // taken, and answered 504
	duplicates int               // deliveries of what was taken already
	problems   []string
}

// taken is a message that has arrived.
type taken struct {
	sum      [32]byte
	accepted bool // not only refused so far
}

func newReceiver(seed int64) *receiver {
	return &receiver{seed: seed, taken: map[string]*taken{}}
}

// trust sets the secret that signs the messages; before that every delivery is answered 503.
func (r *receiver) trust(secret string) error {
	verifier, err := standardwebhooks.NewWebhook(secret)
	if err != nil {
		return fmt.Errorf("receiver's secret: %w", err)
	}
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.verifier = verifier
	return nil
}

// take answers a delivery.
func (r *receiver) take(m devstack.Message) int {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	if r.verifier == nil {
		return http.StatusServiceUnavailable
	}
	if err := r.verifier.Verify(m.Body, m.Header); err != nil {
		r.problems = append(r.problems, fmt.Sprintf("message %s: %v", m.ID, err))
		return http.StatusUnauthorized
	}
	sum := sha256.Sum256(m.Body)
	known, first := r.know(m, sum)
	mood := r.moodOf(m.ID)
	switch {
	case known.sum != sum:
		r.problems = append(r.problems, fmt.Sprintf("message %s came with other bytes", m.ID))
	case first && mood == refuses:
		r.refused++
		return http.StatusInternalServerError
	case known.accepted:
		r.duplicates++
		r.log = append(r.log, doctor.Received{ID: m.ID, Body: m.Body})
	default:
		known.accepted = true
		r.log = append(r.log, doctor.Received{ID: m.ID, Body: m.Body})
		r.accepted++
		if first && mood == loses {
			r.lost++
			return http.StatusGatewayTimeout
		}
	}
	return http.StatusOK
}

// know finds the message, or notes its first arrival.
func (r *receiver) know(m devstack.Message, sum [32]byte) (known *taken, first bool) {
	if known := r.taken[m.ID]; known != nil {
		return known, false
	}
	known = &taken{sum: sum}
	r.taken[m.ID] = known
	return known, true
}

// mood is what happens to the first delivery of a message.
type mood int

const (
	takes   mood = iota
	refuses      // 500, nothing taken
	loses        // taken, and then 504: the sender cannot know
)

// moodOf draws by the seed: one in eight refuses, one in eight loses.
func (r *receiver) moodOf(id string) mood {
	hash := fnv.New64a()
	_, _ = fmt.Fprint(hash, r.seed, id)
	switch hash.Sum64() >> 7 % 8 {
	case 0:
		return refuses
	case 1:
		return loses
	default:
		return takes
	}
}

// ReceiverCount is what the receiver saw of a run.
type ReceiverCount struct {
	Taken      int `json:"taken"`      // messages, each id once
	Refused    int `json:"refused"`    // first deliveries answered 500
	Lost       int `json:"lost"`       // first deliveries taken and answered 504
	Duplicates int `json:"duplicates"` // deliveries of what was taken already, told by webhook-id
}

func (r *receiver) count() (ReceiverCount, []string) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	return ReceiverCount{Taken: r.accepted, Refused: r.refused, Lost: r.lost, Duplicates: r.duplicates}, append([]string(nil), r.problems...)
}

// received is what was taken so far, in order of arrival.
func (r *receiver) received() []doctor.Received {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	return append([]doctor.Received{}, r.log...)
}
