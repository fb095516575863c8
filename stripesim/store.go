package stripesim

import (
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"
)

var errStoreClosed = errors.New("the state file is closed")

// store writes the books through to a state file. Batches are written in the order in which they were submitted;
// batches that wait together share one record. Without a file it keeps nothing.
type store struct {
	state *stateFile // nil = none

	mu      sync.Mutex
	waiting []*batch
	last    *batch // the last one submitted that somebody may wait for
	late    bool   // a wake-up is planned for what nobody waits for
	wake    chan struct{}
	closed  bool
	broken  error
	ended   chan struct{}
}

// batch is what is written together: all of it or nothing.
type batch struct {
	puts   []put
	clears bool // empties the file instead
	done   chan struct{}
	err    error
}

type put struct {
	bucket string
	number int64
	row    any    // nil deletes
	value  []byte // the row's JSON, made when the batch is submitted
}

// put adds a row under its number. It is written as it is when the batch is submitted.
func (b *batch) put(bucket string, number int64, row any) {
	b.puts = append(b.puts, put{bucket: bucket, number: number, row: row})
}

func (b *batch) remove(bucket string, number int64) {
	b.puts = append(b.puts, put{bucket: bucket, number: number})
}

func (b *batch) encode() {
	for i := range b.puts {
		if b.puts[i].row != nil {
			b.puts[i].value = encode(b.puts[i].row)
		}
	}
}

func openStore(path string) (*store, error) {
	s := &store{wake: make(chan struct{}, 1), ended: make(chan struct{})}
	if path == "" {
		close(s.ended)
		return s, nil
	}
	state, err := openStateFile(path)
	if err != nil {
		return nil, fmt.Errorf("state file %s: %w", path, err)
	}
	s.state = state
	go s.write()
	return s, nil
}

// submit queues a batch; wait on the result for its commit. An empty batch is committed when everything is that was
// submitted in this way before it.
func (s *store) submit(b *batch) *batch {
	b.done = make(chan struct{})
	if s.state == nil {
		close(b.done)
		return b
	}
	b.encode()
	s.mu.Lock()
	defer s.mu.Unlock()
	empty := len(b.puts) == 0 && !b.clears
	if empty && s.last != nil {
		return s.last
	}
	if empty || s.closed || s.broken != nil {
		if !empty {
			b.err = errors.Join(errStoreClosed, s.broken)
		}
		close(b.done)
		return b
	}
	s.waiting = append(s.waiting, b)
	s.last = b
	s.rouse()
	return b
}

// lateness is how long a row may wait for company that nobody waits for.
const lateness = 5 * time.Millisecond

// submitLate queues a batch that nobody waits for: it goes with the next one that somebody does, or a little later
// by itself. A transaction of its own would cost more than the row.
func (s *store) submitLate(b *batch) {
	if s.state == nil {
		return
	}
	b.encode()
	b.done = make(chan struct{})
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || s.broken != nil {
		return
	}
	s.waiting = append(s.waiting, b)
	if !s.late {
		s.late = true
		time.AfterFunc(lateness, s.rouse)
	}
}

// rouse wakes the writer.
func (s *store) rouse() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// wait returns when the batch is in the file, or could not be written.
func (b *batch) wait() error {
	<-b.done
	return b.err
}

func (s *store) write() {
	defer close(s.ended)
	for {
		<-s.wake
		s.mu.Lock()
		batches, closed := s.waiting, s.closed
		s.waiting, s.late = nil, false
		s.mu.Unlock()
		if len(batches) > 0 {
			s.commit(batches)
		}
		if closed {
			return
		}
	}
}

func (s *store) commit(batches []*batch) {
	err := s.apply(batches)
	if err != nil {
		s.mu.Lock()
		s.broken = err
		s.mu.Unlock()
	}
	for _, b := range batches {
		b.err = err
		close(b.done)
	}
}

func (s *store) apply(batches []*batch) error {
	for i, b := range batches {
		if b.clears { // and with it what came before
			return errors.Join(s.state.clear(), s.apply(batches[i+1:]))
		}
	}
	if len(batches) == 0 {
		return nil
	}
	return s.state.write(batches)
}

// load calls file with every row of a bucket, in the order of their numbers.
func load[T any](s *store, bucket string, file func(T)) error {
	if s.state == nil {
		return nil
	}
	err := s.state.each(bucket, func(value []byte) error {
		var row T
		if err := json.Unmarshal(value, &row); err != nil {
			return err
		}
		file(row)
		return nil
	})
	if err != nil {
		return fmt.Errorf("state file: %w", err)
	}
	return nil
}

// loaded ends the use of load.
func (s *store) loaded() {
	if s.state != nil {
		s.state.loaded()
	}
}

// clear empties the file, after everything submitted before it.
func (s *store) clear() error {
	if s.state == nil {
		return nil
	}
	return s.submit(&batch{clears: true}).wait()
}

// close writes what is waiting and closes the file.
func (s *store) close() error {
	s.mu.Lock()
	already := s.closed
	s.closed = true
	s.mu.Unlock()
	if s.state == nil || already {
		return nil
	}
	s.rouse()
	<-s.ended
	return s.state.close()
}
