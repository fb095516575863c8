// Package api is HTTP for the checkout backend: one file an operation.
//
// It may import payments, boundaries and internal packages. It must know neither Temporal nor Stripe: a command is claimed and
// awaited through CommandBoundary, and the payment's workflow is woken through Waker.
package api

//go:generate go test -run ^TestTheOpenAPIDocumentIsCurrent$ -update .
