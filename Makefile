# Canopy's commands: `make` lists them.

GO       ?= go
COUNT    ?= 6
FUZZTIME ?= 30s
FLOOR    ?= 100
ROUNDS   ?= 15
MISSIONS ?= 1000
OUT      ?= out
BENCH    ?= .
PKG      ?= ./...

SHELL       := bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
.PHONY: help test web long robust campaign race lint fuzz bench scale versus numbers build release run check btcpp rewrite clean

help: ## this text
	@echo 'Canopy: behaviour trees in continuous time.'
	@echo
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-9s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)
	@echo
	@echo '  Variables: PKG=./bt/... BENCH=regexp COUNT=6 FUZZTIME=30s FLOOR=100 ROUNDS=15 OUT=out MISSIONS=1000'

# -short leaves out what no user need run: more rounds of random trees, finer tolerances, documents' commands.
# The test command is also the compiler's and go vet's: each package is compiled once.
test: ## what must be green: build, vet, the tests with few random rounds; below 2 minutes on 2 cores
	@echo '== build: the first time, modules are downloaded ("go: downloading ...") and compiled, about a minute'
	@$(MAKE) --no-print-directory build
	@echo '== vet and tests: one line for each package; the first time, a minute passes before the first'
	$(GO) test -short -vet=all $(PKG)

