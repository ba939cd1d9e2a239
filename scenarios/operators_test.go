package scenarios_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/oncesim/oncesim/model"
	"github.com/oncesim/oncesim/scenarios"
)

// operator is a built-in operator.
func operator(name string) *model.Operator {
	list := scenarios.Builtin().Operators
	return list[slices.IndexFunc(list, func(o *model.Operator) bool { return o.Name == name })]
}

// decoder is a built-in decoder.
func decoder(name string) *scenarios.Decoder {
	list := scenarios.Builtin().Decoders
	return list[slices.IndexFunc(list, func(d *scenarios.Decoder) bool { return d.Name == name })]
}

// taken is what the steps of an operator on a list of records come to.
type taken struct {
	states  map[string]model.Value
	emitted map[model.ID]int // how many records a step emits
	values  []model.Record
}

// take applies an operator to records in order, as a life with a nonce does.
func take(op *model.Operator, records []model.Record, nonce uint64) taken {
	t := taken{states: map[string]model.Value{}, emitted: map[model.ID]int{}}
	var out model.Outputs
	for _, rec := range records {
		out.Begin(1, rec)
		out.Seed(nonce)
		t.states[rec.Key] = op.Step(rec, t.states[rec.Key], &out)
		t.emitted[rec.ID] = len(out.Records())
		t.values = append(t.values, out.Records()...)
	}
	return t
}

// inputOf draws records as the operator meets them in one of the built-in topologies: those of
// its input, where it is the first stage, else what the stages before it emit.
func inputOf(t *testing.T, lib *scenarios.Library, op *model.Operator, n int) []model.Record {
	for _, top := range lib.Topologies {
		for i := range top.Stages {
			if top.Stages[i].Operator != op {
				continue
			}
			s := &scenarios.Scenario{Topology: top, Mode: lib.Modes[0]}
			s.Input.Kind, s.Input.Records = scenarios.InputGenerated, n
			in, _, err := lib.LoadInput(s)
			require.NoError(t, err)
			var records []model.Record
			for i := range in.Total() {
				records = append(records, *in.ByIndex(i))
			}
			for _, before := range top.Stages[:i] {
				records = take(before.Operator, records, 0).values
			}
			return records
		}
	}
	t.Fatalf("no topology has %s", op.Name)
	return nil
}

// witness is what different orders and lives show of an operator.
type witness struct {
	readsState, ordersState, ordersOutput, drawsAnew bool
}

// look tries an operator on drawn records in many orders.
func look(t *testing.T, op *model.Operator, records []model.Record) (w witness) {
	r := rand.New(rand.NewPCG(1, 2))
	straight := take(op, records, 7)
	require.Equal(t, straight, take(op, records, 7), "the same life takes the same steps")
	w.drawsAnew = !slices.Equal(straight.values, take(op, records, 8).values)
	for range 50 {
		order := slices.Clone(records)
		r.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
		other := take(op, order, 7)
		for key, state := range other.states {
			w.readsState = w.readsState || state != model.Value{}
			w.ordersState = w.ordersState || state != straight.states[key]
		}
		for id, n := range other.emitted {
			w.ordersOutput = w.ordersOutput || n != straight.emitted[id]
		}
	}
	for _, rec := range records {
		full := model.Value{Num: 3}
		var out model.Outputs
		out.Begin(1, rec)
		if op.Kind == model.Stateless {
			require.Equal(t, full, op.Step(rec, full, &out), "a state is handed on untouched")
			require.Equal(t, take(op, []model.Record{rec}, 7).values, clone(out.Records()))
		}
	}
	return w
}

func clone(list []model.Record) []model.Record { return append([]model.Record(nil), list...) }

// Every operator is of the kind that it declares. Stateless: it neither reads nor writes a state.
// Commutative: no order changes the final state, nor which inputs emit something; what is emitted
// may depend on it. Non-commutative: some order does. Only an operator that is not deterministic
// asks for random numbers; with one nonce its steps too are pure functions.
func TestOperators_AreOfTheirKind(t *testing.T) {
	lib := scenarios.Builtin()
	for _, op := range lib.Operators {
		t.Run(op.Name, func(t *testing.T) {
			require.NotEmpty(t, op.Says)
			w := look(t, op, inputOf(t, lib, op, 24))
			switch op.Kind {
			case model.Stateless:
				require.Equal(t, witness{}, w)
			case model.Commutative:
				require.Equal(t, witness{readsState: true}, w)
			case model.NonCommutative:
				require.True(t, w.readsState)
				require.True(t, w.ordersState || w.ordersOutput, "no order shows: it commutes")
				require.False(t, w.drawsAnew)
			case model.NonDeterministic:
				require.True(t, w.drawsAnew, "every life draws the same: it is deterministic")
			default:
				t.Fatalf("kind %d", op.Kind)
			}
		})
	}
}

