// Package devstack runs the whole of payonce on one machine, as `payonce dev` and `payonce demo` need it: Postgres, Temporal, the Stripe twin,
// the API and the worker, each a process of its own under internal/stack's Supervisor, with one account, tenant, API key and receiver provisioned
// once and kept in a state directory.
//
// It may import every internal helper, notifications and the twin's control client; only cmd and internal/demo import it. It must not know what is
// done with the stack, and nothing in it is fit for production: Differences says what is otherwise there.
package devstack
