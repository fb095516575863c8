// Package mutant runs the tests of payonce against code with one protection taken out, and says whether they noticed.
//
// A mutant is a patch with a head that says what it takes out and which tests must notice. It is compiled in by an overlay: the
// tree is read and never written.
//
// It imports internal/clock and no other package of ours; it must not know what any mutant is about.
package mutant
