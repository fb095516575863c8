package system

import (
	"encoding/json"
	"net/http"
	"path"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"payonce/internal/tenants"
	"payonce/payments"
	"payonce/stripesim/control"
)

// Fault makes the twin misbehave by a rule.
func (s *System) Fault(rule control.Rule) control.Rule {
	s.t.Helper()
	added, err := s.Twin.AddFault(s.t.Context(), rule)
	require.NoError(s.t, err)
	return added
}

// Requests are the sends that reached the twin, of a method and a path glob.
func (s *System) Requests(method, glob string) []control.Request {
	s.t.Helper()
	all, err := s.Twin.AllRequests(s.t.Context())
	require.NoError(s.t, err)
	var matching []control.Request
	for _, request := range all {
		matched, err := path.Match(glob, request.Path)
		require.NoError(s.t, err)
		if matched && request.Method == method {
			matching = append(matching, request)
		}
	}
	return matching
}

// Books are what the twin holds of a payment: one intent, but for surplus ones.
func (s *System) Books(payment payments.PaymentID) []control.Book {
	s.t.Helper()
	all, err := s.Twin.AllBooks(s.t.Context())
	require.NoError(s.t, err)
	var of []control.Book
	for _, book := range all {
		if book.Metadata[payments.MetadataPayment] == payment.String() {
			of = append(of, book)
		}
	}
	return of
}

// Book is the only intent of a payment.
func (s *System) Book(payment payments.PaymentID) control.Book {
	s.t.Helper()
	books := s.Books(payment)
	require.Len(s.t, books, 1)
	return books[0]
}

// Resume lets the account's calls out again.
func (s *System) Resume() {
	s.t.Helper()
	require.NoError(s.t, tenants.ResumeAccount(s.t.Context(), s.App.System, payments.Account{ID: AccountID}))
}

// LimitCalls sets how many calls a second go to Stripe, in all and to each endpoint. It is 1000 at first, which limits no test.
func (s *System) LimitCalls(perSecond float64) {
	s.t.Helper()
	require.NoError(s.t, tenants.LimitCalls(s.t.Context(), s.App.System, payments.Account{ID: AccountID}, &perSecond, &perSecond))
}

// Count runs a query that gives one number.
func (s *System) Count(sql string, arguments ...any) int {
	s.t.Helper()
	var count int
	require.NoError(s.t, s.Owner.QueryRow(s.t.Context(), sql, arguments...).Scan(&count))
	return count
}

// Event is the twin's newest event of a type about an intent.
func (s *System) Event(intent, eventType string) control.Event {
	s.t.Helper()
	all, err := s.Twin.AllEvents(s.t.Context())
	require.NoError(s.t, err)
	var newest control.Event
	for _, event := range all {
		if event.PaymentIntent == intent && event.Type == eventType {
			newest = event
		}
	}
	require.NotEmpty(s.t, newest.ID, "no event %s of %s", eventType, intent)
	return newest
}

// Exec changes something behind the system's back, as the superuser.
func (s *System) Exec(sql string, arguments ...any) {
	s.t.Helper()
	conn, err := pgx.Connect(s.t.Context(), s.DB.SuperuserURL)
	require.NoError(s.t, err)
	defer func() { _ = conn.Close(s.t.Context()) }()
	_, err = conn.Exec(s.t.Context(), sql, arguments...)
	require.NoError(s.t, err)
}

// CreateAtStripe creates an intent past payonce, with a key and bytes of the test's own, and returns its id.
func (s *System) CreateAtStripe(key, body string) string {
	s.t.Helper()
	request, err := http.NewRequestWithContext(s.t.Context(), http.MethodPost, s.TwinURL+"/v1/payment_intents", strings.NewReader(body))
	require.NoError(s.t, err)
	request.Header.Set("Authorization", "Bearer "+SecretKey)
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	request.Header.Set("Idempotency-Key", key)
	answer, err := do(http.DefaultClient, request, SecretKey)
	require.NoError(s.t, err)
	require.Equal(s.t, http.StatusOK, answer.Status, "%s", answer.Body)
	var intent struct {
		ID string `json:"id"`
	}
	require.NoError(s.t, json.Unmarshal(answer.Body, &intent))
	return intent.ID
}
