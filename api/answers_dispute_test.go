package api_test

import (
	"encoding/json"
	"net/http"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"payonce/payments"
	"payonce/stripesim/control"
)

// disputeCases bring about what docs/answers.md says of disputes.
func disputeCases() map[string]func(*scene) {
	return map[string]func(*scene){
		"Get dispute 200":                     (*scene).base,
		"Get dispute 404 dispute_not_found":   func(s *scene) { s.base(); s.path = "/v1/disputes/" + uuid.NewString() },
		"List disputes 200":                   (*scene).base,
		"List disputes 404 payment_not_found": func(s *scene) { s.base(); s.about(payments.PaymentID{UUID: uuid.New()}) },
	}
}

// baseOfDisputes is base for what tells of disputes: one that waits for evidence.
func (s *scene) baseOfDisputes() {
	s.t.Helper()
	disputed := s.pay(nil)
	_, err := s.system.Twin.OpenDispute(s.t.Context(), disputed.PaymentIntent, control.OpenDispute{})
	require.NoError(s.t, err)
	var list struct{ Data []payments.DisputeView }
	s.system.Eventually("the dispute is known", func() bool {
		answer := s.system.Get("/v1/payments/" + disputed.ID.String() + "/disputes")
		require.Equal(s.t, http.StatusOK, answer.Status, "%s", answer.Body)
		require.NoError(s.t, json.Unmarshal(answer.Body, &list))
		return len(list.Data) == 1
	})
	s.about(disputed.ID)
	if s.operation == "get_dispute" {
		s.path = "/v1/disputes/" + list.Data[0].ID.String()
	}
}
