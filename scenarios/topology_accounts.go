package scenarios

import (
	"strings"

	"github.com/oncesim/oncesim/model"
)

// debit takes the amount of a transfer from the account that pays, and sends it to the one that is
// paid. It looks at no balance: what the account was paid is known to another task. So no order of
// its inputs changes anything, neither what it keeps nor what it sends.
//
// Its state is what the account has paid in all, as a number below zero.
var debit = model.Operator{
	Name: "debit",
	Says: "takes the amount of a transfer from its key; emits it under the account that is paid",
	Kind: model.Commutative,
	Step: func(in model.Record, state model.Value, out *model.Outputs) model.Value {
		t, ok := parseTransfer(in.Value.Text)
		if !ok {
			out.Drop("malformed")
			return state
		}
		state.Num -= t.amount
		out.Emit(accounts[t.to], model.Value{Num: t.amount})
		return state
	},
}

// debitOp is the number of the operator of the stage debit.
const debitOp = 1

// Accounts moves money between tasks: the account that pays and the one that is paid are kept in
// different places, and in between the money is on its way. All that was paid and all that was
// received, with what is on its way, come to nothing at every moment; a snapshot that is no
// consistent cut has money in it that nobody paid, or lacks some.
var Accounts = model.Topology{
	Name:    "accounts",
	Says:    "transfers between accounts, taken from one task and added in another",
	Inputs:  []model.InputSpec{{Name: "input", Partitions: 1}},
	Decoder: "payments",
	Stages: []model.Stage{
		{Name: "debit", Operator: &debit, From: []string{"input"}, Parallel: 2,
			Exchange: model.ByKey},
		{Name: "credit", Operator: &Count, From: []string{"debit"}, Parallel: 2,
			Exchange: model.ByKey},
	},
	Conserves: &model.Invariant{
		Says:  "money",
		State: func(_ int32, v model.Value) int64 { return v.Num },
		Record: func(r model.Record) int64 {
			if r.Op != debitOp {
				return 0 // what credit shows is a copy of its state
			}
			return r.Value.Num
		},
	},
}

// paymentLines is the decoder of transfers that are kept where the account that pays is.
var paymentLines = Decoder{
	Name:  "payments",
	Says:  `transfers such as "alice bob 30", under the account that pays`,
	Valid: isTransfer,
	Key: func(line string) string {
		payer, _, _ := strings.Cut(line, " ")
		return payer
	},
	Generate: generateTransfer,
}
