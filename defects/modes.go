package defects

// Modes that share what a defect breaks.
var (
	// replayModes commit an offset once everything before it is acknowledged.
	replayModes = []string{"at-least-once", "acker", "idempotent", "idempotent-by-key", "dedup",
		"dedup-weak", "dedup-id-last"}
	// resendingModes send again, hop by hop, what is not acknowledged in time.
	resendingModes = []string{"at-least-once", "idempotent", "idempotent-by-key"}
	// checkpointModes are those whose barriers cut a snapshot.
	checkpointModes = []string{"snapshot", "snapshot-upsert", "two-phase-commit", "snapshot-wal"}
	// gatedModes show output once its checkpoint is complete.
	gatedModes = []string{"two-phase-commit", "snapshot-wal"}
)
