package semantics

import "github.com/oncesim/oncesim/model"

// SnapshotFirstWins has the external system keep the first of what comes under one identity. State
// goes back at a restart and output does not: where a repetition comes out otherwise, they belong
// to two executions.
var SnapshotFirstWins = model.Mode{
	Name: "snapshot-first-wins",
	Says: "snapshots, into a log that keeps the first of an identity: state goes back, output not",
	Source: "Akidau et al., MillWheel, VLDB 2013: weak productions and the need for determinism; " +
		"Confluent documentation, idempotent writers",
	Restart:   model.RestartJob,
	State:     model.Snapshotted,
	Sink:      "identity-log",
	Extra:     []string{coordinatorName},
	Params:    snapshotParams(),
	Claims:    []string{"at-least-once", "exactly-once-state", "effectively-once", "no-revision"},
	Tolerates: snapshotTolerates(),
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
		crash              commutative       W
		crash              non-commutative,non-deterministic W SX
		lose-request       stateless         -
		lose-request       commutative       - (W)
		lose-request       non-commutative,non-deterministic SX (W)
		lose-answer        stateless         -
		lose-answer        commutative       - (W)
		lose-answer        non-commutative   - (W SX)
		lose-answer        non-deterministic SX (W)
		delay-call         stateless         -
		delay-call         commutative       - (W)
		delay-call         non-commutative,non-deterministic SX (W)
		duplicate-call     stateless         -
		duplicate-call     commutative       - (W)
		duplicate-call     non-commutative,non-deterministic - (W SX)
		pause              stateless         -
		pause              commutative       - (W)
		pause              non-commutative,non-deterministic - (W SX)
		zombie             stateless         -
		zombie             commutative       W
		zombie             non-commutative,non-deterministic W SX
		lose-message       stateless         L (RO)
		lose-message       commutative       L SL W IC (RO)
		lose-message       non-commutative,non-deterministic L SL IC (W SX RO)
		duplicate-message  stateless         -
		duplicate-message  commutative       W NS SD IC (RO)
		duplicate-message  non-commutative   W SD IC (NS SX)
		duplicate-message  non-deterministic W NS SD IC (SX)
		reorder-message    stateless         RO (L)
		reorder-message    commutative       SL W RO IC (L)
		reorder-message    non-commutative   SL W SX RO IC (L)
		reorder-message    non-deterministic SL RO IC (L W SX)
		delay-message      stateless         RO (L)
		delay-message      commutative       SL W RO IC (L)
		delay-message      non-commutative   SL W SX RO IC (L)
		delay-message      non-deterministic SL W RO IC (L SX)
		partition          stateless         L
		partition          commutative       L SL IC (W)
		partition          non-commutative,non-deterministic L SL SX IC (W)
		service-crash      stateless         -
		service-crash      commutative       - (W)
		service-crash      non-commutative,non-deterministic SX (W)
		refuse-call        stateless         -
		refuse-call        commutative       W
		refuse-call        non-commutative,non-deterministic W SX
		forget-call        stateless         L (RO ST)
		forget-call        commutative       L SL IC (W RO ST)
		forget-call        non-commutative,non-deterministic L SL SX IC (W RO ST)
		tear-call          stateless         - (ST)
		tear-call          commutative       SL IC (W ST)
		tear-call          non-commutative,non-deterministic SL IC (W SX ST)
		stale-read         stateless         -
		stale-read         commutative       - (W)
		stale-read         non-commutative,non-deterministic - (W SX)
		truncate           stateless         L
		truncate           commutative       L SL W IC
		truncate           non-commutative,non-deterministic L SL IC (W SX)
		poison             all               ST
		lose-barrier       stateless         -
		lose-barrier       commutative       - (W)
		lose-barrier       non-commutative,non-deterministic - (W SX)
		duplicate-barrier  stateless         -
		duplicate-barrier  commutative       - (W)
		duplicate-barrier  non-commutative,non-deterministic - (W SX)
		reorder-barrier    stateless         -
		reorder-barrier    commutative       IC (W SD)
		reorder-barrier    non-commutative,non-deterministic IC (W SX SD)
		delay-barrier      stateless         -
		delay-barrier      commutative       - (W)
		delay-barrier      non-commutative,non-deterministic - (W SX)
		lose-notice        stateless         -
		lose-notice        commutative       - (W)
		lose-notice        non-commutative,non-deterministic - (W SX)
		delay-notice       stateless         -
		delay-notice       commutative       - (W)
		delay-notice       non-commutative,non-deterministic - (W SX)
		duplicate-notice   stateless         -
		duplicate-notice   commutative       - (W)
		duplicate-notice   non-commutative,non-deterministic - (W SX)
		restore-older      stateless         -
		restore-older      commutative       W
		restore-older      non-commutative,non-deterministic W SX
		aliased-snapshot   stateless         -
		aliased-snapshot   commutative       W IC (NS SD)
		aliased-snapshot   non-commutative,non-deterministic W SX IC (NS SD)
		counted            stateless         -
		counted            commutative       W (SD IC)
		counted            non-commutative   W NS SX SD IC
		counted            non-deterministic W SX
		unaligned          stateless         -
		unaligned          commutative       W
		unaligned          non-commutative   W (SX)
		unaligned          non-deterministic W SX
		unaligned-dropped  stateless         - (L)
		unaligned-dropped  commutative       W (L SL IC)
		unaligned-dropped  non-commutative   L SL W SX IC
		unaligned-dropped  non-deterministic SL W SX IC (L)
		graceful-stop      stateless         -
		graceful-stop      commutative       W
		graceful-stop      non-commutative,non-deterministic W SX`),
	IsVariant: true,
	New:       newSnapshot,
}
