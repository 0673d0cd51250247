# Every target does its own set-up. All it takes is make and a Python from 3.11 up.
#   make demo    a real evaluation on the example corpus
#   make test    what a change must pass: lint, types, tests
# Variables: PYTHON=/path/to/python   PYTEST_ARGS="-k ndcg"
#   TEST_EXTRAS=test leaves out the tests that need torch, test-sas insists on them

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-builtin-rules --no-print-directory

VENV := .venv
LOWEST := .venv-lowest
BIN := $(VENV)/bin/python
PYTHON ?=
PYTEST_ARGS ?=
# One process for each core; PYTEST_ARGS="-n 0" for one alone, where a debugger works.
PARALLEL := -n auto --dist worksteal
# auto: test-sas where torch is to be had, which the constraints pin for Python 3.11; else test.
TEST_EXTRAS ?= auto

export HAYSTACK_TELEMETRY_ENABLED := False
export PIP_DISABLE_PIP_VERSION_CHECK := 1
export UV_PYTHON_DOWNLOADS := never
# A caller's own filters would decide what the tests see; pyproject.toml does.
unexport PYTHONWARNINGS
# A caller's PYTHONPATH could put other code before the environment's.
unexport PYTHONPATH

comma := ,
TEST_STAMP := $(VENV)/.installed-$(subst $(comma),-,$(TEST_EXTRAS))
BENCH_STAMP := $(VENV)/.installed-bench
PACKAGE_STAMP := $(VENV)/.installed-package
NEEDS := pyproject.toml constraints.txt haystack_eval_ext/_version.py

# Prints the first Python that runs and is new enough. Version managers leave shims of Pythons that do not run,
# and hold Pythons that have no shim: so each candidate is tried. $(1): versions looked for, $(2): the condition.
define find_python
find_python() { \
  for candidate in $(1); do \
    if "$$candidate" -c 'import sys; sys.exit(not ($(2)))' >/dev/null 2>&1; then printf '%s\n' "$$candidate"; return 0; fi; \
  done; \
  return 1; \
}
endef
candidates = python$(1) "$${HOME:-/}"/.pyenv/versions/$(1).*/bin/python
ANY_PYTHON := $(if $(PYTHON),"$(PYTHON)",python3 $(foreach v,3.13 3.12 3.11,$(call candidates,$(v))))

# $(1): the environment's Python, $(2): what to install. uv takes seconds where pip takes minutes.
# It may be missing, or fail where pip does not: no folder for its cache, a certificate or mirror that pip alone knows.
define install
$(BIN) -m uv pip install --quiet --python $(1) -c constraints.txt $(2) || { \
  echo "uv cannot install here: going on with pip, which takes minutes." >&2; \
  $(1) -m pip install --quiet -c constraints.txt $(2); \
}
endef

# torch by pip: it also looks in the local folders that its configuration names, uv does not.
TORCH_FIRST := $(BIN) -m pip install --quiet -c constraints.txt torch

# An environment serves when it runs and was made for this folder (a copied one would test the folder it came from).
serves = $(1)/bin/python -c '' 2>/dev/null && grep -qsF "$(CURDIR)/$(1)" $(1)/bin/activate

.PHONY: help
help:
	@echo "demo         run, score, diagnose and compare two RAG pipelines over the example corpus"
	@echo "test         lint, types and the tests"
	@echo "fmt          format the code and repair what ruff can repair"
	@echo "lint types   one part of 'test'"
	@echo "test-slow    the long simulations and fault runs"
	@echo "test-local-judge  the judged pipelines with a real model at JUDGE_URL"
	@echo "test-lowest  the tests on the lowest direct dependencies"
	@echo "test-all     the tests on every Python from 3.11 to 3.13 that is found"
	@echo "bench        speed against the peers"
	@echo "clean        remove environments, caches and builds"

ifneq ($(shell $(call serves,$(VENV)) && echo yes),yes)
.PHONY: $(VENV)/.created
endif
$(VENV)/.created:
	@$(call find_python,$(ANY_PYTHON),sys.version_info >= (3$(comma) 11)); \
	if ! { $(call serves,$(VENV)); }; then \
	  python=$$(find_python) || { echo "No Python 3.11 or newer found. Install one, or name one: make PYTHON=/path/to/python" >&2; exit 1; }; \
	  echo "Making $(VENV) with $$("$$python" --version)"; \
	  rm -rf $(VENV); \
	  "$$python" -m venv $(VENV) || { rm -rf $(VENV); echo "The module venv is missing (Debian and Ubuntu: apt-get install python3-venv)." >&2; exit 1; }; \
	fi
	@$(BIN) -m uv --version >/dev/null 2>&1 || $(BIN) -m pip install --quiet uv \
	  || echo "uv cannot be installed here." >&2
	@touch $@

