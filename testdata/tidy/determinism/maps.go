package determinism

type table map[string]int

func rangesOverMap(m map[string]int, t table) {
	for range m { // want "a range over a map: its order differs from run to run, go through model.SortedKeys"
	}
	for k := range t { // want "a range over a map"
		_ = k
	}
}

func rangesOverGeneric[M ~map[K]V, K comparable, V any](m M) {
	for range m { // want "a range over a map"
	}
}

func rangesOverSlice(list []int, n int, seq func(func(int) bool)) {
	for range list {
	}
	for range n {
	}
	for range seq {
	}
}
