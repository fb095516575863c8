package stripesim_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"payonce/stripesim"
	"payonce/stripesim/control"
)

// BenchmarkPayment is one payment as a client makes it: create, confirm and three webhooks, with a state file.
func BenchmarkPayment(b *testing.B) {
	twin, err := stripesim.New(stripesim.Config{StateFile: filepath.Join(b.TempDir(), "twin.db")})
	require.NoError(b, err)
	done := http.NewServeMux()
	done.Handle("/", twin.Handler())
	done.HandleFunc("/hook", func(_ http.ResponseWriter, r *http.Request) { _, _ = io.Copy(io.Discard, r.Body) })
	listener := httptest.NewServer(done)
	defer listener.Close()
	server := listener.URL
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}}
	ctl := control.NewClient(server, client)
	_, err = ctl.AddEndpoint(b.Context(), control.Endpoint{URL: server + "/hook"})
	require.NoError(b, err)
	var n atomic.Int64
	post := func(path, form, key string) string {
		request, _ := http.NewRequest(http.MethodPost, server+path, strings.NewReader(form))
		request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		request.Header.Set("Authorization", "Bearer sk_test_shop")
		request.Header.Set("Idempotency-Key", key)
		response, err := client.Do(request)
		if err != nil {
			b.Error(err)
			return ""
		}
		body, _ := io.ReadAll(response.Body)
		_ = response.Body.Close()
		id, _ := dig(string(body), "id").(string)
		return id
	}
	b.SetParallelism(8)
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			i := n.Add(1)
			id := post(intents, "amount=2000&currency=usd&metadata[order]=1", fmt.Sprintf("c%d", i))
			post(intents+"/"+id+"/confirm", "payment_method=pm_card_visa", fmt.Sprintf("f%d", i))
		}
	})
	_, err = ctl.Flush(b.Context(), false)
	require.NoError(b, err)
	b.StopTimer()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "payments/s")
	client.CloseIdleConnections()
	require.NoError(b, twin.Close())
}
