package semantics

import "github.com/oncesim/oncesim/model"

// Idempotent is at-least-once in front of a table that knows outputs by their identity: to write
// one again is to write the same row again. What is repeated has to come out the same, which holds
// for operators without state. State that is read, changed and written through counts a repeated
// record twice, and the row of an output then takes the wrong value on.
var Idempotent = model.Mode{
	Name: "idempotent",
	Says: "at-least-once into a table by identity: a repeated output overwrites its own row",
	Source: "Confluent documentation, Elasticsearch sink connector: topic, partition and offset " +
		"as the document's id; Flink documentation, Fault Tolerance Guarantees: Cassandra sink",
	State:   model.WrittenThrough,
	Commits: true,
	Sink:    "table-by-identity",
	Params:  atLeastOnceParams(),
	Claims:  []string{"at-least-once"},
	// What is repeated comes out the same; only the window lets it come in another order.
	ClaimsStateless: []string{"at-most-once", "exactly-once-state", "effectively-once",
		"no-revision"},
	Tolerates: []string{"no-fault", "crash", "lose-request", "lose-answer", "delay-call",
		"duplicate-call", "pause", "zombie", "lose-message", "duplicate-message", "reorder-message",
		"delay-message", "partition", "service-crash", "refuse-call", "stale-read"},
	// The window lets a record arrive before one that went before it: its row comes first then.
	Cells: table(`
		no-fault           all                -
		crash              stateless          RO
		crash              commutative        W NS SD RV RO
		crash              non-commutative    W NS SX SD RV RO (WS)
		crash              non-deterministic  W NS SD RV RO
		lose-request       stateless          - (RO)
		lose-request       commutative        - (W NS SD RV RO)
		lose-request       non-commutative    - (W WS NS SX SD RV RO)
		lose-request       non-deterministic  - (W NS SD RV RO)
		lose-answer        stateless          - (RO)
		lose-answer        commutative        - (W NS SD RV RO)
		lose-answer        non-commutative    - (W WS NS SX SD RV RO)
		lose-answer        non-deterministic  - (W NS SD RV RO)
		delay-call         stateless          - (RO)
		delay-call         commutative        SL NS (W SD RV RO)
		delay-call         non-commutative    SL NS SX (W WS SD RV RO)
		delay-call         non-deterministic  SL NS (W SD RV RO)
		duplicate-call     stateless          - (RO)
		duplicate-call     commutative        - (SL W NS SD RV RO)
		duplicate-call     non-commutative    - (SL W WS NS SX SD RV RO)
		duplicate-call     non-deterministic  - (SL W NS SD RV RO)
		pause              stateless          - (RO)
		pause              commutative        - (W NS SD RV RO)
		pause              non-commutative    - (W WS NS SX SD RV RO)
		pause              non-deterministic  - (W NS SD RV RO)
		zombie             stateless          - (RO)
		zombie             commutative        W NS SD RV (SL RO)
		zombie             non-commutative    W NS SX SD RV (SL WS RO)
		zombie             non-deterministic  W NS SD RV (SL SX RO)
		lose-message       stateless          RO
		lose-message       commutative        W NS SD RV RO
		lose-message       non-commutative    W NS SX SD RV RO (WS)
		lose-message       non-deterministic  W NS SD RV RO
		duplicate-message  stateless          - (RO)
		duplicate-message  commutative        W NS SD RV (RO)
		duplicate-message  non-commutative    W NS SD RV (WS SX RO)
		duplicate-message  non-deterministic  W NS SD RV (RO)
		reorder-message    stateless          RO
		reorder-message    commutative        W RO (NS SD RV)
		reorder-message    non-commutative    W RO (WS NS SX SD RV)
		reorder-message    non-deterministic  RO (W NS SD RV)
		delay-message      stateless          RO
		delay-message      commutative        W NS SD RV RO
		delay-message      non-commutative    W NS SX SD RV RO (WS)
		delay-message      non-deterministic  W NS SD RV RO
		partition          stateless          - (RO)
		partition          commutative        W NS SD RV (RO)
		partition          non-commutative    W NS SX SD RV (WS RO)
		partition          non-deterministic  W NS SD RV (RO)
		service-crash      stateless          - (RO)
		service-crash      commutative        W NS SD RV (RO)
		service-crash      non-commutative    W NS SX SD RV (WS RO)
		service-crash      non-deterministic  W NS SD RV (RO)
		refuse-call        stateless          RO
		refuse-call        commutative        W NS SD RV RO
		refuse-call        non-commutative    W NS SX SD RV RO (WS)
		refuse-call        non-deterministic  W NS SD RV RO
		forget-call        stateless          L ST (RO)
		forget-call        commutative        L SL NS ST (W SD RV RO)
		forget-call        non-commutative    L SL NS SX ST (W WS SD RV RO)
		forget-call        non-deterministic  L SL NS ST (W SD RV RO)
		stale-read         stateless          - (RO)
		stale-read         commutative        - (SL W NS SD RV RO)
		stale-read         non-commutative    - (W WS NS SX SD RV RO)
		stale-read         non-deterministic  - (SL W NS SD RV RO)
		truncate           stateless          L (RO)
		truncate           commutative        L SL W (NS SD RV RO)
		truncate           non-commutative    L SL (W WS NS SX SD RV RO)
		truncate           non-deterministic  L SL (W NS SD RV RO)
		poison             stateless          ST (RO)
		poison             commutative        NS SD RV ST (RO)
		poison             non-commutative    NS SD RV ST (RO)
		poison             non-deterministic  ST (NS SD RV RO)`),
	New: newAtLeastOnce,
}
