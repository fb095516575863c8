package stripesim

// connectedAccount is an account that another account, the platform, has made. It is guarded by the lock of the books. It is not used: no key is of it, and
// no money moves to or from it.
type connectedAccount struct {
	Seq      int64
	ID       string
	Account  string // the platform's
	Livemode bool
	Created  int64

	Type, Country, DefaultCurrency, Email string
	Metadata                              map[string]string
}

func (a *connectedAccount) key() string      { return a.ID }
func (a *connectedAccount) owner() scope     { return scope{a.Account, a.Livemode} }
func (a *connectedAccount) createdAt() int64 { return a.Created }
func (a *connectedAccount) number() *int64   { return &a.Seq }

// wireConnectedAccount is a connected account as API version 2023-10-16 writes one that nobody has onboarded yet.
type wireConnectedAccount struct {
	ID               string            `json:"id"`
	Object           string            `json:"object"`
	BusinessProfile  *struct{}         `json:"business_profile"`
	BusinessType     *string           `json:"business_type"`
	Capabilities     map[string]string `json:"capabilities"`
	ChargesEnabled   bool              `json:"charges_enabled"`
	Country          string            `json:"country"`
	Created          int64             `json:"created"`
	DefaultCurrency  string            `json:"default_currency"`
	DetailsSubmitted bool              `json:"details_submitted"`
	Email            *string           `json:"email"`
	ExternalAccounts wireList          `json:"external_accounts"`
	Metadata         map[string]string `json:"metadata"`
	PayoutsEnabled   bool              `json:"payouts_enabled"`
	Settings         *struct{}         `json:"settings"`
	TOSAcceptance    wireTOSAcceptance `json:"tos_acceptance"`
	Type             string            `json:"type"`
}

type wireTOSAcceptance struct {
	Date *int64 `json:"date"`
}

func renderConnectedAccount(a *connectedAccount) wireConnectedAccount {
	return wireConnectedAccount{ID: a.ID, Object: "account", Capabilities: map[string]string{}, Country: a.Country, Created: a.Created,
		DefaultCurrency: a.DefaultCurrency, Email: orNil(a.Email), Metadata: a.Metadata, Type: a.Type,
		ExternalAccounts: wireList{Object: "list", Data: []any{}, URL: "/v1/accounts/" + a.ID + "/external_accounts"}}
}

func connectedAccountsOf(b *books) *table[*connectedAccount] { return b.connected }

func showConnectedAccount(_ *books, a *connectedAccount, _ expansion) any {
	return renderConnectedAccount(a)
}
