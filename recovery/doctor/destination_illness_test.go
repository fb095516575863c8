package doctor_test

import "github.com/google/uuid"

func divided(p *patient) uuid.UUID       { return p.divided.UUID }
func dividedRefund(p *patient) uuid.UUID { return p.dividedRefund.UUID }

func illnessesOfDestinations() []illness {
	return []illness{
		{name: "destinations that are not the payment's amount", check: "destinations", sees: "its destinations sum to 2000", plant: of(divided,
			`UPDATE payonce.payments SET destinations = '[{"account": "wallet:seller-1:stripe", "amount": 1200}, {"account": "merchant:balance", "amount": 800}]'
			WHERE id = $1`)},
		{name: "a capture that is divided otherwise", check: "destinations", sees: "its shares say", plant: of(divided,
			`UPDATE payonce.payments SET destinations = '[{"account": "wallet:seller-1:stripe", "amount": 599}, {"account": "merchant:balance", "amount": 401}]'
			WHERE id = $1`)},
		{name: "a destination that is named twice", check: "destinations", sees: "cannot be", plant: of(divided,
			`UPDATE payonce.payments SET destinations = destinations || destinations WHERE id = $1`)},
		{name: "a refund that was taken from others", check: "destinations", sees: "its journal took", plant: of(dividedRefund,
			`UPDATE payonce.refunds SET taken_from = '[{"account": "merchant:balance", "amount": 300}]' WHERE id = $1`)},
		{name: "a refund that nobody gives back", check: "destinations", sees: "its destinations give back 0", plant: of(dividedRefund,
			`UPDATE payonce.refunds SET taken_from = NULL WHERE id = $1`)},
	}
}
