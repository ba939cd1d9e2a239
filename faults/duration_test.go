package faults

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestDuration_bothWays(t *testing.T) {
	for text, ns := range map[string]int64{
		"0s":                0,
		"1ns":               1,
		"999ns":             999,
		"1us":               1_000,
		"1.001us":           1_001,
		"300us":             300_000,
		"80ms":              80_000_000,
		"1.000001ms":        1_000_001,
		"1.5s":              1_500_000_000,
		"90s":               90_000_000_000,
		"1.000000001s":      1_000_000_001,
		"999999.999999999s": 999_999_999_999_999,
		"1000000s":          durationMax,
	} {
		got, ok := ParseDuration(text)
		require.True(t, ok, text)
		require.Equal(t, ns, got, text)
		require.Equal(t, text, FormatDuration(ns))
	}
}

func TestDuration_otherForms(t *testing.T) {
	for text, want := range map[string]string{
		"0ns": "0s", "0.000s": "0s", "1000us": "1ms", "0.5s": "500ms", "0080ms": "80ms",
		"1.50000000000000s": "1.5s", "7.0ns": "7ns",
		"1000000000000000ns": "1000000s",
	} {
		ns, ok := ParseDuration(text)
		require.True(t, ok, text)
		require.Equal(t, want, FormatDuration(ns), text)
	}
}

func TestDuration_refused(t *testing.T) {
	for _, text := range []string{
		"", "80", "ms", ".5s", "1.s", "1.5", "-1ms", "+1ms", "1 ms", "1m", "1h", "1µs", "1MS",
		"1e3ms", "1_000ms", "1s5ms", "1..5s", "0.1ns", "1.0001us", "0x10ms", "٣ms",
		"1000000.000000001s", "1000001s", "1000000000000001ns",
		"9223372037s", "9223372036854775808ns", "99999999999999999999s",
	} {
		_, ok := ParseDuration(text)
		require.False(t, ok, text)
	}
}

// Durations that are never read must not bring a message down.
func TestDuration_outOfRange(t *testing.T) {
	require.Equal(t, "-1.5s", FormatDuration(-1_500_000_000))
	require.Equal(t, "9223372036.854775807s", FormatDuration(1<<63-1))
	require.Equal(t, "-9223372036.854775808s", FormatDuration(-1<<63))
}

func FuzzDuration(f *testing.F) {
	f.Add(int64(0))
	f.Add(int64(1_234_567_891))
	f.Fuzz(func(t *testing.T, ns int64) {
		got, ok := ParseDuration(FormatDuration(ns))
		require.Equal(t, ns >= 0 && ns <= durationMax, ok)
		if ok {
			require.Equal(t, ns, got)
		}
	})
}
