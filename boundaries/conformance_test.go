package boundaries_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"payonce/boundaries"
)

// properties are what every boundary promises: claim, act, complete.
func properties() []struct {
	name  string
	holds func(*world, boundary)
} {
	return []struct {
		name  string
		holds func(*world, boundary)
	}{
		{"a repeat acts no second time", repeatIsSuppressed},
		{"content is compared before status", contentBeforeStatus},
		{"equal contents under two identities are two effects", nothingHonestIsSwallowed},
		{"an identity belongs to its tenant", identitiesBelongToTheirTenant},
		{"a claim that dies with its process is taken up again", crashAfterTheClaim},
		{"what was committed before a kill stays done", crashAfterTheCommit},
	}
}

func TestEachBoundary(t *testing.T) {
	for _, b := range allBoundaries() {
		t.Run(b.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			for _, property := range properties() {
				t.Run(property.name, func(t *testing.T) {
					within := *w
					within.t = t
					property.holds(&within, b)
				})
			}
		})
	}
}

func repeatIsSuppressed(w *world, b boundary) {
	one := w.offer(b, "repeat", 1000)
	w.requireClaim(b, one, boundaries.Acquired)
	w.requireClaim(b, one, b.repeat)
	w.requireClaim(b, one, b.repeat)
	w.complete(b, one)
	w.requireClaim(b, one, boundaries.Replay)
	w.requireClaim(b, one, boundaries.Replay)
	w.requireEffects(b, one, 1000)
}

func contentBeforeStatus(w *world, b boundary) {
	one := w.offer(b, "content", 1000)
	other := one
	other.Amount = 2000
	want := func(whileSame boundaries.Outcome) boundaries.Outcome {
		if b.compares {
			return boundaries.Mismatch
		}
		return whileSame
	}
	w.requireClaim(b, one, boundaries.Acquired)
	w.requireClaim(b, other, want(b.repeat))
	w.complete(b, one)
	w.requireClaim(b, other, want(boundaries.Replay))
	w.requireClaim(b, one, boundaries.Replay)
	w.requireEffects(b, one, 1000)
}

func nothingHonestIsSwallowed(w *world, b boundary) {
	one, two := w.offer(b, "honest-1", 1000), w.offer(b, "honest-2", 1000)
	w.requireClaim(b, one, boundaries.Acquired)
	w.requireClaim(b, two, boundaries.Acquired)
	w.requireEffects(b, one, 1000)
	w.requireEffects(b, two, 1000)
}

func identitiesBelongToTheirTenant(w *world, b boundary) {
	one := w.offer(b, "tenant", 1000)
	w.requireClaim(b, one, boundaries.Acquired)
	w.complete(b, one)
	other := one
	other.Tenant, other.Amount = 1, 2000
	w.prepare(b, other)
	w.requireClaim(b, other, boundaries.Acquired)
	w.requireEffects(b, one, 1000)
	w.requireEffects(b, other, 2000)
}

func crashAfterTheClaim(w *world, b boundary) {
	one := w.offer(b, "crash", 1000)
	p := w.startProcess()
	p.ask(order{Claims: []offer{one}, Hold: true})
	require.Equal(w.t, []result{{Outcome: boundaries.Acquired}}, p.results())
	p.kill()
	if b.within != nil { // claim and effect were one transaction: neither is there
		w.requireClaim(b, one, boundaries.Acquired)
		w.requireEffects(b, one, 1000)
		return
	}
	w.requireEffects(b, one, 1000)
	w.requireClaim(b, one, boundaries.InProgress)
	w.advance(time.Minute) // beyond the lease and the attendance of the dead
	w.requireClaim(b, one, boundaries.Acquired)
	w.complete(b, one)
	w.requireClaim(b, one, boundaries.Replay)
	w.requireEffects(b, one, 1000)
}

func crashAfterTheCommit(w *world, b boundary) {
	one := w.offer(b, "commit", 1000)
	p := w.startProcess()
	p.ask(order{Claims: []offer{one}})
	require.Equal(w.t, []result{{Outcome: boundaries.Acquired}}, p.results())
	p.kill()
	w.complete(b, one)
	w.requireClaim(b, one, boundaries.Replay)
	w.requireEffects(b, one, 1000)
}

// Of the claims that many processes make at one moment one acts, and none of the others sees an error.
func TestRacingProcesses(t *testing.T) {
	const count, rounds = 4, 3
	w := newWorld(t)
	processes := make([]*process, count)
	for i := range processes {
		processes[i] = w.startProcess()
	}
	for _, b := range allBoundaries() {
		t.Run(b.name, func(t *testing.T) {
			within := *w
			within.t = t
			for round := range rounds {
				within.raceOnce(processes, b, fmt.Sprintf("%s-same-%d", b.name, round), 1000, 1000)
				within.raceOnce(processes, b, fmt.Sprintf("%s-mixed-%d", b.name, round), 1000, 2000)
			}
		})
	}
}

// raceOnce races claims of one identity, half with each amount.
func (w *world) raceOnce(processes []*process, b boundary, identity string, amount, other int64) {
	w.t.Helper()
	offers := make([]offer, len(processes)*connections)
	for i := range offers {
		offers[i] = offer{Boundary: b.name, Identity: identity, Amount: amount}
		if i%2 == 1 {
			offers[i].Amount = other
		}
	}
	w.prepare(b, offers[0])
	results := w.race(processes, b, offers)
	stands, err := b.effects(w.t.Context(), w.engine, offers[0])
	require.NoError(w.t, err)
	require.Len(w.t, stands, 1, "effects")
	acquired := 0
	for i, got := range results {
		require.Empty(w.t, got.Error)
		switch {
		case got.Outcome == boundaries.Acquired:
			acquired++
			require.Equal(w.t, stands[0], offers[i].Amount, "what acted is what stands")
		case b.compares && offers[i].Amount != stands[0]:
			require.Equal(w.t, boundaries.Mismatch, got.Outcome)
		default:
			require.Equal(w.t, b.repeat, got.Outcome)
		}
	}
	require.Equal(w.t, 1, acquired, "%v", results)
}

// offer makes what the boundary needs before the identity can be claimed.
func (w *world) offer(b boundary, identity string, amount int64) offer {
	w.t.Helper()
	o := offer{Boundary: b.name, Identity: identity, Amount: amount}
	w.prepare(b, o)
	return o
}

func (w *world) prepare(b boundary, o offer) {
	w.t.Helper()
	if b.prepare != nil {
		require.NoError(w.t, b.prepare(w.t.Context(), w.engine, o))
	}
}

func (w *world) complete(b boundary, o offer) {
	w.t.Helper()
	if b.complete != nil {
		require.NoError(w.t, b.complete(w.t.Context(), w.engine, o))
	}
}

func (w *world) requireClaim(b boundary, o offer, want boundaries.Outcome) {
	w.t.Helper()
	got, err := b.claim(w.t.Context(), w.engine, o)
	require.NoError(w.t, err)
	require.Equal(w.t, want, got)
}

func (w *world) requireEffects(b boundary, o offer, want ...int64) {
	w.t.Helper()
	got, err := b.effects(w.t.Context(), w.engine, o)
	require.NoError(w.t, err)
	require.Equal(w.t, append([]int64{}, want...), got, "the effects under %q", o.Identity)
}
