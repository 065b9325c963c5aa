# Countersign. `make help` prints the targets. They need only Node and npm, and install everything else themselves.
SHELL := /bin/sh
.DEFAULT_GOAL := help
.PHONY: help install gen build up demo pictures conformance catalogue redrive packages test stress soak update-test deploy-test sbom lint check bench mutate migration clean

PNPM := npx --yes pnpm@12.21.0
TSC := node node_modules/typescript-7/bin/tsc
JEST = node $$(node tests/runner/node-flags.mjs --tests) node_modules/jest/bin/jest.js --showSeed
# Node 20 miscompiles inlined calls from JavaScript to WASM under load (V8 aborts in Prisma's query compiler).
# NODE_OPTIONS does not allow the flag against it, so the flag is here. The variable expands on use, so `make help`
# needs no Node.
RUN = exec node $$(node tests/runner/node-flags.mjs) --enable-source-maps

install_stamp := node_modules/.install-stamp
gen_stamp := node_modules/.gen-stamp
manifests := package.json pnpm-workspace.yaml $(wildcard contracts/package.json packages/*/package.json services/*/package.json infra/*/package.json tests/package.json)
config_schemas := $(wildcard packages/service-kit/src/*config*.ts packages/service-kit/src/listen-variables.ts infra/services/src/*.ts services/*/src/config.ts infra/local/src/*.ts)
console_site := packages/console/dist/site/index.html
report_page := packages/report/dist/bundle/page.js
report_sources := $(install_stamp) packages/report/vite.config.mjs \
	$(shell find packages/report/src contracts/src packages/crypto/src packages/policy/src packages/receipts/src packages/verifier/src -type f)
console_sources := $(install_stamp) packages/console/index.html packages/console/vite.config.mjs \
	$(shell find packages/console/src packages/console/scripts packages/console/icons contracts/src packages/crypto/src packages/policy/src packages/receipts/src packages/verifier/src -type f)
# The functions of the ledger are generated from its controls, which may be anywhere in the kernel.
ledger_sources := $(shell find services/governance-kernel/src -name generated -prune -o \( -name '*.ts' -o -name '*.sql' \) -print)
prisma_schemas := $(wildcard services/*/prisma/schema.prisma)

help: ## Print the targets
	@awk -F ':.*## ' '/^## / { printf "\n%s\n", substr($$0, 4) } /^[a-z-]+:.*## / { printf "  make %-11s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

# Every target rejects an old version of Node, even when everything is already built.
.PHONY: node-version
node-version:
	@node tests/runner/require-node.mjs

## Build
install: node-version $(install_stamp) ## Install the locked dependencies
$(install_stamp): pnpm-lock.yaml $(manifests) | node-version
	@echo 'Installing the locked dependencies'
	@CI=true $(PNPM) install --frozen-lockfile --reporter=append-only
	@touch $@

gen: node-version $(gen_stamp) ## Generate database clients, OpenAPI, JSON Schemas, ledger functions and reference pages; print changes of the API
$(gen_stamp): $(install_stamp) $(prisma_schemas) $(shell find contracts/src -name '*.ts') $(config_schemas) $(ledger_sources)
	@echo 'Generating database clients, contracts and reference pages'
	@if [ -n "$(prisma_schemas)" ]; then node packages/database/bin/generate-clients.mjs; fi
	@node contracts/scripts/describe-members.mjs
	@$(TSC) -b contracts
	@node contracts/scripts/generate.mjs
	@$(TSC) -b infra/local
	@node infra/local/scripts/generate.mjs
	@$(TSC) -b services/governance-kernel
	@node services/governance-kernel/scripts/generate.mjs
	@touch $@

build: node-version $(gen_stamp) ## Compile every package and service, and bundle the console and the evidence report
	@echo 'Compiling packages and services'
	@$(TSC) -b
	@$(MAKE) -s --no-print-directory $(console_site) $(report_page)

# The bundles are made from the compiled TypeScript, so they come after it. Unchanged bundles are not made again.
$(console_site): $(console_sources)
	@echo 'Bundling the console'
	@node packages/console/node_modules/vite/bin/vite.js build packages/console --logLevel warn

$(report_page): $(report_sources)
	@echo 'Bundling the evidence report'
	@node packages/report/node_modules/vite/bin/vite.js build packages/report --logLevel warn

