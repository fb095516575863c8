package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// ticksPerSecond is the unit of the times in /proc/<pid>/stat: USER_HZ, which is 100 on every Linux that Go runs on.
const ticksPerSecond = 100

// spent is the CPU time of a process so far, in seconds; 0 when it is gone. With children, that of the children that it has waited for is in it.
func spent(pid int, children bool) float64 {
	fields := statOf(pid)
	if fields == nil {
		return 0
	}
	ticks := number(fields[11]) + number(fields[12]) // utime, stime
	if children {
		ticks += number(fields[13]) + number(fields[14])
	}
	return ticks / ticksPerSecond
}

// statOf are the fields of /proc/<pid>/stat from the third, the state, on; nil when the process is gone.
func statOf(pid int) []string {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return nil
	}
	_, rest, found := bytes.Cut(text, []byte(") ")) // the second is the program's name, in brackets
	if !found {
		return nil
	}
	return strings.Fields(string(rest))
}

func number(text string) float64 {
	n, _ := strconv.ParseFloat(text, 64) // the kernel writes decimal
	return n
}

// spentByTree is the CPU time of a process and its children, those that have ended too: a Postgres with its backends.
func spentByTree(pid int) float64 {
	total := spent(pid, true)
	for _, child := range childrenOf(pid) {
		total += spent(child, false)
	}
	return total
}

func childrenOf(pid int) []int {
	var children []int
	entries, _ := filepath.Glob("/proc/[0-9]*") // the pattern is well-formed
	for _, entry := range entries {
		child, _ := strconv.Atoi(filepath.Base(entry))
		if fields := statOf(child); fields != nil && fields[1] == strconv.Itoa(pid) {
			children = append(children, child)
		}
	}
	return children
}

// residentMB is the memory that a process holds, in MB (10⁶ bytes).
func residentMB(pid int) float64 {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(text)) {
		if value, found := strings.CutPrefix(line, "VmRSS:"); found {
			return number(strings.Fields(value)[0]) * 1024 / 1e6
		}
	}
	return 0
}
