package stripesim

import (
	"sync"
	"time"
)

// rateLimit is a token bucket per account and mode, by the twin's clock. It is off unless configured.
type rateLimit struct {
	live, test float64 // requests per second; 0 = no limit

	mu      sync.Mutex
	buckets map[scope]*bucket
}

type bucket struct {
	tokens float64
	at     time.Time
}

// take takes one request out of the bucket and says whether there was one.
func (r *rateLimit) take(s scope, now time.Time) bool {
	rate := r.test
	if s.Livemode {
		rate = r.live
	}
	if rate <= 0 {
		return true
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	b := r.buckets[s]
	if b == nil {
		b = &bucket{tokens: rate, at: now}
		r.buckets[s] = b
	}
	b.tokens = min(rate, b.tokens+max(0, now.Sub(b.at).Seconds())*rate)
	b.at = now
	if b.tokens < 1 {
		return false
	}
	b.tokens--
	return true
}
