package main

import (
	"context"
	"fmt"
	"time"

	"payonce/internal/bench/result"
	"payonce/internal/clock"
)

// Rows of whole payments.
const (
	rowPayments         = "payments_completed"
	rowCPU              = "cpu_per_payment"
	rowGrowth           = "growth"
	rowRSS              = "rss"
	rowPaymentsApart    = "payments_completed_apart"
	rowCPUApart         = "cpu_per_payment_apart"
	rowFirstAnswer      = "first_answer_p50"
	rowFirstAnswerApart = "first_answer_p50_apart"
)

// againstBare is the baseline of whole payments.
const againstBare = "a bare workflow: eager start, two local activities that do nothing, worker and starter in one process on one client"

// throughput is what one round of many in flight came to.
type throughput struct {
	rate float64 // done a second
	cpu  float64 // milliseconds of CPU each
	used usage   // seconds of CPU by process
	done int
	tail float64 // seconds from the last message to quiet
}

// ready runs these processes of payonce, warms them up and waits for quiet.
func (s *session) ready(ctx context.Context, site *site, processes []payonce) error {
	if err := s.warm(ctx, site, processes); err != nil {
		return err
	}
	_, err := site.awaitQuiet(ctx)
	return err
}

// warm runs these processes of payonce and sends some payments, so that pools are open and statements prepared.
func (s *session) warm(ctx context.Context, site *site, processes []payonce) error {
	if err := site.run(ctx, processes...); err != nil {
		return err
	}
	for sent := 0; sent < s.lengths.warmUp; sent += inFlight {
		if _, _, err := loop(ctx, inFlight, time.Millisecond, site.buyOne); err != nil {
			return fmt.Errorf("warm up: %w", err)
		}
	}
	return nil
}

func (s *site) buyOne(ctx context.Context) error {
	_, err := s.shop.buy(ctx)
	return err
}

// webhooksPerPayment is how many events the twin sends of a payment by card: the intent was created, the charge and the intent succeeded.
const webhooksPerPayment = 3

// payRound makes payments for a while and waits until everything about them is done. The rate counts until the last message was accepted, the CPU
// until quiet.
func (s *session) payRound(ctx context.Context, site *site, processes []payonce) (throughput, error) {
	names := []string{site.procTwin(), procReceiver}
	for _, process := range processes {
		names = append(names, process.name)
	}
	delivered, err := site.awaitQuiet(ctx)
	if err != nil {
		return throughput{}, err
	}
	before := s.usageOf(names...)
	done, seconds, err := loop(ctx, inFlight, s.lengths.payments, site.buyOne)
	if err != nil {
		return throughput{}, err
	}
	told := clock.Wall()
	now, err := site.awaitQuiet(ctx)
	if err != nil {
		return throughput{}, err
	}
	if now-delivered != webhooksPerPayment*done {
		return throughput{}, fmt.Errorf("%d webhooks of %d payments: the round is not what it says", now-delivered, done)
	}
	used := s.usageOf(names...).since(before)
	return throughput{
		rate: float64(done) / seconds, cpu: used.total() / float64(done) * 1000, used: used, done: done, tail: milliseconds(told) / 1000,
	}, nil
}

func (s *session) bareRound(ctx context.Context) (throughput, error) {
	before := s.usageOf(procBare)
	run, err := s.runBare(ctx, inFlight, s.lengths.payments)
	if err != nil {
		return throughput{}, err
	}
	used := s.usageOf(procBare).since(before)
	return throughput{rate: float64(run.Done) / run.Seconds, cpu: used.total() / float64(run.Done) * 1000, used: used, done: run.Done}, nil
}

// paymentRounds are the figures of all rounds.
type paymentRounds struct {
	grown, blank, apart, bare []throughput
	rss                       []float64
}

