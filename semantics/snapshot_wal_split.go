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
		lose-message       commutative       L SL W IC (D RG)
		lose-message       non-commutative   L SL IC (D RG)
		lose-message       non-deterministic L SL IC (W D)
		duplicate-message  stateless         D
		duplicate-message  commutative       W NS D SD RV RG IC
		duplicate-message  non-commutative   W NS D SD RV RG IC (SX)
		duplicate-message  non-deterministic W NS D SD RV IC
		reorder-message    stateless         L RO (D)
		reorder-message    commutative,non-commutative L SL W RO IC (D RG)
		reorder-message    non-deterministic L SL RO IC (W D)
		delay-message      stateless         L (D)
		delay-message      commutative       L SL W IC (D RG)
		delay-message      non-commutative   L SL IC (D RG)
		delay-message      non-deterministic L SL W IC (D)
		partition          stateless         L D (RG)
		partition          commutative,non-commutative L SL D RG IC
		partition          non-deterministic L SL D IC (RG)
		service-crash      stateless,non-deterministic D (RG)
		service-crash      commutative,non-commutative D RG
		refuse-call        stateless,non-deterministic D (RG)
		refuse-call        commutative,non-commutative D RG
		forget-call        stateless         L D (RG ST)
		forget-call        commutative       L SL D RG IC (W RV RO ST)
		forget-call        non-commutative   L SL W D RG IC (SX RV ST)
		forget-call        non-deterministic L SL D RV IC (RG ST)
		tear-call          stateless         - (D ST)
		tear-call          commutative,non-commutative SL IC (D RG ST)
		tear-call          non-deterministic SL IC (D ST)
		stale-read         stateless,non-deterministic - (D)
		stale-read         commutative,non-commutative - (D RG)
		truncate           stateless         L (D)
		truncate           commutative       L SL W IC (D RG)
		truncate           non-commutative   L SL IC (D RG)
		truncate           non-deterministic L SL IC (W D)
		poison             stateless,non-deterministic D ST
		poison             commutative,non-commutative D RG ST
		lose-barrier       all               - (D RG)
		duplicate-barrier  stateless,non-deterministic - (D)
		duplicate-barrier  commutative,non-commutative - (D RG)
		reorder-barrier    stateless         - (D)
		reorder-barrier    commutative,non-commutative IC (NS D SD RV RG)
		reorder-barrier    non-deterministic IC (NS D SD RV)
		delay-barrier      all               - (D RG)
		lose-notice        all               - (D RG)
		delay-notice       all               - (D RG)
		duplicate-notice   stateless,non-deterministic - (D)
		duplicate-notice   commutative,non-commutative - (D RG)
		restore-older      stateless         D (RG)
		restore-older      commutative,non-commutative D RG
		restore-older      non-deterministic D RV (RG)
		aliased-snapshot   stateless         D (RG)
		aliased-snapshot   commutative       D RG IC (W NS SD)
		aliased-snapshot   non-commutative   D RG (W NS SD IC)
		aliased-snapshot   non-deterministic D IC (W NS SD RG)
		counted            stateless         D (RG)
		counted            commutative       D RG (NS SD RV IC)
		counted            non-commutative   W NS D SD RV RG IC (SX)
		counted            non-deterministic D (RG)
		unaligned          stateless,non-commutative,non-deterministic D
		unaligned          commutative       D RG
		unaligned-dropped  stateless         L D
		unaligned-dropped  commutative       D RG (L SL W IC)
		unaligned-dropped  non-commutative,non-deterministic L SL D IC
		graceful-stop      all               D RG`),
	IsVariant: true,
	New: func(job *model.Job, task *model.Task) model.Process {
		return newCheckpointed(job, task, func() model.Process {
			return newWALSink(job, task, false)
		})
	},
}
