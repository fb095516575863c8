package notifications

import "github.com/google/uuid"

// sends are the tries under way; only the goroutine that begins them touches it.
type sends struct {
	underWay int
	busy     map[uuid.UUID]int // by endpoint; without those at zero
	ended    chan ended        // holds as many as may be under way, so that no try waits to end
	failures []error
}

// ended is the end of one try.
type ended struct {
	endpoint uuid.UUID
	err      error
}

func (s *sends) begin(endpoint uuid.UUID, deliver func() error) {
	s.underWay++
	s.busy[endpoint]++
	go func() { s.ended <- ended{endpoint: endpoint, err: deliver()} }()
}

// settle takes note of an end, and of those that are there already.
func (s *sends) settle(e ended) {
	for {
		s.underWay--
		if s.busy[e.endpoint]--; s.busy[e.endpoint] == 0 {
			delete(s.busy, e.endpoint)
		}
		if e.err != nil {
			s.failures = append(s.failures, e.err)
		}
		select {
		case e = <-s.ended:
		default:
			return
		}
	}
}
