package demo

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
)

// owners is how many a run provisions at Stripe.
const owners = 6

// provisioned is what came of the owners of a run.
type provisioned struct {
	right    int // with one customer and one connected account, which both callers were told of
	problems []string
}

// addOwners provisions the run's owners at Stripe, each asked for by two callers at once, under keys of their own.
func (s *session) addOwners(ctx context.Context, backend *client) (done provisioned) {
	ctx, cancel := context.WithTimeout(ctx, orderWithin)
	defer cancel()
	for n := 1; n <= owners; n++ {
		owner := fmt.Sprintf("run-%d-owner-%d", s.run, n)
		problem := s.addTwiceAtOnce(ctx, backend, "/v1/customers", map[string]string{"owner": owner, "email": owner + "@shop.example"})
		if problem == "" {
			problem = s.addTwiceAtOnce(ctx, backend, "/v1/connected_accounts", map[string]string{"owner": owner, "currency": "usd", "country": "US"})
		}
		if problem == "" {
			done.right++
		} else {
			done.problems = append(done.problems, owner+": "+problem)
		}
	}
	return done
}

// addTwiceAtOnce says what is wrong with the answers that two callers got; nothing when both got the same 201.
func (s *session) addTwiceAtOnce(ctx context.Context, backend *client, path string, provision map[string]string) string {
	body, err := json.Marshal(provision)
	if err != nil {
		panic(err) // strings
	}
	var together sync.WaitGroup
	var answers [2]answer
	var failed [2]error
	for i := range answers {
		together.Go(func() {
			answers[i], failed[i] = backend.further(ctx, path, fmt.Sprintf("%s-caller-%d", provision["owner"], i+1), body)
		})
	}
	together.Wait()
	for i, got := range answers {
		switch {
		case failed[i] != nil:
			return failed[i].Error()
		case got.Status != http.StatusCreated:
			return fmt.Sprintf("%s answered %d %s", path, got.Status, got.Body)
		}
	}
	if !bytes.Equal(answers[0].Body, answers[1].Body) {
		return fmt.Sprintf("%s answered %s and %s", path, answers[0].Body, answers[1].Body)
	}
	return ""
}
