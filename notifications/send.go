package notifications

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"

	"payonce/internal/clock"
)

// cause says why a try failed, in words that are stored and may be shown: whose failure it is comes first, and nothing of what lies behind an
// address is told.
type cause string

const (
	causeNone     cause = ""
	causeStatus   cause = "receiver: did not answer with success"
	causeRedirect cause = "receiver: answered with a redirect, which is not followed"
	causeTimeout  cause = "receiver: did not answer in time"
	causeConnect  cause = "receiver: could not be reached"
	causeAddress  cause = "receiver: its address is not allowed"
	causeDisabled cause = "receiver: the endpoint is disabled"
	causeSealed   cause = "internal: the message or its secret does not open"
	causeUnmarked cause = "internal: no answer was ever stored"
)

// outcome is what a try came to.
type outcome struct {
	cause  cause // causeNone: the receiver took it
	status int   // of the answer; 0 without one
	final  bool  // no further try makes sense
}

// maxAnswerBytes is how much of an answer's body is read, only so that the connection can be used again.
const maxAnswerBytes = 4096

// send makes one try. It looks at nothing of the answer but the status.
func (d *Dispatcher) send(ctx context.Context, c claim) outcome {
	switch {
	case c.disabled:
		return outcome{cause: causeDisabled, final: true}
	case c.tries > d.config.MaxTries:
		return outcome{cause: causeUnmarked, final: true}
	}
	request, err := d.request(ctx, c)
	if err != nil {
		return outcome{cause: causeSealed}
	}
	response, err := d.client.Do(request)
	if err != nil {
		return outcome{cause: causeOf(err)}
	}
	_, _ = io.Copy(io.Discard, io.LimitReader(response.Body, maxAnswerBytes)) // the status has decided already
	_ = response.Body.Close()
	switch class := response.StatusCode / 100; class {
	case 2:
		return outcome{status: response.StatusCode}
	case 3:
		return outcome{status: response.StatusCode, cause: causeRedirect}
	default:
		return outcome{status: response.StatusCode, cause: causeStatus}
	}
}

// request opens the frozen bytes and signs them for this try.
func (d *Dispatcher) request(ctx context.Context, c claim) (*http.Request, error) {
	body, err := d.sealer.Open(columnBody, c.body)
	if err != nil {
		return nil, err
	}
	secret, err := d.sealer.Open(columnSecret, c.secret)
	if err != nil {
		return nil, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("User-Agent", "payonce")
	return request, sign(request.Header, string(secret), c.id, clock.Wall(), body)
}

func causeOf(err error) cause {
	var failed *url.Error
	switch {
	case errors.Is(err, ErrAddressRefused):
		return causeAddress
	case errors.As(err, &failed) && failed.Timeout():
		return causeTimeout
	default:
		return causeConnect
	}
}

// newClient makes a client that dials only what addresses let through, uses no proxy, follows no redirect and reads no large header.
func newClient(addresses *Addresses, config Config) *http.Client {
	return &http.Client{
		Transport: &http.Transport{
			DialContext:            addresses.dialer().DialContext,
			DisableCompression:     true,
			MaxIdleConnsPerHost:    config.MaxSendsPerEndpoint,
			IdleConnTimeout:        config.SendTimeout,
			MaxResponseHeaderBytes: 16 << 10,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}