// measurePayments takes the throughput of the bare workflow and of payonce on the grown and on the empty database by turns, and then that of payonce
// on the grown one with API and worker apart.
func (s *session) measurePayments(ctx context.Context) ([]result.Row, error) {
	var rounds paymentRounds
	if err := s.ready(ctx, s.grown, s.grown.together()); err != nil {
		return nil, err
	}
	if err := s.ready(ctx, s.blank, s.blank.together()); err != nil {
		return nil, err
	}
	// An empty database has no statistics, and autovacuum would come upon it in the middle of a round: what growth is compared with is at its best.
	if err := s.blank.exec(ctx, `VACUUM ANALYZE`); err != nil {
		return nil, err
	}
	if _, err := s.runBare(ctx, inFlight, s.lengths.payments/2); err != nil {
		return nil, err
	}
	for n := range s.options.rounds {
		if err := s.paymentRound(ctx, &rounds); err != nil {
			return nil, fmt.Errorf("round %d: %w", n+1, err)
		}
	}
	if err := s.blank.run(ctx); err != nil {
		return nil, err
	}
	if !s.options.wants(rowPaymentsApart) && !s.options.wants(rowCPUApart) {
		return rounds.rows(), nil
	}
	if err := s.ready(ctx, s.grown, s.grown.apart()); err != nil {
		return nil, err
	}
	for range s.options.rounds {
		apart, err := s.payRound(ctx, s.grown, s.grown.apart())
		if err != nil {
			return nil, fmt.Errorf("apart: %w", err)
		}
		rounds.apart = append(rounds.apart, apart)
		s.tell("apart", apart)
	}
	return append(rounds.rows(), rounds.rowsApart()...), nil
}

func (s *session) paymentRound(ctx context.Context, rounds *paymentRounds) error {
	bare, err := s.bareRound(ctx)
	if err != nil {
		return fmt.Errorf("bare: %w", err)
	}
	rounds.bare = append(rounds.bare, bare)
	s.tell("bare", bare)
	for _, turn := range []struct {
		name string
		site *site
		into *[]throughput
	}{
		{"with growth", s.grown, &rounds.grown},
		{"without growth", s.blank, &rounds.blank},
	} {
		took, err := s.payRound(ctx, turn.site, turn.site.together())
		if err != nil {
			return fmt.Errorf("%s: %w", turn.name, err)
		}
		*turn.into = append(*turn.into, took)
		s.tell(turn.name, took)
	}
	rounds.rss = append(rounds.rss, residentMB(s.supervisor.PID(s.grown.together()[0].name)))
	return nil
}

// tell shows a round.
func (s *session) tell(name string, t throughput) {
	text := ""
	for process, seconds := range t.used {
		text += fmt.Sprintf(" %s %.1f", process, seconds/float64(t.done)*1000)
	}
	s.say("%-14s %6.1f/s, %5.1f ms of CPU each, %d done, quiet after %.1f s;%s", name, t.rate, t.cpu, t.done, t.tail, text)
}

func rates(rounds []throughput) (rates []float64) {
	for _, round := range rounds {
		rates = append(rates, round.rate)
	}
	return rates
}

func cpus(rounds []throughput) (cpus []float64) {
	for _, round := range rounds {
		cpus = append(cpus, round.cpu)
	}
	return cpus
}

// Units of whole payments.
const (
	perSecond = "payments/s"
	each      = "ms CPU/payment"
)

func (r paymentRounds) rows() []result.Row {
	payments := result.NewRow(rowPayments, perSecond, rates(r.grown), againstBare, rates(r.bare), result.AtLeast(0.33))
	payments.Note = fmt.Sprintf("%d in flight; %s", inFlight, shares(r.grown))
	cpu := result.NewRow(rowCPU, each, cpus(r.grown), againstBare, cpus(r.bare), result.AtMost(3))
	cpu.Note = "every process but the load: " + shares(r.grown) + "; the bare workflow: " + shares(r.bare)
	growth := result.NewRow(rowGrowth, perSecond, rates(r.grown), "the same on an empty database", rates(r.blank), result.AtLeast(0.8))
	rss := result.NewRow(rowRSS, "MB", r.rss, "200 MB", []float64{200}, result.AtMost(1))
	rss.Note = "resident memory of payonce after each round of load"
	return []result.Row{payments, cpu, growth, rss}
}

// rowsApart are the same figures with API and worker as two processes.
func (r paymentRounds) rowsApart() []result.Row {
	apart := result.NewRow(rowPaymentsApart, perSecond, rates(r.apart), againstBare, rates(r.bare), nil)
	apart.Note = "serve and worker as two processes; " + shares(r.apart)
	cpuApart := result.NewRow(rowCPUApart, each, cpus(r.apart), againstBare, cpus(r.bare), nil)
	cpuApart.Note = "serve and worker as two processes"
	return []result.Row{apart, cpuApart}
}
