// Package doctor checks the invariants from outside: it reads the database as any auditor could, the Stripe twin's books and log of
// requests over HTTP, and what receivers took, and recomputes what must be true of them together. It trusts no status column of ours
// where Stripe's books, the entries or a derivation can say it, and it changes nothing.
//
// It may import the words, the protocol's derivations, the ledger's balance, internal helpers and the client of the twin's control API.
// It must not know how a payment is moved: not the workflows, the activities nor the recovery loops whose work it judges.
package doctor
