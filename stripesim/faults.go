package stripesim

import (
	"hash/fnv"
	"math"
	"slices"
	"strconv"
	"sync"

	"payonce/stripesim/control"
)

const faultsBucket = "faults"

// point is where a fault acts.
type point int

const (
	atArrival   point = iota // before the key is looked at
	atStart                  // the key is claimed, the effect not begun
	atExecution              // instead of the effect, or of its answer
	atAnswer                 // the effect is done and durable
	atDelivery               // a webhook
)

func pointOf(fault string) point {
	switch fault {
	case control.FaultReset, control.FaultErrorBefore, control.FaultRateLimited, control.FaultLockTimeout, control.FaultUnauthorized,
		control.FaultKeyMismatch:
		return atArrival
	case control.FaultSlowBefore:
		return atStart
	case control.FaultErrorBeforeStored, control.FaultErrorAfter, control.FaultRefused:
		return atExecution
	case control.FaultAnswerLost, control.FaultSlow:
		return atAnswer
	}
	return atDelivery
}

// faultBook holds the rules.
type faultBook struct {
	store *store
	seed  int64

	mu    sync.Mutex
	rules []*faultRule
	last  int64
}

type faultRule struct {
	Seq  int64
	Rule control.Rule
	sent map[string]int // sends seen per key: what the seed is asked with
}

func (f *faultBook) load() error {
	return load(f.store, faultsBucket, func(r *faultRule) {
		f.rules = append(f.rules, r)
		f.last = r.Seq
	})
}

// subject is what the rules are asked about.
type subject struct {
	method, path, account, key, eventType string
	metadata                              map[string]string
}

// pick returns the first rule that fires among those whose fault acts at this point.
func (f *faultBook) pick(at point, s subject) *control.Rule {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, r := range f.rules {
		if pointOf(r.Rule.Fault) != at || !matchesRule(r.Rule.Match, s) {
			continue
		}
		r.Rule.Seen++
		fires := f.fires(r, s)
		if fires {
			r.Rule.Fired++
		}
		f.write(r)
		if fires {
			fired := r.Rule
			return &fired
		}
	}
	return nil
}

func (f *faultBook) write(r *faultRule) {
	b := &batch{}
	b.put(faultsBucket, r.Seq, r)
	f.store.submit(b)
}

// fires decides by count and by seed. By seed the decision for the n-th send of a key is always the same, whatever
// happens beside it.
func (f *faultBook) fires(r *faultRule, s subject) bool {
	rule := r.Rule
	if rule.Seen <= rule.After || rule.Times > 0 && rule.Fired >= rule.Times {
		return false
	}
	if rule.Probability <= 0 || rule.Probability >= 1 {
		return true
	}
	what := s.key + " " + s.eventType
	if r.sent == nil {
		r.sent = map[string]int{}
	}
	r.sent[what]++
	hash := fnv.New64a()
	_, _ = hash.Write([]byte(strconv.FormatInt(f.seed, 10) + " " + rule.ID + " " + what + " " + strconv.Itoa(r.sent[what])))
	return float64(mix(hash.Sum64()))/math.MaxUint64 < rule.Probability
}

// mix spreads the bits of a hash (the finisher of SplitMix64).
func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

func matchesRule(m control.Match, s subject) bool {
	switch {
	case m.Method != "" && m.Method != s.method,
		m.Path != "" && !matches(m.Path, s.path),
		m.Account != "" && m.Account != s.account,
		m.Key != "" && m.Key != s.key,
		m.KeyPrefix != "" && (len(s.key) < len(m.KeyPrefix) || s.key[:len(m.KeyPrefix)] != m.KeyPrefix),
		m.EventType != "" && !matches(m.EventType, s.eventType):
		return false
	}
	for name, value := range m.Metadata {
		if got, found := s.metadata[name]; !found || got != value {
			return false
		}
	}
	return true
}

// add files a rule and returns it with its id; ok is false when the fault is not known.
func (f *faultBook) add(rule control.Rule) (control.Rule, bool) {
	if !slices.Contains(control.RequestFaults(), rule.Fault) && !slices.Contains(control.WebhookFaults(), rule.Fault) {
		return rule, false
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.last++
	if rule.ID == "" {
		rule.ID = "rule_" + strconv.FormatInt(f.last, 10)
	}
	rule.Seen, rule.Fired = 0, 0
	r := &faultRule{Seq: f.last, Rule: rule}
	f.rules = append(f.rules, r)
	f.write(r)
	return rule, true
}

// list returns the rules with their counts; with an id only that one.
func (f *faultBook) list(id string) []control.Rule {
	f.mu.Lock()
	defer f.mu.Unlock()
	rules := []control.Rule{}
	for _, r := range f.rules {
		if id == "" || r.Rule.ID == id {
			rules = append(rules, r.Rule)
		}
	}
	return rules
}

// remove deletes a rule, or all when id is empty, and says whether there was one.
func (f *faultBook) remove(id string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	b := &batch{}
	kept := f.rules[:0]
	for _, r := range f.rules {
		if id == "" || r.Rule.ID == id {
			b.remove(faultsBucket, r.Seq)
			continue
		}
		kept = append(kept, r)
	}
	clear(f.rules[len(kept):])
	f.rules = kept
	f.store.submit(b)
	return len(b.puts) > 0 || id == ""
}

// any says whether there are rules at all.
func (f *faultBook) any() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.rules) > 0
}
