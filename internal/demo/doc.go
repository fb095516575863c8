// Package demo proves payonce on one machine: it drives the orders of a checkout backend through the real system under faults, kills the API and
// the worker on the way, waits until everything is quiet, lets days pass, and compares what was wished for with what is in Postgres, in the twin's
// books and at the receiver.
//
// It may import everything; only cmd/payonce imports it. It speaks to payonce as a checkout backend does, over HTTP with a client of its own, and
// must not help the engine: what it reads from the database it only reads. The clock that it moves is nobody's.
package demo
