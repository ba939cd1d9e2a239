package scenarios

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/oncesim/oncesim/model"
)

// ledger moves money between accounts that one key holds together, so that a transfer is one step.
// It refuses what would overdraw an account: which transfers go through depends on their order.
//
// The state and what a step emits are the same: Num is how many transfers went through, Text what
// each account then has. Money neither comes nor goes, whatever fails; a transfer that was taken
// twice, or never, is seen in the Balance of its accounts.
var ledger = model.Operator{
	Name: "ledger",
	Says: "carries out a transfer unless it overdraws; emits all balances",
	Kind: model.NonCommutative,
	Step: func(in model.Record, state model.Value, out *model.Outputs) model.Value {
		t, ok := parseTransfer(in.Value.Text)
		if !ok {
			out.Drop("malformed")
			return state
		}
		balances := balancesOf(state)
		if balances[t.from] >= t.amount {
			balances[t.from] -= t.amount
			balances[t.to] += t.amount
			state.Num++
		}
		state.Text = formatBalances(balances)
		out.Emit(in.Key, state)
		return state
	},
}

// Transfers is one ledger that every record is about.
var Transfers = model.Topology{
	Name:    "transfers",
	Says:    "transfers between three accounts of one ledger, refused where they overdraw",
	Inputs:  []model.InputSpec{{Name: "input", Partitions: 1}},
	Decoder: "transfers",
	Stages: []model.Stage{{Name: "ledger", Operator: &ledger, From: []string{"input"},
		Exchange: model.ByKey}},
}

// transferLines is the decoder of transfers.
var transferLines = Decoder{
	Name:     "transfers",
	Says:     `transfers such as "alice bob 30": from, to and amount`,
	Valid:    isTransfer,
	Key:      func(string) string { return "ledger" },
	Generate: generateTransfer,
}

// generateTransfer draws a line.
func generateTransfer(draw func(below int64) int64) string {
	from := draw(int64(len(accounts)))
	to := (from + 1 + draw(int64(len(accounts))-1)) % int64(len(accounts))
	return fmt.Sprintf("%s %s %d", accounts[from], accounts[to], 10*(1+draw(12)))
}

// accounts are those of the ledger, in the order of its text. Each opens with openingBalance.
var accounts = [...]string{"alice", "bob", "carol"}

const (
	openingBalance = 100
	transferMax    = 1_000_000
)

// transfer is a line of the input. Accounts are indices.
type transfer struct {
	from, to int
	amount   int64
}

func parseTransfer(line string) (t transfer, ok bool) {
	from, rest, _ := strings.Cut(line, " ")
	to, amount, _ := strings.Cut(rest, " ")
	t.from, t.to = account(from), account(to)
	n, err := strconv.ParseInt(amount, 10, 64)
	t.amount = n
	return t, t.from >= 0 && t.to >= 0 && t.from != t.to && err == nil && n > 0 && n <= transferMax
}

func isTransfer(line string) bool {
	_, ok := parseTransfer(line)
	return ok
}

// account is the index of an account, or -1.
func account(name string) int {
	for i := range accounts {
		if accounts[i] == name {
			return i
		}
	}
	return -1
}

// Balance is what an account has by a value of ledger, its state or its output; ok is false for a
// name that is no account. The empty value is the opening balance.
func Balance(v model.Value, name string) (amount int64, ok bool) {
	i := account(name)
	if i < 0 {
		return 0, false
	}
	return balancesOf(v)[i], true
}

func balancesOf(v model.Value) (balances [len(accounts)]int64) {
	rest := v.Text
	for i := range accounts {
		if v.Text == "" {
			balances[i] = openingBalance
			continue
		}
		var field string
		field, rest, _ = strings.Cut(rest, " ")
		name, digits, _ := strings.Cut(field, "=")
		n, err := strconv.ParseInt(digits, 10, 64)
		if err != nil || name != accounts[i] {
			panic(fmt.Sprintf("scenarios: balances %q", v.Text))
		}
		balances[i] = n
	}
	return balances
}

func formatBalances(balances [len(accounts)]int64) string {
	b := make([]byte, 0, 64)
	for i, n := range balances {
		if i > 0 {
			b = append(b, ' ')
		}
		b = append(append(b, accounts[i]...), '=')
		b = strconv.AppendInt(b, n, 10)
	}
	return string(b)
}
