package client_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"payonce/client"
	"payonce/payments"
)

// exampleServer stands for payonce in the examples. It loses the first answer of a create or confirm, declines pm_card_declined, and has refunds
// and payouts pending until they are looked at.
func exampleServer() *httptest.Server {
	known := payment(payments.StatusRequiresPaymentMethod, payments.StageExternalResourceCreated)
	lost := false
	settle := func(method string) {
		if method == "pm_card_declined" {
			known.LastError = &payments.ProviderError{Code: "card_declined", DeclineCode: "insufficient_funds"}
			return
		}
		known = succeeded()
	}
	command := func(status int) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			if !lost {
				lost = true
				loses(w)
			}
			var sent struct {
				PaymentMethod string `json:"payment_method"`
			}
			if err := json.NewDecoder(r.Body).Decode(&sent); err != nil {
				panic(err)
			}
			settle(sent.PaymentMethod)
			shows(status, known)(w)
		}
	}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/payments", command(http.StatusCreated))
	mux.HandleFunc("POST /v1/payments/{id}/confirm", command(http.StatusOK))
	mux.HandleFunc("POST /v1/payments/{id}/cancel", func(w http.ResponseWriter, _ *http.Request) {
		refuses(http.StatusConflict, client.CodePaymentSucceeded, nil)(w)
	})
	mux.HandleFunc("POST /v1/payments/{id}/capture", func(w http.ResponseWriter, r *http.Request) {
		var sent struct{ Final *bool }
		if err := json.NewDecoder(r.Body).Decode(&sent); err != nil {
			panic(err)
		}
		known = payment(payments.StatusRequiresCapture, payments.StageProcessing)
		if sent.Final == nil {
			known = succeeded()
		}
		shows(http.StatusOK, known)(w)
	})
	mux.HandleFunc("POST /v1/payments/{id}/refunds", func(w http.ResponseWriter, _ *http.Request) {
		answers(http.StatusCreated, nil, refundIn(payments.RefundPending))(w)
	})
	mux.HandleFunc("GET /v1/refunds/{id}", func(w http.ResponseWriter, _ *http.Request) {
		answers(http.StatusOK, nil, refundIn(payments.RefundSucceeded))(w)
	})
	mux.HandleFunc("POST /v1/payouts", func(w http.ResponseWriter, _ *http.Request) {
		answers(http.StatusCreated, nil, payoutIn(payments.PayoutPending))(w)
	})
	mux.HandleFunc("GET /v1/payouts/{id}", func(w http.ResponseWriter, _ *http.Request) {
		answers(http.StatusOK, nil, payoutIn(payments.PayoutPaid))(w)
	})
	mux.HandleFunc("GET /v1/payments", func(w http.ResponseWriter, _ *http.Request) {
		answers(http.StatusOK, nil, page{Object: "list", Data: []client.Payment{succeeded()}})(w)
	})
	return httptest.NewServer(mux)
}

// sendTwice sends a message to a receiver, and again.
func sendTwice(receiver http.Handler) {
	signer, err := standardwebhooks.NewWebhook(secret)
	if err != nil {
		panic(err)
	}
	for range 2 {
		now := time.Now()
		signature, err := signer.Sign("m-1", now, []byte(body))
		if err != nil {
			panic(err)
		}
		request := httptest.NewRequest(http.MethodPost, "/messages", bytes.NewBufferString(body))
		request.Header.Set("webhook-id", "m-1")
		request.Header.Set("webhook-timestamp", unixText(now))
		request.Header.Set("webhook-signature", signature)
		receiver.ServeHTTP(httptest.NewRecorder(), request)
	}
}
