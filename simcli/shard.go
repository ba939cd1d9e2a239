package simcli

import (
	"fmt"
	"math"
	"os"
	"strconv"

	"github.com/oncesim/oncesim/search"
)

// The variables that say which shard this is. An Indexed Job of Kubernetes sets the first, from 0;
// it does not tell a pod how many there are.
const (
	shardIndex = "JOB_COMPLETION_INDEX"
	shardCount = "SIM_SHARDS"
)

// shardOf reads the shard: of none there is one.
func shardOf(text string) (shard, shards uint64, err error) {
	if text == "" {
		return 1, 1, nil
	}
	if text != "auto" {
		shard, shards, ok := search.ParseShard(text)
		if !ok {
			return 0, 0, fail(statusUsage, "--shard %q, expected K/N with K from 1 to N and N "+
				"up to %d, or auto", text, math.MaxUint16)
		}
		return shard, shards, nil
	}
	index, count := os.Getenv(shardIndex), os.Getenv(shardCount)
	switch {
	case index == "":
		return 0, 0, fail(statusUsage, "--shard auto: %s is not set; Kubernetes sets it in the "+
			"pods of an Indexed Job", shardIndex)
	case count == "":
		return 0, 0, fail(statusUsage, "--shard auto: %s is not set; the manifest must set it to "+
			"the number of completions", shardCount)
	}
	n, err := strconv.ParseUint(index, 10, 16)
	shard, shards, ok := search.ParseShard(fmt.Sprintf("%d/%s", n+1, count))
	if err != nil || !ok {
		return 0, 0, fail(statusUsage, "--shard auto: %s=%q and %s=%q, expected an index from 0 "+
			"and a greater number", shardIndex, index, shardCount, count)
	}
	return shard, shards, nil
}
