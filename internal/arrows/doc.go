// Package arrows holds, as tests, how the packages of payonce may depend on one another, each forbidden import with its reason,
// and the few other things about the tree that a compiler does not check: who asks for the time, that every package says what it
// is, that files stay small, that every mutant breaks something that is there.
//
// It has no code but tests. It reads the source and imports nothing of ours but the parser of mutants.
package arrows
