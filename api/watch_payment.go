package api

import (
	"net/http"
	"strings"
	"time"

	"payonce/payments"
)

// headerKnown carries what a reader has already (RFC 9110, section 13.1.2).
const headerKnown = "If-None-Match"

// Back-off of a reader who waits, while nobody tells this process of changes.
const (
	watchFirst = 20 * time.Millisecond
	watchLast  = 500 * time.Millisecond
)

// watch reads the payment until it is not what the reader has, or is over, or the wait is. A reader who has nothing waits
// until it is over.
func (a *api) watch(r *http.Request, tenant payments.TenantID, id payments.PaymentID, wait time.Duration) (snapshot, error) {
	deadline := time.NewTimer(wait)
	defer deadline.Stop()
	has := r.Header.Get(headerKnown) != ""
	for pause := watchFirst; ; pause = min(2*pause, watchLast) {
		now, err := a.view(r.Context(), tenant, id)
		if err != nil || now.over || wait == 0 || (has && !knows(r.Header, now.tag)) {
			return now, err
		}
		again := time.NewTimer(pause)
		select {
		case <-again.C:
		case <-deadline.C:
			again.Stop()
			return now, nil
		case <-r.Context().Done():
			again.Stop()
			return snapshot{}, r.Context().Err()
		}
	}
}

// knows tells whether the reader has what the tag names. The comparison is the weak one, as the RFC has it.
func knows(header http.Header, tag string) bool {
	for _, value := range header.Values(headerKnown) {
		for known := range strings.SplitSeq(value, ",") {
			known = strings.TrimSpace(known)
			if known == "*" || strings.TrimPrefix(known, "W/") == tag {
				return true
			}
		}
	}
	return false
}
