package stack

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// postmasterFile is what Postgres leaves in the data directory while it runs,
// and also when it was killed.
type postmasterFile struct {
	pid    int
	port   int
	status string // starting, ready, standby or stopping
}

// adopt takes over a Postgres that an earlier run left on our data. A file left
// by one that is gone is removed: Postgres itself would refuse to start if an
// unrelated process has the same number now.
func (c *Cluster) adopt(ctx context.Context) (bool, error) {
	for {
		file, err := readPostmasterFile(c.place.data())
		if errors.Is(err, fs.ErrNotExist) {
			return false, nil
		}
		if err != nil {
			return false, err
		}
		if !c.runs(file.pid) {
			return false, removeStale(filepath.Join(c.place.data(), "postmaster.pid"))
		}
		if file.status == "ready" {
			c.port = file.port
			c.server = adoptChild(file.pid, func() bool { return c.runs(file.pid) })
			fmt.Fprintf(c.config.Log, "postgres: adopted the cluster that was still running in %s\n", c.place.dir)
			return true, c.awaitAnswer(ctx)
		}
		select { // it is starting or stopping: wait for what comes of it
		case <-ctx.Done():
			return false, fmt.Errorf("postgres %d is %s: %w", file.pid, file.status, ctx.Err())
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// removeStale removes a file that Postgres may be removing itself.
func removeStale(file string) error {
	if err := os.Remove(file); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// runs says whether the process is a Postgres on our data directory, by whatever
// path it was told.
func (c *Cluster) runs(pid int) bool {
	command := commandOf(pid)
	if len(command) == 0 || filepath.Base(command[0]) != "postgres" {
		return false
	}
	ours, err := os.Stat(c.place.data())
	if err != nil {
		return false
	}
	for i, argument := range command[:len(command)-1] {
		if argument != "-D" {
			continue
		}
		told, err := os.Stat(command[i+1])
		return err == nil && os.SameFile(told, ours)
	}
	return false
}

// readPostmasterFile reads postmaster.pid: its lines are pid, data directory,
// start time, port, socket directory, listen address, shared memory, status.
func readPostmasterFile(data string) (postmasterFile, error) {
	text, err := os.ReadFile(filepath.Join(data, "postmaster.pid"))
	if err != nil {
		return postmasterFile{}, err
	}
	lines := append(strings.Split(string(text), "\n"), make([]string, 8)...)
	pid, _ := strconv.Atoi(strings.TrimSpace(lines[0])) // 0 of a half-written file: not running
	port, _ := strconv.Atoi(strings.TrimSpace(lines[3]))
	return postmasterFile{pid: pid, port: port, status: strings.TrimSpace(lines[7])}, nil
}
