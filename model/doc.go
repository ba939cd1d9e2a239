// Package model holds the nouns and contracts of stream processing that every other package of
// oncesim shares: records and their identity, operators and topologies, the process and service
// contracts of the simulator, modes and what they claim, fault rules, histories and verdicts, the
// failure-free reference and the keyed draw.
//
// It imports nothing of this module. It knows no clock, no seed and no goroutine: every function
// is a function of its arguments.
//
// # The smallest use
//
// An operator is a plain value. A topology names its stages, and a mode decides how a guarantee
// is won on it:
//
//	double := &model.Operator{
//		Name: "double",
//		Kind: model.Stateless,
//		Step: func(in model.Record, state model.Value, out *model.Outputs) model.Value {
//			out.Emit(in.Key, model.Value{Num: 2 * in.Value.Num})
//			return state
//		},
//	}
//
// # The rules
//
//   - A record is identified by its position in the input (ID), never by its value. What an
//     operator emits is identified by the input record that triggered it, the operator, and the
//     path of ordinals that leads to it (Record).
//   - A process handles one event and answers with a Script: an ordered list of effects that the
//     world carries out one by one. A crash falls between two of them, or inside a call.
//   - Each call is atomic at its service, and nothing else is.
//   - Values are immutable. Keyed operator state belongs to the engine, one Value a key.
//   - A verdict is holds, violated (with a certificate) or unknown, and unknown is never a pass.
//
// # Sources
//
// The process model (crash and recovery, FIFO channels, replayable logged input) is the one under
// which Flink is proved failure transparent in Veresov, Spenger, Carbone and Haller, "Failure
// Transparency in Stateful Dataflow Systems", ECOOP 2024.
package model
