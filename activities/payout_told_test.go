package activities_test

import (
	"encoding/json"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"payonce/internal/testkit/system"
	"payonce/payments"
	"payonce/stripesim/control"
)

// payoutTold is a message about a payout as a receiver reads it.
type payoutTold struct {
	Type string
	Data struct {
		Subject string
		Payment *payments.View
		Payout  *payments.PayoutView
	}
}

// toldOf are the messages about the payout, each id once, in order of arrival.
func toldOf(t *testing.T, s *system.System, id payments.PayoutID) []payoutTold {
	t.Helper()
	var all []payoutTold
	seen := map[string]bool{}
	for _, message := range s.Receiver.Messages() {
		var told payoutTold
		require.NoError(t, json.Unmarshal(message.Body, &told))
		if told.Data.Subject == "payout/"+id.String() && !seen[message.ID] {
			seen[message.ID] = true
			all = append(all, told)
		}
	}
	return all
}

func kinds(told []payoutTold) (kinds []string) {
	for _, one := range told {
		kinds = append(kinds, one.Type)
	}
	return kinds
}

// What becomes of a payout is told once each, in order, however often Stripe says it: one that failed after it was paid tells both.
func TestWhatBecomesOfAPayoutIsToldOnceEach(t *testing.T) {
	t.Parallel()
	for name, one := range map[string]struct{ becomes, told []string }{
		"failed after it was paid": {[]string{"in_transit", "paid", "failed"}, []string{"payout.paid", "payout.failed"}},
		"canceled":                 {[]string{"canceled"}, []string{"payout.canceled"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := system.Start(t)
			funded(t, s, 10_000)
			made := payoutOf(t, payOut(t, s, "P1", payout(9000, "week-1")))
			for _, status := range one.becomes {
				_, err := s.Twin.SettlePayout(t.Context(), made.Payout, control.SettlePayout{Status: status})
				require.NoError(t, err)
				s.Eventually("it has become "+status, func() bool { return string(readPayout(t, s, made.ID).Status) == status })
			}
			s.Settle()
			all, err := s.Twin.AllEvents(t.Context())
			require.NoError(t, err)
			for _, event := range all {
				if strings.HasPrefix(event.Type, "payout.") {
					_, err := s.Twin.Deliver(t.Context(), event.ID, control.Deliver{Times: 2})
					require.NoError(t, err)
				}
			}
			s.Settle()
			told := toldOf(t, s, made.ID)
			require.Equal(t, one.told, kinds(told))
			for _, message := range told {
				require.Nil(t, message.Data.Payment)
				require.Equal(t, made.ID, message.Data.Payout.ID)
				require.Equal(t, message.Type, "payout."+string(message.Data.Payout.Status))
			}
		})
	}
}

// A payout that Stripe refused has failed, and one made elsewhere is told of like ours.
func TestARefusedPayoutAndOneMadeElsewhereAreTold(t *testing.T) {
	t.Parallel()
	s := system.Start(t)
	paid(t, s, 10_000)
	s.Settle()
	require.Equal(t, 402, payOut(t, s, "P1", payout(6000, "week-1")).Status)
	s.Settle()
	refused, _ := listPayouts(t, s, "")
	require.Len(t, refused, 1)
	require.Equal(t, []string{"payout.failed"}, kinds(toldOf(t, s, refused[0].ID)))
	s.DB.AdvanceClock(t, 72*time.Hour)
	payOutElsewhere(t, s, url.Values{"amount": {"7000"}, "currency": {"usd"}})
	s.Settle()
	all, _ := listPayouts(t, s, "?limit=1")
	require.True(t, all[0].External)
	require.Empty(t, toldOf(t, s, all[0].ID), "it is under way")
	_, err := s.Twin.SettlePayout(t.Context(), all[0].Payout, control.SettlePayout{Status: "paid"})
	require.NoError(t, err)
	s.Eventually("it is paid", func() bool { return readPayout(t, s, all[0].ID).Status == payments.PayoutPaid })
	s.Settle()
	require.Equal(t, []string{"payout.paid"}, kinds(toldOf(t, s, all[0].ID)))
}
