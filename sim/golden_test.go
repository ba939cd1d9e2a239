package sim_test

// goldenHash is the hash of all runs of hashes.
const goldenHash = "753776a58fedad4"
