package sim

import "github.com/oncesim/oncesim/model"

// fence shuts out lives that were replaced: it is the highest attempt that asked with a fence.
type fence int32

// admits raises the fence to the attempt of a request, and reports false for one that is below it.
// A request that does not ask for a fence passes.
func (f *fence) admits(req *model.Message) bool {
	if req.Flags&model.Fenced == 0 {
		return true
	}
	*f = max(*f, fence(req.Attempt))
	return *f == fence(req.Attempt)
}

// fences are those of the partitions of an external system.
type fences []fence

// admits answers Refused to a request that is below the fence of its partition.
func (f fences) admits(req *model.Message, ans *model.Answer) bool {
	if f[req.Seq].admits(req) {
		return true
	}
	ans.Outcome = model.Refused
	return false
}

func (f *fence) state(c *model.Codec) { c.Int32((*int32)(f)) }
