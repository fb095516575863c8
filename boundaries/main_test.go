package boundaries_test

import (
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"
)

// TestMain runs the tests, or in a process that a test started what that test asks of it.
func TestMain(m *testing.M) {
	if job := os.Getenv(placeVariable); job != "" {
		if err := serveClaims([]byte(job), os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	goleak.VerifyTestMain(m)
}
