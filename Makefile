# What a person types. CI runs the same: .ci/run is "go test ./..." and "make ci".

GO ?= go
FUZZTIME ?= 5s

# These run everywhere: their results are the same on every platform.
PORTABLE = ./model ./sim ./semantics ./faults ./checker ./scenarios
WASMEXEC = $(shell $(GO) env GOROOT)/lib/wasm/go_js_wasm_exec

.PHONY: test check fuzz wasm 386 golden bench ci

test:
	$(GO) test -race -shuffle=on -timeout 20m ./...

# The linter lives in a module of its own, so that it never raises the Go version of this one.
check:
	@unformatted=$$(gofmt -l .); test -z "$$unformatted" || \
		{ echo "run gofmt -w on:" $$unformatted; exit 1; }
	$(GO) vet ./...
	$(GO) build -C tools -o ../bin/staticcheck honnef.co/go/tools/cmd/staticcheck
	bin/staticcheck ./...
	$(GO) test -run Tidy .

# Every fuzz target for FUZZTIME. "go test -list" prints the names, then a line with the package.
fuzz:
	@list=$$($(GO) test -list '^Fuzz' ./...) || { echo "$$list"; exit 1; }; \
	echo "$$list" | awk '/^Fuzz/ {names[n++] = $$1; next} \
		{for (i = 0; i < n; i++) print $$2, names[i]; n = 0}' | \
	while read -r package target; do \
		echo "fuzz $$package $$target"; \
		$(GO) test -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) "$$package" </dev/null || exit 1; \
	done

# The environment is emptied because a wasm program has only a few kilobytes of room for it.
wasm:
	GOOS=js GOARCH=wasm $(GO) test -exec "env -i PATH=$(PATH) HOME=$(HOME) $(WASMEXEC)" $(PORTABLE)

386:
	GOARCH=386 CGO_ENABLED=0 $(GO) test $(PORTABLE) ./search

# The whole golden table; the ordinary tests check a small form of it.
golden:
	$(GO) test ./search -run Golden -golden.full -timeout 60m -v

bench:
	$(GO) test -run '^$$' -bench . -benchmem ./...

ci: check test fuzz wasm 386
	$(GO) test -count=1 -run Golden ./search