# What is built is committed, so that the program needs only Go; CI allows no difference.
ESBUILD := ../bin/esbuild --bundle --jsx=automatic --jsx-import-source=preact --log-level=warning
web: bin/esbuild web/node_modules ## check, build and test the front end (needs Node.js; its tests in a browser, Chromium)
	cd web && node_modules/.bin/tsc
	cd web && $(ESBUILD) --minify --target=es2022 --legal-comments=none --outdir=dist src/report.tsx src/studio.tsx
	cd web && $(ESBUILD) --platform=node --format=esm --packages=external --outdir=node_modules/.test \
	  --out-extension:.js=.mjs test/*.test.ts
	$(GO) test -vet=off -count 1 -v ./web

web/node_modules: web/package.json web/package-lock.json
	cd web && npm ci --no-audit --no-fund
	@touch $@

# The tests that -short shortens, in full: the others are the same in make test, with which each package is vetted, too.
long: ## what make test leaves out: 100,000 random trees, each command of the documents, finer tolerances; some minutes
	@list=$$(find . -name '*_test.go' -not -path './internal/tools/*' | sort | xargs awk -f internal/tools/shortened.awk); \
	packages=$$(cut -d ' ' -f 1 <<<"$$list" | sort -u); \
	tests=$$(cut -d ' ' -f 2 <<<"$$list" | sort -u | paste -sd '|'); \
	echo "== $$(wc -l <<<"$$list") tests"; \
	$(GO) test -vet=off -timeout 20m -run "^($$tests)$$" $$packages
ifeq ($(shell $(GO) env CGO_ENABLED),1)
	$(GO) test -race -vet=off -timeout 20m ./run/live -run '^TestNoWakeUpIsLost$$'
endif

robust: ## kill -9, Ctrl-C, full disk and corrupt files, 20 cases each; about a minute
	$(GO) test ./cmd/canopy -run '^TestRobust$$' -cases 20

campaign: ## MISSIONS random missions, flown six times each: no flight contradicts an answer of check; 3 in a second
	$(GO) test -vet=off -timeout 0 ./cmd/canopy -run '^TestCampaign$$' -v -campaign $(MISSIONS)

# The rooms have no goroutines (internal/house); some commands have, links, programs with run/live, and those who watch a
# run; bt's TestRandom runs engines on shared code side by side.
# The detector needs a C compiler, which a machine with Go and nothing else has not.
SIDE_BY_SIDE := ^Test(Bridge|Check|Diff|Fly|Input|Interrupt|Nohup|Region|Remote|Replay|Run|Serve|Sockets|Operators|Upload|Watch)
race: ## the tests of what runs side by side, under the race detector
ifeq ($(shell $(GO) env CGO_ENABLED),1)
	$(GO) test -race -short -vet=off ./autopilot/link ./bridge/... ./editor/studio ./run/control ./run/live ./run/relay
	$(GO) test -race -short -vet=off -run '^TestRandom$$' ./bt
	$(GO) test -race -short -vet=off -run '$(SIDE_BY_SIDE)' ./cmd/canopy ./run/driver
else
	@echo 'race: left out, the race detector needs a C compiler'
endif

# One linter runs at a time on a machine: a second one waits (--allow-serial-runners is not a setting of .golangci.yml).
lint: bin/golangci-lint ## gofmt, go.mod, golangci-lint (built once from internal/tools)
	@files=$$(gofmt -l .); [ -z "$$files" ] || { echo "gofmt would change:"; echo "$$files"; exit 1; }
	$(GO) mod tidy -diff
	bin/golangci-lint run --allow-serial-runners ./...

build: ## compile bin/canopy, without C libraries: it starts without a dynamic linker
	CGO_ENABLED=0 $(GO) build -buildvcs=auto -o bin/canopy ./cmd/canopy

release: ## compile bin/canopy_VERSION_SYSTEM for Linux and macOS; VERSION is the tag, or the commit
	version=$$(git describe --tags --always --dirty); for system in linux_amd64 linux_arm64 darwin_arm64; do \
	  CGO_ENABLED=0 GOOS=$${system%_*} GOARCH=$${system#*_} $(GO) build -buildvcs=true \
	    -o bin/canopy_$${version}_$$system ./cmd/canopy; \
	done

run: ## fly the solar day into OUT
	$(GO) run ./cmd/canopy run missions/solar-day.yaml --out $(OUT)

check: ## read the log in OUT back with an independent MCAP reader, compare it with the CSV files (needs Node.js)
	cd internal/mcapcheck && npm ci --no-audit --no-fund
	cd internal/mcapcheck && node check.mjs $(abspath $(OUT))

# CMAKE_PREFIX_PATH names the place of an installation of one's own. Without BehaviorTree.CPP the test is skipped.
btcpp: ## load and play plans in BehaviorTree.CPP, as they are and converted, if it is installed
	$(GO) test ./document/plan ./document/script -count 1 -run '^TestBehaviorTreeCpp(Loads|Plays|PlaysConverted)$$' -v

# Benchmarks that are tables take minutes: make scale, and docs/simulation.md.
TABLES := ^Benchmark(Scale|WorkPrecision)$$
bench: bin/benchstat ## benchmarks, COUNT times, with benchstat's summary; raw lines in bin/bench.txt
	$(GO) test -run '^$$' -bench '$(BENCH)' -skip '$(TABLES)' -benchmem -count $(COUNT) $(PKG) | tee bin/bench.txt
	bin/benchstat bin/bench.txt

# The C program is not part of this repository: the same day on CVODE, with model and solver written for it.
scale: ## check ten families of plans of 20, 100 and 300 tasks: the table of docs/verification.md; some minutes
	$(GO) test -vet=off -run '^$$' -bench '^BenchmarkScale$$' -benchtime 1x -cpu 1 -timeout 1h ./analysis/verify

versus: build ## CPU time of the solar day beside a C program: make versus C=.../solarday
	ROUNDS=$(ROUNDS) $(GO) run ./internal/cmd/numbers '$(C)' \
	  'bin/canopy run missions/solar-day.yaml --out $(OUT) -q' \
	  'bin/canopy run missions/solar-day.yaml --out $(OUT) -q --report=false'

# Most rows count instructions: they need valgrind. Measured times need the C program: make numbers C=.../solarday
numbers: build ## the numbers of docs/performance.md beside those measured now; some minutes
	C='$(C)' ROUNDS=$(ROUNDS) $(GO) run ./internal/cmd/numbers

# Go's own lines say how many inputs ran; a function below FLOOR a second tests too little to be worth its time.
# Minimising an interesting input ends after a few tries, for its default of a minute is most of FUZZTIME.
fuzz: ## every fuzz function for FUZZTIME, with its executions per second; fails below FLOOR
	@for p in $$($(GO) list $(PKG)); do \
	  for f in $$($(GO) test -list '^Fuzz' $$p | grep '^Fuzz' || true); do \
	    { $(GO) test -run '^$$' -fuzz "^$$f\$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 10x $$p 2>&1 || true; } | \
	      awk -v name="$$p $$f" -v floor=$(FLOOR) -f internal/tools/fuzzrate.awk; \
	  done; \
	done

# Packages with golden files are those whose tests have a -rewrite flag, their own or that of internal/golden.
rewrite: ## rewrite the golden files from what the code does now; review the diff
	files=$$(grep -rlE --include='*_test.go' '^\s".*/internal/golden"$$|flag\.Bool\("rewrite"' .); \
	$(GO) test $$(dirname $$files | sort -u) -rewrite

clean: ## remove what these commands made
	rm -rf bin $(OUT)

bin/golangci-lint bin/benchstat bin/esbuild: internal/tools/go.mod internal/tools/go.sum
	@echo '== $@: modules of internal/tools are downloaded and compiled, once, some minutes'
	cd internal/tools && $(GO) build -o ../../$@ $$($(GO) list -f '{{.ImportPath}}' tool | grep '/$(@F)$$')
	@touch $@
