package devstack

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"
)

// Message is a delivery to the receiver as it came: its headers are to be verified, its body is the frozen bytes.
type Message struct {
	ID      string // webhook-id: the message's for ever
	Type    string
	Payment string // empty of a payout's
	Payout  string // empty of a payment's
	Status  string // of the payment or the payout when the message was made
	Header  http.Header
	Body    []byte
}

// maxMessage bounds a message in bytes.
const maxMessage = 1 << 20

// NewReceiver serves what stands in for the merchant's backend: take is told of each delivery and answers with an HTTP status. Serve and Shutdown
// are the caller's.
func NewReceiver(take func(Message) (status int)) *http.Server {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /messages", func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxMessage))
		if err != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		type about struct {
			ID     string `json:"id"`
			Status string `json:"status"`
		}
		var told struct {
			Type string `json:"type"`
			Data struct {
				Payment about `json:"payment"`
				Payout  about `json:"payout"`
			} `json:"data"`
		}
		if err := json.Unmarshal(body, &told); err != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		w.WriteHeader(take(Message{
			ID: r.Header.Get("webhook-id"), Type: told.Type, Payment: told.Data.Payment.ID, Payout: told.Data.Payout.ID,
			Status: told.Data.Payment.Status + told.Data.Payout.Status, Header: r.Header, Body: body,
		}))
	})
	return &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
}

// PrintingReceiver serves a receiver on the listener that takes everything and prints a line of it to out.
func PrintingReceiver(listener net.Listener, out io.Writer) *http.Server {
	server := NewReceiver(func(m Message) int {
		about := "payment " + m.Payment
		if m.Payout != "" {
			about = "payout " + m.Payout
		}
		fmt.Fprintf(out, "%-12s | %s %s: %s is %s\n", "receiver", m.ID, m.Type, about, m.Status)
		return http.StatusOK
	})
	go func() { _ = server.Serve(listener) }() // it ends with Shutdown or Close
	return server
}
