package doctor

import (
	"fmt"
	"strings"
	"time"
)

// MaxShown bounds the violations of one check, and the notes, that a report carries; the totals count all.
const MaxShown = 20

// Report is what an examination found.
type Report struct {
	At        time.Time `json:"at"` // payonce.clock() when it began
	Settled   bool      `json:"settled"`
	Checks    []Check   `json:"checks"`
	Notes     []Finding `json:"notes,omitempty"` // what a person should know and no invariant forbids; at most MaxShown
	NoteTotal int       `json:"note_total"`
}

// Check is one question and its answer.
type Check struct {
	Name       string    `json:"name"`
	Invariant  int       `json:"invariant"` // 1 to 7, of the design
	Asks       string    `json:"asks"`      // what must be true
	Passed     bool      `json:"passed"`
	Examined   int       `json:"examined"` // how many things were looked at; 0 proves nothing
	Skipped    string    `json:"skipped,omitempty"`
	Violations []Finding `json:"violations,omitempty"` // at most MaxShown
	Total      int       `json:"total"`                // of all violations
}

// Finding is a violation, or a note.
type Finding struct {
	Subject string `json:"subject"`
	Text    string `json:"text"`
	Next    string `json:"next"` // what to do
}

// Violations counts the violations of all checks.
func (r Report) Violations() int {
	total := 0
	for _, check := range r.Checks {
		total += check.Total
	}
	return total
}

// Healthy tells whether no check found a violation.
func (r Report) Healthy() bool { return r.Violations() == 0 }

// Blind counts the checks that could not look: what they ask may be otherwise.
func (r Report) Blind() int {
	blind := 0
	for _, check := range r.Checks {
		if check.Skipped != "" {
			blind++
		}
	}
	return blind
}

// String lists the violations, one a line.
func (r Report) String() string {
	if r.Healthy() {
		return fmt.Sprintf("%d checks found nothing wrong, %d could not look", len(r.Checks)-r.Blind(), r.Blind())
	}
	var lines strings.Builder
	for _, check := range r.Checks {
		for _, violation := range check.Violations {
			fmt.Fprintf(&lines, "%s: %s %s (%s)\n", check.Name, violation.Subject, violation.Text, violation.Next)
		}
		if unshown := check.Total - len(check.Violations); unshown > 0 {
			fmt.Fprintf(&lines, "%s: and %d more\n", check.Name, unshown)
		}
	}
	return lines.String()
}

// violate notes a violation.
func (c *Check) violate(subject, next, format string, arguments ...any) {
	c.Total++
	c.Passed = false
	if len(c.Violations) < MaxShown {
		c.Violations = append(c.Violations, Finding{Subject: subject, Text: fmt.Sprintf(format, arguments...), Next: next})
	}
}

func (r *Report) note(subject, next, format string, arguments ...any) {
	r.NoteTotal++
	if len(r.Notes) < MaxShown {
		r.Notes = append(r.Notes, Finding{Subject: subject, Text: fmt.Sprintf(format, arguments...), Next: next})
	}
}
