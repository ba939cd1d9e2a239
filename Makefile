# What a person types. CI runs the same: .ci/run is "go test ./..." and "make ci".

GO ?= go
FUZZTIME ?= 5000x

# These run everywhere: their results are the same on every platform.
PORTABLE = ./model ./sim ./semantics ./faults ./checker ./scenarios
WASMEXEC = $(shell $(GO) env GOROOT)/lib/wasm/go_js_wasm_exec

# The golden hashes must also hold under another minor release of Go. The go command fetches it.
OTHERGO ?= go1.25.5

.PHONY: test check fuzz wasm 386 othergo determinism golden bench trust mutate cover ci

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

# Every fuzz target for FUZZTIME: a number of inputs, since a time may end in the middle of one, which
# the go command takes for a failure. "go test -list" prints the names, then a line with the package.
fuzz:
	@list=$$($(GO) test -list '^Fuzz' ./...) || { echo "$$list"; exit 1; }; \
	echo "$$list" | awk '/^Fuzz/ {names[n++] = $$1; next} \
		{for (i = 0; i < n; i++) print $$2, names[i]; n = 0}' | \
	while read -r package target; do \
		echo "fuzz $$package $$target"; \
		$(GO) test -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 50x "$$package" </dev/null || exit 1; \
	done

# The environment is emptied because a wasm program has only a few kilobytes of room for it.
wasm:
	GOOS=js GOARCH=wasm $(GO) test -exec "env -i PATH=$(PATH) HOME=$(HOME) $(WASMEXEC)" $(PORTABLE)

386:
	GOARCH=386 CGO_ENABLED=0 $(GO) test $(PORTABLE) ./search

othergo:
	@if GOTOOLCHAIN=$(OTHERGO) $(GO) version; then \
		GOTOOLCHAIN=$(OTHERGO) $(GO) test -run 'Golden|Determinism|Hash' ./model ./sim ./scenarios; \
	else \
		echo "NOT CHECKED: golden hashes under $(OTHERGO), which cannot be had here;" \
			"OTHERGO=go1.N.P names another"; \
	fi

# Twenty thousand drawn scenarios, each in a world that is used and in a new one.
determinism:
	$(GO) test -count=1 -run Determinism ./scenarios -determinism.full

# The whole golden table, and all that is searched, in full; the ordinary tests check a small form of
# it. It takes many hours; GOLDEN='TestGolden$$$$/^pipeline-three$$$$/^dedup$$$$' is a part of it.
GOLDEN ?= Golden|Explore|Orders|Shrink
golden:
	$(GO) test ./search -run '$(GOLDEN)' -golden.full -timeout 0 -v
	$(GO) test ./checker -run AgreesWithPorcupine -golden.full -v

# What the instrument is worth: the kill matrix of planted defects, a million runs without one and
# the false alarms among them, how often the two judges agree, and what the runs reached.
trust:
	$(GO) test -count=1 ./internal/trust -trust.full -timeout 20m -v

# Whether tests notice when a checker is wrong: one mutant of the checkers in EVERY, each against the
# tests of the checkers that reach it, until one fails. It takes ten minutes. A sample has a share that
# differs by a few of a hundred, so that less is asked of it. BY= asks the tests of other packages too,
# which takes hours.
EVERY ?= 1
LEAST ?= 90
BY ?= checker
mutate:
	$(GO) run -C tools ./mutate -every $(EVERY) -least $(LEAST) -by '$(BY)' ./checker

# Statement coverage of the core, by the tests that are about it: at least 90 % of each package.
CORE = ./model ./sim ./semantics ./faults ./checker
cover:
	@mkdir -p bin
	$(GO) test -coverprofile=bin/cover.out -coverpkg=$(shell echo $(CORE) | tr ' ' ,) \
		$(CORE) ./scenarios ./internal/trust
	@awk -F'[ ]' 'NR > 1 { n[$$1] = $$2; if ($$3 > 0) hit[$$1] = 1 } END { for (b in n) { \
		split(b, at, ":"); p = at[1]; sub("/[^/]*$$", "", p); all[p] += n[b]; \
		if (b in hit) done[p] += n[b] } for (p in all) { share = 100 * done[p] / all[p]; \
		printf "%5.1f %% of %5d statements of %s\n", share, all[p], p; \
		if (share < 90) bad = 1 } exit bad }' bin/cover.out

# Ratios to yardsticks, met or not, then the absolute times of the benchmarks beside the code. Run
# it alone.
bench:
	-$(GO) run ./cmd/simrun bench
	$(GO) test -count=1 -v ./internal/bench -run Twin -twin
	$(GO) test -run '^$$' -bench . -benchmem ./...

ci: check test fuzz wasm 386 othergo determinism
	$(GO) test -count=1 -run Golden ./search
	$(GO) test -count=1 ./checker -run AgreesWithPorcupine -golden.full
	$(GO) test -count=1 ./simcli -run Sweep_Killed -sweep.full
	$(MAKE) mutate EVERY=6 LEAST=85
