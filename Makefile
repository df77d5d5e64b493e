# The main commands are `make audit` and `make test`. Both install their requirements.
VENV   := .venv
BIN    := $(VENV)/bin
PYTHON ?= python3
JOBS   ?= auto
BROWSER := tests/browser/node_modules/axe-core/axe.min.js
COMPILERS := $(VENV)/compilers
BUILD := $(VENV)/build
YAML_LS := tests/editor/node_modules/yaml-language-server/package.json

SHELL  := /bin/bash -o pipefail

.DEFAULT_GOAL := help
.PHONY: help audit quick test check full all durations kernels explore schemas rooms screens bundle wheel lock gpu-check gpu-check-bundle clean

help:
	@echo "make audit   audit a simulated rack by h100-dgx, then this machine by linux-server"
	@echo "make quick   the cheap tests, for every change"
	@echo "make test    those and more, each up to half a second"
	@echo "make full    the other tests: long properties, the wheel"
	@echo "make all     every test once; SHARE=2/4: all cheap ones, and of the dear ones a share, as in CI"
	@echo "make check   types, lint, imports, generated files"
	@echo "make durations  measure the time of each test, which decides its tier"
	@echo "make bundle  wheels and an install script for machines without a network"
	@echo "make wheel   the wheel, the same bytes from every build"
	@echo "make lock    renew the locked versions of CI and of the bundle"
	@echo "make gpu-check  compare the GPU probes with nvidia-smi, on a machine with NVIDIA GPUs; needs only python3"
	@echo "make kernels compile the burn-in's kernels"
	@echo "make explore the property tests on new random cases"
	@echo "make rooms   the picture of packages and imports in docs/design/architecture.md"
	@echo "make screens the pictures of the screens in docs/screens"

# Runtime only: what a user installs. With CI set, exactly the files of the lock.
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check
quiet = 2>&1 | { grep -v '^WARNING: Location' || true; }
LOCK := .ci/requirements.txt
ours = $(PIP) -e '.$(1)' $(quiet)
ifdef CI
ours = { $(PIP) --require-hashes -r $(LOCK) && $(PIP) --no-deps --no-build-isolation -e .; } $(quiet)
endif

$(VENV)/.runtime: pyproject.toml $(LOCK)
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "python3 >= 3.11 is needed; try make PYTHON=python3.12 $(MAKECMDGOALS)"; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "setting up $(VENV) (once)"
	@$(call ours)
	@$(BIN)/python -c 'import rackcheck, rackcheck_probes'
	@touch $@

$(VENV)/.dev: $(VENV)/.runtime
	@$(call ours,[dev])
	@$(BIN)/python -c 'import hypothesis, pytest'
	@touch $@

# Findings (1) and unknowns (3) are results about the machines, not failures of this command.
audit: $(VENV)/.runtime
	@$(call judged,--rack sim:dgx-h100 -p h100-dgx)
	@echo
	@$(call judged,localhost -p linux-server)

judged = $(BIN)/rackcheck audit $(1); status=$$?; \
	case $$status in 0|1|3) ;; *) echo "rackcheck ended with $$status"; exit $$status ;; esac

quick test: $(VENV)/.dev
	@$(BIN)/pytest -q -n $(JOBS) $(DIST) --tier $@

check: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	@$(MAKE) --no-print-directory schemas && git diff --exit-code --stat schemas docs/reference/facts.md docs/guide/tui.md

# Each process takes the next module when it is done, the most expensive first, so that no fixture is made twice.
DIST := --dist loadfile --no-loadscope-reorder

all: TESTS := $(if $(SHARE),--share $(SHARE))
full: TESTS := --tier full
full: export RACKCHECK_DEEP := 1
durations: TESTS := --measure
full all durations: $(VENV)/.dev $(BROWSER) $(YAML_LS) $(COMPILERS)/.there
	@PYTHONPATH=$(CURDIR)/$(COMPILERS) RACKCHECK_CUDA_WHEELS=$(CURDIR)/$(COMPILERS) $(BIN)/pytest -q -n $(JOBS) $(DIST) $(TESTS)

# The compilers of the burn-in's kernels, in pinned versions: every build has the same bytes.
$(COMPILERS)/.there: $(VENV)/.dev .ci/compilers.txt
	@rm -rf $(COMPILERS) # pip leaves a folder that exists as it is, so a new wheel would add nothing to it
	@$(PIP) --no-deps --require-hashes --target $(COMPILERS) -r .ci/compilers.txt 2>&1 | { grep -v '^WARNING' || true; }
	@touch $@

# Compile the kernels after a change of their sources.
kernels: $(COMPILERS)/.there
	@PYTHONPATH=$(CURDIR)/$(COMPILERS) $(BIN)/python -m rackcheck.burnin.kernels.build_cpu
	@$(BIN)/python -m rackcheck.burnin.kernels.build_gpu $(COMPILERS)

