package stripesim

import (
	_ "embed"
	"html/template"
	"net/http"
	"net/url"
)

//go:embed challenge.html
var challengeHTML string

// challengePage is an answer to the payer's browser: what challenge.html shows, or where the payer goes.
type challengePage struct {
	Status               int
	Location             string // of a redirect; then nothing is shown
	Title, Intent, Money string
	Stale                string // why the page can do nothing
	Done                 string // what was done, when there is no shop to go back to
}

func notNow() challengePage {
	return challengePage{Status: http.StatusInternalServerError, Title: "Not now", Stale: "Please try again."}
}

// readReturnURL reads where the payer is sent after a challenge.
func readReturnURL(p *params) string {
	sent, _ := p.text("return_url")
	if u, err := url.Parse(sent); sent != "" && (err != nil || u.Scheme == "" || u.Host == "" && u.Opaque == "" && u.Path == "") {
		p.fail(invalidRequest("url_invalid", "Not a valid URL", "return_url"))
	}
	return sent
}

// base is where the payer's browser finds the twin.
func (tw *Twin) base(r *http.Request) string {
	switch {
	case tw.config.PublicURL != "":
		return tw.config.PublicURL
	case r.TLS != nil:
		return "https://" + r.Host
	}
	return "http://" + r.Host
}

// page makes the handler of a page. Requests of the payer's browser are not in the log of sends.
func (tw *Twin) page(h func(*http.Request) challengePage) http.HandlerFunc {
	look := template.Must(template.New("challenge").Parse(challengeHTML))
	return func(w http.ResponseWriter, r *http.Request) {
		if !tw.enter() {
			cut(w)
			return
		}
		defer tw.leave()
		page := h(r)
		w.Header().Set("Cache-Control", "no-store")
		if page.Location != "" {
			w.Header().Set("Location", page.Location)
			w.WriteHeader(page.Status)
			return
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.WriteHeader(page.Status)
		if err := look.Execute(w, page); err != nil {
			tw.log.Debug("challenge: the page was not sent", "err", err)
		}
	}
}

// showChallenge asks the payer, and changes nothing.
func (tw *Twin) showChallenge(r *http.Request) challengePage {
	return tw.challenged(r, func(_ *transition, in *intent) challengePage {
		return challengePage{Status: http.StatusOK, Title: "Authenticate", Intent: in.ID, Money: display(in.Amount, in.Currency)}
	})
}

// endChallenge takes the payer's answer and sends him back to the shop.
func (tw *Twin) endChallenge(r *http.Request) challengePage {
	outcome := r.PostFormValue("outcome")
	return tw.challenged(r, func(t *transition, in *intent) challengePage {
		switch outcome {
		case "complete":
			t.authenticated(in)
		case "fail":
			t.unauthenticated(in)
		default:
			return challengePage{Status: http.StatusBadRequest, Title: "Authenticate", Stale: "The outcome must be complete or fail."}
		}
		if in.ReturnURL != "" {
			return challengePage{Status: http.StatusSeeOther, Location: returnTo(in)}
		}
		return challengePage{Status: http.StatusOK, Title: "Authenticate", Done: "Done. You may close this page."}
	})
}

// challenged does something with the intent of an open challenge. A page that is stale says so.
func (tw *Twin) challenged(r *http.Request, do func(*transition, *intent) challengePage) challengePage {
	now, err := tw.clock.Now(r.Context())
	if err != nil {
		return notNow()
	}
	var page challengePage
	failed := tw.change(now, func(t *transition) *apiError {
		in := t.books.intents.byID[r.PathValue("intent")]
		if in == nil {
			page = challengePage{Status: http.StatusNotFound, Title: "Not found", Stale: "There is no such payment."}
			return nil
		}
		if why := staleness(in, r.PathValue("challenge")); why != "" {
			page = challengePage{Status: http.StatusGone, Title: "Nothing to do", Stale: why}
			return nil
		}
		t.open(in)
		t.who = payer(in)
		page = do(t, in)
		return nil
	})
	if failed != nil {
		return notNow()
	}
	return page
}

// staleness says why a challenge cannot be answered, or "" if it can.
func staleness(in *intent, challenge string) string {
	switch in.Status {
	case requiresAction:
		if challenge != in.Challenge {
			return "Another attempt to pay has taken the place of this one."
		}
		return ""
	case canceled:
		return "This payment was canceled."
	case succeeded, requiresCapture, processing:
		return "This payment is already done."
	}
	return "This attempt to pay is over."
}

// returnTo is the shop's address with what Stripe adds to it.
func returnTo(in *intent) string {
	back, err := url.Parse(in.ReturnURL)
	if err != nil {
		return in.ReturnURL // never happens: it was parsed when it was taken
	}
	query := back.Query()
	query.Set("payment_intent", in.ID)
	query.Set("payment_intent_client_secret", in.ClientSecret)
	query.Set("redirect_status", redirectStatus(in))
	back.RawQuery = query.Encode()
	return back.String()
}

func redirectStatus(in *intent) string {
	switch in.Status {
	case requiresPaymentMethod:
		return "failed"
	case processing:
		return "pending"
	}
	return "succeeded"
}
