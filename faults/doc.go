// Package faults says what may go wrong in a run: the one-line fault language, the Plan that is a
// list of such lines, and every place that a run offers to put one.
//
// # The smallest use
//
//	plan, err := faults.ParsePlan(
//		"crash sink/0 before ack of write 2",
//		"pause source/0 at record input/0:1 for 80ms",
//	)
//	...
//	rules, err := plan.Compile(job) // what the simulator matches; rule i is fault i
//
// # The language
//
// A line is an action, its target, an anchor, and what the action needs besides:
//
//	crash     op/1 after effect 2 of record input/0:7   # between two effects of one record
//	crash     op/0 before effect 1 of start 2           # again, as soon as it is back
//	crash     op/0 after effect 2 of checkpoint 3       # what it sends or asks about it
//	crash     sink/0 during write 3                     # the request is under way and arrives
//	crash     sink/0 before ack of write 3              # applied, and the caller never knows
//	crash     source/0 at 120ms                         # virtual time
//	pause     source/0 at record input/0:7 for 80ms     # then it goes on: a zombie, if replaced
//	lose      request of write 3 from sink/0
//	lose      answer of offset-commit 1 from source/0
//	delay     call put 2 of op/1 by 300ms
//	duplicate call write 3 of sink/0 by 20ms
//	lose      data 5 from op/0 to sink/0                # the fifth record on that channel
//	lose      barrier 2 from op/0 to sink/0
//	delay     complete 1 from coordinator/0 to sink/0 by 60ms
//	delay     ack 2 from sink/0 to op/0 by 60ms
//	duplicate data 5 from op/0 to sink/0
//	reorder   data 5 from op/0 to sink/0                # it arrives after the sixth
//	partition op/0 | store for 40ms at put 2            # put 2 is the first that is lost
//	partition op/0 | store for 40ms at answer of put 2  # or its answer is
//	partition op/0 | sink/0 for 40ms at data 5          # counted from the left to the right side
//	partition op/0 | sink/0 for 40ms at 120ms
//	crash     store for 40ms at put 2 of op/0           # a service that is down, and comes back
//	refuse    call put 3 of op/0                        # answered, and nothing done
//	forget    call write 2 of sink/0                    # answered as done, and undone
//	tear      call upload 2 of op/0                     # answered as done, and half is there
//	stale     call get 2 of op/0                        # answered as it was one change before
//	truncate  input/0 before 3 at fetch 2 of source/0   # that fetch begins at record 3
//	poison    record input/0:7 at op/0                  # whatever its operator does, it fails
//
// In full, with words separated by white space:
//
//	line      = [ fault ] [ "#" anything ] .
//	fault     = crash | pause | lose | delay | duplicate | reorder | partition | refuse | forget
//	          | tear | stale | truncate | poison .
//	crash     = "crash" ( process point | service "for" duration "at" ( callof | duration ) ) .
//	pause     = "pause" process point "for" duration .
//	lose      = "lose" ( ( "request" | "answer" ) "of" call "from" process | message ) .
//	delay     = "delay" ( "call" callof | message ) "by" duration .
//	duplicate = "duplicate" ( "call" callof | message ) [ "by" duration ] .
//	reorder   = "reorder" message [ "within" duration ] .
//	partition = "partition" process "|" ( service "for" duration "at" ( [ "answer" "of" ] call
//	          | duration )
//	          | process "for" duration "at" ( travels ordinal | duration ) ) .
//	refuse    = "refuse" "call" callof .
//	forget    = "forget" "call" callof .
//	tear      = "tear" "call" callof .
//	stale     = "stale" "call" callof .
//	truncate  = "truncate" name "/" digits "before" ordinal "at" ( callof | duration ) .
//	poison    = "poison" "record" record "at" process .
//	message   = travels ordinal "from" process "to" process .
//	travels   = "data" | "ack" | "barrier" | "trigger" | "acknowledge" | "decline" | "complete"
//	          | "cancel" | "restore" | "ready" .
//	point     = ( "before" [ "ack" "of" ] | "during" | "after" ) event
//	          | "at" "record" record
//	          | "at" duration .
//	event     = call | "effect" ordinal [ "of" ( "record" record | "start" ordinal
//	          | "checkpoint" ordinal ) ] .
//	callof    = call "of" process .
//	call      = kind ordinal .
//	kind      = "position" | "latest" | "fetch" | "offset-commit" | "get" | "put" | "write"
//	          | "read" | "load-ids" | "load-outbox" | "update" | "mark"
//	          | "checkpoint-id" | "upload" | "completion" | "newest" | "download" | "discard"
//	          | "write-batch" | "begin-txn" | "prepare-txn" | "commit-txn" | "abort-txn"
//	          | "list-txns" | "plan-batch" | "finish-batch" | "newest-batch" .
//	service   = "input" | "store" | "external" .
//	process   = name "/" digits .
//	record    = [ name "/" digits ":" ] digits .
//	duration  = digits [ "." digits ] ( "ns" | "us" | "ms" | "s" ) .
//	ordinal   = digits .
//
// A name is anything without white space that does not begin with "#"; a comment begins where a
// word does. Ordinals count from 1; offsets of records and numbers of partitions and processes
// count from 0. A record without its partition is understood where the topology has only one.
// Durations end at whole nanoseconds and at 1000000s, and only the one after "at" may be zero.
//
// "at record R" is short for "before effect 1 of record R", and that is how the longer line
// prints. A duplicate without "by" arrives DuplicateAfter the first copy. A message that nothing
// overtakes arrives ReorderWithin late, or when "within" says.
//
// A partition, an outage and a truncation begin at a time, or with the first thing that they
// strike: a message from the left side to the right one, a request to the service of the line, its
// answer, or a fetch. Only what changes something can be forgotten, and only an upload can be torn.
// Only what reads what others changed can be stale: position, latest, fetch, get, load-ids,
// load-outbox, newest, download, list-txns and newest-batch. The name of a service is no name of a
// process, which has a number.
//
// They are reached with the first thing that they strike, and so is a poisoned record. A partition
// in which nothing was lost has tested nothing.
//
// # Why anchors are events
//
// A fault at 120ms hits whatever is there at 120ms. Give the network another latency, or take a
// record away while shrinking, and the same line tells another story. "before ack of write 2"
// goes on meaning what it says: the output is visible and its writer does not know. So anchors are
// events of the protocol, and time is there for what really is about time.
//
// The nearer an anchor is to its reason, the longer it keeps its meaning: prefer a record to the
// ordinal of a call, and that to the ordinal of an effect, which is the universal anchor that
// searches use. Ordinals count over all lives and attempts of a process, never from its latest
// restart, and repetitions of a call count like calls: "write 2" may well be write 1 once more.
// "data 5 from op/0 to sink/0" counts the records that op/0 sends to sink/0, what it sends again
// included.
//
// Numbers of checkpoints are ids and not ordinals: where one was given up, checkpoint 3 may be the
// second that was completed. "effect 2 of checkpoint 3" is found by the id. A coordinator that dies
// between its decision and the first notice of it is "crash coordinator/0 after completion 2",
// which counts requests: the outcome is there, and the coordinator does nothing with it any more.
//
// During and before ack make sense for calls. At an effect that is not one they are never
// reached, and neither is an ordinal that the run does not get to. That is no error of the line,
// since it depends on the run; a run reports each anchor that was not reached (History.Reached),
// so that a plan which tests nothing does not pass for one which does.
//
// # Adding a fault
//
// The simulator knows a fixed set of actions. A new fault recombines them: one file with a Spec,
// and one line in All. Reading, printing, lists, help and fuzzing follow from there.
package faults
