# The two commands: `make demo` and `make test`. Everything is installed into .venv, except what `system` does for the tests.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
SOURCES := src tests benchmarks experiments
unexport PYTHONDONTWRITEBYTECODE  # each start of the program would compile its modules again, for half a second

.DEFAULT_GOAL := help
.PHONY: help demo web test test-long system check format experiments bench campaign clean

help:  ## show the targets
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 13

demo: $(VENV)/.runs  ## publish the built-in table and show the result
	$(BIN)/betalike demo

web: $(VENV)/.web  ## show the local page that leads from a table to a verified release
	$(BIN)/betalike web

# Three processes keep two cores busy, so libraries take one thread in each. Jobs of the page are nice too: they would wait for
# tests that are not.
test: $(VENV)/.tests system build/axe  ## run the tests of every behaviour
	$(BIN)/python -m experiments.warming
	POLARS_MAX_THREADS=1 OPENBLAS_NUM_THREADS=1 nice -n 19 $(BIN)/python -m pytest -n 3 --dist loadgroup

test-long: $(VENV)/.tests system  ## run the exhaustive tests that `make test` leaves out
	$(BIN)/python -m experiments.warming
	HYPOTHESIS_PROFILE=long nice -n 19 $(BIN)/python -m pytest -n 3 --dist loadgroup -m long

system:  ## a browser and a PostgreSQL server for the tests, where this is Debian, run as root, and they are missing
	@if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
		for part in chromium postgresql; do \
			dpkg -s $$part >/dev/null 2>&1 || missing="$$missing $$part"; \
		done; \
		[ -z "$$missing" ] || { apt-get update -qq; DEBIAN_FRONTEND=noninteractive apt-get install -y -qq $$missing >/dev/null; } || \
			echo "could not install$$missing: tests that need them are skipped" >&2; \
	fi

build/axe:  # checks the page for what keeps people out; its test is skipped without it
	@command -v npm >/dev/null && npm install --prefix $@ --no-save --no-package-lock --silent axe-core@4 >/dev/null || \
		echo "axe-core is not installed: the test of accessibility is skipped" >&2

check: $(VENV)/.tests  ## formatting, linting and types
	$(BIN)/ruff format --check $(SOURCES)
	$(BIN)/ruff check $(SOURCES)
	$(BIN)/mypy

format: $(VENV)/.tests  ## bring the sources into the common format
	$(BIN)/ruff format $(SOURCES)
	$(BIN)/ruff check --fix $(SOURCES)

experiments: $(VENV)/.tests  ## the paper's figures again, for docs/evaluation.md; QUICK=1 in build/experiments
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

$(VENV)/.web: pyproject.toml constraints.txt | $(BIN)/python
	$(PIP) install --constraint constraints.txt --editable '.[web,excel,stats,sql,report]'
	@touch $@ $(VENV)/.runs

$(VENV)/.campaign: $(VENV)/.tests
	-$(PIP) install --constraint constraints.txt --editable '.[campaign]' || \
		echo "atheris cannot be installed here: the fuzzing goes on without it" >&2
	@touch $@

$(VENV)/.tests: pyproject.toml constraints.txt | $(BIN)/python
	$(PIP) install --constraint constraints.txt --editable '.[test,check]'
	@touch $@ $(VENV)/.runs