clean: ## Remove built and generated files; keep the data of `make up`
	rm -rf dist contracts/dist packages/*/dist services/*/dist services/*/src/generated infra/*/dist tests/bench/dist coverage .stryker-tmp
	find contracts/openapi -name '*.json' ! -name hashes.json -delete
	rm -f $(gen_stamp) node_modules/.cache/check*.tsbuildinfo

## Run
up: build ## Run the whole system here; data in .countersign/ or GOV_DATA_DIR
	@eval "$$(node tests/runner/eval-record.mjs)"; $(RUN) infra/local/dist/main-up.js

demo: build ## Watch one agent being allowed, denied, escalated, budgeted and proven
	@$(RUN) infra/local/dist/main-demo.js

conformance: build ## Test that this make up, or another kernel, denies what it must deny: url= key=FILE scope= keys= out= json=1
	@$(RUN) infra/local/dist/main-conformance.js $(url) $(key:%=--key-file %) $(scope:%=--scope %) $(keys:%=--keys %) $(out:%=--out %) $(json:1=--json)

catalogue: build ## Sign a catalogue of connectors: key= out= from=
	@$(RUN) infra/local/dist/main-catalogue.js $(key:%=--key '%') $(out:%=--out '%') $(from:%=--from '%')

redrive: build ## List the queues with dead letters, and move these back: url= queue= message= move=1 json=1
	@$(RUN) infra/local/dist/main-redrive.js $(url:%=--url '%') $(queue:%=--queue '%') $(message:%=--message '%') $(move:1=--move) $(json:1=--json)

## Develop
test: build ## Run every test: level=unit|store|service|system changed=1 seed= files=
	@node tests/runner/run-tests.mjs $(level:%=--level=%) $(changed:1=--changed) $(seed:%=--seed=%) $(rerun:1=--rerun) $(files)

migration: build ## Write the next migration of a service from its tables and functions: service= name=
	@node tests/runner/migration.mjs '$(service)' '$(name)'

stress: build ## Repeat test files in random order on a slowed machine: files= times=20 load=2
	@node tests/runner/stress.mjs $(times:%=--times=%) $(load:%=--load=%) $(files)

lint: build ## Check formatting, types and words, and run ESLint
	node node_modules/prettier/bin/prettier.cjs --check --log-level warn .
	$(TSC) -p tsconfig.check.json
	$(TSC) -p packages/console/tests
	$(TSC) -p packages/report/tests
	@node tests/lint/words/main.mjs
	node tests/lint/run-eslint.mjs

check: lint ## Run lint, the architecture tests, and the check of generated files
	$(JEST) tests/architecture tests/spec

pictures: build ## Take the pictures in docs/images again, from a system with example data
	@$(RUN) tests/pictures/take-pictures.mjs

bench: build ## Measure the decision path and the gateway: only=RATIO against=COMMIT
	@node tests/runner/run-tests.mjs --bench $(only:%=--only %) $(against:%=--against %)

mutate: build ## Change one thing in the sources at a time and count the changes that tests detect: room= sample= seed= json= fresh=1
	CI=true $(PNPM) install --dir tests/mutation --ignore-workspace --frozen-lockfile --reporter=append-only
	@node tests/mutation/mutate.mjs $(room:%=--room %) $(sample:%=--sample %) $(seed:%=--seed %) $(json:%=--json %) $(fresh:1=--fresh)

## Release
packages: build ## Pack the commands for use without a checkout: dist/packages/*.tgz
	@node infra/packages/pack.mjs

soak: build ## Run the tests of size and time for many minutes, and record the result: before each release
	@node tests/runner/soak.mjs $(files)

update-test: build ## Run an earlier version and this one together on one database: from=COMMIT, or the last tag
	@UPDATE_TEST_FROM='$(from)' node tests/runner/run-tests.mjs --jest --testMatch '**/*.update.ts' --verbose

deploy-test: build ## Build the images and run the deployment in containers: needs podman, podman-compose, kubectl
	$(JEST) --testMatch '**/*.deploy.ts' --runInBand --verbose

sbom: install ## List the packages in each image and in the console, as CycloneDX files in infra/docker/dist
	@mkdir -p infra/docker/dist
	@for unit in $(patsubst services/%/package.json,%,$(wildcard services/*/package.json)) deploy console; do \
	  $(PNPM) --filter "@countersign/$$unit" sbom --prod --lockfile-only --sbom-format cyclonedx --sbom-type application \
	    --out "infra/docker/dist/$$unit.cdx.json" || exit 1; \
	done
