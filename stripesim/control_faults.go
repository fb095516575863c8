package stripesim

import (
	"context"
	"net/http"
	"path"
	"strconv"

	"payonce/stripesim/control"
)

func (tw *Twin) addFault(r *http.Request) (any, error) {
	var rule control.Rule
	if err := readJSON(r, &rule); err != nil {
		return nil, err
	}
	for _, glob := range []string{rule.Match.Path, rule.Match.EventType} {
		if _, err := path.Match(glob, ""); err != nil {
			return nil, badRequest("bad glob: " + glob)
		}
	}
	if rule.Probability < 0 || rule.Probability > 1 || rule.Times < 0 || rule.After < 0 || rule.DelayMS < 0 {
		return nil, badRequest("probability must be within 0 and 1; times, after and delay_ms must not be negative")
	}
	if len(tw.faults.list(rule.ID)) > 0 && rule.ID != "" {
		return nil, badRequest("there is a rule with this id: " + rule.ID)
	}
	added, known := tw.faults.add(rule)
	if !known {
		return nil, badRequest("no such fault: " + rule.Fault)
	}
	return added, nil
}

func (tw *Twin) listFaults(*http.Request) (any, error) {
	return rows[control.Rule]{tw.faults.list("")}, nil
}

func (tw *Twin) getFault(r *http.Request) (any, error) {
	found := tw.faults.list(r.PathValue("id"))
	if len(found) == 0 {
		return nil, notFound("rule", r.PathValue("id"))
	}
	return found[0], nil
}

func (tw *Twin) deleteFault(r *http.Request) (any, error) {
	if !tw.faults.remove(r.PathValue("id")) {
		return nil, notFound("rule", r.PathValue("id"))
	}
	return struct{}{}, nil
}

func (tw *Twin) addHold(r *http.Request) (any, error) {
	var hold control.Hold
	if err := readJSON(r, &hold); err != nil {
		return nil, err
	}
	if hold.Point != control.BeforeEffect && hold.Point != control.AfterEffect {
		return nil, badRequest("point must be before_effect or after_effect")
	}
	if _, err := path.Match(hold.Path, ""); err != nil {
		return nil, badRequest("bad glob: " + hold.Path)
	}
	return tw.holds.add(hold), nil
}

// releaseHold releases by id, or by method, path and point as they were given; an empty body releases all.
func (tw *Twin) releaseHold(r *http.Request) (any, error) {
	var which control.Hold
	if err := readJSON(r, &which); err != nil {
		return nil, err
	}
	return map[string]int{"released": tw.holds.release(which)}, nil
}

func (tw *Twin) listHeld(r *http.Request) (any, error) {
	ctx, cancel := context.WithTimeout(r.Context(), flushTime)
	defer cancel()
	n, err := strconv.Atoi(r.FormValue("wait_for"))
	if err != nil && r.FormValue("wait_for") != "" {
		return nil, badRequest("wait_for must be a number")
	}
	return rows[control.Held]{tw.holds.held(ctx, r.FormValue("point"), n)}, nil
}
