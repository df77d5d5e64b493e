# Two commands matter: `make audit` and `make test`. Both set up what they need.
VENV   := .venv
BIN    := $(VENV)/bin
PYTHON ?= python3
JOBS   ?= auto
BROWSER := tests/browser/node_modules/axe-core/axe.min.js
COMPILERS := $(VENV)/compilers
YAML_LS := tests/editor/node_modules/yaml-language-server/package.json

.DEFAULT_GOAL := help
.PHONY: help audit quick test check full all durations kernels explore schemas rooms screens bundle gpu-check gpu-check-bundle clean

help:
	@echo "make audit   judge a simulated rack by h100-dgx, then this machine by linux-server"
	@echo "make quick   the tests that cost little, for every change"
	@echo "make test    these and more, each up to half a second"
	@echo "make full    the others: the long properties, the wheel"
	@echo "make all     every test once, as before a change lands"
	@echo "make check   types, lint, imports, generated files"
	@echo "make durations  measure what each test costs, which decides where it runs"
	@echo "make bundle  wheels and an install script for machines without a network"
	@echo "make gpu-check  hold the GPU probes against nvidia-smi, on a machine with NVIDIA GPUs; needs python3 alone"
	@echo "make kernels what a burn-in carries to a node, compiled anew"
	@echo "make explore the tests' properties on fresh cases"
	@echo "make rooms   the picture of the rooms and their arrows in docs/design/architecture.md"
	@echo "make screens the pictures of the screens in docs/screens"

# Runtime only: what a user installs.
$(VENV)/.runtime: pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "python3 >= 3.11 is needed; try make PYTHON=python3.12 $(MAKECMDGOALS)"; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "setting up $(VENV) (once)"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -e . 2>&1 | grep -v '^WARNING: Location' || true
	@$(BIN)/python -c 'import rackcheck, rackcheck_probes'
	@touch $@

$(VENV)/.dev: $(VENV)/.runtime
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev]' 2>&1 | grep -v '^WARNING: Location' || true
	@$(BIN)/python -c 'import hypothesis, pytest'
	@touch $@

# Findings (1) and unknowns (3) are answers about the machines, not failures of this command.
audit: $(VENV)/.runtime
	@$(call judged,--rack sim:dgx-h100 -p h100-dgx)
	@echo
	@$(call judged,localhost -p linux-server)

judged = $(BIN)/rackcheck audit $(1); status=$$?; \
	case $$status in 0|1|3) ;; *) echo "rackcheck ended with $$status"; exit $$status ;; esac

quick test: $(VENV)/.dev
	@$(BIN)/pytest -q -n $(JOBS) --dist worksteal --tier $@

check: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	@$(MAKE) --no-print-directory schemas && git diff --exit-code --stat schemas docs/reference/facts.md docs/guide/tui.md

full: TESTS := --tier full
durations: TESTS := --measure
full all durations: $(VENV)/.dev $(BROWSER) $(YAML_LS) $(COMPILERS)/.there
	@PYTHONPATH=$(CURDIR)/$(COMPILERS) RACKCHECK_CUDA_WHEELS=$(CURDIR)/$(COMPILERS) $(BIN)/pytest -q -n $(JOBS) --dist worksteal $(TESTS)

# The compilers that made the kernels of the burn-in, each of one version: whoever builds them anew gets the same bytes.
$(COMPILERS)/.there: $(VENV)/.dev
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --target $(COMPILERS) \
		ziglang==0.13.0 nvidia-cuda-nvrtc-cu12==12.0.140 nvidia-cuda-nvcc-cu12==12.2.140 2>&1 | grep -v '^WARNING' || true
	@touch $@

# Write them anew, after a change of their sources.
kernels: $(COMPILERS)/.there
	@PYTHONPATH=$(CURDIR)/$(COMPILERS) $(BIN)/python -m rackcheck.burnin.kernels.build_cpu
	@$(BIN)/python -m rackcheck.burnin.kernels.build_gpu $(COMPILERS)

# axe-core, for the tests of the report in a real browser; without npm those tests say that they were skipped.
$(BROWSER): tests/browser/package-lock.json
	@command -v npm >/dev/null && npm ci --silent --no-audit --no-fund --prefix tests/browser || echo "no npm: the browser's tests are skipped"

# The server that editors ask about YAML, for the tests of the schemas; without npm those tests say that they were skipped.
$(YAML_LS): tests/editor/package-lock.json
	@command -v npm >/dev/null && npm ci --silent --no-audit --no-fund --prefix tests/editor || echo "no npm: the editor's tests are skipped"

explore: $(VENV)/.dev
	@RACKCHECK_EXPLORE=1 $(BIN)/pytest -q -n $(JOBS) --dist worksteal -m "not slow"

schemas: $(VENV)/.runtime
	@$(BIN)/python -m rackcheck.profile.schema schemas
	@$(BIN)/python -m rackcheck.profile.editor schemas
	@$(BIN)/python -m rackcheck.sim.shape schemas
	@$(BIN)/python -m rackcheck.report.record_schema schemas
	@$(BIN)/python -m rackcheck.report.facts_page docs/reference
	@$(BIN)/python -m rackcheck_tui.page docs/guide

rooms: $(VENV)/.dev
	@$(BIN)/python tests/support/rooms.py

# A simulated rack is audited, and its run is shown without a terminal.
screens: $(VENV)/.runtime
	@$(BIN)/python -m rackcheck_tui.pictures docs/screens

# For the python and the platform it is made on.
BUNDLE := dist/rackcheck-bundle
bundle: $(VENV)/.runtime
	@rm -rf $(BUNDLE) && mkdir -p $(BUNDLE)
	@$(BIN)/python -m pip wheel --quiet --disable-pip-version-check --wheel-dir $(BUNDLE)/wheels '.[keyring,pdf]'
	@cp bundle/install.sh README.md LICENSE $(BUNDLE)/
	@cd $(BUNDLE) && sha256sum install.sh wheels/* > SHA256SUMS
	@tar -C dist -czf $(BUNDLE).tar.gz rackcheck-bundle
	@echo "$(BUNDLE).tar.gz: copy it, unpack it, sh rackcheck-bundle/install.sh"

# On a machine with NVIDIA GPUs and no network: nothing is installed, nothing is changed; the JSON is fit to commit.
gpu-check:
	@$(PYTHON) benchmarks/gpu_check.py -o gpu-check.json

gpu-check-bundle: $(VENV)/.runtime
	@mkdir -p dist/gpu-check && cp "$$($(BIN)/python -c 'import pynvml; print(pynvml.__file__)')" dist/gpu-check/pynvml.py
	@tar -czf dist/gpu-check.tar.gz --exclude=__pycache__ rackcheck probes benchmarks/gpu_*.py dist/gpu-check Makefile
	@echo "dist/gpu-check.tar.gz: copy it, unpack it, make gpu-check"

clean:
	rm -rf $(VENV) tests/browser/node_modules tests/editor/node_modules .mypy_cache .ruff_cache .pytest_cache .hypothesis dist build
