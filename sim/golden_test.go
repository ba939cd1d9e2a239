package sim_test

// goldenHash is the hash of all runs of hashes.
const goldenHash = "d1022f2aa8cde8ef"
