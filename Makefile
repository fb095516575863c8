# `make` alone prints what there is. Everything that is built goes to bin/, which git ignores.

.DEFAULT_GOAL := help
SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DELETE_ON_ERROR:

# The modules of this repository. The Temporal server and the tools each need libraries that do not compile together with
# the product's, so each has its own go.mod and the product's stays clean.
MODULES := . cmd/temporal-dev tools

# What the tests run against: a throw-away Postgres and a Temporal server on it, stopped when the command ends.
TESTSTACK := go run ./internal/testkit/teststack

# Flags for the benchmark, e.g. `make bench BENCHFLAGS=-quick`.
BENCHFLAGS ?=

# Flags for go test, e.g. `make test TESTFLAGS='-run Claim'`.
TESTFLAGS ?=

##@ Run

.PHONY: demo
demo: installed build ## Drive 200 orders through the real system under faults and print the proof
	bin/payonce demo

.PHONY: dev
dev: installed build ## Start the whole system on this machine; Ctrl-C stops it, data is kept
	bin/payonce dev

##@ Test

.PHONY: test
test: installed ## Run every test on a throw-away Postgres and Temporal
	$(TESTSTACK) -- go test -timeout 30m $(TESTFLAGS) ./...
	go -C cmd/temporal-dev test ./...

.PHONY: test/race
test/race: installed ## The same with the race detector (needs a C compiler: make setup)
	$(TESTSTACK) -- go test -race -timeout 30m $(TESTFLAGS) ./...
	go -C cmd/temporal-dev test ./...

# The packages whose tests run the whole system; no other sends anything.
SYSTEM_TESTS = $$(go list -f '{{range .XTestImports}}{{if eq . "payonce/internal/testkit/system"}}{{$$.ImportPath}}{{end}}{{end}}' ./...)

.PHONY: test/twice
test/twice: installed ## Run every test of the whole system with each POST and each webhook sent twice
	PAYONCE_TEST_TWICE=1 $(TESTSTACK) -- go test -timeout 30m $(TESTFLAGS) $(SYSTEM_TESTS)

.PHONY: test/mutants
test/mutants: installed ## Break each protection in turn and require that a test notices
	$(TESTSTACK) -- go run ./internal/mutants $(MUTANTS)

.PHONY: test/env
test/env: ## Keep the test stack up in the foreground, for single tests from an editor
	$(TESTSTACK) up

.PHONY: bench
bench: installed build ## Measure payonce beside what it is built of; fails when a bar is missed (BENCHFLAGS='-only replay')
	go build -o bin/bench ./internal/bench
	bin/bench $(BENCHFLAGS)

##@ Check

.PHONY: lint
lint: bin/golangci-lint bin/workflowcheck ## Check formatting, vet, lint, and that workflows are deterministic
	@unformatted=$$(gofmt -l .); if [[ -n "$$unformatted" ]]; then echo "gofmt these files:"; echo "$$unformatted"; exit 1; fi
	go vet ./...
	bin/golangci-lint run
	cd cmd/temporal-dev && ../../bin/golangci-lint run
	bin/workflowcheck ./workflows/...

.PHONY: generate
generate: ## Write the generated files anew
	go generate ./...

.PHONY: verify
verify: generate ## Fail when generated files, modules or the tree are not as committed
	@dirty=$$(git status --porcelain); \
	if [[ -n "$$dirty" ]]; then echo "the tree is dirty after make generate; commit or drop these:"; echo "$$dirty"; git --no-pager diff; exit 1; fi
	@for module in $(MODULES); do \
		echo "go mod verify, go mod tidy -diff: $$module"; \
		go -C $$module mod verify; \
		go -C $$module mod tidy -diff; \
	done

##@ Build

.PHONY: setup
setup: ## Install what is missing: Postgres, a C compiler for the race detector, Go modules
	tools/setup.sh
	go mod download
	go -C cmd/temporal-dev mod download

# What setup installs is looked for by every target that runs the system, so that make demo and make test need nothing before them.
.PHONY: installed
installed:
	@tools/setup.sh

.PHONY: build
build: bin/payonce bin/stripesim bin/temporal-dev ## Build the programs into bin/

.PHONY: clean
clean: ## Remove bin/ and nothing else; data of make dev stays
	rm -rf bin

# Go knows best what is stale in the product, so these two are always asked for.
.PHONY: FORCE
bin/payonce bin/stripesim: bin/%: FORCE
	go build -o $@ ./cmd/$*

# The server is a large link: only when its module changed.
bin/temporal-dev: $(shell find cmd/temporal-dev -type f)
	go -C cmd/temporal-dev build -o ../../$@ .
	@touch $@

# The first build of the tools takes minutes; the pinned versions stand in tools/go.mod.
bin/golangci-lint: tools/go.mod tools/go.sum
	go -C tools build -trimpath -o ../$@ github.com/golangci/golangci-lint/v2/cmd/golangci-lint
	@touch $@

bin/workflowcheck: tools/go.mod tools/go.sum
	go -C tools build -trimpath -o ../$@ go.temporal.io/sdk/contrib/tools/workflowcheck
	@touch $@

.PHONY: help
help: ## Print this
	@awk 'BEGIN { FS = ":.*## " } \
		/^##@ / { printf "\n%s\n", substr($$0, 5) } \
		/^[a-z\/]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)
