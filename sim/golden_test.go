package sim_test

// goldenHash is the hash of all runs of hashes.
const goldenHash = "aaf454381afad250"
