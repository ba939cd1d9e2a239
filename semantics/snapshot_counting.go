package semantics

import (
	"slices"

	"github.com/oncesim/oncesim/model"
)

// SnapshotCounting counts barriers and holds nothing back: what comes behind a barrier while others
// are missing is in the snapshot, and is taken up again after a restart. With one input channel a
// task nothing can come in between, and the snapshot is exact.
var SnapshotCounting = model.Mode{
	Name: "snapshot-counting",
	Says: "barriers are counted and hold nothing back: with several inputs a snapshot is of no cut",
	Source: "Apache Flink, CheckpointBarrierTracker (AT_LEAST_ONCE); Flink documentation, " +
		"Stateful Stream Processing, exactly once vs. at least once",
	Restart: model.RestartJob,
	State:   model.Snapshotted,
	Sink:    "append-log",
	Extra:   []string{coordinatorName},
	Params: withDefault(snapshotParams(),
		model.ParamValue{Name: "alignment", Value: counted}),
	Claims:    []string{"at-least-once"},
	Tolerates: snapshotTolerates(),
	Cells: table(`
		no-fault           stateless,commutative -
		no-fault           non-commutative   IC
		no-fault           non-deterministic -
		crash              stateless         D (RG)
		crash              commutative       W D RV RG (NS SD IC)
		crash              non-commutative   W NS SX D SD RV RG IC
		crash              non-deterministic D RV (RG)
		lose-request       stateless         D RG
		lose-request       commutative       D RV RG IC (W NS SD)
		lose-request       non-commutative   SX D RV RG IC (W NS SD)
		lose-request       non-deterministic D RV RG
		lose-answer        stateless         D (RG)
		lose-answer        commutative       D IC (W NS SD RV RG)
		lose-answer        non-commutative   D IC (W NS SX SD RV RG)
		lose-answer        non-deterministic D RV (RG)
		delay-call         stateless         D RG
		delay-call         commutative       D RV RG IC (W NS SD)
		delay-call         non-commutative   SX D RV RG IC (W NS SD)
		delay-call         non-deterministic D RV RG
		duplicate-call     stateless         D
		duplicate-call     commutative       D RG (W RV IC)
		duplicate-call     non-commutative   D RG (W SX RV)
		duplicate-call     non-deterministic D (RV)
		pause              stateless         - (D RG)
		pause              commutative       IC (W NS D SD RV RG)
		pause              non-commutative   IC (W NS SX D SD RV RG)
		pause              non-deterministic - (D RV RG)
		zombie             stateless         D RG
		zombie             commutative       W D RV RG (NS SD IC)
		zombie             non-commutative   W SX D RV RG
		zombie             non-deterministic D RV RG
		lose-message       stateless         L (D RO)
		lose-message       commutative       L SL W IC (D RV RO RG)
		lose-message       non-commutative   L SL IC (W SX D RV RO RG)
		lose-message       non-deterministic L SL IC (W SX D RV RO)
		duplicate-message  stateless         D
		duplicate-message  commutative       W NS D SD RV RG IC (RO)
		duplicate-message  non-commutative   W NS D SD RV RG IC (SX)
		duplicate-message  non-deterministic W NS D SD RV IC
		reorder-message    stateless         RO (L D)
		reorder-message    commutative       SL W RO IC (L D RV RG)
		reorder-message    non-commutative   SL W SX RO IC (L D RV RG)
		reorder-message    non-deterministic SL RO IC (L W D RV)
		delay-message      stateless         RO (L D RG)
		delay-message      commutative       SL W RO IC (L D RV RG)
		delay-message      non-commutative   SL W SX RO IC (L D RV RG)
		delay-message      non-deterministic SL W RO IC (L D RV RG)
		partition          stateless         L D RG
		partition          commutative       L SL D RV RG IC (W NS SD)
		partition          non-commutative   L SL SX D RV RG IC (W NS SD)
		partition          non-deterministic L SL D RV RG IC (SX)
		service-crash      stateless         D RG
		service-crash      commutative       D RV RG (W NS SD IC)
		service-crash      non-commutative   SX D RV RG (W IC)
		service-crash      non-deterministic D RV RG
		refuse-call        stateless         D (RG)
		refuse-call        commutative       W D RV RG IC (NS SD)
		refuse-call        non-commutative   W SX D RV RG (NS SD IC)
		refuse-call        non-deterministic D RV (RG)
		forget-call        stateless         L D RG (RO ST)
		forget-call        commutative       L SL D RV RG IC (W RO ST)
		forget-call        non-commutative   L SL SX D RV RG IC (W RO ST)
		forget-call        non-deterministic L SL D RV RG IC (W SX RO ST)
		tear-call          stateless         - (D ST)
		tear-call          commutative       SL IC (W D RV RG ST)
		tear-call          non-commutative   SL IC (W SX D RV RG ST)
		tear-call          non-deterministic SL IC (D RV ST)
		stale-read         stateless         - (D RG)
		stale-read         commutative       - (W NS D SD RV RG IC)
		stale-read         non-commutative   - (W NS SX D SD RV RG IC)
		stale-read         non-deterministic - (D RV RG)
		truncate           stateless         L (D)
		truncate           commutative       L SL W IC (D RV RG)
		truncate           non-commutative   L SL IC (W SX D RV RG)
		truncate           non-deterministic L SL IC (W D RV)
		poison             stateless         ST (D)
		poison             commutative       D RG ST (NS RV IC)
		poison             non-commutative   D ST (RV RG)
		poison             non-deterministic ST (D RV)
		lose-barrier       stateless         - (D RG)
		lose-barrier       commutative       - (W D RV RG IC)
		lose-barrier       non-commutative   - (W SX D RV RG)
		lose-barrier       non-deterministic - (D RV RG)
		duplicate-barrier  stateless         - (D)
		duplicate-barrier  commutative       - (W D RV RG IC)
		duplicate-barrier  non-commutative   - (W SX D RV RG)
		duplicate-barrier  non-deterministic - (D RV)
		reorder-barrier    stateless         - (D RG)
		reorder-barrier    commutative       IC (W NS D SD RV RG)
		reorder-barrier    non-commutative   IC (W NS SX D SD RV RG)
		reorder-barrier    non-deterministic IC (NS D SD RV RG)
		delay-barrier      stateless         - (D RG)
		delay-barrier      commutative       - (W D RV RG IC)
		delay-barrier      non-commutative   - (W SX D RV RG)
		delay-barrier      non-deterministic - (D RV RG)
		lose-notice        stateless         - (D RG)
		lose-notice        commutative       - (W D RV RG IC)
		lose-notice        non-commutative   - (W SX D RV RG)
		lose-notice        non-deterministic - (D RV RG)
		delay-notice       stateless         - (D RG)
		delay-notice       commutative       - (W D RV RG IC)
		delay-notice       non-commutative   - (W SX D RV RG)
		delay-notice       non-deterministic - (D RV RG)
		duplicate-notice   stateless         - (D)
		duplicate-notice   commutative       - (W D RV RG IC)
		duplicate-notice   non-commutative   - (W SX D RV RG)
		duplicate-notice   non-deterministic - (D RV)
		restore-older      stateless         D (RG)
		restore-older      commutative       W D RV RG IC (NS SD)
		restore-older      non-commutative   W SX D RV RG (NS SD IC)
		restore-older      non-deterministic D RV (RG)
		aliased-snapshot   stateless         D (RG)
		aliased-snapshot   commutative       W D RV RG IC (NS SD)
		aliased-snapshot   non-commutative   W SX D RV RG IC (NS SD)
		aliased-snapshot   non-deterministic D RV IC (W NS SD RG)
		counted            stateless         D (RG)
		counted            commutative       W D RV RG (NS SD IC)
		counted            non-commutative   W NS SX D SD RV RG IC
		counted            non-deterministic D RV (RG)
		unaligned          stateless         D
		unaligned          commutative       W D RV RG
		unaligned          non-commutative   W D RG (SX RV)
		unaligned          non-deterministic D RV
		unaligned-dropped  stateless         D (L)
		unaligned-dropped  commutative       W D RV RG (L SL IC)
		unaligned-dropped  non-commutative   L SL W SX D RV RG IC
		unaligned-dropped  non-deterministic SL D RV IC (L)
		graceful-stop      stateless         D (RG)
		graceful-stop      commutative       W D RV RG (NS SD IC)
		graceful-stop      non-commutative   W SX D RV RG (IC)
		graceful-stop      non-deterministic D RV (RG)`),
	IsVariant: true,
	New:       newSnapshot,
}

// withDefault is a list of parameters one of which has another default.
func withDefault(params []model.Param, v model.ParamValue) []model.Param {
	params = slices.Clone(params)
	i := slices.IndexFunc(params, func(p model.Param) bool { return p.Name == v.Name })
	params[i].Default = v.Value
	return params
}
