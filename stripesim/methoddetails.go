package stripesim

type wireCard struct {
	Brand         string        `json:"brand"`
	CaptureBefore *int64        `json:"capture_before,omitempty"`
	Checks        any           `json:"checks"`
	Country       string        `json:"country"`
	ExpMonth      int           `json:"exp_month"`
	ExpYear       int           `json:"exp_year"`
	Fingerprint   string        `json:"fingerprint"`
	Funding       string        `json:"funding"`
	Last4         string        `json:"last4"`
	Multicapture  *wireStatus   `json:"multicapture,omitempty"` // of a hold
	Network       string        `json:"network,omitempty"`      // of a charge
	Networks      *wireNetworks `json:"networks,omitempty"`     // of a payment method
	Wallet        *string       `json:"wallet"`
}

type wireStatus struct {
	Status string `json:"status"`
}

type wireNetworks struct {
	Available []string `json:"available"`
	Preferred *string  `json:"preferred"`
}

type wireBank struct {
	AccountHolderType string `json:"account_holder_type"`
	AccountType       string `json:"account_type"`
	BankName          string `json:"bank_name"`
	Fingerprint       string `json:"fingerprint"`
	Last4             string `json:"last4"`
	RoutingNumber     string `json:"routing_number"`
}

type wireSEPA struct {
	BankCode    string `json:"bank_code"`
	BranchCode  string `json:"branch_code"`
	Country     string `json:"country"`
	Fingerprint string `json:"fingerprint"`
	Last4       string `json:"last4"`
}

type wireBECS struct {
	BSBNumber   string `json:"bsb_number"`
	Fingerprint string `json:"fingerprint"`
	Last4       string `json:"last4"`
}

type wireMethodDetails struct {
	BECS *wireBECS `json:"au_becs_debit,omitempty"`
	Card *wireCard `json:"card,omitempty"`
	Bank *wireBank `json:"us_bank_account,omitempty"`
	SEPA *wireSEPA `json:"sepa_debit,omitempty"`
	Type string    `json:"type"`
}

func methodDetails(test testMethod, c *charge) wireMethodDetails {
	details := wireMethodDetails{Type: test.Kind}
	switch test.Kind {
	case usBankAccount:
		details.Bank = bankOf(test)
		return details
	case sepaDebit:
		details.SEPA = &wireSEPA{BankCode: "37040044", Country: test.Country, Fingerprint: "stripesim" + test.Last4, Last4: test.Last4}
		return details
	case becsDebit:
		details.BECS = &wireBECS{BSBNumber: "000000", Fingerprint: "stripesim" + test.Last4, Last4: test.Last4}
		return details
	}
	details.Card = cardOf(test)
	if c == nil {
		details.Card.Networks = &wireNetworks{Available: []string{test.Brand}}
		return details
	}
	details.Card.Network = test.Brand
	if c.CaptureBefore != 0 {
		details.Card.CaptureBefore, details.Card.Multicapture = orNil(c.CaptureBefore), &wireStatus{"unavailable"}
	}
	if c.Multicapture {
		details.Card.Multicapture = &wireStatus{"available"}
	}
	return details
}

func cardOf(test testMethod) *wireCard {
	return &wireCard{Brand: test.Brand, Checks: wireChecks{CVCCheck: "pass"}, Country: "US", ExpMonth: 8, ExpYear: 2034,
		Fingerprint: "stripesim" + test.Last4, Funding: "credit", Last4: test.Last4}
}

type wireChecks struct {
	AddressLine1Check *string `json:"address_line1_check"`
	PostalCodeCheck   *string `json:"address_postal_code_check"`
	CVCCheck          string  `json:"cvc_check"`
}

func bankOf(test testMethod) *wireBank {
	return &wireBank{AccountHolderType: "individual", AccountType: "checking", BankName: "STRIPE TEST BANK",
		Fingerprint: "stripesim" + test.Last4, Last4: test.Last4, RoutingNumber: "110000000"}
}

// wireMethod is a payment method as the API shows it.
type wireMethod struct {
	ID             string            `json:"id"`
	Object         string            `json:"object"`
	BECS           *wireBECS         `json:"au_becs_debit,omitempty"`
	BillingDetails wireBilling       `json:"billing_details"`
	Card           *wireCard         `json:"card,omitempty"`
	Bank           *wireBank         `json:"us_bank_account,omitempty"`
	SEPA           *wireSEPA         `json:"sepa_debit,omitempty"`
	Created        int64             `json:"created"`
	Customer       *string           `json:"customer"`
	Livemode       bool              `json:"livemode"`
	Metadata       map[string]string `json:"metadata"`
	Type           string            `json:"type"`
}

func renderMethod(m *method) wireMethod {
	test := m.test()
	details := methodDetails(test, nil)
	return wireMethod{ID: m.ID, Object: "payment_method", Card: details.Card, Bank: details.Bank, BECS: details.BECS, SEPA: details.SEPA,
		Created: m.Created, Livemode: m.Livemode, Metadata: map[string]string{}, Type: test.Kind}
}
