package report

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/oncesim/oncesim/scenarios"
)

// Only a version that names its code can convict a run of non-determinism.
func TestIsSameCode(t *testing.T) {
	now := scenarios.Recorded{Format: scenarios.GoldenVersion, Version: Version()}
	assert.False(t, isSameCode(&now), "a checkout does not say which code it is")
	now.Version = "v9.9.9"
	assert.False(t, isSameCode(&now))
}
