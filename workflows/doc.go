// Package workflows decides: which act of a payment comes next, and when it is over.
//
// It may import payments, boundaries (for workflow ids) and Temporal. It must not know the database, Stripe or HTTP: a workflow
// is woken without content and reads, through an activity, what is new.
package workflows
