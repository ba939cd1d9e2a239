package determinism

import "strconv"

type share float32 // want "a floating-point number"

type mixed struct {
	text  string
	ratio []float64 // want "a floating-point number"
}

const half = 0.5 // want "a floating-point number"

const million = 1e6 // want "a floating-point number"

const wave = 2i // want "a floating-point number"

var wide int64 = 1e6

func floats(m mixed, s share) int64 { // want "a floating-point number"
	for _, r := range m.ratio { // want "a floating-point number"
		wide += int64(r) // want "a floating-point number"
	}
	_, err := strconv.ParseFloat(m.text, 64) // want "a floating-point number"
	if err != nil {
		return wide
	}
	x := 1 / wide
	return x
}
