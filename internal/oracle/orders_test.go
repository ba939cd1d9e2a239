package oracle

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/oncesim/oncesim/model"
)

// channelsOf makes channels of records that are numbered within their channel.
func channelsOf(lengths ...int) [][]model.Record {
	channels := make([][]model.Record, len(lengths))
	for c, n := range lengths {
		for i := range n {
			id := model.ID{Part: int32(c), Offset: int64(i)}
			channels[c] = append(channels[c], model.Record{ID: id})
		}
	}
	return channels
}

// All merges are found, each once, and each keeps every channel in order.
func TestMerges(t *testing.T) {
	for _, s := range []struct {
		lengths []int
		count   int
	}{
		{nil, 1}, {[]int{0, 0}, 1}, {[]int{4}, 1}, {[]int{1, 1}, 2}, {[]int{2, 2}, 6},
		{[]int{3, 0, 1}, 4}, {[]int{1, 1, 1}, 6}, {[]int{2, 2, 2}, 90},
	} {
		channels := channelsOf(s.lengths...)
		assert.Equal(t, s.count, ways(channels), "%v", s.lengths)
		orders := merges(channels, s.count)
		assert.Len(t, orders, s.count, "%v", s.lengths)
		distinct := map[string]bool{}
		for _, order := range orders {
			distinct[fmt.Sprint(order)] = true
			next := make([]int64, len(channels))
			for _, rec := range order {
				assert.Equal(t, next[rec.ID.Part], rec.ID.Offset)
				next[rec.ID.Part]++
			}
		}
		assert.Len(t, distinct, s.count, "%v", s.lengths)
		if s.count > 1 {
			assert.Nil(t, merges(channels, s.count-1), "%v", s.lengths)
		}
	}
	assert.Nil(t, merges(channelsOf(500, 500), ordersMax), "too many to count, let alone to list")
}
