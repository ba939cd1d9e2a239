// Package semantics holds the modes: each is one way of winning a delivery guarantee, as state
// machines that run in front of the same input, store and sink.
//
// A mode combines three choices. Position: when is the input offset committed? State: where does
// keyed operator state live? Output: is it sent again until someone has acknowledged it? For one
// input record these are three durable facts, and whatever is written before the others and not
// together with them opens a window:
//
//	position before effects      crash between them: the record is lost
//	effects before position      crash between them: the record is repeated
//	state apart from output      crash between them: state and output disagree
//
// At most once and at least once are the first two lines, and in the source they differ in the
// order of two lines: see (*atMostOnceSource).took and (*intake).settle.
//
// Each mode is one file that declares what it claims, which faults it tolerates, and what it shows
// under each class of fault. All lists them.
package semantics
