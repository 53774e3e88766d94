# hookd: what a developer runs. `make` lists the targets.

GO       ?= go
FUZZTIME ?= 10s

GOFUMPT     := mvdan.cc/gofumpt@v0.9.2
STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.8.2
GOVULNCHECK := golang.org/x/vuln/cmd/govulncheck@v1.9.0

VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
COMMIT  ?= $(shell git rev-parse --short=12 HEAD 2>/dev/null)
LDFLAGS := -s -w -X hookd/internal/control.Version=$(VERSION) -X hookd/internal/control.Commit=$(COMMIT)

.DEFAULT_GOAL := help
.PHONY: help build demo test race lint fuzz bench microbench clean

help: ## list the targets
	@sed -n 's/^\([a-z]*\):.*## /\1\t/p' Makefile | expand -t 12

build: ## bin/hookd and bin/hookctl: static, stripped, version stamped in
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags '$(LDFLAGS)' -o bin/ ./cmd/hookd ./cmd/hookctl

demo: build ## the main job in a temporary directory, in under a minute
	./contrib/demo/run.sh

# -count=1: some tests build programs or list packages, which go test's cache
# does not see.
test: ## every test, fuzz seeds and end-to-end scripts too
	$(GO) test -count=1 ./...

race: ## the same under the race detector (needs gcc)
	CGO_ENABLED=1 $(GO) test -race -count=1 ./...

lint: ## format, vet, staticcheck, import rules, modules, known vulnerabilities
	@unformatted=$$($(GO) run $(GOFUMPT) -l .) || exit 1; \
	if [ -n "$$unformatted" ]; then echo "not in gofumpt's format:"; echo "$$unformatted"; exit 1; fi
	$(GO) vet ./...
	$(GO) run $(STATICCHECK) ./...
	$(GO) test -count=1 ./internal/e2e/imports_test.go
	$(GO) mod tidy -diff
	$(GO) mod verify
	@if found=$$($(GO) run $(GOVULNCHECK) ./... 2>&1); then echo "govulncheck: nothing found"; \
	else case $$found in \
		*"fetching vulnerabilities"*) echo "govulncheck left out: its database cannot be reached from here";; \
		*) echo "$$found"; exit 1;; \
	esac; fi

fuzz: ## every fuzz target for FUZZTIME (10s) each
	@set -e; packages=$$($(GO) list ./...); for package in $$packages; do \
		listed=$$($(GO) test -list '^Fuzz' $$package); \
		for target in $$(echo "$$listed" | grep '^Fuzz'); do \
			echo "$$package $$target"; \
			$(GO) test -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 100x $$package; \
		done; \
	done

bench: ## speed against a bare loop; BENCHFLAGS go to the program
	$(GO) run ./internal/e2e/bench $(BENCHFLAGS)

microbench: ## parse, match, sign, append and the like, with allocations
	$(GO) test -run '^$$' -bench . -benchmem ./...

clean: ## what the other targets made
	rm -rf bin bench
