package mutant

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"payonce/internal/clock"
)

// Verdict is what the tests made of a mutant.
type Verdict string

// The verdicts.
const (
	Caught   Verdict = "caught"   // a test failed
	Survived Verdict = "survived" // the tests passed: the protection is not protected
	Broken   Verdict = "broken"   // nothing was learnt: the patch or the tests are at fault
)

// Result is the verdict on one mutant.
type Result struct {
	Mutant  Mutant
	Verdict Verdict
	// Reason says by which test it was caught, or what is wrong.
	Reason string
	Took   time.Duration
}

// Runner runs mutants, some at a time: a test has a database of its own, and a test of broken code mostly waits for what does not come.
type Runner struct {
	// Root is the root of the module.
	Root string
	// AtOnce is how many mutants run side by side; 0 is one.
	AtOnce int
	// Progress is given one line a mutant as soon as its verdict is known, and what the tests said about one not caught.
	Progress io.Writer

	baselines sync.Map // by selection of tests, the *baseline of it
}

// baseline is what the tests of a selection say of the code as it is; the first who needs it runs them, the others wait.
type baseline struct {
	run           sync.Once
	wrong, output string // empty for nothing wrong
	err           error
}

// Run gives the verdict on each mutant, in their order. It returns an error only when the context ended or go itself could not be run.
func (r *Runner) Run(ctx context.Context, mutants []Mutant) ([]Result, error) {
	results := make([]Result, len(mutants))
	var telling sync.Mutex
	told := 0
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(max(r.AtOnce, 1))
	for i, mutant := range mutants {
		group.Go(func() error {
			began := clock.Wall()
			result, output, err := r.judge(ctx, mutant)
			if err != nil {
				return fmt.Errorf("%s: %w", mutant.Name, err)
			}
			result.Took = clock.Wall().Sub(began)
			results[i] = result
			telling.Lock()
			defer telling.Unlock()
			told++
			fmt.Fprintf(r.Progress, "[%d/%d] %-8s %s: %s (%.1f s)\n", told, len(mutants), result.Verdict, mutant.Name, result.Reason, result.Took.Seconds())
			if result.Verdict != Caught {
				fmt.Fprint(r.Progress, tail(output, 60))
			}
			return nil
		})
	}
	return results, group.Wait()
}

// judge runs the tests of one mutant without and with it, and returns what they printed with it.
func (r *Runner) judge(ctx context.Context, mutant Mutant) (Result, string, error) {
	wrong, output, err := r.baseline(ctx, mutant)
	if err != nil {
		return Result{}, "", err
	}
	if wrong != "" {
		return Result{Mutant: mutant, Verdict: Broken, Reason: wrong}, output, nil
	}
	dir, err := os.MkdirTemp("", "payonce-mutant-")
	if err != nil {
		return Result{}, "", err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	dir, err = filepath.EvalSymlinks(dir)
	if err != nil {
		return Result{}, "", err
	}
	overlay, err := mutant.overlay(ctx, r.Root, dir)
	if err != nil {
		return Result{Mutant: mutant, Verdict: Broken, Reason: err.Error()}, "", ctx.Err()
	}
	said, err := goTest(ctx, r.Root, mutant, overlay)
	if err != nil {
		return Result{}, "", err
	}
	verdict, reason := said.verdict()
	return Result{Mutant: mutant, Verdict: verdict, Reason: reason}, said.output, nil
}

// baseline runs the tests of a mutant on the code as it is, once for each selection, and says what is wrong with them.
func (r *Runner) baseline(ctx context.Context, mutant Mutant) (wrong, output string, err error) {
	selection := mutant.Run + " " + strings.Join(mutant.Packages, " ")
	known, _ := r.baselines.LoadOrStore(selection, &baseline{})
	b := known.(*baseline)
	b.run.Do(func() { b.wrong, b.output, b.err = testUnchanged(ctx, r.Root, mutant) })
	return b.wrong, b.output, b.err
}

// testUnchanged runs the tests of a mutant on the code as it is.
func testUnchanged(ctx context.Context, root string, mutant Mutant) (wrong, output string, err error) {
	said, err := goTest(ctx, root, mutant, "")
	if err != nil {
		return "", "", err
	}
	switch {
	case said.buildFailed:
		wrong = "the tests do not build as the code is"
	case said.failedRuns > 0:
		wrong = "the tests fail as the code is: " + strings.Join(said.failed, ", ")
	case said.passed == 0:
		wrong = "no test passes as the code is: check `# package:` and `# run:`"
	}
	return wrong, said.output, nil
}

// verdict judges what the tests said about mutated code.
func (o outcome) verdict() (Verdict, string) {
	switch {
	case o.buildFailed:
		return Broken, "the mutated code does not build"
	case o.started == 0:
		return Broken, "no test began on the mutated code"
	case o.failedRuns == 0:
		return Survived, "the tests pass without this protection"
	case len(o.failed) == 0:
		return Caught, "the tests panicked or timed out"
	}
	return Caught, "by " + o.failed[0]
}

// tail is the last lines of a text, indented; empty for an empty text.
func tail(text string, lines int) string {
	text = strings.TrimRight(text, "\n")
	if text == "" {
		return ""
	}
	all := strings.Split(text, "\n")
	return "    " + strings.Join(all[max(0, len(all)-lines):], "\n    ") + "\n"
}