# axe-core, for the tests of the report in a real browser; without npm those tests are reported as skipped.
$(BROWSER): tests/browser/package-lock.json
	@command -v npm >/dev/null && npm ci --silent --no-audit --no-fund --prefix tests/browser || echo "no npm: the browser's tests are skipped"

# The YAML language server, for the tests of the schemas; without npm those tests are reported as skipped.
$(YAML_LS): tests/editor/package-lock.json
	@command -v npm >/dev/null && npm ci --silent --no-audit --no-fund --prefix tests/editor || echo "no npm: the editor's tests are skipped"

explore: $(VENV)/.dev
	@RACKCHECK_EXPLORE=1 $(BIN)/pytest -q -n $(JOBS) $(DIST) -m "not slow"

schemas: $(VENV)/.runtime
	@$(BIN)/python -m rackcheck.profile.schema schemas
	@$(BIN)/python -m rackcheck.profile.editor schemas
	@$(BIN)/python -m rackcheck.sim.shape schemas
	@$(BIN)/python -m rackcheck.report.record_schema schemas
	@$(BIN)/python -m rackcheck.report.facts_page docs/reference
	@$(BIN)/python -m rackcheck_tui.page docs/guide

rooms: $(VENV)/.dev
	@$(BIN)/python tests/support/rooms.py

# Audits a simulated rack, and renders its run without a terminal.
screens: $(VENV)/.runtime
	@$(BIN)/python -m rackcheck_tui.pictures docs/screens
	@sh docs/screens/outputs.sh $(BIN)/python docs/screens

# For the Python and the platform it is made on: the locked versions, our wheel, and an SBOM of all of them.
BUNDLE := dist/rackcheck-bundle
bundle: $(BUILD)/.there dist/.wheel
	@rm -rf $(BUNDLE) && mkdir -p $(BUNDLE)
	@$(BUILD)/bin/python -m pip wheel --quiet --disable-pip-version-check --require-hashes -r bundle/requirements.txt --wheel-dir $(BUNDLE)/wheels $(quiet)
	@cp dist/rackcheck-*.whl $(BUNDLE)/wheels/
	@$(BUILD)/bin/python bundle/sbom.py $(BUNDLE)/wheels > $(BUNDLE)/sbom.cdx.json
	@cp bundle/install.sh README.md LICENSE $(BUNDLE)/
	@cd $(BUNDLE) && sha256sum install.sh sbom.cdx.json wheels/* > SHA256SUMS
	@tar -C dist -czf $(BUNDLE).tar.gz rackcheck-bundle
	@echo "$(BUNDLE).tar.gz: copy it, unpack it, sh rackcheck-bundle/install.sh"

# The wheel depends on the sources and on the locked build tools alone: every build has the same bytes.
wheel: dist/.wheel
	@cd dist && sha256sum rackcheck-*.whl

.PHONY: dist/.wheel
dist/.wheel: $(BUILD)/.there
	@mkdir -p dist && rm -f dist/rackcheck-*.whl
	@$(BUILD)/bin/python -m pip wheel --quiet --disable-pip-version-check --no-deps --no-build-isolation --wheel-dir dist . $(quiet)

$(BUILD)/.there: bundle/build.txt
	@$(PYTHON) -m venv $(BUILD)
	@$(BUILD)/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r bundle/build.txt $(quiet)
	@touch $@

# Renew the locks: versions and hashes, without the address of an index.
UV = $(BUILD)/bin/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-annotate --no-header --upgrade
lock: $(BUILD)/.there
	@$(BUILD)/bin/python -m pip install --quiet --disable-pip-version-check uv
	@$(UV) --extra dev pyproject.toml bundle/build.in -o .ci/requirements.txt
	@$(UV) --extra keyring --extra pdf -c .ci/requirements.txt pyproject.toml -o bundle/requirements.txt
	@$(UV) -c .ci/requirements.txt bundle/build.in -o bundle/build.txt

# On a machine with NVIDIA GPUs and no network: nothing is installed, nothing is changed; the JSON can be committed.
gpu-check:
	@$(PYTHON) benchmarks/gpu_check.py -o gpu-check.json

gpu-check-bundle: $(VENV)/.runtime
	@mkdir -p dist/gpu-check && cp "$$($(BIN)/python -c 'import pynvml; print(pynvml.__file__)')" dist/gpu-check/pynvml.py
	@tar -czf dist/gpu-check.tar.gz --exclude=__pycache__ rackcheck probes benchmarks/gpu_*.py dist/gpu-check Makefile
	@echo "dist/gpu-check.tar.gz: copy it, unpack it, make gpu-check"

clean:
	rm -rf $(VENV) tests/browser/node_modules tests/editor/node_modules .mypy_cache .ruff_cache .pytest_cache .hypothesis dist build
