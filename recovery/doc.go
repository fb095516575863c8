// Package recovery finishes what was begun: it wakes the workflows of open commands, applies stored events, matches parked ones, polls open
// payments and ends replay windows. Each loop is harmless to run twice, in any number of processes.
//
// It may import everything above it except HTTP. It decides nothing about a payment: activities.Apply does.
package recovery
