# Every verb of the repository. `make` alone tells them.

SHELL := bash
.SHELLFLAGS := -eu -o pipefail -c
MAKEFLAGS += --warn-undefined-variables --no-builtin-rules
.DELETE_ON_ERROR:
.DEFAULT_GOAL := help

PYTHON ?= python3
CORPUS ?=
NAME ?=
ARGS ?=

BIN := .venv/bin
INSTALLED := .venv/.installed
ORACLES := .venv-oracles/.installed
RAY := .venv-ray/.installed
PAGE := .venv/.page
COMPILED := .venv-compiled/.installed
WHEEL := dist/.built
SOURCES := $(shell find python/interlingua -name '*.py')
CONFORMANCE := $(BIN)/python conformance/runner
PLUG := $(BIN)/python -m interlingua plug
# what the compiler lays out the code of the released wheel by
TRAINING = cd $(CURDIR) && $(CONFORMANCE) run --quiet -- $(PLUG)
# buf and the generators start `python` and `ruff` by name
export PATH := $(CURDIR)/$(BIN):$(PATH)
# hundreds of processes are started: where an environment forbids bytecode, each would compile the package again
export PYTHONDONTWRITEBYTECODE :=

.PHONY: help
help: ## tell the verbs
	@echo "usage: make VERB"
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /\1\t/' | while IFS=$$'\t' read -r verb text; do printf '  %-12s %s\n' "$$verb" "$$text"; done

# ------------------------------------------------------------------------------------------------ installing

.PHONY: install
install: $(INSTALLED) ## make the virtual environment, with all that the verbs below need

$(INSTALLED): python/pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	# pip knows dependency groups since 25.1
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade 'pip>=25.1'
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable 'python[server,cli,images,postgresql,parquet,otel]' \
	    --group python/pyproject.toml:gen --group python/pyproject.toml:test --group python/pyproject.toml:lint
	touch $@

$(PAGE): $(INSTALLED)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --group python/pyproject.toml:page
	touch $@

$(ORACLES): python/pyproject.toml
	test -x .venv-oracles/bin/python || $(PYTHON) -m venv .venv-oracles
	.venv-oracles/bin/python -m pip install --quiet --disable-pip-version-check --upgrade 'pip>=25.1'
	.venv-oracles/bin/python -m pip install --quiet --disable-pip-version-check --editable 'python[server]' \
	    --group python/pyproject.toml:oracles
	touch $@

$(RAY): python/pyproject.toml
	test -x .venv-ray/bin/python || $(PYTHON) -m venv .venv-ray
	.venv-ray/bin/python -m pip install --quiet --disable-pip-version-check --upgrade 'pip>=25.1'
	.venv-ray/bin/python -m pip install --quiet --disable-pip-version-check --editable 'python[parquet]' \
	    --group python/pyproject.toml:ray
	touch $@

# the wheel as it is released: built from the source archive, so that nothing compiled lands beside the sources
$(WHEEL): python/pyproject.toml python/hatch_build.py $(SOURCES) | $(INSTALLED)
	test -x .venv-compiled/bin/python || $(PYTHON) -m venv .venv-compiled
	.venv-compiled/bin/python -m pip install --quiet --disable-pip-version-check --upgrade 'pip>=25.1' 'build>=1.3'
	rm -rf dist && mkdir -p .cache
	HATCH_BUILD_HOOK_ENABLE_CUSTOM=1 INTERLINGUA_TRAINING='$(TRAINING)' .venv-compiled/bin/python -m build --outdir dist python \
	    > .cache/wheel.log 2>&1 || { grep -m 1 '^interlingua: ' .cache/wheel.log >&2 || cat .cache/wheel.log >&2; exit 1; }
	touch $@

