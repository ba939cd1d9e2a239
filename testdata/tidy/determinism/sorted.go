package determinism

func sorted(m map[string]int) {
	for range m {
	}
}