// What a random step draws depends on the record and on the nonce, and on nothing else.
func TestBonus_IsAFunctionOfRecordAndNonce(t *testing.T) {
	lib := scenarios.Builtin()
	records := inputOf(t, lib, operator("bonus"), 40)
	backwards := slices.Clone(records)
	slices.Reverse(backwards)
	for nonce := range uint64(20) {
		states := take(operator("bonus"), records, nonce).states
		require.Equal(t, states, take(operator("bonus"), backwards, nonce).states)
		for _, rec := range records {
			total := take(operator("bonus"), []model.Record{rec}, nonce).values[0].Value.Num
			require.GreaterOrEqual(t, total, rec.Value.Num)
			require.Less(t, total, rec.Value.Num+10)
		}
	}
}

// transfers are records of the ledger.
func transfers(lines ...string) (list []model.Record) {
	for i, line := range lines {
		list = append(list, model.Record{ID: model.ID{Offset: int64(i)}, Key: "ledger",
			Value: model.Value{Text: line}})
	}
	return list
}

// No transfer, taken however often and in whatever order, makes money or destroys it; one that is
// repeated is seen in the balances.
func TestLedger_MoneyIsConserved(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	records := inputOf(t, scenarios.Builtin(), operator("ledger"), 30)
	for range 100 {
		var any []model.Record
		for range 40 {
			any = append(any, records[r.IntN(len(records))])
		}
		for _, rec := range take(operator("ledger"), any, 0).values {
			total := int64(0)
			for _, name := range []string{"alice", "bob", "carol"} {
				amount, ok := scenarios.Balance(rec.Value, name)
				require.True(t, ok)
				require.GreaterOrEqual(t, amount, int64(0))
				total += amount
			}
			require.EqualValues(t, 300, total)
		}
	}
	twice := take(operator("ledger"), transfers("alice bob 30", "alice bob 30"), 0).values
	amount, _ := scenarios.Balance(twice[0].Value, "alice")
	require.EqualValues(t, 70, amount)
	amount, _ = scenarios.Balance(twice[1].Value, "alice")
	require.EqualValues(t, 40, amount)
	_, ok := scenarios.Balance(model.Value{}, "dave")
	require.False(t, ok)
}

// The ledger refuses what overdraws and drops what is no transfer.
func TestLedger_Step(t *testing.T) {
	got := take(operator("ledger"), transfers("alice bob 80", "bob carol 150", "alice carol 60"), 0)
	require.Equal(t, []model.Value{{Num: 1, Text: "alice=20 bob=180 carol=100"},
		{Num: 2, Text: "alice=20 bob=30 carol=250"},
		{Num: 2, Text: "alice=20 bob=30 carol=250"}}, valuesOf(got))
	for _, line := range []string{"", "alice", "alice bob", "alice bob x", "alice bob -1",
		"alice bob 0", "alice bob 1000001", "alice alice 1", "alice dave 1", "alice  bob 1",
		"alice bob 1 "} {
		require.False(t, decoder("transfers").Valid(line), line)
		require.Empty(t, valuesOf(take(operator("ledger"), transfers(line), 0)), line)
	}
}

func valuesOf(t taken) (values []model.Value) {
	for _, rec := range t.values {
		values = append(values, rec.Value)
	}
	return values
}

// The average starts over after a reset.
func TestAverage_Step(t *testing.T) {
	record := func(part int32, n int64) model.Record {
		return model.Record{ID: model.ID{Part: part, Offset: n}, Key: "a",
			Value: model.Value{Num: n}}
	}
	got := take(operator("average"), []model.Record{record(0, 3), record(0, 4), record(1, 9),
		record(0, -5), record(1, 0)}, 0)
	require.Equal(t, []model.Value{{Num: 3000, Text: "3/1"}, {Num: 3500, Text: "7/2"},
		{Text: "0/0"}, {Num: -5000, Text: "-5/1"}, {Text: "0/0"}}, valuesOf(got))
}

// The alarm stays silent below a multiple of a hundred, and speaks once above it.
func TestAlarm_Step(t *testing.T) {
	var records []model.Record
	for i, n := range []int64{60, 30, 50, 70, 350, 1} {
		records = append(records, model.Record{ID: model.ID{Offset: int64(i)}, Key: "a",
			Value: model.Value{Num: n}})
	}
	require.Equal(t, []model.Value{{Num: 140}, {Num: 210}, {Num: 560}},
		valuesOf(take(operator("alarm"), records, 0)))
}

// A debit is sent to who is paid, and kept where it was paid; what is no transfer is dropped.
func TestDebit_Step(t *testing.T) {
	got := take(operator("debit"), transfers("alice bob 80", "alice carol 500"), 0)
	require.Equal(t, []model.Value{{Num: 80}, {Num: 500}}, valuesOf(got))
	require.Equal(t, "bob", got.values[0].Key)
	require.Equal(t, "carol", got.values[1].Key)
	require.Empty(t, valuesOf(take(operator("debit"), transfers("alice alice 1"), 0)))
	require.Equal(t, "alice", decoder("payments").Key("alice bob 80"))
	require.False(t, decoder("payments").Valid("alice bob"))
}

