# Two commands on a fresh machine: `make demo` (the main job on a small legacy project) and `make test`.
# Each creates what it needs. PYTHON, VENV and TORCH may be given: `make test PYTHON=python3.12`.

PYTHON ?= python3
VENV ?= .venv
# Pinned so that the environment is the same everywhere; any torch >= 2.6 works.
TORCH ?= torch==2.13.0
ORACLES ?= .oracles
SITE ?= site
BIN := $(VENV)/bin
PYTEST_ARGS ?= -n 2 -q

.PHONY: help demo test lint types format corpus oracles oracle-tests docs clean

help:
	@echo "make demo          lint, run unchanged, upgrade and run the legacy project in examples/legacy"
	@echo "make test          the tests (about 5 minutes on two cores)"
	@echo "make lint types    ruff; mypy"
	@echo "make oracles       install real Lightning releases into $(ORACLES)/ to compare with"
	@echo "make oracle-tests  the tests that compare with them"
	@echo "make docs          build the docs site into site/"
	@echo "make corpus        run trainer-upgrade over public packages, write docs/corpus.md"

$(VENV)/.ready: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install -q --disable-pip-version-check "$(TORCH)"
	$(BIN)/python -m pip install -q --disable-pip-version-check "$(TORCH)" -e ".[train,dev]"
	touch $@

demo: $(VENV)/.ready
	$(BIN)/python scripts/demo.py

test: $(VENV)/.ready
	$(BIN)/python -m pytest $(PYTEST_ARGS) -m "not oracle and not corpus"

lint: $(VENV)/.ready
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.ready
	$(BIN)/mypy

format: $(VENV)/.ready
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

oracles: $(VENV)/.ready
	$(BIN)/python scripts/install_oracle.py --root $(ORACLES) --torch "$(TORCH)" 2.6.6 1.9.5 1.5.10

oracle-tests: oracles
	RELIGHT_ORACLE_2_6_6=$(abspath $(ORACLES))/2.6.6/bin/python \
	RELIGHT_ORACLE_1_9_5=$(abspath $(ORACLES))/1.9.5/bin/python \
	RELIGHT_ORACLE_1_5_10=$(abspath $(ORACLES))/1.5.10/bin/python \
	$(BIN)/python -m pytest $(PYTEST_ARGS) -m oracle

corpus: $(VENV)/.ready
	$(BIN)/python scripts/corpus.py

docs: $(VENV)/.ready
	$(BIN)/python -m pip install -q --disable-pip-version-check -e ".[docs]"
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet --strict --site-dir $(abspath $(SITE))

clean:
	rm -rf $(VENV) .corpus $(ORACLES) .mypy_cache .ruff_cache .pytest_cache build dist site
