// Package client is how a checkout backend, written in Go, speaks to payonce: commands that may be repeated at any time, keys that are derived
// from the backend's own ids, waiting for an outcome, and verifying messages.
//
// It may import the standard library, google/uuid and payments (the words, which import no more). It must know neither our database nor our
// Temporal: whoever links it has neither.
package client
