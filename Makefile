# Refit: the two commands of the README are `make demo` and `make test`.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

VERSION ?= v1.35.4
CONTROL_PLANES ?= 3
WORKERS ?= 2
NAME ?= refit

PRODUCT_VERSION := $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
LDFLAGS := -s -w -X refit.dev/refit/internal/buildinfo.Version=$(PRODUCT_VERSION)
GOBUILD := CGO_ENABLED=0 go build -trimpath -ldflags '$(LDFLAGS)'
TOOL := go tool -modfile=tools/go.mod
comma := ,
LINT := go tool -modfile=tools/lint/go.mod golangci-lint

##@ The product

.PHONY: build
build: ## Build the product's programs and the lab into bin/
	$(GOBUILD) -o bin/ ./cmd/...
	ln -sf refit bin/kubectl-refit
	cd lab && CGO_ENABLED=0 go build -trimpath -ldflags '-s -w' -o ../bin/ ./cmd/...

.PHONY: generate
generate: ## Write what is generated: deep copies, CRDs, the chart, the reference
	$(TOOL) controller-gen object paths=./api/... crd:generateEmbeddedObjectMeta=true paths=./api/... output:crd:artifacts:config=config/crd
	go generate ./...
	$(TOOL) crd-ref-docs --source-path=api --config=docs/reference/crd-ref-docs.yaml --templates-dir=docs/reference/templates \
	  --renderer=markdown --log-level=ERROR --output-path=docs/reference/kinds.md
	rm -rf docs/reference/commands
	go run ./cmd/refit docs docs/reference/commands

.PHONY: verify-generated
verify-generated: generate ## Fail when something generated is stale
	@if [ -n "$$(git status --porcelain -- api config charts docs/reference)" ]; then \
	  git --no-pager diff --stat -- api config charts docs/reference; \
	  git status --porcelain -- api config charts docs/reference; \
	  echo "Generated files are stale: run 'make generate' and commit the result."; exit 1; fi

.PHONY: lint
lint: ## Vet and lint the three modules; the linter also holds the direction of imports
	$(LINT) run ./...
	cd lab && go tool -modfile=../tools/lint/go.mod golangci-lint run --config ../.golangci.yml ./...
	cd test && go tool -modfile=../tools/lint/go.mod golangci-lint run --config ../.golangci.yml ./...

##@ Tests

.PHONY: test
test: build ## Unit, property and envtest tests, against the real kube-apiserver and etcd (built on first use)
	assets="$$(bin/lab parts --envtest)"; prometheus="$$(bin/lab parts --prometheus)/prometheus"; \
	KUBEBUILDER_ASSETS="$$assets" REFIT_PROMETHEUS="$$prometheus" go test ./...; \
	cd lab && go test ./...; \
	cd ../test && go vet ./... && go test ./load ./invariant ./bed ./openshift ./receive ./sim

.PHONY: e2e
e2e: build ## The real lab: the main job, the single node, and the faults that fit into CI
	cd test && go test ./e2e -count=1 -timeout=70m -v -run '$(or $(RUN),TestMainJob|TestSingleNode|TestMaintenanceWindow|TestFault)'

.PHONY: e2e-all
e2e-all: build ## Everything on the real lab
	cd test && go test ./e2e -count=1 -timeout=240m -v -all

.PHONY: bench
bench: build ## Refit against the same commands typed one after another: times and failed requests
	cd test && go run ./bench

.PHONY: sim
sim: build ## The real manager with simulated nodes, live: NODES=1000 FAIL=0.5 (percent of the nodes)
	cd test && go run ./sim --nodes=$(or $(NODES),1000) --fail=$(or $(FAIL),0.5) $(SIM_FLAGS)

.PHONY: bench-scale
bench-scale: build ## What 100, 1000 and 5000 nodes cost; NODES=1000 for one size, FAIL=0.5 with failures
	cd test && go run ./sim --bench --nodes=$(or $(NODES),100$(comma)1000$(comma)5000) --fail=$(or $(FAIL),0) \
	  --json=../bench-scale.json $(if $(NODES),,--plot=../docs/images/scale.svg) $(SIM_FLAGS)

##@ The lab

.PHONY: openshift
openshift: build ## A simulated OpenShift to play maintenance windows through: its API, its operators, and Refit's kinds
	cd test && go run ./openshift

.PHONY: demo
demo: build ## One control plane and two workers from v1.35.4 to v1.36.3, with an application that must not stop
	cd test && go run ./demo

.PHONY: lab-up
lab-up: build ## Bring up a cluster: CONTROL_PLANES=3 WORKERS=2 VERSION=v1.35.4 NAME=refit
	bin/lab up --name $(NAME) --control-planes $(CONTROL_PLANES) --workers $(WORKERS) --version $(VERSION)

.PHONY: lab-down
lab-down: build ## Remove the cluster NAME and everything of it
	bin/lab down --name $(NAME)

.PHONY: lab-status
lab-status: build ## Show the cluster NAME
	bin/lab status --name $(NAME)

##@ Help

.PHONY: help
help: ## Show this
	@awk 'BEGIN {FS = ":.*## "} /^##@/ {printf "\n%s\n", substr($$0, 5)} /^[a-z0-9-]+:.*## / {printf "  %-18s %s\n", $$1, $$2}' $(MAKEFILE_LIST)
