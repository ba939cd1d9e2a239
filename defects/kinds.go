package defects

// The kinds of root cause. What there is no defect of says why.
var (
	EarlyAck = Kind{Name: "early-ack",
		Says: "a position moves before the effects of what is before it are durable"}
	FlushError = Kind{Name: "flush-error",
		Says: "a snapshot or a commit succeeds although a write before it failed or was never made"}
	CommitHandoff = Kind{Name: "commit-handoff",
		Says: "prepared output is not made visible with exactly the checkpoint it belongs to"}
	CommitKey = Kind{Name: "commit-key",
		Says: "whether something is committed already is answered by the wrong key"}
	CommitRetry = Kind{Name: "commit-retry",
		Says: "what may have been done is done again, and nothing knows it by a key"}
	CommitMisread = Kind{Name: "commit-misread",
		Says: "the answer to a commit is taken for another one"}
	TxnTimeout = Kind{Name: "txn-timeout",
		Says: "a timer ends a transaction while its owner is down, slow or gone"}
	IDReuse = Kind{Name: "id-reuse",
		Says: "one name stands for two units of output, or a unit is not found by its name"}
	SequenceEpoch = Kind{Name: "sequence-epoch",
		Says: "a sequence or an epoch begins again, is skipped or is not compared"}
	LateRequest = Kind{Name: "late-request",
		Says: "a late or doubled request strikes the transaction after the one it was for"}
	DedupFirst = Kind{Name: "dedup-first",
		Says: "what drops duplicates is durable without the effect, or is rebuilt in part"}
	DedupForgets = Kind{Name: "dedup-forgets",
		Says: "the memory of duplicates is bounded, or has the wrong key or scope"}
	Zombie = Kind{Name: "zombie",
		Says: "an owner that was replaced goes on, and nothing shuts it out"}
	Rebalance = Kind{Name: "rebalance",
		Says: "work changes hands, and its position or what was under way does not",
		Without: "tasks keep their partitions for the whole run: there is no hand-over between " +
			"live owners"}
	SourceState = Kind{Name: "source-state",
		Says: "the position in a snapshot is missing, doubled, or means something else"}
	BarrierCut = Kind{Name: "barrier-cut",
		Says: "a snapshot is no consistent cut: alignment, channel state or order is wrong"}
	CheckpointStore = Kind{Name: "checkpoint-store",
		Says: "a wrong or partial snapshot is chosen, or one that is needed is cleaned up"}
	Shutdown = Kind{Name: "shutdown",
		Says: "the end of the input or a graceful stop is handled otherwise than a crash"}
	StateApart = Kind{Name: "state-apart",
		Says: "operator state is not atomic with output or position, or is addressed wrongly"}
	ReplayDiffers = Kind{Name: "replay-differs",
		Says: "what is replayed has other borders, names or values than the first time"}
	Redelivery = Kind{Name: "redelivery",
		Says: "the books about acknowledgements and retries are kept wrongly"}
	ReadSide = Kind{Name: "read-side",
		Says: "a reader sees what is undecided or aborted, or passes what is undecided"}
	Broker = Kind{Name: "broker",
		Says: "a service loses or tears what it has acknowledged, or forgets its memory"}
	Handoff = Kind{Name: "handoff",
		Says: "between a table's snapshot and its change log there is a gap or an overlap",
		Without: "the input is one log: no source reads a snapshot first and the log of its " +
			"changes afterwards"}
	Retention = Kind{Name: "retention",
		Says: "the input was truncated, and its reader goes on elsewhere without a word"}
)

// Kinds lists the kinds of root cause.
func Kinds() []*Kind {
	return []*Kind{&EarlyAck, &FlushError, &CommitHandoff, &CommitKey, &CommitRetry,
		&CommitMisread, &TxnTimeout, &IDReuse, &SequenceEpoch, &LateRequest, &DedupFirst,
		&DedupForgets, &Zombie, &Rebalance, &SourceState, &BarrierCut, &CheckpointStore, &Shutdown,
		&StateApart, &ReplayDiffers, &Redelivery, &ReadSide, &Broker, &Handoff, &Retention}
}
