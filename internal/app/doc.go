// Package app builds the running system from a Config: the API with the webhooks, and the worker with the recovery loops and the dispatcher.
//
// It may import everything. Only cmd and test kits import it; tests build the same system that the binary runs.
package app
