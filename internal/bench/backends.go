package main

import (
	"fmt"
	"log/slog"
	"os"
	"strings"
)

// backends are the CPU seconds so far of the processes of Postgres, by process id.
type backends map[int]backend

type backend struct {
	serves  string // a database, or the name of a background process
	seconds float64
}

func (s *session) backends() backends {
	all := backends{}
	for _, pid := range childrenOf(s.cluster.PID()) {
		title, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid)) // gone: empty
		all[pid] = backend{serves: servedBy(string(title)), seconds: spent(pid, false)}
	}
	return all
}

// servedBy reads the title of a process: "postgres: <user> <database> <client> <state>", or "postgres: <background process>".
func servedBy(title string) string {
	words := strings.Fields(strings.TrimPrefix(strings.ReplaceAll(title, "\x00", " "), "postgres: "))
	if len(words) >= 3 && strings.HasPrefix(words[1], "bench_") {
		return words[1]
	}
	return "background"
}

// until is what was used up to a later reading, by what it served. A process that ended meanwhile is not in it.
func (b backends) until(later backends) map[string]float64 {
	used := map[string]float64{}
	for pid, now := range later {
		used[now.serves] += now.seconds - b[pid].seconds
	}
	return used
}

func discard() *slog.Logger { return slog.New(slog.DiscardHandler) }