// However far each debit and each credit is, money is neither made nor destroyed; a credit that is
// taken twice, or lost on its way, shows.
func TestAccounts_MoneyIsConserved(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	stages, rule := scenarios.Accounts.Stages, scenarios.Accounts.Conserves
	var out model.Outputs
	for range 100 {
		var balances [2]map[string]model.Value
		balances[0], balances[1] = map[string]model.Value{}, map[string]model.Value{}
		var onItsWay []model.Record
		step := func(op int, rec model.Record) {
			out.Begin(int32(op+1), rec)
			balances[op][rec.Key] = stages[op].Operator.Step(rec, balances[op][rec.Key], &out)
			if op == 0 {
				onItsWay = append(onItsWay, out.Records()...)
			}
		}
		sum := func() (total int64) {
			for op := range balances {
				for _, v := range balances[op] {
					total += rule.State(int32(op+1), v)
				}
			}
			for _, rec := range onItsWay {
				total += rule.Record(rec)
			}
			return total
		}
		for _, rec := range inputOf(t, scenarios.Builtin(), operator("debit"), 20) {
			step(0, rec)
			require.Equal(t, rule.Total, sum())
			for len(onItsWay) > 0 && r.IntN(2) == 0 {
				credit := onItsWay[0]
				onItsWay = onItsWay[1:]
				step(1, credit)
				require.Zero(t, rule.Record(out.Records()[0]), "what is shown is not on its way")
				require.Equal(t, rule.Total, sum())
			}
		}
		step(0, transfers("alice bob 30")[0])
		step(1, onItsWay[len(onItsWay)-1])
		require.EqualValues(t, rule.Total+30, sum(), "taken, and still on its way")
		onItsWay = onItsWay[:len(onItsWay)-1]
		require.Equal(t, rule.Total, sum())
	}
}

// Lines of too many words are dropped before their outputs have no numbers left.
func TestSplit_Step(t *testing.T) {
	in := model.Record{Value: model.Value{Text: " to be\tor  not "}}
	var keys []string
	for _, rec := range take(operator("split"), []model.Record{in}, 0).values {
		require.Equal(t, model.Value{Num: 1}, rec.Value)
		keys = append(keys, rec.Key)
	}
	require.Equal(t, []string{"to", "be", "or", "not"}, keys)
	for _, n := range []int{0, 101, 1 << 13} {
		in.Value.Text = ""
		for range n {
			in.Value.Text += "a "
		}
		require.Empty(t, take(operator("split"), []model.Record{in}, 0).values)
		require.False(t, decoder("words").Valid(in.Value.Text))
	}
}

// Every topology runs on generated input that it likes, of any length, and a longer input begins
// with the shorter.
func TestTopologies_GenerateTheirInput(t *testing.T) {
	lib := scenarios.Builtin()
	for _, top := range lib.Topologies {
		s := &scenarios.Scenario{Topology: top, Mode: lib.Modes[0]}
		s.Input.Kind = scenarios.InputGenerated
		load := func(n int) *model.Input {
			s.Input.Records = n
			in, _, err := lib.LoadInput(s)
			require.NoError(t, err, top.Name)
			require.Equal(t, n, in.Total(), top.Name)
			return in
		}
		short, long := load(11), load(300)
		if top.Sample == "" {
			require.Zero(t, long.Malformed, top.Name)
		}
		for i := range short.Total() {
			rec := *short.ByIndex(i)
			require.Equal(t, rec, *long.At(rec.ID), top.Name)
		}
		seen := map[model.Value]bool{}
		for i := range long.Total() {
			rec := *long.ByIndex(i)
			if rec.Value.Text != "" {
				rec.Value.Num = 0
			}
			seen[rec.Value] = true
		}
		require.Greater(t, len(seen), 20, top.Name)
	}
}

// A scenario file can put every operator and decoder into a topology of its own, and the run comes
// to something.
func TestOperators_InInlineTopologies(t *testing.T) {
	lib := scenarios.Builtin()
	lines := map[string]string{"parse-clf": "decoder: clf", "ledger": "decoder: transfers",
		"split": "decoder: words", "debit": "decoder: payments"}
	input := map[string]string{"ledger": "alice bob 70", "split": "to be", "debit": "alice bob 70",
		"parse-clf": `h - - [17/May/2015:10:05:37 +0000] "GET / HTTP/1.1" 200 1`}
	for _, op := range lib.Operators {
		in := input[op.Name]
		if in == "" {
			in = "a=170"
		}
		text := fmt.Sprintf("-- scenario.yaml --\nformat: 1\ntopology:\n  name: own\n"+
			"  inputs: [{name: input}]\n  stages: [{name: op, operator: %s, from: [input], "+
			"exchange: by-key}]\n  %s\nmode: none\ninput: ['%s']\n", op.Name, lines[op.Name], in)
		s, err := scenarios.Parse(lib, "own.sim", []byte(text))
		require.NoError(t, err, op.Name)
		require.True(t, s.Inline)
		_, res, err := scenarios.Run(lib, s, scenarios.Options{})
		require.NoError(t, err, op.Name)
		require.NotEmpty(t, res.Subject.History.Final, op.Name)
	}
}
