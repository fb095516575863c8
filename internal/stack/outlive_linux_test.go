package stack_test

import (
	"os"
	"runtime"
	"strings"
	"syscall"
)

// A helper that lingers stays on its first thread, which alone has the signal that
// outliveParent takes back.
func init() { //nolint:gochecknoinits // only before main is it sure which thread is the first
	if strings.HasPrefix(os.Getenv(helperVariable), "linger ") {
		runtime.LockOSThread()
	}
}

// outliveParent takes back that the kernel ends us with our parent.
func outliveParent() error {
	const setParentDeathSignal = 1 // PR_SET_PDEATHSIG of prctl(2)
	if _, _, errno := syscall.RawSyscall(syscall.SYS_PRCTL, setParentDeathSignal, 0, 0); errno != 0 {
		return errno
	}
	return nil
}
