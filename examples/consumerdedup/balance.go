// Package consumerdedup keeps account balances from a stream of payments. Its consumer runs under
// at-least-once, so a payment may be delivered again, and must not count twice.
package consumerdedup

import (
	"strconv"

	"github.com/oncesim/oncesim/model"
)

// Balance adds up the payments of an account. Beside the balance it remembers in the account's
// state which payment it has applied last, so that one that comes again is not added again; its
// answer is, for the first may have been lost.
var Balance = model.Operator{
	Name: "balance",
	Says: "emits the balance of an account after each payment",
	Kind: model.NonCommutative,
	Step: func(payment model.Record, account model.Value, out *model.Outputs) model.Value {
		if !isApplied(payment, account) {
			account.Num += payment.Value.Num
			account.Text = strconv.FormatInt(payment.ID.Offset, 10)
		}
		out.Emit(payment.Key, model.Value{Num: account.Num})
		return account
	},
}

// isApplied reports whether a payment is in the balance of its account already.
func isApplied(payment model.Record, account model.Value) bool {
	if account.Text == "" {
		return false
	}
	last, _ := strconv.ParseInt(account.Text, 10, 64)
	return payment.ID.Offset == last
}
