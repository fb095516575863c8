package stripesim

import (
	"net/http"
	"strings"
	"time"

	"payonce/stripesim/control"
)

// unservedCountry is refused as Stripe refuses a country in which it opens no accounts (https://stripe.com/global): what it would be told of any other
// is nothing that a twin knows.
const unservedCountry = "AQ"

// prepareCreateConnectedAccount is POST /v1/accounts.
func prepareCreateConnectedAccount(c *call, p *params) effect {
	made := &connectedAccount{Account: c.who.Account, Livemode: c.who.Livemode}
	made.Type = p.oneOf("type", "custom", "express", "standard")
	if made.Type == "" {
		p.fail(missingParam("type"))
	}
	if made.Country, _ = p.text("country"); made.Country != "" && !isCountry(made.Country) {
		p.fail(invalidRequest("country_invalid", "Country '"+made.Country+"' is unknown. Try using a 2-character alphanumeric country code instead.", "country"))
	}
	if made.DefaultCurrency, _ = p.text("default_currency"); made.DefaultCurrency != "" {
		made.DefaultCurrency = readCurrency(p, made.DefaultCurrency)
	}
	made.Email, _ = p.text("email")
	if made.Email != "" && (!strings.Contains(made.Email, "@") || strings.ContainsAny(made.Email, " \t\r\n")) {
		p.fail(invalidRequest("email_invalid", "Invalid email address: "+made.Email, "email"))
	}
	made.Metadata = readMetadata(p)
	return func(t *transition) (any, *apiError) {
		if made.Country == unservedCountry {
			return nil, refusal("country_unsupported", made.Country+" is not currently supported by Stripe.", "country")
		}
		made.Country, made.DefaultCurrency = orDefault(made.Country, "US"), orDefault(made.DefaultCurrency, "usd")
		made.ID, made.Created = "acct_1"+randomLetters(15), t.now.Unix()
		t.books.connected.add(made)
		t.touch(made)
		return renderConnectedAccount(made), nil
	}
}

// isCountry tells whether a text looks like a country of ISO 3166-1.
func isCountry(text string) bool {
	capital := func(r byte) bool { return r >= 'A' && r <= 'Z' }
	return len(text) == 2 && capital(text[0]) && capital(text[1])
}

// prepareGetConnectedAccount is GET /v1/accounts/{id}.
func prepareGetConnectedAccount(c *call, p *params) effect {
	return lookup(c, p, "account", "account", connectedAccountsOf, showConnectedAccount)
}

// prepareListConnectedAccounts is GET /v1/accounts.
func prepareListConnectedAccounts(_ *call, p *params) effect {
	return listing("/v1/accounts", "account", p, connectedAccountsOf, func(*connectedAccount) bool { return true }, showConnectedAccount)
}

// listParties lists the customers or the connected accounts of the books.
func listParties[T record](tw *Twin, from func(*books) *table[T], show func(T) control.Party) func(*http.Request) (any, error) {
	return func(r *http.Request) (any, error) {
		after, limit, err := readPage(r)
		if err != nil {
			return nil, err
		}
		of := r.FormValue("account")
		tw.books.mu.Lock()
		defer tw.books.mu.Unlock()
		page := rows[control.Party]{Data: []control.Party{}}
		for _, row := range from(tw.books).after(after, limit, func(row T) bool { return of == "" || row.owner().Account == of }) {
			page.Data = append(page.Data, show(row))
		}
		return page, nil
	}
}

func customerParty(c *customer) control.Party {
	return control.Party{Seq: c.Seq, ID: c.ID, Account: c.Account, Livemode: c.Livemode, Metadata: copyOf(c.Metadata), Deleted: c.Deleted,
		Created: time.Unix(c.Created, 0).UTC()}
}

func connectedParty(a *connectedAccount) control.Party {
	return control.Party{Seq: a.Seq, ID: a.ID, Account: a.Account, Livemode: a.Livemode, Metadata: copyOf(a.Metadata), Created: time.Unix(a.Created, 0).UTC()}
}
