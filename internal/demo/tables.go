package demo

import (
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/jedib0t/go-pretty/v6/table"
)

// Print prints the result as tables, with what failed and the last line.
func (r *Result) Print(out io.Writer) {
	for _, one := range []table.Writer{r.boundaryTable(), r.factTable(), r.orderTable(), r.planTable(), r.bookTable(), r.faultTable(), r.checkTable()} {
		fmt.Fprintln(out, one.Render())
		fmt.Fprintln(out)
	}
	for _, list := range []struct {
		title string
		lines []string
	}{{"swallowed", r.Swallowed}, {"problem", r.Problems}, {"violation", r.Violations}, {"FAILED", r.Failures}} {
		printSome(out, list.title, list.lines)
	}
	for _, phase := range r.Phases {
		fmt.Fprintf(out, "%s: %.1f s\n", phase.Name, phase.Seconds)
	}
	if len(r.Failures) == 0 {
		fmt.Fprintf(out, "passed in %.0f s\n", r.Seconds)
	}
	fmt.Fprintln(out, r.LastLine())
}

// printedLines bounds what is printed of a list; the JSON holds all of it.
const printedLines = 20

func printSome(out io.Writer, title string, lines []string) {
	for i, line := range lines {
		if i == printedLines {
			fmt.Fprintf(out, "%s: and %d more\n", title, len(lines)-printedLines)
			return
		}
		fmt.Fprintf(out, "%s: %s\n", title, line)
	}
}

func titled(title string, header ...any) table.Writer {
	writer := table.NewWriter()
	writer.SetTitle(title)
	writer.AppendHeader(header)
	return writer
}

func (r *Result) boundaryTable() table.Writer {
	rows := titled("Duplicates that each boundary suppressed", "boundary", "suppressed", "what is counted")
	for _, boundary := range r.boundaries() {
		rows.AppendRow(table.Row{boundary.name, boundary.count, boundary.what})
	}
	rows.AppendSeparator()
	rows.AppendRow(table.Row{"(receiver)", r.Receiver.Duplicates, "deliveries of a message that it had taken, told by webhook-id"})
	return rows
}

func (r *Result) factTable() table.Writer {
	sources := map[string]bool{}
	facts := map[string]map[string]int{}
	for _, fact := range r.Facts {
		sources[fact.Source] = true
		if facts[fact.Fact] == nil {
			facts[fact.Fact] = map[string]int{}
		}
		facts[fact.Fact][fact.Source] = fact.Count
	}
	columns := slices.Sorted(maps.Keys(sources))
	header := table.Row{"fact"}
	for _, source := range columns {
		header = append(header, source)
	}
	rows := titled("By which source each fact was first applied", header...)
	for _, fact := range slices.Sorted(maps.Keys(facts)) {
		row := table.Row{fact}
		for _, source := range columns {
			row = append(row, facts[fact][source])
		}
		rows.AppendRow(row)
	}
	return rows
}

func (r *Result) orderTable() table.Writer {
	rows := titled("Orders, charges, journals and messages", "", "count", "")
	rows.AppendRows([]table.Row{
		{"orders", r.Orders, "as a checkout backend wished for them"},
		{"paid", r.Paid, "each with one charge of its amount"},
		{"declined", r.Declined, "each without a charge, and given up a day later"},
		{"voided", r.Voided, "each with a hold that was let go"},
		{"honest repeats paid", r.PaidAgain, fmt.Sprintf("of %d, equal to another order in all but reference", r.Repeats)},
	})
	rows.AppendSeparator()
	rows.AppendRows([]table.Row{
		{"duplicate submits", r.Duplicates, "after the answer: replayed byte for byte"},
		{"orders sent 5 times at once", r.AtOnce, "one payment each, one answer"},
		{"fresh keys", r.FreshKeys, "for the same order: the same payment"},
		{"captures, cancels, refunds", r.Further, fmt.Sprintf("asked for, and %d times sent again: one answer each", r.Repeated)},
		{"given up by the client", r.GaveUp, "and sent again"},
		{"without an answer", r.NoAnswer, "cut, refused or given up"},
		{"in progress (409)", r.InProgress, "and sent again"},
		{"sent away (202)", r.SentAway, "and looked at until the outcome"},
		{"events sent again", r.Redelivered, "as a person at Stripe's dashboard can"},
	})
	rows.AppendSeparator()
	rows.AppendRow(table.Row{"charges at the twin", r.Charges, ""})
	rows.AppendRow(table.Row{"captures of holds", r.Captures, "at the twin"})
	rows.AppendRow(table.Row{"refunds", r.Refunds, "at the twin, whoever made them"})
	rows.AppendRow(table.Row{"disputes", r.Disputes, "at the twin: won, lost, and some that only asked"})
	rows.AppendRow(table.Row{"payouts", r.Payouts, "one reached the bank, one came back"})
	rows.AppendRow(table.Row{"owners", r.Owners, "provisioned by two callers at once: one customer and one connected account each"})
	rows.AppendRow(table.Row{"journals", r.Journals, fmt.Sprintf("for %d effects, without fees", r.Effects)})
	for _, message := range r.Messages {
		rows.AppendRow(table.Row{"messages " + message.Kind, message.Count, message.Status})
	}
	rows.AppendRow(table.Row{"messages taken", r.Receiver.Taken,
		fmt.Sprintf("%d refused at first, %d taken without the sender knowing", r.Receiver.Refused, r.Receiver.Lost)})
	for _, kill := range r.Kills {
		rows.AppendRow(table.Row{"SIGKILL", kill.Process, fmt.Sprintf("after %d of %d orders", kill.After, r.Orders)})
	}
	return rows
}

func (r *Result) planTable() table.Writer {
	rows := titled("Holds, captures, refunds, disputes and debits", "orders to be", "orders", "as wished for")
	for _, plan := range r.Plans {
		rows.AppendRow(table.Row{plan.Plan, plan.Orders, plan.Right})
	}
	return rows
}

func (r *Result) bookTable() table.Writer {
	rows := titled("The twin's books beside ours, in minor units",
		"currency", "payments", "captured", "refunded", "ledger", "twin's payments", "twin's captured", "twin's refunded")
	for _, line := range r.Books {
		rows.AppendRow(table.Row{line.Currency, line.OurPayments, line.OurCaptured, line.OurRefunded, line.OurLedger,
			line.TwinPayments, line.TwinCaptured, line.TwinRefunded})
	}
	return rows
}

func (r *Result) faultTable() table.Writer {
	rows := titled("Faults of the twin", "kind", "fired")
	for _, fault := range r.Faults {
		rows.AppendRow(table.Row{fault.Fault, fault.Fired})
	}
	return rows
}

func (r *Result) checkTable() table.Writer {
	rows := titled("The doctor, from outside", "invariant", "check", "examined", "violations")
	for _, check := range r.Checks {
		rows.AppendRow(table.Row{check.Invariant, check.Name, check.Examined, check.Violations})
	}
	return rows
}
