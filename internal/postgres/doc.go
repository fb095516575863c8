// Package postgres opens the database, runs the migrations and maps database errors to their constraint.
//
// It may import only libraries. It must not know what a payment is: the SQL of a noun stands beside the noun.
package postgres
