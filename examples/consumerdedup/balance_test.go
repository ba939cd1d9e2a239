package consumerdedup

import (
	"testing"

	"github.com/oncesim/oncesim/model"
	"github.com/oncesim/oncesim/simtest"
)

// accounts is the job: a log of payments, and two tasks that share the accounts between them.
var accounts = model.Topology{
	Name:   "accounts",
	Inputs: []model.InputSpec{{Name: "payments"}},
	Stages: []model.Stage{{Name: "balance", Operator: &Balance, From: []string{"payments"},
		Exchange: model.ByKey, Parallel: 2}},
}

// Whatever crashes, and however often, no payment counts twice. Payments come in order, one at a
// time, and the reader notes its position after every fourth.
func TestBalance_CountsAPaymentOnce(t *testing.T) {
	simtest.Sweep(t, simtest.Scenario{
		Topology: &accounts,
		Mode:     "at-least-once",
		Set:      []string{"window=1", "commit-every=4"},
		Lines:    []string{"ann=10", "bob=5", "ann=20", "bob=7", "ann=40", "bob=9"},
	}, simtest.Holds("exactly-once-state"), simtest.Classes("crash"))
}

// Without any fault the balance is the sum of what was paid: a simulation cannot know that.
func TestBalance_AddsUp(t *testing.T) {
	var account model.Value
	var out model.Outputs
	for i, paid := range []int64{10, 20, 40} {
		payment := model.Record{ID: model.ID{Offset: int64(i)}, Key: "ann",
			Value: model.Value{Num: paid}}
		out.Begin(1, payment)
		account = Balance.Step(payment, account, &out)
	}
	if account.Num != 70 || out.Records()[0].Value.Num != 70 {
		t.Errorf("a balance of %d, and the answer %v", account.Num, out.Records())
	}
}