$(PACKAGE_STAMP): $(VENV)/.created $(NEEDS)
	@echo "Installing haystack-eval-ext"
	@$(call install,$(BIN),-e .)
	@touch $@

$(TEST_STAMP): $(VENV)/.created $(NEEDS)
	@extras=$(TEST_EXTRAS); \
	if [ $$extras = auto ]; then \
	  if $(BIN) -c 'import sys; sys.exit(sys.version_info[:2] != (3, 11))'; then extras=test-sas; else extras=test; fi; \
	fi; \
	echo "Installing haystack-eval-ext[$$extras]"; \
	if [[ $$extras = *sas* ]] && ! $(TORCH_FIRST); then \
	  [ $(TEST_EXTRAS) = auto ] || exit 1; \
	  echo "torch cannot be had here: the tests of SASEvaluator are left out." >&2; extras=test; \
	fi; \
	$(call install,$(BIN),-e ".[$$extras]")
	@touch $@

$(BENCH_STAMP): $(VENV)/.created $(NEEDS)
	@echo "Installing haystack-eval-ext[bench]"
	@$(call install,$(BIN),-e '.[bench]')
	@touch $@

.PHONY: demo
demo: $(PACKAGE_STAMP)
	@$(BIN) examples/demo.py

.PHONY: test
test: lint types
	$(BIN) -m pytest -q $(PARALLEL) $(PYTEST_ARGS)

.PHONY: lint
lint: $(TEST_STAMP)
	$(BIN) -m ruff check .
	$(BIN) -m ruff format --check .

.PHONY: types
types: $(TEST_STAMP)
	$(BIN) -m mypy

.PHONY: fmt
fmt: $(TEST_STAMP)
	$(BIN) -m ruff check --fix .
	$(BIN) -m ruff format .

# pytest exits with 5 when no test is marked slow.
.PHONY: test-slow
test-slow: $(TEST_STAMP)
	$(BIN) -m pytest -q -m slow $(PARALLEL) $(PYTEST_ARGS) || { code=$$?; [ $$code -eq 5 ] || exit $$code; }

# The shipped pipelines with a real model, on any server that speaks OpenAI's protocol.
JUDGE_URL ?= http://127.0.0.1:8080/v1
.PHONY: test-local-judge
test-local-judge: $(TEST_STAMP)
	JUDGE_URL=$(JUDGE_URL) $(BIN) -m pytest -q tests/test_local_judge.py $(PYTEST_ARGS)

# The direct dependencies at their lower bounds, everything else at the newest that goes with them.
$(LOWEST)/.installed-test: $(VENV)/.created $(NEEDS)
	@$(BIN) -m uv --version >/dev/null || { echo "test-lowest needs uv: pip cannot choose lowest versions." >&2; exit 1; }
	@$(call find_python,$(if $(PYTHON),"$(PYTHON)",$(call candidates,3.11) $(BIN)),sys.version_info >= (3$(comma) 11)); \
	python=$$(find_python); rm -rf $(LOWEST); "$$python" -m venv $(LOWEST)
	@$(BIN) -m uv pip compile --quiet --no-deps --resolution lowest-direct --python $(LOWEST)/bin/python \
	  --no-header --no-annotate pyproject.toml -o $(LOWEST)/lowest.txt
	@echo "Lowest versions:" $$(cat $(LOWEST)/lowest.txt)
	@$(call install,$(LOWEST)/bin/python,-c $(LOWEST)/lowest.txt -e '.[test]')
	@touch $@

.PHONY: test-lowest
test-lowest: $(LOWEST)/.installed-test
	$(LOWEST)/bin/python -m pytest -q $(PARALLEL) $(PYTEST_ARGS)

.PHONY: test-all
test-all: $(foreach v,3.11 3.12 3.13,test-python-$(v))

# torch comes in wheels for some Pythons only: [sas] is left out here.
test-python-%: $(VENV)/.created
	@$(call find_python,$(call candidates,$*),sys.version_info[:2] == tuple(map(int$(comma) "$*".split(".")))); \
	if ! python=$$(find_python); then echo "Python $*: not found, left out"; exit 0; fi; \
	if ! { $(call serves,.venv-$*); }; then rm -rf .venv-$*; "$$python" -m venv .venv-$*; fi; \
	echo "Python $*: $$(.venv-$*/bin/python --version)"; \
	$(call install,.venv-$*/bin/python,-e '.[test]'); \
	.venv-$*/bin/python -m pytest -q $(PARALLEL) $(PYTEST_ARGS)

.PHONY: bench
bench: $(BENCH_STAMP)
	@$(BIN) benchmarks/import_cost.py
	@$(BIN) benchmarks/retrieval.py

.PHONY: clean
clean:
	rm -rf .venv .venv-* build dist .hypothesis .mypy_cache .pytest_cache .ruff_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
