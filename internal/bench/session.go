package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"payonce/internal/bench/result"
	"payonce/internal/clock"
)

// inFlight is how many payments are under way in the rows that ask for throughput.
const inFlight = 32

// lengths are how long the parts of a round take.
type lengths struct {
	payments time.Duration // of a round of payments, and of bare workflows
	answers  time.Duration // of a round with one in flight
	micro    time.Duration // of a round of one statement or call
	warmUp   int           // payments before the first round of a process that has just started
	kills    int
	backlog  int
}

func (o options) lengths() lengths {
	if o.quick {
		return lengths{payments: 2 * time.Second, answers: time.Second, micro: 500 * time.Millisecond, warmUp: 32, kills: 2, backlog: 300}
	}
	return lengths{payments: 6 * time.Second, answers: 3 * time.Second, micro: 2 * time.Second, warmUp: 320, kills: 6, backlog: 5000}
}

// session is a run.
type session struct {
	*place
	options  options
	lengths  lengths
	progress io.Writer
	began    time.Time
	report   result.Report

	grown *site // with the growth loaded: where everything is measured
	blank *site // without
	still *site // a copy of grown on which no worker runs
}

// rows are the groups of rows, in the order in which they are measured, with what measures them.
func rows() []group {
	return []group{
		{[]string{rowPayments, rowCPU, rowGrowth, rowRSS, rowPaymentsApart, rowCPUApart}, (*session).measurePayments},
		{[]string{rowFirstAnswer, rowFirstAnswerApart}, (*session).measureFirstAnswer},
		{[]string{rowClaim}, (*session).measureClaim},
		{[]string{rowReplay}, (*session).measureReplay},
		{[]string{rowWebhook}, (*session).measureWebhook},
		{[]string{rowJournal, rowJournalHot}, (*session).measureJournals},
		{[]string{rowOutage}, (*session).measureOutage},
		{[]string{rowRecovery}, (*session).measureRecovery}, // last: what a killed process holds is open until its leases end
	}
}

// group is rows that are measured together.
type group struct {
	names   []string
	measure func(*session, context.Context) ([]result.Row, error)
}

func (o options) wantsAny(names []string) bool {
	for _, name := range names {
		if o.wants(name) {
			return true
		}
	}
	return false
}

// known refuses names that no row has.
func (o options) known() error {
	names := map[string]bool{}
	var all []string
	for _, group := range rows() {
		for _, name := range group.names {
			names[name] = true
			all = append(all, name)
		}
	}
	for wanted := range strings.SplitSeq(o.only, ",") {
		if wanted = strings.TrimSpace(wanted); wanted != "" && !names[wanted] {
			return fmt.Errorf("no row is called %q; there are %s", wanted, strings.Join(all, ", "))
		}
	}
	return nil
}

// bench measures, prints and writes.
func bench(ctx context.Context, o options, out, progress io.Writer) (err error) {
	if err := o.known(); err != nil {
		return err
	}
	s := &session{options: o, lengths: o.lengths(), progress: progress, began: clock.Wall()}
	if s.place, err = openPlace(ctx, o, o.profile != ""); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	defer s.closeSites()
	if err := s.describe(ctx); err != nil {
		return err
	}
	if err := s.openSites(ctx); err != nil {
		return err
	}
	if o.profile != "" {
		return s.profile(ctx, out)
	}
	if err := s.measure(ctx); err != nil {
		return fmt.Errorf("%w (what the processes said is in %s)", err, s.state.Path("bench.log"))
	}
	s.report.Seconds = clock.Wall().Sub(s.began).Seconds()
	s.report.Print(out)
	if o.examine {
		if err := s.examine(ctx, out); err != nil {
			return err
		}
	}
	if o.json != "" {
		if err := s.report.Write(o.json); err != nil {
			return err
		}
	}
	if missed := s.report.Missed(); len(missed) > 0 {
		return fmt.Errorf("%s: %w", strings.Join(missed, ", "), errMissed)
	}
	return nil
}

func (s *session) describe(ctx context.Context) error {
	conn, err := s.connect(ctx, "postgres")
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	s.report.Commit, s.report.At = commit(ctx), s.began.Format(time.RFC3339)
	s.report.Machine, err = describeMachine(ctx, conn)
	s.report.Settings = result.Settings{Rounds: s.options.rounds, Growth: s.options.growth, Quick: s.options.quick}
	return err
}

func (s *session) openSites(ctx context.Context) (err error) {
	s.say("preparing two databases")
	if s.grown, err = s.newSite(ctx, "grown"); err != nil {
		return err
	}
	if s.blank, err = s.newSite(ctx, "blank"); err != nil {
		return err
	}
	s.report.Settings.CallsPerSecond = s.grown.bucket
	s.say("loading %d finished payments", s.options.growth)
	if err := s.grown.grow(ctx, s.options.growth); err != nil {
		return err
	}
	if s.still, err = s.grown.clone(ctx, "still"); err != nil {
		return err
	}
	for _, site := range []*site{s.grown, s.blank} {
		if err := site.startTwin(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (s *session) closeSites() {
	for _, site := range []*site{s.grown, s.blank, s.still} {
		if site != nil {
			site.close()
		}
	}
}

// measure measures every group that holds a row that was asked for.
func (s *session) measure(ctx context.Context) error {
	for _, group := range rows() {
		if !s.options.wantsAny(group.names) {
			continue
		}
		began := clock.Wall()
		measured, err := group.measure(s, ctx)
		if err == nil {
			err = errors.Join(s.grown.run(ctx), s.blank.run(ctx), s.still.run(ctx)) // none: each group starts what it needs
		}
		if err != nil {
			return fmt.Errorf("%s: %w", group.names[0], err)
		}
		for _, row := range measured {
			row.Seconds = clock.Wall().Sub(began).Seconds()
			if s.options.wants(row.Name) {
				s.report.Rows = append(s.report.Rows, row)
				s.say("%s: %.4g %s, %.3g of its baseline %s", row.Name, row.Value, row.Unit, row.Ratio, row.Bar)
			}
		}
	}
	return nil
}

// say tells a person what goes on.
func (s *session) say(format string, arguments ...any) {
	fmt.Fprintf(s.progress, "bench %4.0f s: %s\n", clock.Wall().Sub(s.began).Seconds(), fmt.Sprintf(format, arguments...))
}
