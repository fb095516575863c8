package notifications_test

import (
	"context"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Answers whose body never ends: a flood of chunks, and one that stops in the middle and keeps the connection. The status has decided, so
// the message is delivered, once, and the try ends by itself.
func TestAnswerWithoutAnEndIsDeliveredOnce(t *testing.T) {
	for name, body := range map[string]func(http.ResponseWriter, context.Context){
		"chunks for ever": func(w http.ResponseWriter, _ context.Context) {
			for chunk := make([]byte, 512); ; {
				if _, err := w.Write(chunk); err != nil {
					return // the dispatcher hung up
				}
			}
		},
		"a byte and then silence": func(w http.ResponseWriter, gone context.Context) {
			_, _ = w.Write([]byte("."))
			_ = http.NewResponseController(w).Flush()
			<-gone.Done()
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := openOutbox(t)
			var answered sync.WaitGroup
			r := newReceiverThat(t, func(w http.ResponseWriter, request *http.Request, _ delivery) {
				answered.Add(1)
				defer answered.Done()
				w.WriteHeader(http.StatusOK)
				body(w, request.Context())
			})
			endpoint, _ := o.newEndpoint(r.URL)
			o.enqueue(o.message(o.newPayment("order-1"), 1))
			config := patient()
			config.SendTimeout = 500 * time.Millisecond
			dispatcher := o.dispatcher(config, r)
			o.dispatch(dispatcher, 1)
			answered.Wait() // let go of by the dispatcher
			o.db.AdvanceClock(t, 24*time.Hour)
			o.dispatch(dispatcher, 0)
			require.Equal(t, "delivered", o.only(endpoint).Status)
			require.Equal(t, http.StatusOK, *o.only(endpoint).LastStatus)
			require.Len(t, r.deliveries(), 1)
		})
	}
}
