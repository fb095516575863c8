package boundaries_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"sync"
	"time"

	"github.com/stretchr/testify/require"

	"payonce/boundaries"
)

// placeVariable makes a copy of the test's binary serve claims instead of running tests.
const placeVariable = "PAYONCE_CONFORMANCE_PLACE"

// order is what a test asks of a process: to make all claims at once or, holding, the first one, and to go no further; or to do an act of an owner.
type order struct {
	Claims []offer
	Hold   bool
	Act    *act
}

// result is what one claim got.
type result struct {
	Outcome boundaries.Outcome
	Error   string
}

// serveClaims is a process of the test: it reads orders and answers each with its results, until its input ends.
func serveClaims(job []byte, orders io.Reader, answers io.Writer) error {
	var at place
	if err := json.Unmarshal(job, &at); err != nil {
		return err
	}
	ctx := context.Background()
	e, err := openEngine(ctx, at)
	if err != nil {
		return err
	}
	defer e.close()
	encoder, own := json.NewEncoder(answers), owner{engine: e}
	for lines := bufio.NewScanner(orders); lines.Scan(); {
		var asked order
		if err := json.Unmarshal(lines.Bytes(), &asked); err != nil {
			return err
		}
		if asked.Act != nil {
			if err := encoder.Encode(own.do(ctx, *asked.Act)); err != nil {
				return err
			}
			continue
		}
		serve := e.claimAll
		if asked.Hold {
			serve = e.claimAndHold
		}
		if err := encoder.Encode(serve(ctx, asked.Claims)); err != nil {
			return err
		}
	}
	return nil
}

func (e *engine) claimAll(ctx context.Context, offers []offer) []result {
	results := make([]result, len(offers))
	var all sync.WaitGroup
	for i, o := range offers {
		all.Go(func() {
			b, err := boundaryNamed(o.Boundary)
			if err == nil {
				results[i].Outcome, err = b.claim(ctx, e, o)
			}
			if err != nil {
				results[i].Error = err.Error()
			}
		})
	}
	all.Wait()
	return results
}

// claimAndHold claims and leaves it at that: a transaction stays open.
func (e *engine) claimAndHold(ctx context.Context, offers []offer) []result {
	var got result
	err := func() error {
		b, err := boundaryNamed(offers[0].Boundary)
		if err != nil {
			return err
		}
		if b.within == nil {
			got.Outcome, err = b.claim(ctx, e, offers[0])
			return err
		}
		tx, err := e.system.Begin(ctx)
		if err != nil {
			return err
		}
		got.Outcome, err = b.within(ctx, tx, e, offers[0])
		return err
	}()
	if err != nil {
		got.Error = err.Error()
	}
	return []result{got}
}

// process is another process on the test's database.
type process struct {
	w       *world
	command *exec.Cmd
	orders  io.WriteCloser
	answers *json.Decoder
	ended   bool
}

// startProcess runs the test's binary again; it ends with the test.
func (w *world) startProcess() *process {
	w.t.Helper()
	job, err := json.Marshal(w.place)
	require.NoError(w.t, err)
	binary, err := os.Executable()
	require.NoError(w.t, err)
	p := &process{w: w, command: exec.CommandContext(context.Background(), binary)}
	p.command.Env = append(os.Environ(), placeVariable+"="+string(job))
	p.command.Stderr = os.Stderr
	p.orders, err = p.command.StdinPipe()
	require.NoError(w.t, err)
	answers, err := p.command.StdoutPipe()
	require.NoError(w.t, err)
	p.answers = json.NewDecoder(answers)
	require.NoError(w.t, p.command.Start())
	w.t.Cleanup(p.kill)
	return p
}

func (p *process) ask(what order) {
	p.w.t.Helper()
	require.NoError(p.w.t, json.NewEncoder(p.orders).Encode(what))
}

func (p *process) results() []result {
	p.w.t.Helper()
	var results []result
	require.NoError(p.w.t, p.answers.Decode(&results))
	return results
}

// kill ends the process as SIGKILL does, if it still runs.
func (p *process) kill() {
	if p.ended {
		return
	}
	p.ended = true
	_ = p.command.Process.Kill()
	var exit *exec.ExitError
	if err := p.command.Wait(); err != nil && !errors.As(err, &exit) {
		require.NoError(p.w.t, err)
	}
}

// race lets the processes make all claims at one moment: each has to wait for the boundary's table until all of them do, past every read that a
// claim begins with.
func (w *world) race(processes []*process, b boundary, offers []offer) []result {
	w.t.Helper()
	ctx := w.t.Context()
	gate, err := w.owner.Begin(ctx)
	require.NoError(w.t, err)
	defer gate.Rollback(context.Background())
	_, err = gate.Exec(ctx, `LOCK TABLE payonce.`+b.table+` IN SHARE MODE`)
	require.NoError(w.t, err)
	share := len(offers) / len(processes)
	for i, p := range processes {
		p.ask(order{Claims: offers[i*share : (i+1)*share]})
	}
	w.awaitWaiting(len(offers))
	require.NoError(w.t, gate.Rollback(ctx))
	var results []result
	for _, p := range processes {
		results = append(results, p.results()...)
	}
	return results
}

// awaitWaiting waits until so many sessions of the test's database wait for a lock.
func (w *world) awaitWaiting(sessions int) {
	w.t.Helper()
	deadline := time.NewTimer(20 * time.Second)
	defer deadline.Stop()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for {
		waiting := w.count(`SELECT count(DISTINCT pid) FROM pg_locks
			WHERE NOT granted AND pid IN (SELECT pid FROM pg_stat_activity WHERE datname = current_database())`)
		if waiting == sessions {
			return
		}
		select {
		case <-deadline.C:
			require.FailNow(w.t, "too few claims wait for the lock", "%d of %d", waiting, sessions)
		case <-tick.C:
		}
	}
}
