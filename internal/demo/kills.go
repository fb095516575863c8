package demo

import (
	"context"
	"fmt"
	"sync"

	"payonce/internal/devstack"
)

// Kill is a process that was ended by SIGKILL and started again while orders were under way.
type Kill struct {
	Process string `json:"process"`
	After   int    `json:"after"` // orders that had their outcome then; fewer than all, so others were under way
}

// killer kills when the traffic has come far enough.
type killer struct {
	kill  func(ctx context.Context, process string) error // and start it again
	total int

	mutex sync.Mutex
	done  int
	moved chan struct{}
}

func newKiller(total int, kill func(ctx context.Context, process string) error) *killer {
	return &killer{kill: kill, total: total, moved: make(chan struct{}, 1)}
}

// orderDone tells that one more order has its outcome.
func (k *killer) orderDone() {
	k.mutex.Lock()
	k.done++
	k.mutex.Unlock()
	select {
	case k.moved <- struct{}{}:
	default:
	}
}

func (k *killer) count() int {
	k.mutex.Lock()
	defer k.mutex.Unlock()
	return k.done
}

// plan is after how many of 100 orders which process is killed.
func plan() []Kill {
	return []Kill{{devstack.Worker, 15}, {devstack.API, 35}, {devstack.Worker, 55}, {devstack.API, 70}}
}

// run kills by plan until all is done or ctx ends, and returns the kills that hit orders under way.
func (k *killer) run(ctx context.Context) ([]Kill, error) {
	var kills []Kill
	for _, planned := range plan() {
		due := planned.After * k.total / 100
		for k.count() < due {
			select {
			case <-ctx.Done():
				return kills, nil
			case <-k.moved:
			}
		}
		at := k.count()
		if at >= k.total {
			return kills, nil
		}
		if err := k.kill(ctx, planned.Process); err != nil {
			return kills, fmt.Errorf("kill and restart: %w", err)
		}
		kills = append(kills, Kill{Process: planned.Process, After: at})
	}
	return kills, nil
}
