package semantics

import "github.com/oncesim/oncesim/model"

// SnapshotUpsert writes what a restart repeats over the rows that are there.
var SnapshotUpsert = model.Mode{
	Name: "snapshot-upsert",
	Says: "snapshots, into a table by identity: what a restart repeats overwrites its own row",
	Source: "Apache Flink documentation, Fault Tolerance Guarantees: idempotent sinks; " +
		"Confluent documentation, Elasticsearch sink connector",
	Restart: model.RestartJob,
	State:   model.Snapshotted,
	Sink:    "table-by-identity",
	Extra:   []string{coordinatorName},
	Params:  snapshotParams(),
	Claims:  []string{"at-least-once", "exactly-once-state", "effectively-once"},
	// What is repeated comes out the same where nothing is merged.
	ClaimsStateless: []string{"at-most-once", "no-revision"},
	Tolerates:       snapshotTolerates(),
	RestsOn: []model.Mechanism{
		{Name: "identity", Says: "the external system knows an output that is repeated",
			Sink: "append-log", Classes: append([]string{"crash", "lose-request", "lose-answer",
				"delay-call", "duplicate-call", "zombie", "duplicate-message", "service-crash",
				"refuse-call", "restore-older"}, otherSnapshots()...)},
	},
	Harmless: snapshotHarmless("pause", "stale-read", "lose-barrier", "duplicate-barrier",
		"reorder-barrier", "delay-barrier", "lose-notice", "delay-notice", "duplicate-notice"),
	Cells: table(`
		no-fault           all               -
		crash              stateless         -
		crash              commutative       RV RO (W)
		crash              non-commutative   W RV (SX)
		crash              non-deterministic RV
		lose-request       stateless         -
		lose-request       commutative       RV RO (W)
		lose-request       non-commutative   W RV (SX)
		lose-request       non-deterministic RV
		lose-answer        stateless         -
		lose-answer        commutative       - (W RV RO)
		lose-answer        non-commutative   - (W SX RV)
		lose-answer        non-deterministic RV
		delay-call         stateless         -
		delay-call         commutative       RV RO (W)
		delay-call         non-commutative   W RV (SX)
		delay-call         non-deterministic RV (W SX)
		duplicate-call     stateless         -
		duplicate-call     commutative       - (W RV RO)
		duplicate-call     non-commutative   - (W SX RV)
		duplicate-call     non-deterministic - (RV)
		pause              stateless         -
		pause              commutative       - (W RV RO)
		pause              non-commutative,non-deterministic - (W SX RV)
		zombie             stateless         -
		zombie             commutative       RV RO (W)
		zombie             non-commutative   W SX RV
		zombie             non-deterministic RV (W SX)
		lose-message       stateless         L (RO)
		lose-message       commutative       L SL W IC (RV RO)
		lose-message       non-commutative,non-deterministic L SL IC (W SX RV RO)
		duplicate-message  stateless         -
		duplicate-message  commutative       W NS SD RV IC (RO)
		duplicate-message  non-commutative   W NS SD RV IC (SX)
		duplicate-message  non-deterministic W NS SD RV IC
		reorder-message    stateless         RO (L)
		reorder-message    commutative       SL W RO IC (L RV)
		reorder-message    non-commutative   SL W SX RO IC (L RV)
		reorder-message    non-deterministic SL RO IC (L W RV)
		delay-message      stateless         RO (L)
		delay-message      commutative       SL W RO IC (L RV)
		delay-message      non-commutative   SL W SX RO IC (L RV)
		delay-message      non-deterministic SL W RO IC (L RV)
		partition          stateless         L
		partition          commutative       L SL RV RO IC (W)
		partition          non-commutative   L SL W RV IC (SX)
		partition          non-deterministic L SL RV IC (SX)
		service-crash      stateless         -
		service-crash      commutative       RV RO (W)
		service-crash      non-commutative   W RV (SX)
		service-crash      non-deterministic RV
		refuse-call        stateless         -
		refuse-call        commutative       RV RO (W)
		refuse-call        non-commutative   W RV (SX)
		refuse-call        non-deterministic RV
		forget-call        stateless         L (RO ST)
		forget-call        commutative       L SL RV RO IC (W ST)
		forget-call        non-commutative   L SL W SX RV IC (RO ST)
		forget-call        non-deterministic L SL RV IC (W SX RO ST)
		tear-call          stateless         - (ST)
		tear-call          commutative       SL IC (W RV RO ST)
		tear-call          non-commutative   SL IC (W SX RV ST)
		tear-call          non-deterministic SL IC (RV ST)
		stale-read         stateless         -
		stale-read         commutative       - (W RV RO)
		stale-read         non-commutative,non-deterministic - (W SX RV)
		truncate           stateless         L
		truncate           commutative       L SL W IC (RV RO)
		truncate           non-commutative   L SL IC (W SX RV)
		truncate           non-deterministic L SL IC (W RV)
		poison             stateless         ST
		poison             commutative,non-commutative,non-deterministic ST (RV)
		lose-barrier       stateless         -
		lose-barrier       commutative       - (W RV RO)
		lose-barrier       non-commutative   - (W SX RV)
		lose-barrier       non-deterministic - (RV)
		duplicate-barrier  stateless         -
		duplicate-barrier  commutative       - (W RV RO)
		duplicate-barrier  non-commutative   - (W SX RV)
		duplicate-barrier  non-deterministic - (RV)
		reorder-barrier    stateless         -
		reorder-barrier    commutative       IC (W NS SD RV RO)
		reorder-barrier    non-commutative   IC (W NS SX SD RV)
		reorder-barrier    non-deterministic IC (W NS SD RV)
		delay-barrier      stateless         -
		delay-barrier      commutative       - (W RV RO)
		delay-barrier      non-commutative   - (W SX RV)
		delay-barrier      non-deterministic - (RV)
		lose-notice        stateless         -
		lose-notice        commutative       - (W RV RO)
		lose-notice        non-commutative   - (W SX RV)
		lose-notice        non-deterministic - (RV)
		delay-notice       stateless         -
		delay-notice       commutative       - (W RV RO)
		delay-notice       non-commutative   - (W SX RV)
		delay-notice       non-deterministic - (RV)
		duplicate-notice   stateless         -
		duplicate-notice   commutative       - (W RV RO)
		duplicate-notice   non-commutative   - (W SX RV)
		duplicate-notice   non-deterministic - (RV)
		restore-older      stateless         -
		restore-older      commutative       RV RO (W)
		restore-older      non-commutative   W RV (SX)
		restore-older      non-deterministic RV (SX)
		aliased-snapshot   stateless         -
		aliased-snapshot   commutative       RV RO IC (W NS SD)
		aliased-snapshot   non-commutative   W RV IC (NS SX SD)
		aliased-snapshot   non-deterministic RV IC (W NS SD)
		counted            stateless         -
		counted            commutative       RV RO (W NS SD IC)
		counted            non-commutative   W NS SD RV IC (SX)
		counted            non-deterministic RV
		unaligned          stateless         -
		unaligned          commutative       RV RO (W)
		unaligned          non-commutative   W (SX RV)
		unaligned          non-deterministic RV
		unaligned-dropped  stateless         - (L)
		unaligned-dropped  commutative       RV RO (L SL W IC)
		unaligned-dropped  non-commutative   L SL W SX RV IC
		unaligned-dropped  non-deterministic SL RV IC (L)
		graceful-stop      stateless         -
		graceful-stop      commutative       RV RO (W)
		graceful-stop      non-commutative   W RV (SX)
		graceful-stop      non-deterministic RV`),
	New: newSnapshot,
}
