package doctor

import (
	"fmt"
	"io"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
)

// WriteTable writes the report for people: a line a check, then the violations with what to do, then the notes.
func WriteTable(w io.Writer, r Report) {
	checks := table.NewWriter()
	checks.SetOutputMirror(w)
	checks.SetStyle(table.StyleLight)
	checks.AppendHeader(table.Row{"inv.", "check", "must be true", "examined", "result"})
	checks.SetColumnConfigs([]table.ColumnConfig{{Number: 3, WidthMax: 80, WidthMaxEnforcer: text.WrapSoft}, {Number: 4, Align: text.AlignRight}})
	for _, c := range r.Checks {
		checks.AppendRow(table.Row{c.Invariant, c.Name, c.Asks, c.Examined, c.result()})
	}
	checks.Render()
	writeFindings(w, "violation", r.violations())
	writeFindings(w, "note", r.Notes)
	if unshown := r.NoteTotal - len(r.Notes); unshown > 0 {
		fmt.Fprintf(w, "and %d more notes\n", unshown)
	}
	for _, c := range r.Checks {
		if c.Skipped != "" {
			fmt.Fprintf(w, "could not look: %s: %s\n", c.Name, c.Skipped)
		}
	}
	fmt.Fprintf(w, "doctor: checks=%d could_not_look=%d examined=%d violations=%d notes=%d\n",
		len(r.Checks), r.Blind(), r.examined(), r.Violations(), r.NoteTotal)
}

func (c Check) result() string {
	switch {
	case c.Total > 0:
		return fmt.Sprintf("%d VIOLATIONS", c.Total)
	case c.Skipped != "":
		return "COULD NOT LOOK (see below)"
	case c.Examined == 0:
		return "looked at nothing: there is none"
	default:
		return "holds"
	}
}

func (r Report) examined() int {
	sum := 0
	for _, c := range r.Checks {
		sum += c.Examined
	}
	return sum
}

func (r Report) violations() []Finding {
	var all []Finding
	for _, c := range r.Checks {
		for _, v := range c.Violations {
			v.Subject = c.Name + ": " + v.Subject
			all = append(all, v)
		}
		if unshown := c.Total - len(c.Violations); unshown > 0 {
			all = append(all, Finding{Subject: c.Name, Text: fmt.Sprintf("and %d more", unshown)})
		}
	}
	return all
}

func writeFindings(w io.Writer, kind string, findings []Finding) {
	for _, f := range findings {
		fmt.Fprintf(w, "\n%s: %s %s\n", kind, f.Subject, f.Text)
		if f.Next != "" {
			fmt.Fprintf(w, "  next: %s\n", f.Next)
		}
	}
	if len(findings) > 0 {
		fmt.Fprintln(w)
	}
}
