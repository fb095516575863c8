package stripesim

import "strings"

// expansion is the tree of what is to be shown in full. nil = as an id.
type expansion map[string]expansion

// expandable says what each kind of object can show in full.
func expandable(kind string) map[string]string {
	switch kind {
	case "payment_intent":
		return map[string]string{"latest_charge": "charge", "payment_method": "payment_method"}
	case "charge":
		return map[string]string{"balance_transaction": "balance_transaction", "payment_intent": "payment_intent"}
	case "refund":
		return map[string]string{"balance_transaction": "balance_transaction", "failure_balance_transaction": "balance_transaction",
			"charge": "charge", "payment_intent": "payment_intent"}
	case "payout":
		return map[string]string{"balance_transaction": "balance_transaction", "failure_balance_transaction": "balance_transaction"}
	case "dispute":
		return map[string]string{"charge": "charge", "payment_intent": "payment_intent"}
	case "balance_transaction":
		return map[string]string{"source": "source"}
	case "source": // whatever moved the money
		return map[string]string{"charge": "charge", "payment_intent": "payment_intent"}
	}
	return nil
}

// readExpand reads expand[] for an object of this kind, or for a list of them, whose paths begin with "data.".
func readExpand(p *params, kind string, list bool) expansion {
	tree := expansion{}
	for _, path := range p.array("expand") {
		words := strings.Split(path, ".")
		if list {
			if words[0] != "data" {
				p.fail(cannotExpand(path))
				continue
			}
			words = words[1:]
		}
		at, of := tree, kind
		if len(words) == 0 || len(words) > 4 {
			p.fail(cannotExpand(path))
			continue
		}
		for _, word := range words {
			next, found := expandable(of)[word]
			if !found {
				p.fail(cannotExpand(path))
				break
			}
			if at[word] == nil {
				at[word] = expansion{}
			}
			at, of = at[word], next
		}
	}
	return tree
}

func cannotExpand(path string) *apiError {
	return invalidRequest("", "This property cannot be expanded ("+path+").", "expand")
}
