package api

// advice says what a caller does next: the detail of a refusal that has none of its own.
func (c code) advice() string {
	return map[code]string{
		codeUnauthorized:      "Send Authorization: Bearer and an API key of the tenant.",
		codePaymentNotFound:   "No payment of this tenant has this id.",
		codeRefundNotFound:    "No refund of this tenant has this id.",
		codePayoutNotFound:    "No payout of this tenant has this id.",
		codeDisputeNotFound:   "No dispute of this tenant has this id.",
		codeProvisionNotFound: "None of this tenant has this id.",

		codeRouteNotFound:    "The operations are in /openapi.json.",
		codeMethodNotAllowed: "The methods of this path are in Allow.",
		codeUnavailable:      "Repeat the request as it is, after Retry-After.",

		codeKeyMissing:    "Mint a key where the intent is formed, and repeat it unchanged with the same content.",
		codeQueryRefused:  "What a command needs goes into its body.",
		codeBodyTooSlow:   "Repeat the request as it is.",
		codeInProgress:    "An earlier request with this key is waiting for the outcome: repeat this one as it is, after Retry-After.",
		codeKeyReused:     "The key names other content or another payment: mint a key for each intent.",
		codeExpiredUnsent: "The command could not be sent in time: nothing was charged.",

		codeCardDataRefused:   "Card data belongs at Stripe: send the id of a payment method.",
		codeReferenceConflict: "Other content is open or done under this reference: read the payment before asking for anything else.",
		codeReferenceEnded:    "The order is paid: another order has a reference of its own.",
		codeReplacesUnknown:   "replaces names the ended payment of the same reference.",
		codePaymentSucceeded:  "There is nothing left to take: read the payment.",
		codePaymentEnded:      "Create a further attempt of the reference, with replaces.",
		codeOwnerConflict:     "What is linked stays linked: ask with the content of the first time, or for another owner.",
		codeAmountTooLarge:    "Ask for no more than there is.",
		codeUnexpectedState:   "Read the payment, and wait until it has changed.",
	}[c]
}