$(COMPILED): $(WHEEL)
	wheel=$$(echo dist/*.whl) && .venv-compiled/bin/python -m pip install --quiet --disable-pip-version-check \
	    --force-reinstall "$$wheel[server,cli,images,postgresql,parquet,otel]" --group python/pyproject.toml:test
	touch $@

.PHONY: wheel
wheel: $(WHEEL) ## build the compiled wheel to hand out, into dist/; TRAINING= leaves out the profile
	@ls dist/*.whl

# ------------------------------------------------------------------------------------------------ seeing it work

.PHONY: demo
demo: $(INSTALLED) ## see it work, without a key and without a network
	$(BIN)/python -m interlingua.demo

# ------------------------------------------------------------------------------------------------ proving it

.PHONY: test
test: $(INSTALLED) ## run the tests, with a share of the longest laws, and the conformance suite
	$(BIN)/python -m pytest -q -n 3 tests $(ARGS)
	$(CONFORMANCE) run --quiet --jobs 2 --report report.jsonl -- $(PLUG)

.PHONY: test-all
test-all: $(INSTALLED) ## run the same with every law held against every case
	$(BIN)/python -m pytest -q -n 2 --whole tests $(ARGS)
	$(CONFORMANCE) run --quiet --jobs 2 --report report.jsonl -- $(PLUG)

.PHONY: conformance
conformance: $(INSTALLED) ## run the conformance suite against the reference; ARGS="-k PATTERN"
	$(CONFORMANCE) run --report report.jsonl $(ARGS) -- $(PLUG)

.PHONY: compiled
compiled: $(COMPILED) $(INSTALLED) ## build the compiled wheel, run the suite and the laws against it
	$(CONFORMANCE) run --quiet --jobs 2 $(ARGS) -- .venv-compiled/bin/python -m interlingua plug
	.venv-compiled/bin/python -m pytest -q -n 2 --whole tests/laws tests/adapters tests/canonical tests/wire tests/router tests/sessions

.PHONY: matrix
matrix: $(INSTALLED) ## run the suite and write what it found for each wire into conformance/matrix.md
	$(CONFORMANCE) run --quiet --report report.jsonl -- $(PLUG)
	{ printf '# What holds\n\nThe reference, by its last report: `make matrix`.\n\n'; $(CONFORMANCE) render --format markdown report.jsonl; } > conformance/matrix.md

.PHONY: mutants
mutants: $(INSTALLED) ## see whether the suite catches implementations that are broken on purpose
	$(CONFORMANCE) mutants $(ARGS)

.PHONY: suite-grpc
suite-grpc: $(INSTALLED) ## run the suite over gRPC against the server that ships
	mkdir -p .cache
	$(CONFORMANCE) run $(ARGS) --policy .cache/policy.json --serve -- \
	    $(BIN)/python -m interlingua serve --port 0 --retry none --log-level error --policy .cache/policy.json

.PHONY: clients
clients: $(INSTALLED) ## build and prove the clients of those languages whose toolchain is here; ARGS="go --no-suite"
	$(BIN)/python clients/run.py $(ARGS)

.PHONY: oracles
oracles: $(ORACLES) ## let the providers' own SDKs judge what we write; ARGS="-k PATTERN"
	.venv-oracles/bin/python -m pytest -q -c oracles/pytest.ini oracles $(ARGS)

.PHONY: sdks
sdks: $(ORACLES) ## let the providers' own SDKs be clients of a gateway, each with each wire behind; ARGS="-k PATTERN"
	.venv-oracles/bin/python -m pytest -q -c oracles/pytest.ini oracles/gateway $(ARGS)

.PHONY: sdk-drivers
sdk-drivers: $(ORACLES) ## install the providers' SDKs in JavaScript, Go and Java for `make sdks`, where node, go and java are
	.venv-oracles/bin/python -m oracles.gateway.install

.PHONY: agents
agents: $(ORACLES) ## lead coding agents through a task over a gateway, each with each wire behind; needs npm; ARGS="--agents claude"
	.venv-oracles/bin/python -m oracles.agents $(ARGS)

.PHONY: page
page: $(PAGE) ## drive the inspector page with a browser, Debian's chromium; ARGS="-k PATTERN"
	BROWSER=$$(command -v chromium || true) $(BIN)/python -m pytest -q -rs tests/page $(ARGS)

EDITED := $(addprefix tests/laws/test_,edits.py odd_wires.py answers.py)

.PHONY: fuzz
fuzz: $(INSTALLED) ## run the property tests at length
	FUZZ_SEED=$${FUZZ_SEED:-$$RANDOM} FUZZ_ROUNDS=$${FUZZ_ROUNDS:-100} $(BIN)/python -m pytest -q --timeout 3600 tests/laws/test_fuzz.py
	EDIT_SEED=$${EDIT_SEED:-$$RANDOM} EDIT_ROUNDS=$${EDIT_ROUNDS:-20} $(BIN)/python -m pytest -q -n 2 --whole --timeout 3600 $(EDITED)
	HYPOTHESIS_PROFILE=fuzz $(BIN)/python -m pytest -q -n 2 -m hypothesis --whole --timeout 3600 tests $(ARGS)

.PHONY: chaos
chaos: $(INSTALLED) ## send seeded calls over gRPC and each face of HTTP at providers that misbehave; ARGS="--runs 2000 --seed 1"
	PYTHONPATH=tests $(BIN)/python -m chaos $(ARGS)

.PHONY: crash
crash: $(INSTALLED) ## kill -9 what writes sessions, 200 times on each engine, and look; ARGS="--kills 50 --seed 1"
	PYTHONPATH=tests $(BIN)/python -m crash $(ARGS)

.PHONY: scale
scale: $(INSTALLED) ## kill servers of one database behind Envoy, 60 times under load, and look; ARGS="--kills 20 --seed 1"
	PYTHONPATH=tests $(BIN)/python -m scale $(ARGS)

.PHONY: ray
ray: $(RAY) ## run the recipe for many machines (examples/bulk.md) on a Ray of this one
	.venv-ray/bin/python -m pytest -q -c tests/machines/pytest.ini tests/machines $(ARGS)

.PHONY: corpus
corpus: $(INSTALLED) ## run recorded traffic through the adapters; CORPUS=FOLDER
	test -n '$(CORPUS)' || { echo 'say which: make corpus CORPUS=FOLDER' >&2; exit 2; }
	$(BIN)/python tools/corpus.py '$(CORPUS)' $(ARGS)

MEASURE = status=0; $(1) bench/start.py || status=$$?; $(1) bench/run.py $(ARGS) || status=$$?; $(1) bench/service.py || status=$$?; \
    $(1) bench/sessions.py || status=$$?; $(1) bench/bulk.py || status=$$?; exit $$status

RELAYS = $(1)/bin/python -m pip install --quiet --disable-pip-version-check --group python/pyproject.toml:bench

.venv/.bench: $(INSTALLED)
	$(call RELAYS,.venv)
	touch $@

.venv-compiled/.bench: $(COMPILED)
	$(call RELAYS,.venv-compiled)
	touch $@

.PHONY: bench
bench: $(COMPILED) .venv-compiled/.bench ## measure the compiled wheel, as ratios to the floor of one decode and one encode
	$(call MEASURE,.venv-compiled/bin/python)

.PHONY: bench-source
bench-source: $(INSTALLED) .venv/.bench ## measure the same of the plain source
	$(call MEASURE,$(BIN)/python)

.PHONY: check
check: check-wires check-python check-proto check-generated check-suite ## check form, types, contract and generated code; changes nothing

# first: what is still to be filled in of a new wire is the reason of all else that fails
.PHONY: check-wires
check-wires: $(INSTALLED)
	$(BIN)/python tools/new_adapter.py --check

.PHONY: check-python
check-python: $(INSTALLED)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/pyright --project python
	$(BIN)/python tools/compiled.py --check
	$(BIN)/python -m pytest -q tests/test_layers.py tests/test_public_api.py

.PHONY: check-proto
check-proto: $(INSTALLED)
	$(BIN)/buf format --diff --exit-code
	$(BIN)/buf lint
	$(BIN)/buf breaking --against proto/baseline.binpb
	$(BIN)/python -m pytest -q tests/test_parity.py

.PHONY: check-generated
check-generated: $(INSTALLED)
	$(BIN)/python tools/generate.py --check
	$(BIN)/python tools/generate_clients.py --check

.PHONY: check-suite
check-suite: $(INSTALLED)
	$(CONFORMANCE) lint
	$(CONFORMANCE) trace --strict > /dev/null

# ------------------------------------------------------------------------------------------------ changing it

.PHONY: generate
generate: $(INSTALLED) ## make all generated code again: schema to types, models, Protobuf, converter, gRPC, clients
	$(BIN)/python tools/generate.py
	$(BIN)/python tools/generate_clients.py

.PHONY: new-adapter
new-adapter: $(INSTALLED) ## lay out a new wire and list what is to be filled in; NAME=cohere_chat
	$(BIN)/python tools/new_adapter.py $(NAME)

.PHONY: format
format: $(INSTALLED) ## bring all files into form
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/buf format --write

.PHONY: baseline
baseline: $(INSTALLED) ## take the present Protobuf contract as the one that must not break (at a release)
	$(BIN)/buf build --exclude-source-info --output proto/baseline.binpb

.PHONY: freeze
freeze: $(INSTALLED) ## take the present must-checks as what a release demands (at a release); ARGS="1.0 --release YYYY-MM-DD"
	$(CONFORMANCE) freeze $(ARGS)

.PHONY: clean
clean: ## remove everything that can be made again, the virtual environment included
	rm -rf .venv .venv-oracles .venv-ray .venv-compiled .pytest_cache .ruff_cache .hypothesis .cache report.jsonl dist python/build python/dist python/*.egg-info clients/typescript/{dist,node_modules} clients/{rust,java}/target oracles/gateway/drivers/{javascript/node_modules,java/target}
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
