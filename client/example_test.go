package client_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"payonce/client"
)

// Pay for an order. The key comes from the checkout session, which was stored before the first request: whoever asks again, in this process or
// after a restart, sends the same one. Here the first answer is lost on its way, and the call asks again by itself.
func Example() {
	payonce := exampleServer()
	defer payonce.Close()

	checkout, err := client.New(payonce.URL, "api-key")
	if err != nil {
		panic(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()

	answer, err := checkout.CreatePayment(ctx, client.IntentKey("checkout-8231"), client.CreatePayment{
		Reference: "order-8231", Amount: 1999, Currency: "usd", PaymentMethod: "pm_card_visa",
	})
	switch {
	case client.CodeOf(err) == client.CodeReferenceConflict:
		fmt.Println("the order is being paid already, or holds other content")
	case errors.Is(err, client.ErrNoAnswer):
		fmt.Println("not known yet: make the same call with the same key, now or tomorrow")
	case err != nil:
		fmt.Println("refused for good:", err)
	case !answer.Settled:
		fmt.Println("taken, without outcome yet: Await it, or wait for the message")
	case answer.Payment.LastError != nil:
		fmt.Println("declined: ask for another method")
	default:
		fmt.Println(answer.Payment.Status, answer.Payment.Stage)
	}
	// Output: succeeded ledger_applied
}

// A decline is an answer, not an error. The payer hands in another method: that is another intention, so it has a number of its own, which your
// records count.
func ExampleClient_ConfirmPayment() {
	payonce := exampleServer()
	defer payonce.Close()
	checkout, err := client.New(payonce.URL, "api-key")
	if err != nil {
		panic(err)
	}
	ctx := context.Background()

	answer, err := checkout.CreatePayment(ctx, client.IntentKey("checkout-8231"), client.CreatePayment{
		Reference: "order-8231", Amount: 1999, Currency: "usd", PaymentMethod: "pm_card_declined",
	})
	if err != nil {
		panic(err)
	}
	fmt.Println(answer.Payment.Status, answer.Payment.LastError.DeclineCode)

	answer, err = checkout.ConfirmPayment(ctx, client.ConfirmKey("order-8231", 2), answer.Payment.ID,
		client.ConfirmPayment{PaymentMethod: "pm_card_visa"})
	if err != nil {
		panic(err)
	}
	fmt.Println(answer.Payment.Status)
	// Output:
	// requires_payment_method insufficient_funds
	// succeeded
}

// A cancel that comes too late is refused, and the refusal is an outcome: it is the same for every repeat.
func ExampleClient_CancelPayment() {
	payonce := exampleServer()
	defer payonce.Close()
	checkout, err := client.New(payonce.URL, "api-key")
	if err != nil {
		panic(err)
	}

	_, err = checkout.CancelPayment(context.Background(), client.KeyFor("order-8231", client.ActionCancel), paymentID(),
		client.CancelPayment{Reason: client.CancelRequestedByCustomer})
	if client.CodeOf(err) == client.CodePaymentSucceeded {
		fmt.Println("paid already: refund it instead")
	}
	// Output: paid already: refund it instead
}

// Money that is held is captured parcel by parcel: each part has your reference of it, and the last one lets the rest go.
func ExampleClient_CapturePayment() {
	payonce := exampleServer()
	defer payonce.Close()
	checkout, err := client.New(payonce.URL, "api-key")
	if err != nil {
		panic(err)
	}

	for _, parcel := range []struct {
		ID        string
		Amount    int64
		MoreComes bool
	}{{"parcel-1", 700, true}, {"parcel-2", 700, false}} {
		answer, err := checkout.CapturePayment(context.Background(), client.PartialCaptureKey("order-8231", parcel.ID), paymentID(),
			client.CapturePayment{Amount: parcel.Amount, Reference: parcel.ID, KeepRest: parcel.MoreComes})
		if err != nil {
			panic(err)
		}
		fmt.Println(answer.Payment.Status)
	}
	// Output:
	// requires_capture
	// succeeded
}

// A refund has your reference of it, in its key too. Its outcome may be pending; all of a hold that is asked back is let go instead.
func ExampleClient_CreateRefund() {
	payonce := exampleServer()
	defer payonce.Close()
	checkout, err := client.New(payonce.URL, "api-key")
	if err != nil {
		panic(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()

	answer, err := checkout.CreateRefund(ctx, client.RefundKey("order-8231", "return-1"), paymentID(),
		client.CreateRefund{Amount: 300, Reference: "return-1"})
	switch {
	case client.CodeOf(err) == client.CodeAmountTooLarge:
		fmt.Println("given back already")
	case err != nil:
		panic(err)
	case answer.Released != nil:
		fmt.Println("nothing was taken yet, and nothing will be")
	default:
		fmt.Println(answer.Refund.Status)
	}
	refund, err := checkout.AwaitRefund(ctx, answer.Refund.ID)
	if err != nil {
		panic(err)
	}
	fmt.Println(refund.Status)
	// Output:
	// pending
	// succeeded
}

// Await returns when the payment is over or needs you; its deadline is yours.
func ExampleClient_Await() {
	payonce := exampleServer()
	defer payonce.Close()
	checkout, err := client.New(payonce.URL, "api-key")
	if err != nil {
		panic(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()

	answer, err := checkout.CreatePayment(ctx, client.IntentKey("checkout-8231"), client.CreatePayment{
		Reference: "order-8231", Amount: 1999, Currency: "usd", PaymentMethod: "pm_card_visa",
	})
	if err != nil {
		panic(err)
	}
	payment, err := checkout.Await(ctx, answer)
	if errors.Is(err, context.DeadlineExceeded) {
		fmt.Println("tell the payer that a mail will come, and let the message decide")
		return
	}
	fmt.Println(payment.Status)
	// Output: succeeded
}

// List the attempts of an order.
func ExampleClient_AllPayments() {
	payonce := exampleServer()
	defer payonce.Close()
	checkout, err := client.New(payonce.URL, "api-key")
	if err != nil {
		panic(err)
	}

	for payment, err := range checkout.AllPayments(context.Background(), client.Filter{Reference: "order-1"}) {
		if err != nil {
			panic(err)
		}
		fmt.Println(payment.Reference, payment.Attempt, payment.Status)
	}
	// Output: order-1 1 succeeded
}

// What can happen once needs no more than your id of the thing.
func ExampleKeyFor() {
	fmt.Println(client.KeyFor("order-8231", client.ActionCancel) == client.KeyFor("order-8231", client.ActionCancel))
	fmt.Println(client.KeyFor("order-8231", client.ActionCancel) == client.KeyFor("order-8231", client.ActionCapture))
	// Output:
	// true
	// false
}

// Two equal refunds of one order are two refunds: your reference tells them apart, and a repeat of one from the other.
func ExampleRefundKey() {
	fmt.Println(client.RefundKey("order-8231", "return-1") == client.RefundKey("order-8231", "return-2"))
	fmt.Println(client.RefundKey("order-8231", "return-1") == client.RefundKey("order-8231", "return-1"))
	// Output:
	// false
	// true
}

// Pay out what the week brought: its reference names it, so asking again is asking for the same. The bank has it days later, and may still send it back.
func ExampleClient_CreatePayout() {
	payonce := exampleServer()
	defer payonce.Close()
	office, err := client.New(payonce.URL, "api-key")
	if err != nil {
		panic(err)
	}
	ctx := context.Background()

	answer, err := office.CreatePayout(ctx, client.PayoutKey("usd", "2030-week-1"), client.CreatePayout{
		Amount: 300, Currency: "usd", Reference: "2030-week-1",
	})
	switch {
	case client.CodeOf(err) == client.CodeAmountTooLarge:
		fmt.Println("there is less than that")
		return
	case err != nil:
		panic(err)
	}
	fmt.Println(answer.Payout.Status)
	over, err := office.AwaitPayout(ctx, answer.Payout.ID)
	if err != nil {
		panic(err)
	}
	fmt.Println(over.Status)
	// Output:
	// pending
	// paid
}

// A message comes at least once. The receiver stores its id in the transaction of what it does; here a map stands for that.
func ExampleVerifyMessage() {
	stored := map[string]bool{}
	receiver := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		raw, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 1<<20))
		if err != nil {
			return
		}
		message, err := client.VerifyMessage(secret, r.Header, raw)
		switch {
		case err != nil:
			w.WriteHeader(http.StatusBadRequest)
		case stored[message.ID]:
			fmt.Println("seen before")
		case message.Type == client.PaymentSucceeded:
			stored[message.ID] = true
			fmt.Println("ship", message.Subject)
		}
	})

	sendTwice(receiver)
	// Output:
	// ship payment/5f0d4f3e-6a0b-5d8e-9a39-0f5a3f1f6a11
	// seen before
}
