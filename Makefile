# Canopy's commands: `make` lists them.

GO       ?= go
COUNT    ?= 6
FUZZTIME ?= 30s
OUT      ?= out
BENCH    ?= .
PKG      ?= ./...

SHELL       := bash
.SHELLFLAGS := -eu -o pipefail -c
TOOLS       := bin/golangci-lint # and bin/benchstat, built with it

.DEFAULT_GOAL := help
.PHONY: help test build format vet lint unit race run check bench fuzz rewrite clean

help: ## this text
	@echo 'Canopy: behaviour trees in continuous time.'
	@echo
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-9s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)
	@echo
	@echo '  Variables: PKG=./bt/... BENCH=regexp COUNT=6 FUZZTIME=30s OUT=out'

test: build format vet lint unit race ## everything that must be green: build, format, vet, lint, tests, race detector

build: ## compile every package and bin/canopy
	$(GO) build ./...
	$(GO) build -o bin/canopy ./cmd/canopy

format: ## list the files that gofmt would change, and fail if there are any
	@files=$$(gofmt -l .); [ -z "$$files" ] || { echo "gofmt would change:"; echo "$$files"; exit 1; }

vet: ## go vet; go.mod holds what the code imports
	$(GO) vet ./...
	$(GO) mod tidy -diff

lint: $(TOOLS) ## golangci-lint, built once from internal/tools
	bin/golangci-lint run ./...

unit: ## the tests with their golden files and examples
	$(GO) test $(PKG)

# The rooms have no goroutines (internal/house); the command has, bt's tests run engines on shared code side by side, and
# the decision diagrams of verify count references in finalizers.
# The detector needs a C compiler, which a machine with Go and nothing else has not.
race: ## the tests of what runs side by side, under the race detector
ifeq ($(shell $(GO) env CGO_ENABLED),1)
	$(GO) test -race -short ./bt/... ./cmd/...
	$(GO) test -race -run TestDiagrams ./verify
else
	@echo 'race: left out, the race detector needs a C compiler'
endif

run: ## fly the solar day into OUT
	$(GO) run ./cmd/canopy run missions/solar-day.yaml --out $(OUT)

check: ## read the log in OUT back with an independent MCAP reader, compare it with the CSV files (needs Node.js)
	cd internal/mcapcheck && npm ci --no-audit --no-fund
	cd internal/mcapcheck && node check.mjs $(abspath $(OUT))

bench: $(TOOLS) ## benchmarks, COUNT times, with benchstat's summary; raw lines in bin/bench.txt
	$(GO) test -run '^$$' -bench '$(BENCH)' -benchmem -count $(COUNT) $(PKG) | tee bin/bench.txt
	bin/benchstat bin/bench.txt

fuzz: ## every fuzz function for FUZZTIME
	@for p in $$($(GO) list $(PKG)); do \
	  for f in $$($(GO) test -list '^Fuzz' $$p | grep '^Fuzz' || true); do \
	    echo "$$p $$f"; $(GO) test -run '^$$' -fuzz "^$$f\$$" -fuzztime $(FUZZTIME) $$p; \
	  done; \
	done

# Packages with golden files are those whose tests have a -rewrite flag, their own or datadriven's.
rewrite: ## rewrite the golden files from what the code does now; review the diff
	files=$$(grep -rlE --include='*_test.go' '^\s"github.com/cockroachdb/datadriven"$$|flag\.Bool\("rewrite"' .); \
	$(GO) test $$(dirname $$files | sort -u) -rewrite

clean: ## remove what these commands made
	rm -rf bin $(OUT)

$(TOOLS): internal/tools/go.mod internal/tools/go.sum
	cd internal/tools && $(GO) build -o ../../bin/ tool
	@touch $@
