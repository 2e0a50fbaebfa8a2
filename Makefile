# The two commands: `make demo` and `make test`. Everything is installed into .venv; nothing else is touched.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
SOURCES := src tests benchmarks experiments

.DEFAULT_GOAL := help
.PHONY: help demo test test-long check format experiments bench campaign clean

help:  ## show the targets
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 13

demo: $(VENV)/.runs  ## publish the built-in table and show the result
	$(BIN)/betalike demo

test: $(VENV)/.tests  ## run the tests of every behaviour
	$(BIN)/python -m experiments.warming
	$(BIN)/python -m pytest -n 2 --dist loadgroup

test-long: $(VENV)/.tests  ## run the exhaustive tests that `make test` leaves out
	$(BIN)/python -m experiments.warming
	HYPOTHESIS_PROFILE=long $(BIN)/python -m pytest -n 2 --dist loadgroup -m long

check: $(VENV)/.tests  ## formatting, linting and types
	$(BIN)/ruff format --check $(SOURCES)
	$(BIN)/ruff check $(SOURCES)
	$(BIN)/mypy

format: $(VENV)/.tests  ## bring the sources into the common format
	$(BIN)/ruff format $(SOURCES)
	$(BIN)/ruff check --fix $(SOURCES)

experiments: $(VENV)/.tests  ## the paper's figures anew, for docs/evaluation.md; QUICK=1 in build/experiments
	$(BIN)/python -m experiments $(if $(QUICK),--quick)

bench: $(VENV)/.tests  ## measure time and memory against a yardstick in the same run
	$(BIN)/python -m benchmarks

campaign: $(VENV)/.campaign  ## random plans, releases and fuzzed inputs, checked by code apart, for HOURS=1; findings in build
	$(BIN)/python -m tests.campaign.whole --hours $(or $(HOURS),1)

clean:  ## remove the virtual environment and everything generated
	rm -rf $(VENV) build betalike-demo .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "betalike needs Python 3.11 or later; name one: make PYTHON=python3.12 ..." >&2; exit 2; }
	$(PYTHON) -m venv $(VENV)

$(VENV)/.runs: pyproject.toml constraints.txt | $(BIN)/python
	$(PIP) install --constraint constraints.txt --editable .
	@touch $@

$(VENV)/.campaign: $(VENV)/.tests
	-$(PIP) install --constraint constraints.txt --editable '.[campaign]' || \
		echo "atheris cannot be installed here: the fuzzing goes on without it" >&2
	@touch $@

$(VENV)/.tests: pyproject.toml constraints.txt | $(BIN)/python
	$(PIP) install --constraint constraints.txt --editable '.[test,check]'
	@touch $@ $(VENV)/.runs
