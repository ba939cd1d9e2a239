package docs

func Helper() {}
