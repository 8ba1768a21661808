# Two commands matter: `make matrix` and `make test`. `make help` lists the rest.
SHELL := /bin/bash
.DEFAULT_GOAL := help

MATRIX ?= matrix.yaml
NIGHTLY ?= nightly.yaml
RUNTIME ?= auto
RESULTS ?= results
ARGS ?=
# Of the published studies: which ones, and the folder with their datasets.
STUDIES ?= $(basename $(notdir $(wildcard studies/*.yaml)))
DATA ?=

VENV := .venv
BIN := $(VENV)/bin
ORCHESTRATOR := $(BIN)/orchestrator
# The first interpreter on PATH that is new enough for the orchestrator.
PYTHON ?= $(shell for python in python3 python3.13 python3.12 python3.11; do \
	$$python -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$python && break; done)

# Every installation takes the versions of locks/, and checks their hashes; where from is what pip's settings say.
INSTALL := $(BIN)/python -m pip install -qq --disable-pip-version-check
LOCKED := $(INSTALL) --require-hashes --only-binary :all:
NO_LOCKED := { echo "make: what locks/ names cannot be installed (see above); the package index or mirror has to have these versions as wheels" >&2; exit 3; }

$(VENV)/installed: pyproject.toml locks/build.txt locks/runtime.txt
	@test -n "$(PYTHON)" || { echo "make: no Python 3.11 or newer on PATH; install one, or say make PYTHON=/path/to/python" >&2; exit 3; }
	@$(BIN)/python -m pip --version >/dev/null 2>&1 || $(PYTHON) -m venv --clear $(VENV) || { echo "make: $(PYTHON) has no venv module (Debian: apt install python3-venv)" >&2; exit 3; }
	@echo 'installing what locks/ names into $(VENV) …'
	@$(LOCKED) -r locks/build.txt -r locks/runtime.txt || $(NO_LOCKED)
	@$(INSTALL) --no-deps --no-build-isolation --editable .
	@touch $@

$(VENV)/installed-dev: $(VENV)/installed locks/dev.txt
	@$(LOCKED) -r locks/dev.txt || $(NO_LOCKED)
	@touch $@

.PHONY: setup
setup: $(VENV)/installed ## install the command `orchestrator` into .venv, and say how to call it
	@echo "installed: call it as $(ORCHESTRATOR), or first: source $(BIN)/activate"

.PHONY: matrix
matrix: $(VENV)/installed ## set up, run matrix.yaml, print the table and where the page is
	$(ORCHESTRATOR) run -f $(MATRIX) --runtime $(RUNTIME) --results $(RESULTS) $(ARGS)
	@echo "for other commands: $(ORCHESTRATOR) --help, or first: source $(BIN)/activate"

.PHONY: plan
plan: $(VENV)/installed ## what would run, what is skipped and why
	$(ORCHESTRATOR) plan -f $(MATRIX) $(ARGS)

.PHONY: images
images: $(VENV)/installed ## build the images only
	$(ORCHESTRATOR) build -f $(MATRIX) $(ARGS)

.PHONY: bundle
bundle: docs ## all that a server without internet needs to run the matrix, with the documentation, in offline_bundle/
	$(ORCHESTRATOR) export --offline -f $(MATRIX) --docs build/site $(ARGS)

.PHONY: run
run: matrix ## the same as `make matrix`

.PHONY: report
report: $(VENV)/installed ## the table of the latest run again, and its page
	$(ORCHESTRATOR) report --results $(RESULTS) $(ARGS)

.PHONY: nightly
nightly: $(VENV)/installed ## measure what is new on the package index, as NIGHTLY (nightly.yaml) says
	$(ORCHESTRATOR) nightly -f $(NIGHTLY) $(ARGS)

# Two workers at least: many tests wait for processes. A file stays on one worker, some files together (tests/scheduling.py).
WORKERS ?= $(shell nproc | awk '{print $$1 < 2 ? 2 : $$1}')
# Tests are compiled once, not in each worker of each run, whatever the shell says of its own programs.
PYTEST := env --unset=PYTHONDONTWRITEBYTECODE $(BIN)/python -m pytest --numprocesses $(WORKERS) --no-loadscope-reorder

.PHONY: test
test: $(VENV)/installed-dev ## all tests that run in about twenty minutes; container tests where an engine answers
	$(PYTEST) -m "not slow" $(ARGS)

.PHONY: test-all
test-all: $(VENV)/installed-dev ## every test with all its random examples, hours on a small machine
	BENCH_ALL_EXAMPLES=1 $(PYTEST) $(ARGS)

.PHONY: test-gpu
test-gpu: $(VENV)/installed-dev ## the tests that need a GPU, with the PyTorch and JAX of PYTHON_GPU (python3), and no engine
	PYTHONPATH=$(CURDIR) BENCH_REQUIRE_GPU=1 $(or $(PYTHON_GPU),python3) -m pytest -m gpu tests/gpu $(ARGS)

.PHONY: test-slurm
test-slurm: $(VENV)/installed-dev ## the tests on a Slurm cluster that they make on this machine: as root, with Debian's packages
	BENCH_REQUIRE_SLURM=1 $(BIN)/python -m pytest -m slurm tests/slurm $(ARGS)

# Podman has no images of its own: it takes those that .ci/base-images has made.
PODMAN_USER ?= podman-tests
ON_PODMAN := ORCHESTRATOR_BASE_IMAGE='bench-base/python:{python}' BENCH_REQUIRE_ENGINE=1

.PHONY: test-podman
test-podman: $(VENV)/installed-dev ## the tests with containers on Debian's Podman, which is started as root
	host=$$(.ci/podman) && DOCKER_HOST=$$host $(ON_PODMAN) $(PYTEST) tests/docker -m "not slow" $(ARGS)

.PHONY: test-podman-rootless
test-podman-rootless: $(VENV)/installed-dev ## those that start no run, on a rootless Podman of PODMAN_USER
	host=$$(.ci/podman rootless $(PODMAN_USER)) && DOCKER_HOST=$$host $(ON_PODMAN) \
		$(PYTEST) tests/docker/test_limits_of_engines.py tests/docker/test_images.py $(ARGS)

.PHONY: lint
lint: style types docs ## format, lint, types, and the documentation without a dead link

.PHONY: style
style: $(VENV)/installed-dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .

.PHONY: types
types: $(VENV)/installed-dev
	$(BIN)/mypy

.PHONY: unit
unit: $(VENV)/installed-dev
	$(PYTEST) tests/unit tests/guard $(ARGS)

.PHONY: check
check: style ## lint, unit tests and the guard of what is said of stored runs
	@$(MAKE) --no-print-directory --jobs 2 types unit # mypy is silent to its end, and so may run beside the tests

.PHONY: bench
bench: $(VENV)/installed-dev ## measure the figures of docs/performance.md, docs/parity.md and docs/detection.md
	$(BIN)/python -m bench $(ARGS)

.PHONY: counts
counts: $(VENV)/installed ## how easily the code reads: files a folder, imports a file, names, docstrings
	$(BIN)/python -m bench.counts

.PHONY: man
man: $(VENV)/installed ## manual pages and completion scripts in share/, from the options of the commands
	$(BIN)/python -m orchestrator.cli.manual share

# Material for MkDocs says at each build that it has a successor.
MKDOCS := NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs

.PHONY: docs
docs: $(VENV)/installed-dev ## the documentation with its search, in build/site; a dead link is an error
	$(MKDOCS) build --strict
	@echo "open build/site/index.html"

.PHONY: docs-counts
docs-counts: docs ## how easily the documentation reads: words a page, long sentences, commands that no test runs
	$(BIN)/python -m bench.documentation.counts

COMPILE := $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --custom-compile-command "make lock"

.PHONY: lock
lock: $(VENV)/installed ## bring locks/ in line with pyproject.toml; ARGS=--upgrade takes the newest versions
	$(COMPILE) $(ARGS) pyproject.toml --output-file locks/runtime.txt
	$(COMPILE) $(ARGS) pyproject.toml --extra dev --extra docs --constraints locks/runtime.txt --output-file locks/dev.txt
	$(BIN)/python -c 'import tomllib; print(*tomllib.load(open("pyproject.toml", "rb"))["build-system"]["requires"], sep="\n")' \
		| $(COMPILE) $(ARGS) - --constraints locks/runtime.txt --output-file locks/build.txt

.PHONY: studies-data
studies-data: $(VENV)/installed ## stand-ins for the datasets of the published studies that the folder DATA lacks
	@for study in $(STUDIES); do $(ORCHESTRATOR) data -f studies/$$study.yaml --data $(or $(DATA),data) --stand-in || exit; done

# A study that has a run goes on with it, so that what was interrupted is taken up again, unless its file is newer.
.PHONY: studies-quick
studies-quick: $(VENV)/installed ## a smoke run of every published study, one after the other, in RESULTS/studies
	@failed=; for study in $(STUDIES); do \
		folder=$(RESULTS)/studies/$$study; \
		last=$$(ls $$folder/*/run.json 2>/dev/null | tail -1); \
		if [ -n "$$last" ] && [ "$$last" -nt studies/$$study.yaml ]; then what="--resume latest"; \
		else what="-f studies/$$study.yaml --quick $(if $(DATA),--data $(DATA))"; fi; \
		echo "== $$study: $$what"; \
		$(ORCHESTRATOR) run $$what --runtime $(RUNTIME) --results $$folder $(ARGS) || failed="$$failed $$study"; \
	done; test -z "$$failed" || { echo "make: not all is ok in:$$failed" >&2; exit 1; }

.PHONY: studies-page
studies-page: $(VENV)/installed ## docs/studies.md from the runs kept in docs/studies and those in RESULTS/studies
	$(BIN)/python -m bench.studies $(wildcard docs/studies/*.tar.zst $(RESULTS)/studies) $(ARGS)

.PHONY: clean
clean: ## remove what tools leave in the tree, and .venv; results and images stay
	rm -rf $(VENV) build dist .coverage .mypy_cache .pytest_cache .ruff_cache .hypothesis *.egg-info
	find orchestrator benchmarks bench tests -name __pycache__ -type d -prune -exec rm -rf {} +

.PHONY: help
help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-13s %s\n", $$1, $$2}' $(MAKEFILE_LIST)
	@echo "  variables: MATRIX=$(MATRIX) RUNTIME=$(RUNTIME) RESULTS=$(RESULTS) ARGS='--select mxnet-*'"
