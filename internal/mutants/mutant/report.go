package mutant

import (
	"errors"
	"fmt"
	"io"
	"text/tabwriter"
)

// ErrNotAllCaught means that a protection is not protected, or that a mutant is broken.
var ErrNotAllCaught = errors.New("not every mutant was caught")

// Report prints a table of the results and, as its last line, how many there were and how many were caught. It returns
// ErrNotAllCaught unless there was at least one and all of them were.
func Report(w io.Writer, results []Result) error {
	caught := 0
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "\nMUTANT\tVERDICT\tPROTECTION TAKEN OUT\tREASON")
	for _, result := range results {
		if result.Verdict == Caught {
			caught++
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", result.Mutant.Name, result.Verdict, result.Mutant.Protection, result.Reason)
	}
	if err := table.Flush(); err != nil {
		return err
	}
	if _, err := fmt.Fprintf(w, "\nmutants: total=%d caught=%d\n", len(results), caught); err != nil {
		return err
	}
	if len(results) == 0 || caught != len(results) {
		return ErrNotAllCaught
	}
	return nil
}
