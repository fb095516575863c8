package mutant

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"
)

// testTimeout bounds one run of the named tests; a mutant that makes them hang is caught by it, slowly.
const testTimeout = 3 * time.Minute

// stopTimeout is how long go test has to end its children after an interrupt.
const stopTimeout = 10 * time.Second

// outcome is what one go test said.
type outcome struct {
	started     int      // tests that began
	passed      int      // tests that passed
	failed      []string // tests that failed, in the order in which they did
	failedRuns  int      // packages whose tests were built and failed
	buildFailed bool     // something did not compile
	output      string   // all that was printed
}

// event is a line of `go test -json`; the fields are described by `go doc test2json` and `go help buildjson`.
type event struct {
	Action      string
	Test        string
	Output      string
	FailedBuild string
}

// goTest runs the tests that a mutant names; with an overlay, against the mutated code.
func goTest(ctx context.Context, root string, m Mutant, overlay string) (outcome, error) {
	// Without vet: a mutant may leave behind what vet dislikes, and that is no catch.
	args := []string{"test", "-json", "-count=1", "-failfast", "-vet=off", "-timeout=" + testTimeout.String()}
	if m.Run != "" {
		args = append(args, "-run="+m.Run)
	}
	command := exec.CommandContext(ctx, "go", append(args, m.Packages...)...)
	command.Dir = root
	command.Cancel = func() error { return command.Process.Signal(os.Interrupt) }
	command.WaitDelay = stopTimeout
	command.Env = append(os.Environ(), "RAPID_NOFAILFILE=1") // a found counterexample of a mutant is no test case of ours
	if overlay != "" {
		// In the environment, so that it also reaches the programs that a test builds and runs.
		command.Env = append(command.Env, strings.TrimSpace("GOFLAGS="+os.Getenv("GOFLAGS")+" -overlay="+overlay))
	}
	var errorOutput bytes.Buffer
	command.Stderr = &errorOutput
	output, err := command.Output()
	if ctx.Err() != nil {
		return outcome{}, ctx.Err()
	}
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		return outcome{}, fmt.Errorf("run go test: %w", err)
	}
	said := readEvents(output)
	said.output += errorOutput.String()
	if err != nil && said.failedRuns == 0 {
		said.buildFailed = true // a pattern that names no package ends here too
	}
	return said, nil
}

// readEvents sums up the lines of `go test -json`.
func readEvents(lines []byte) outcome {
	var said outcome
	var output strings.Builder
	for line := range bytes.Lines(lines) {
		var event event
		if json.Unmarshal(line, &event) != nil {
			output.Write(line)
			continue
		}
		switch {
		case event.Action == "output" || event.Action == "build-output":
			output.WriteString(event.Output)
		case event.Action == "build-fail" || event.FailedBuild != "":
			said.buildFailed = true
		case event.Action == "run":
			said.started++
		case event.Action == "pass" && event.Test != "":
			said.passed++
		case event.Action == "fail" && event.Test != "":
			said.failed = append(said.failed, event.Test)
		case event.Action == "fail":
			said.failedRuns++
		}
	}
	said.output = output.String()
	return said
}
