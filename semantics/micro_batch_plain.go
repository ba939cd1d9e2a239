package semantics

import "github.com/oncesim/oncesim/model"

// MicroBatchPlain runs batches in front of a log that does not know them: one that is run again is
// written again.
var MicroBatchPlain = model.Mode{
	Name: "micro-batch-plain",
	Says: "batches into a log that does not know their numbers: one that runs again shows twice",
	Source: "Databricks documentation, foreachBatch: at-least-once unless the batch id is used " +
		"to deduplicate; Apache Spark, MicroBatchExecution",
	Restart: model.RestartJob,
	State:   model.Snapshotted,
	Sink:    "append-log",
	Extra:   []string{driverName},
	Params:  microBatchParams(),
	Claims:  []string{"at-least-once", "exactly-once-state", "effectively-once"},
	Tolerates: []string{"no-fault", "crash", "lose-request", "lose-answer", "delay-call",
		"duplicate-call", "pause", "zombie", "partition", "service-crash", "refuse-call",
		"lose-message", "duplicate-message", "reorder-message", "delay-message"},
	RestsOn: []model.Mechanism{countedRows()},
	Cells: table(`
		no-fault           all               -
		crash              stateless         D
		crash              commutative,non-commutative D RG
		crash              non-deterministic D RV
		lose-request       stateless         - (D)
		lose-request       commutative,non-commutative - (D RG)
		lose-request       non-deterministic - (D RV)
		lose-answer        stateless         D
		lose-answer        commutative,non-commutative D RG
		lose-answer        non-deterministic D (RV)
		delay-call         stateless,commutative,non-commutative D RG
		delay-call         non-deterministic D RG (RV)
		duplicate-call     stateless         D
		duplicate-call     commutative,non-commutative D RG
		duplicate-call     non-deterministic D (RV)
		pause              stateless         - (D)
		pause              commutative,non-commutative - (D RG)
		pause              non-deterministic - (D RV)
		zombie             stateless,commutative,non-commutative D RG
		zombie             non-deterministic D RV RG
		lose-message       stateless         - (D)
		lose-message       commutative       D (RG)
		lose-message       non-commutative   - (D RG)
		lose-message       non-deterministic - (D RV)
		duplicate-message  stateless         - (D)
		duplicate-message  commutative,non-commutative - (D RG)
		duplicate-message  non-deterministic - (D RV)
		reorder-message    stateless         - (D)
		reorder-message    commutative,non-commutative - (D RG)
		reorder-message    non-deterministic - (D RV)
		delay-message      stateless         D
		delay-message      commutative,non-commutative D RG
		delay-message      non-deterministic D RV
		partition          stateless         D (RG)
		partition          commutative,non-commutative D RG
		partition          non-deterministic D RV (RG)
		service-crash      stateless         D (RG)
		service-crash      commutative,non-commutative D RG
		service-crash      non-deterministic D RV (RG)
		refuse-call        stateless         D
		refuse-call        commutative,non-commutative D RG
		refuse-call        non-deterministic D RV
		forget-call        stateless         L D
		forget-call        commutative       L SL W D RV RG (ST)
		forget-call        non-commutative   L SL W SX D RG (ST)
		forget-call        non-deterministic L SL D RV (W SX ST)
		tear-call          stateless         -
		tear-call          commutative,non-commutative SL (D RG ST)
		tear-call          non-deterministic SL (D RV ST)
		stale-read         stateless         - (D)
		stale-read         commutative,non-commutative - (D RG)
		stale-read         non-deterministic - (D RV)
		truncate           stateless         L (D)
		truncate           commutative       L SL W (D RV RG)
		truncate           non-commutative   L SL (W SX D RG)
		truncate           non-deterministic L SL (W D RV)
		poison             stateless         ST (D)
		poison             commutative       D ST (RG)
		poison             non-commutative   ST (D RG)
		poison             non-deterministic ST (D RV)
		lose-barrier       stateless         - (D)
		lose-barrier       commutative       D RG
		lose-barrier       non-commutative   - (D RG)
		lose-barrier       non-deterministic - (D RV)
		duplicate-barrier  stateless         - (D)
		duplicate-barrier  commutative,non-commutative - (D RG)
		duplicate-barrier  non-deterministic - (D RV)
		reorder-barrier    stateless         - (D)
		reorder-barrier    commutative,non-commutative - (D RG)
		reorder-barrier    non-deterministic - (D RV)
		delay-barrier      stateless         D
		delay-barrier      commutative,non-commutative D RG
		delay-barrier      non-deterministic D RV
		lose-notice        stateless         D (RG)
		lose-notice        commutative,non-commutative D RG
		lose-notice        non-deterministic D RV (RG)
		delay-notice       stateless         D (RG)
		delay-notice       commutative,non-commutative D RG
		delay-notice       non-deterministic D RV (RG)
		duplicate-notice   stateless         - (D)
		duplicate-notice   commutative,non-commutative - (D RG)
		duplicate-notice   non-deterministic - (D RV)`),
	IsVariant: true,
	New:       newMicroBatch,
}
