package together_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"golang.org/x/sync/errgroup"

	"payonce/internal/together"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var errBad = errors.New("a bad item")

// line is where round trips go: it doubles each item and refuses what is negative, and every round trip with it.
type line struct {
	t     *testing.T
	trips *together.Trips[int, int]
	sent  chan []int    // each round trip, when it starts
	green chan struct{} // one signal lets one round trip end
}

func newLine(t *testing.T, limits together.Limits) *line {
	t.Helper()
	l := &line{t: t, sent: make(chan []int, 1000), green: make(chan struct{}, 1000)}
	l.trips = together.New(limits, func(ctx context.Context, items []int) ([]int, error) {
		l.sent <- items
		select {
		case <-l.green:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		results := make([]int, len(items))
		for i, item := range items {
			if item < 0 {
				return nil, fmt.Errorf("%d: %w", item, errBad)
			}
			results[i] = 2 * item
		}
		return results, nil
	})
	return l
}

// one is a usual line: one round trip at a time.
func one(most int) together.Limits {
	return together.Limits{AtOnce: 1, Most: most, Within: time.Minute}
}

// answer is what a caller got.
type answer struct {
	result int
	err    error
}

// call carries an item for a caller of its own, and returns once the caller is under way or waits.
func (l *line) call(ctx context.Context, item, waiting int) <-chan answer {
	l.t.Helper()
	got := make(chan answer, 1)
	go func() {
		result, err := l.trips.Do(ctx, item)
		got <- answer{result, err}
	}()
	require.Eventually(l.t, func() bool { return l.trips.Waiting() == waiting }, time.Minute, time.Microsecond)
	return got
}

// let lets round trips end.
func (l *line) let(trips int) {
	for range trips {
		l.green <- struct{}{}
	}
}

func TestALoneCallerGoesAtOnceAndByItself(t *testing.T) {
	l := newLine(t, one(10))
	l.let(2)
	for _, item := range []int{3, 4} {
		result, err := l.trips.Do(t.Context(), item)
		require.NoError(t, err)
		require.Equal(t, 2*item, result)
		require.Equal(t, []int{item}, <-l.sent)
	}
}

func TestWhatArrivesDuringARoundTripGoesTogetherInTheNextAndEachGetsItsOwn(t *testing.T) {
	l := newLine(t, one(10))
	first := l.call(t.Context(), 1, 0)
	require.Equal(t, []int{1}, <-l.sent)
	var others []<-chan answer
	for i := range 5 {
		others = append(others, l.call(t.Context(), 10+i, i+1))
	}
	l.let(1)
	require.Equal(t, answer{result: 2}, <-first, "nobody waits for those who came later")
	require.Equal(t, []int{10, 11, 12, 13, 14}, <-l.sent)
	l.let(1)
	for i, other := range others {
		require.Equal(t, answer{result: 2 * (10 + i)}, <-other)
	}
	require.Empty(t, l.sent)
}

// What a caller is told was read after it asked: it never joins a round trip that has started, which may have read already.
func TestAnItemNeverJoinsARoundTripThatIsUnderWay(t *testing.T) {
	var revoked atomic.Bool
	read, goOn := make(chan struct{}, 2), make(chan struct{})
	trips := together.New(one(10), func(_ context.Context, items []string) ([]bool, error) {
		results := make([]bool, len(items))
		for i := range items {
			results[i] = revoked.Load()
		}
		read <- struct{}{}
		<-goOn
		return results, nil
	})
	ask := func() <-chan bool {
		told := make(chan bool, 1)
		go func() {
			result, _ := trips.Do(context.Background(), "the same key")
			told <- result
		}()
		return told
	}
	first := ask()
	<-read
	revoked.Store(true)
	second := ask()
	require.Eventually(t, func() bool { return trips.Waiting() == 1 }, time.Minute, time.Microsecond)
	close(goOn)
	require.False(t, <-first)
	require.True(t, <-second)
}

func TestABadItemHarmsNoOther(t *testing.T) {
	l := newLine(t, one(10))
	first := l.call(t.Context(), 1, 0)
	require.Equal(t, []int{1}, <-l.sent)
	good, bad, late := l.call(t.Context(), 2, 1), l.call(t.Context(), -3, 2), l.call(t.Context(), 4, 3)
	l.let(5) // the first, the three together, and each of them alone
	require.Equal(t, answer{result: 2}, <-first)
	require.Equal(t, []int{2, -3, 4}, <-l.sent)
	require.Equal(t, answer{result: 4}, <-good)
	require.ErrorIs(t, (<-bad).err, errBad)
	require.Equal(t, answer{result: 8}, <-late)
	for _, alone := range []int{2, -3, 4} {
		require.Equal(t, []int{alone}, <-l.sent)
	}
}

func TestARoundTripHasNoMoreThanItMay(t *testing.T) {
	l := newLine(t, one(2))
	all := []<-chan answer{l.call(t.Context(), 1, 0)}
	for i := range 5 {
		all = append(all, l.call(t.Context(), 2+i, 1+i))
	}
	l.let(4)
	for i, got := range all {
		require.Equal(t, answer{result: 2 * (1 + i)}, <-got)
	}
	require.Equal(t, [][]int{{1}, {2, 3}, {4, 5}, {6}}, [][]int{<-l.sent, <-l.sent, <-l.sent, <-l.sent})
}

func TestAsManyRoundTripsAreUnderWayAsMayBe(t *testing.T) {
	l := newLine(t, together.Limits{AtOnce: 2, Most: 10, Within: time.Minute})
	first, second := l.call(t.Context(), 1, 0), l.call(t.Context(), 2, 0)
	require.ElementsMatch(t, [][]int{{1}, {2}}, [][]int{<-l.sent, <-l.sent})
	third := l.call(t.Context(), 3, 1)
	require.Empty(t, l.sent)
	l.let(3)
	require.Equal(t, []answer{{result: 2}, {result: 4}, {result: 6}}, []answer{<-first, <-second, <-third})
}

func TestACallerWhoLeavesEndsItsOwnWaitAlone(t *testing.T) {
	l := newLine(t, one(10))
	first := l.call(t.Context(), 1, 0)
	require.Equal(t, []int{1}, <-l.sent)
	leaving, leave := context.WithCancel(t.Context())
	gone, stays := l.call(leaving, 2, 1), l.call(t.Context(), 3, 2)
	leave()
	require.ErrorIs(t, (<-gone).err, context.Canceled)
	l.let(2)
	require.Equal(t, answer{result: 2}, <-first)
	require.Equal(t, []int{3}, <-l.sent, "who left before it started is not carried")
	require.Equal(t, answer{result: 6}, <-stays)

	first = l.call(t.Context(), 1, 0)
	require.Equal(t, []int{1}, <-l.sent)
	leaving, leave = context.WithCancel(t.Context())
	gone, stays = l.call(leaving, 2, 1), l.call(t.Context(), 3, 2)
	l.let(1)
	require.Equal(t, answer{result: 2}, <-first)
	require.Equal(t, []int{2, 3}, <-l.sent)
	leave()
	require.ErrorIs(t, (<-gone).err, context.Canceled)
	l.let(1)
	require.Equal(t, answer{result: 6}, <-stays, "the round trip that is under way does not end with one of its callers")
	require.Empty(t, l.sent)
}

func TestALoneCallersContextEndsItsRoundTrip(t *testing.T) {
	l := newLine(t, one(10))
	leaving, leave := context.WithCancel(t.Context())
	first := l.call(leaving, 1, 0)
	require.Equal(t, []int{1}, <-l.sent)
	second := l.call(t.Context(), 2, 1)
	leave()
	require.ErrorIs(t, (<-first).err, context.Canceled)
	require.Equal(t, []int{2}, <-l.sent)
	l.let(1)
	require.Equal(t, answer{result: 4}, <-second)

	_, err := l.trips.Do(leaving, 3)
	require.ErrorIs(t, err, context.Canceled)
	require.Empty(t, l.sent, "who is gone before is not carried")
}

func TestARoundTripThatHangsEndsInTime(t *testing.T) {
	l := newLine(t, together.Limits{AtOnce: 1, Most: 10, Within: time.Millisecond})
	first := l.call(t.Context(), 1, 0)
	require.Equal(t, []int{1}, <-l.sent)
	leaving, leave := context.WithCancel(t.Context())
	second, third := l.call(leaving, 2, 1), l.call(leaving, 3, 2)
	l.let(1)
	require.Equal(t, answer{result: 2}, <-first)
	require.Equal(t, []int{2, 3}, <-l.sent)
	require.Equal(t, []int{2}, <-l.sent, "the bound has passed, and each is tried alone")
	leave()
	require.ErrorIs(t, (<-second).err, context.Canceled)
	require.ErrorIs(t, (<-third).err, context.Canceled)
}

func TestAPanicOrALostResultIsAnErrorOfWhoWasCarried(t *testing.T) {
	trips := together.New(one(10), func(_ context.Context, items []string) ([]string, error) {
		if items[0] == "panic" {
			panic("at the wheel")
		}
		return nil, nil
	})
	_, err := trips.Do(t.Context(), "panic")
	require.ErrorContains(t, err, "at the wheel")
	_, err = trips.Do(t.Context(), "lost")
	require.ErrorContains(t, err, "0 results of 1 items")
}

func TestManyCallersEachGetTheirOwn(t *testing.T) {
	trips := together.New(together.Limits{AtOnce: 2, Most: 7, Within: time.Minute}, func(_ context.Context, items []int) ([]int, error) {
		results := make([]int, len(items))
		for i, item := range items {
			if item%97 == 13 {
				return nil, errBad
			}
			results[i] = item * item
		}
		return results, nil
	})
	var callers errgroup.Group
	for caller := range 32 {
		callers.Go(func() error {
			for i := range 200 {
				item := caller*1000 + i
				result, err := trips.Do(context.Background(), item)
				switch bad := item%97 == 13; {
				case bad != errors.Is(err, errBad):
					return fmt.Errorf("%d: %w", item, err)
				case !bad && (err != nil || result != item*item):
					return fmt.Errorf("%d got %d, %w", item, result, err)
				}
			}
			return nil
		})
	}
	require.NoError(t, callers.Wait())
	require.Zero(t, trips.Waiting())
}
