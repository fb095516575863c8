package api

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"payonce/internal/timing"
)

// preferredWait is how long the caller of a command waits for its outcome.
func preferredWait(header http.Header, durations timing.Timing) (time.Duration, error) {
	return waitOr(header, durations, durations.DefaultWait)
}

// waitOr reads `Prefer: wait=<seconds>` (RFC 7240), in whole seconds from 0 to the maximum: otherwise when it is absent. Other
// preferences are ignored, and of several waits the first counts, as the RFC has it.
func waitOr(header http.Header, durations timing.Timing, otherwise time.Duration) (time.Duration, error) {
	for _, value := range header.Values("Prefer") {
		for preference := range strings.SplitSeq(value, ",") {
			preference, _, _ = strings.Cut(preference, ";") // its parameters
			name, text, _ := strings.Cut(preference, "=")
			if !strings.EqualFold(strings.TrimSpace(name), "wait") {
				continue
			}
			seconds, err := strconv.ParseUint(strings.Trim(strings.TrimSpace(text), `"`), 10, 16)
			wait := time.Duration(seconds) * time.Second
			if err != nil || wait > durations.MaximumWait {
				return 0, refusal{
					Code: codePreferInvalid, Field: "Prefer",
					Detail: fmt.Sprintf("Prefer: wait takes whole seconds from 0 to %d.", int(durations.MaximumWait.Seconds())),
				}
			}
			return wait, nil
		}
	}
	return otherwise, nil
}
