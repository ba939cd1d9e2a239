package report

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/oncesim/oncesim/scenarios"
)

// Only a version that names its code can convict a run of non-determinism.
func TestIsOfVersion(t *testing.T) {
	const golden, old = scenarios.GoldenVersion, scenarios.GoldenVersion - 1
	for _, c := range []struct {
		recorded, program, version string
		format                     int
		want                       bool
	}{
		{"v1.2.3", module, "v1.2.3", golden, true},
		{"v1.2.3", module, "v1.2.4", golden, false},
		{"v1.2.3", module, "v1.2.3", old, false},
		{"v1.2.3", "example.com/mine", "v1.2.3", golden, false},
		{"v1.2.3+dirty", module, "v1.2.3+dirty", golden, false},
		{develVersion, module, develVersion, golden, false},
	} {
		r := &scenarios.Recorded{Version: c.recorded, Format: c.format}
		assert.Equal(t, c.want, isOfVersion(r, c.program, c.version), "%+v", c)
	}
	now := scenarios.Recorded{Format: golden, Version: Version()}
	assert.False(t, isSameCode(&now), "a checkout does not say which code it is")
}
