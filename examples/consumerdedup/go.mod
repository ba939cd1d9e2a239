module example.com/consumerdedup

go 1.25.0

require github.com/oncesim/oncesim v0.0.0

require (
	github.com/anishathalye/porcupine v1.3.1 // indirect
	github.com/rogpeppe/go-internal v1.16.0 // indirect
	go.yaml.in/yaml/v3 v3.0.6 // indirect
	golang.org/x/tools v0.48.0 // indirect
	pgregory.net/rapid v1.3.0 // indirect
)

replace github.com/oncesim/oncesim => ../..
