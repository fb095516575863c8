package stack

import (
	"bytes"
	"os"
	"os/exec"
	"strconv"
	"strings"
)

// commandOf returns the program and the arguments of a process, nothing when
// there is none or when it is a zombie. Where there is no /proc, an argument with
// blanks comes in pieces.
func commandOf(pid int) []string {
	if hasProc() {
		line, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/cmdline") // gone: empty
		return strings.FieldsFunc(string(line), func(r rune) bool { return r == 0 })
	}
	line, _ := ps(pid, "command=")
	return strings.Fields(string(line))
}

// identityOf tells a process from every other that had its number before or will
// have it: when it started, and in which boot. It is empty when there is none or
// when it is a zombie.
func identityOf(pid int) string {
	if !hasProc() {
		started, _ := ps(pid, "stat=,lstart=")
		state, when, _ := strings.Cut(strings.TrimSpace(string(started)), " ")
		if strings.HasPrefix(state, "Z") {
			return ""
		}
		return strings.TrimSpace(when)
	}
	boot, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	stat, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat") // gone: empty
	// pid (name) state …: the name may hold blanks and brackets. The start is field 22 (proc(5)).
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	const state, start = 0, 22 - 3
	if len(fields) <= start || fields[state] == "Z" || fields[state] == "X" {
		return ""
	}
	return strings.TrimSpace(string(boot)) + "/" + fields[start]
}

func hasProc() bool {
	_, err := os.Stat("/proc/self/stat")
	return err == nil
}

// ps asks for columns of one process, in a form that does not follow our settings.
func ps(pid int, columns string) ([]byte, error) {
	command := exec.Command("ps", "-o", columns, "-p", strconv.Itoa(pid))
	command.Env = append(os.Environ(), "LC_ALL=C", "TZ=UTC")
	return command.Output()
}
