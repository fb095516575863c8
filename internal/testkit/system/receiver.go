package system

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// Message is one delivery that a receiver took.
type Message struct {
	ID      string // webhook-id
	Type    string
	Payment string
	Body    []byte
}

// Receiver takes messages as a merchant's backend does.
type Receiver struct {
	server *httptest.Server
	secret string

	mutex    sync.Mutex
	messages []Message
	answer   func(http.ResponseWriter, Message)
}

func newReceiver(t testing.TB) *Receiver {
	t.Helper()
	r := &Receiver{}
	r.server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		body, err := io.ReadAll(request.Body)
		if err != nil {
			return
		}
		var payload struct {
			Type string `json:"type"`
			Data struct {
				Payment struct {
					ID string `json:"id"`
				} `json:"payment"`
			} `json:"data"`
		}
		if json.Unmarshal(body, &payload) != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		r.take(w, Message{ID: request.Header.Get("webhook-id"), Type: payload.Type, Payment: payload.Data.Payment.ID, Body: body})
	}))
	t.Cleanup(func() {
		r.server.CloseClientConnections()
		r.server.Close()
	})
	return r
}

func (r *Receiver) take(w http.ResponseWriter, message Message) {
	r.mutex.Lock()
	answer := r.answer
	r.messages = append(r.messages, message)
	r.mutex.Unlock()
	if answer != nil {
		answer(w, message)
	}
}

// Answer decides what the receiver answers from now on; nil answers 200.
func (r *Receiver) Answer(answer func(http.ResponseWriter, Message)) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.answer = answer
}

// URL is where messages go.
func (r *Receiver) URL() string { return r.server.URL + "/messages" }

// Address is host:port.
func (r *Receiver) Address() string { return strings.TrimPrefix(r.server.URL, "http://") }

// Messages are the deliveries so far, repeats included.
func (r *Receiver) Messages() []Message {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	return append([]Message(nil), r.messages...)
}

// Of are the deliveries about one payment.
func (r *Receiver) Of(t testing.TB, payment string) []Message {
	t.Helper()
	require.NotEmpty(t, payment)
	var of []Message
	for _, message := range r.Messages() {
		if message.Payment == payment {
			of = append(of, message)
		}
	}
	return of
}
