// Package payments holds the words of the field: a payment, its stages and statuses, money, ids, operations, commands, and the
// one table of transitions.
//
// It imports nothing of ours and no database: what is written here is what every other package says.
package payments
