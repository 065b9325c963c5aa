# Countersign. `make help` prints the targets. Everything they need beyond Node and npm they bring themselves.
SHELL := /bin/sh
.DEFAULT_GOAL := help
.PHONY: help install gen build up demo pictures conformance catalogue redrive test stress soak update-test deploy-test sbom lint check bench mutate clean

PNPM := npx --yes pnpm@12.21.0
TSC := node node_modules/typescript-7/bin/tsc
JEST = node $$(node tests/runner/node-flags.mjs --tests) node_modules/jest/bin/jest.js --showSeed
# Node 20 miscompiles inlined calls from JavaScript to WASM under load (V8 aborts in Prisma's query compiler); NODE_OPTIONS
# refuses the flag, so it stands here. Read when used, so that `make help` needs no Node.
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
	$(shell find packages/console/src packages/console/scripts contracts/src packages/crypto/src packages/policy/src packages/receipts/src packages/verifier/src -type f)
# The functions of the ledger are generated from its controls, which may be anywhere in the kernel.
ledger_sources := $(shell find services/governance-kernel/src -name generated -prune -o \( -name '*.ts' -o -name '*.sql' \) -print)
prisma_schemas := $(wildcard services/*/prisma/schema.prisma)

help: ## Print the targets
	@awk -F ':.*## ' '/^## / { printf "\n%s\n", substr($$0, 4) } /^[a-z-]+:.*## / { printf "  make %-11s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

# A version that is too old is refused by every target, also where everything was built before.
.PHONY: node-version
node-version:
	@node tests/runner/require-node.mjs

## Build
install: node-version $(install_stamp) ## Install the locked dependencies
$(install_stamp): pnpm-lock.yaml $(manifests) | node-version
	@echo 'Installing the locked dependencies'
	@CI=true $(PNPM) install --frozen-lockfile --reporter=append-only
	@touch $@

gen: node-version $(gen_stamp) ## Generate database clients, OpenAPI, JSON Schemas, functions of the ledger and reference pages; print what changes in the API
$(gen_stamp): $(install_stamp) $(prisma_schemas) $(shell find contracts/src -name '*.ts') $(config_schemas) $(ledger_sources)
	@echo 'Generating database clients, contracts and reference pages'
	@if [ -n "$(prisma_schemas)" ]; then node packages/database/bin/generate-clients.mjs; fi
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

# Made of what TypeScript compiled, so it comes after that; nothing changed, nothing to do.
$(console_site): $(console_sources)
	@echo 'Bundling the console'
	@node packages/console/node_modules/vite/bin/vite.js build packages/console --logLevel warn

$(report_page): $(report_sources)
	@echo 'Bundling the evidence report'
	@node packages/report/node_modules/vite/bin/vite.js build packages/report --logLevel warn

clean: ## Remove what was built and generated; data of `make up` stays
	rm -rf contracts/dist packages/*/dist services/*/dist services/*/src/generated infra/*/dist tests/bench/dist coverage .stryker-tmp
	find contracts/openapi -name '*.json' ! -name hashes.json -delete
	rm -f $(gen_stamp) node_modules/.cache/check*.tsbuildinfo

## Run
up: build ## Run the whole system here; data in .countersign/ or GOV_DATA_DIR
	@eval "$$(node tests/runner/eval-record.mjs)"; $(RUN) infra/local/dist/main-up.js

demo: build ## Watch one agent being allowed, denied, escalated, budgeted and proven
	@$(RUN) infra/local/dist/main-demo.js

conformance: build ## Prove that this make up, or another kernel, denies what it must: url= key=FILE scope= keys= out= json=1
	@$(RUN) infra/local/dist/main-conformance.js $(url) $(key:%=--key-file %) $(scope:%=--scope %) $(keys:%=--keys %) $(out:%=--out %) $(json:1=--json)

catalogue: build ## Sign a catalogue of connectors: key= out= from=
	@$(RUN) infra/local/dist/main-catalogue.js $(key:%=--key '%') $(out:%=--out '%') $(from:%=--from '%')

redrive: build ## Tell which queues have dead letters, and move them back: url= queue= message= move=1 json=1
	@$(RUN) infra/local/dist/main-redrive.js $(url:%=--url '%') $(queue:%=--queue '%') $(message:%=--message '%') $(move:1=--move) $(json:1=--json)

## Develop
test: build ## Run every test: level=unit|store|service|system changed=1 seed= files=
	@node tests/runner/run-tests.mjs $(level:%=--level=%) $(changed:1=--changed) $(seed:%=--seed=%) $(rerun:1=--rerun) $(files)

stress: build ## Repeat test files in random order on a slowed machine: files= times=20 load=2
	@node tests/runner/stress.mjs $(times:%=--times=%) $(load:%=--load=%) $(files)

lint: build ## Formatting, types, words, lint
	node node_modules/prettier/bin/prettier.cjs --check --log-level warn .
	$(TSC) -p tsconfig.check.json
	$(TSC) -p packages/console/tests
	$(TSC) -p packages/report/tests
	@node tests/lint/words/main.mjs
	node tests/lint/run-eslint.mjs

check: lint ## The same, architecture, and drift of generated files
	$(JEST) tests/architecture tests/spec

pictures: build ## Take the pictures of docs/images anew, of a system that plays a story
	@$(RUN) tests/pictures/take-pictures.mjs

bench: build ## Measure the decision path and the gateway against bare floors on this machine
	@node tests/runner/run-tests.mjs --bench

mutate: build ## Change the sources one thing at a time and count what tests notice: room= sample= seed= json= fresh=1
	CI=true $(PNPM) install --dir tests/mutation --ignore-workspace --frozen-lockfile --reporter=append-only
	@node tests/mutation/mutate.mjs $(room:%=--room %) $(sample:%=--sample %) $(seed:%=--seed %) $(json:%=--json %) $(fresh:1=--fresh)

## Release
soak: build ## Run the tests that fill databases and storm services for many minutes, and record it: before each release
	@node tests/runner/soak.mjs $(files)

update-test: build ## Run an earlier version and this one at once over one database: from=COMMIT, or the last tag
	@UPDATE_TEST_FROM='$(from)' node tests/runner/run-tests.mjs --jest --testMatch '**/*.update.ts' --verbose

deploy-test: build ## Build the images and run the deployment in containers: needs podman, podman-compose, kubectl
	$(JEST) --testMatch '**/*.deploy.ts' --runInBand --verbose

sbom: install ## Tell what each image holds besides Node: CycloneDX, in infra/docker/dist
	@mkdir -p infra/docker/dist
	@for unit in $(patsubst services/%/package.json,%,$(wildcard services/*/package.json)) deploy; do \
	  $(PNPM) --filter "@countersign/$$unit" sbom --prod --lockfile-only --sbom-format cyclonedx --sbom-type application \
	    --out "infra/docker/dist/$$unit.cdx.json" || exit 1; \
	done
