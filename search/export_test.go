package search

// SeedsOf are the seeds of a block, for tests that write result files themselves.
func SeedsOf(h *SweepHeader, block uint64) (first, last uint64) { return h.seedsOf(block) }

// BlockOf is the block of exactly these seeds.
func BlockOf(h *SweepHeader, first, last uint64) (block uint64, ok bool) {
	return h.blockOf(first, last)
}

// OpenHeader is the header of a sweep without a last seed whose first blocks have a size.
func OpenHeader(first, size uint64) *SweepHeader {
	return &SweepHeader{first: first, last: lastOpen(first), isOpen: true, Block: size, shard: 1,
		shards: 1}
}
