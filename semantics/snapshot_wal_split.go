package semantics

import "github.com/oncesim/oncesim/model"

// SnapshotWALSplit writes the rows of a completed checkpoint one by one, and marks it then. That
// they are written, and that this is known, are two facts: a crash between them repeats rows.
var SnapshotWALSplit = model.Mode{
	Name: "snapshot-wal-split",
	Says: "output waits in the checkpoint, is written row by row, then marked: a crash between " +
		"the two repeats",
	Source: "Apache Flink, GenericWriteAheadSink: sendValues and CheckpointCommitter's " +
		"commitCheckpoint are two steps (\"at-least-once\" unless the values are idempotent)",
	Restart:   model.RestartJob,
	State:     model.Snapshotted,
	Sink:      "append-log",
	Extra:     []string{coordinatorName},
	Params:    snapshotParams(),
	Claims:    []string{"at-least-once", "exactly-once-state", "effectively-once"},
	Tolerates: snapshotTolerates(),
	Cells: table(`
		no-fault           all               -
		crash              stateless,non-deterministic D (RG)
		crash              commutative,non-commutative D RG
		lose-request       stateless,non-deterministic D (RG)
		lose-request       commutative,non-commutative D RG
		lose-answer        all               D (RG)
		delay-call         all               D RG
		duplicate-call     stateless,non-deterministic D
		duplicate-call     commutative,non-commutative D RG
		pause              stateless,non-deterministic - (D)
		pause              commutative,non-commutative - (D RG)
		zombie             all               D RG
		lose-message       stateless         L (D)
		lose-message       commutative       L SL W (D RG)
		lose-message       non-commutative   L SL (D RG)
		lose-message       non-deterministic L SL (W D)
		duplicate-message  stateless         D
		duplicate-message  commutative       W NS D SD RV RG
		duplicate-message  non-commutative   W NS D SD RV RG (SX)
		duplicate-message  non-deterministic W NS D SD RV
		reorder-message    stateless         L RO (D)
		reorder-message    commutative,non-commutative L SL W RO (D RG)
		reorder-message    non-deterministic L SL RO (W D)
		delay-message      stateless         L (D)
		delay-message      commutative       L SL W (D RG)
		delay-message      non-commutative   L SL (D RG)
		delay-message      non-deterministic L SL W (D)
		partition          stateless         L D (RG)
		partition          commutative,non-commutative L SL D RG
		partition          non-deterministic L SL D (RG)
		service-crash      stateless,non-deterministic D (RG)
		service-crash      commutative,non-commutative D RG
		refuse-call        stateless,non-deterministic D (RG)
		refuse-call        commutative,non-commutative D RG
		forget-call        stateless         L D (RG ST)
		forget-call        commutative       L SL D RG (W RV RO ST)
		forget-call        non-commutative   L SL W D RG (SX RV ST)
		forget-call        non-deterministic L SL D RV (RG ST)
		tear-call          stateless         - (D ST)
		tear-call          commutative,non-commutative SL (D RG ST)
		tear-call          non-deterministic SL (D ST)
		stale-read         stateless,non-deterministic - (D)
		stale-read         commutative,non-commutative - (D RG)
		truncate           stateless         L (D)
		truncate           commutative       L SL W (D RG)
		truncate           non-commutative   L SL (D RG)
		truncate           non-deterministic L SL (W D)
		poison             stateless,non-deterministic D ST
		poison             commutative,non-commutative D RG ST
		short-horizon      stateless,non-deterministic D (RG)
		short-horizon      commutative,non-commutative D RG
		lose-barrier       all               - (D RG)
		duplicate-barrier  stateless,non-deterministic - (D)
		duplicate-barrier  commutative,non-commutative - (D RG)
		reorder-barrier    stateless         - (D)
		reorder-barrier    commutative,non-commutative - (NS D SD RV RG)
		reorder-barrier    non-deterministic - (NS D SD RV)
		delay-barrier      all               - (D RG)
		lose-notice        all               - (D RG)
		delay-notice       all               - (D RG)
		duplicate-notice   stateless,non-deterministic - (D)
		duplicate-notice   commutative,non-commutative - (D RG)
		restore-older      stateless         D (RG)
		restore-older      commutative,non-commutative D RG
		restore-older      non-deterministic D RV (RG)
		aliased-snapshot   stateless         D (RG)
		aliased-snapshot   commutative,non-commutative D RG (W NS SD)
		aliased-snapshot   non-deterministic D (W NS SD RG)
		counted            stateless,non-deterministic D (RG)
		counted            commutative,non-commutative D RG (NS SD RV)
		unaligned          stateless,non-commutative,non-deterministic D
		unaligned          commutative       D RG
		unaligned-dropped  stateless         L D
		unaligned-dropped  commutative       D RG (L SL W)
		unaligned-dropped  non-commutative,non-deterministic L SL D
		graceful-stop      all               D RG`),
	IsVariant: true,
	New: func(job *model.Job, task *model.Task) model.Process {
		return newCheckpointed(job, task, func() model.Process {
			return newWALSink(job, task, false)
		})
	},
}
