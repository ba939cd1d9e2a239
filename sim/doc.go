// Package sim is the world in virtual time: it carries out what processes ask for, one effect at a
// time, on one goroutine, and records what happened.
//
// # The smallest use
//
//	world := sim.New(job, mode, input, &sim.AppendLog, sim.Config{})
//	history := world.Run(seed, rules, sim.Options{})
//
// The same arguments give the same history and the same hash, on every machine, in a fresh world
// or in one that has run before.
//
// # The rules of the world
//
//   - Order is total: virtual time, then class (faults first), then a keyed tie-break, then the
//     order in which events were made.
//   - A process handles one event at a time. Its script is carried out effect by effect; a Call
//     blocks script and process until its outcome is known. A fault can strike before an effect,
//     after it, and inside a call: while the request is on its way, and after the service has
//     applied it but before the answer arrives.
//   - Channels are FIFO and lossless between two lives, unless a fault says otherwise of one
//     message; it holds up no other. When a process dies, messages that have not been handled are
//     dropped, messages and requests that it had sent still arrive, and answers to it are dropped.
//     What is sent to a process that is down finds nobody.
//   - A call has one deadline. If no answer is there by then its outcome is Unknown, and a late
//     answer is ignored. A delayed request may still be applied, after everything that followed.
//   - The supervisor is part of the world and never fails. It restarts what died after a drawn
//     delay, under the next attempt number. It suspects a process that stands still for
//     Config.SuspectAfter and replaces it; the old one is a zombie when it resumes, and learns
//     that it was replaced only Config.LingerTime later.
//   - Services are durable. Each request is applied atomically, and nothing larger is.
//   - A fault can refuse a request, have it forgotten once it is answered, or have it answered as
//     the service was before its last change. The service itself does not notice: what is forgotten
//     or stale happens in a copy of it.
//   - A partition loses what leaves one side for the other while it lasts; an outage of a service
//     loses what arrives. Both are reached with the first loss, so that one without effect counts
//     as not reached; so does a truncation that no fetch runs into. Readers are never cut off.
//   - Every latency is a keyed draw about the message it delays: removing a fault or a record
//     moves nothing else.
//   - The run ends when nothing is left to happen, or at a bound, never by hanging.
//
// # What it does not do
//
// It never parses, prints or judges; it knows no mode by name. Rules come compiled, and matching
// one is comparing numbers.
package sim
