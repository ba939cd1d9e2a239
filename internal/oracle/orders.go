package oracle

import (
	"slices"

	"github.com/oncesim/oncesim/model"
)

func concat(channels [][]model.Record) []model.Record {
	var all []model.Record
	for _, channel := range channels {
		all = append(all, channel...)
	}
	return all
}

// merges lists all ways to merge channels that keep each of them in order; nil if there are more
// than most.
func merges(channels [][]model.Record, most int) [][]model.Record {
	if ways(channels) > most {
		return nil
	}
	total := len(concat(channels))
	var all [][]model.Record
	next := make([]int, len(channels))
	order := make([]model.Record, 0, total)
	var extend func()
	extend = func() {
		if len(order) == total {
			all = append(all, slices.Clone(order))
		}
		for c := range channels {
			if next[c] == len(channels[c]) {
				continue
			}
			order = append(order, channels[c][next[c]])
			next[c]++
			extend()
			next[c]--
			order = order[:len(order)-1]
		}
	}
	extend()
	return all
}

// ways counts the merges of channels, up to a bound far above what can be listed: channel by
// channel, its records choose their places among those before.
func ways(channels [][]model.Record) int {
	const many = 1 << 20
	n, places := 1, 0
	for _, channel := range channels {
		for i := range channel {
			places++
			n = n * places / (i + 1) // the product of binomials so far: the division is exact
			if n > many {
				return many
			}
		}
	}
	return n
}

// keysOf lists the keys of what travels over channels, in the order in which they come.
func keysOf(channels [][]model.Record) []string {
	var keys []string
	known := map[string]bool{}
	for _, channel := range channels {
		for i := range channel {
			if key := channel[i].Key; !known[key] {
				known[key] = true
				keys = append(keys, key)
			}
		}
	}
	return keys
}

// under is what travels over channels under one key.
func under(key string, channels [][]model.Record) [][]model.Record {
	var mine [][]model.Record
	for _, channel := range channels {
		var list []model.Record
		for i := range channel {
			if channel[i].Key == key {
				list = append(list, channel[i])
			}
		}
		mine = append(mine, list)
	}
	return mine
}
