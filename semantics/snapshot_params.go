package semantics

import "github.com/oncesim/oncesim/model"

// The ways of the parameter alignment.
const (
	aligned   = iota // a channel whose barrier has come waits for the others
	counted          // it does not: what comes is taken up before the snapshot
	unaligned        // the first barrier overtakes what waits; the part keeps what is in flight
	dropping         // the same, and what is in flight is not kept
)

// The bits of the parameter fencing.
const (
	fenceExternal    = 1 // the external system refuses an attempt that was replaced
	fenceCheckpoints = 2 // and so does what keeps the checkpoints
)

// fencingParam is the parameter fencing.
var fencingParam = model.Param{Name: "fencing", Default: fenceExternal | fenceCheckpoints, Min: 0,
	Max: fenceExternal | fenceCheckpoints, IsPremise: true,
	Says: "who refuses an attempt that was replaced: 1: the external system; 2: the checkpoint " +
		"store; 3: both; 0: nobody"}

// snapshotParams are the parameters of the modes with checkpoints.
func snapshotParams(more ...model.Param) []model.Param {
	return append([]model.Param{batchParam,
		{Name: "interval", Default: 10_000_000, Min: 1_000_000, Max: 10_000_000_000, IsTime: true,
			Says: "how long after a checkpoint the next one begins"},
		{Name: "checkpoint-timeout", Default: 60_000_000, Min: 1_000_000, Max: 10_000_000_000,
			IsTime: true, Says: "how long a checkpoint may take"},
		{Name: "tolerable", Default: 1_000_000, Min: 0, Max: 1_000_000, IsPremise: true,
			Says: "how many checkpoints on end may fail before the job does"},
		{Name: "retain", Default: 3, Min: 1, Max: 1000,
			Says: "how many completed checkpoints are kept"},
		{Name: "restore", Default: 0, Min: 0, Max: 1000, IsPremise: true,
			Says: "how many completed checkpoints a restart goes back behind the newest"},
		{Name: "alignment", Default: aligned, Min: aligned, Max: dropping, IsPremise: true,
			Also: []int64{unaligned},
			Says: "0: a channel waits behind its barrier; 1: barriers are counted; " +
				"2: unaligned; 3: unaligned, in-flight records are not kept"},
		{Name: "unaligned-after", Default: 0, Min: 0, Max: 10_000_000_000, IsTime: true,
			Says: "how long barriers wait for each other before they go on unaligned; 0: for ever"},
		{Name: "work", Default: 0, Min: 0, Max: 100_000_000, IsTime: true,
			Says: "how long an operator is busy with a record; 0: no time at all"},
		{Name: "stop-at", Default: 0, Min: 0, Max: 1_000_000,
			Says: "the first checkpoint from this id on is a savepoint: the job stops with it " +
				"and is started again; 0: it does not stop"},
		{Name: "savepoint-restores", Default: 1, Min: 0, Max: 1, IsPremise: true,
			Says: "what a failure goes back to while the job stops. 1: the savepoint; " +
				"0: the checkpoint before"},
		fencingParam,
		{Name: "aliased", Default: 0, Min: 0, Max: 1, IsPremise: true,
			Says: "1: a snapshot is a view of live state until it is uploaded; 0: a copy"},
		{Name: "fall-back", Default: 0, Min: 0, Max: 1,
			Says: "1: a checkpoint with parts gone gives way to the one before, if one is kept; " +
				"0: the job fails"},
		{Name: "checksums", Default: 1, Min: 0, Max: 1, IsPremise: true,
			Says: "1: a part that is torn is as good as gone; 0: the job begins from what is left"},
		{Name: "unknown-completion", Default: 0, Min: 0, Max: 1, IsPremise: true,
			Says: "of a checkpoint whose completion is unknown, 0: keep the parts; 1: drop them"},
		{Name: "early-clean-up", Default: 0, Min: 0, Max: 1, IsPremise: true,
			Says: "1: drop a checkpoint when the next is triggered; 0: when retain others follow"},
		{Name: "lone-restart", Default: 0, Min: 0, Max: 1, IsPremise: true,
			Says: "1: a task that dies restarts alone, and messages of any attempt count; the " +
				"checkpoint store must not fence then; 0: the job restarts"},
		deadLetterParam}, more...)
}

// checkpointFence is the flag of requests about checkpoints and batches.
func checkpointFence(job *model.Job) model.Flags {
	if job.Param("fencing")&fenceCheckpoints != 0 {
		return model.Fenced
	}
	return 0
}

// externalFence is the flag of requests to the external system.
func externalFence(job *model.Job) model.Flags {
	if job.Param("fencing")&fenceExternal != 0 {
		return model.Fenced
	}
	return 0
}
