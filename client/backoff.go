package client

import (
	"math/rand/v2"
	"net/http"
	"strconv"
	"time"
)

// longestRetryAfter bounds what a server can ask for: an answer that was written wrong must not park a checkout for a day.
const longestRetryAfter = 30 * time.Second

// backoff says how long to wait before the next try.
type backoff struct {
	first   time.Duration
	longest time.Duration
	random  func() float64 // from 0 to 1, so that many clients do not come back at once
}

func newBackoff() backoff {
	return backoff{first: 100 * time.Millisecond, longest: 5 * time.Second, random: rand.Float64}
}

// pause doubles from the first to the longest; half of it is by chance. What the server asked for is waited for in full, up to
// longestRetryAfter, and some more by chance.
func (b backoff) pause(try int, asked time.Duration) time.Duration {
	doubled := b.first
	for range try - 1 {
		doubled = min(2*doubled, b.longest)
	}
	chance := time.Duration(b.random() * float64(doubled/2))
	if asked > 0 {
		return min(asked, longestRetryAfter) + chance
	}
	return doubled/2 + chance
}

// retryAfter reads a Retry-After: seconds, or an HTTP date (RFC 9110, section 10.2.3), which is compared with the Date of the same answer, so
// that the two machines' clocks need not agree. Zero when there is none, it lies in the past, or it cannot be read.
func retryAfter(header http.Header) time.Duration {
	text := header.Get("Retry-After")
	if seconds, err := strconv.ParseUint(text, 10, 64); err == nil {
		return time.Duration(min(seconds, uint64(longestRetryAfter/time.Second))) * time.Second
	}
	at, err := http.ParseTime(text)
	if err != nil {
		return 0
	}
	sent, err := http.ParseTime(header.Get("Date"))
	if err != nil {
		return 0
	}
	return max(0, at.Sub(sent))
}
