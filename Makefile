# make run    sets everything up and starts the platform on http://127.0.0.1:8005
# make test   sets everything up and runs the tests, with their own PostgreSQL and Redis
# make check  format, lint, types, import rules and tests: what CI runs

PYTHON ?= $(firstword $(foreach p,python3.11 python3 python3.12 python3.13,$(if $(shell $(p) -c 'import sys; print(1 if sys.version_info >= (3, 11) else "")' 2>/dev/null),$(p))))
BIN := .venv/bin
.DEFAULT_GOAL := help
.PHONY: help run test check format lint lock snapshots bench fuzz wheel clean install install-dev install-bench python

help: ## list what can be made
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 14

python:
	@test -n "$(PYTHON)" || { echo "setup: Python 3.11 or newer is needed and was not found; set PYTHON=/path/to/python3.11"; exit 1; }

install-bench: python
	@$(PYTHON) scripts/install.py bench

install: python
	@$(PYTHON) scripts/install.py run

install-dev: python
	@$(PYTHON) scripts/install.py dev

run: install ## set everything up and start the platform
	@exec $(BIN)/crawler up

test: install-dev ## set everything up and run the tests on SQLite and on PostgreSQL
	@scripts/test

check: install-dev lint test ## what CI runs

lint: install-dev ## format check, ruff, mypy, import rules
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: install-dev ## format the code and sort imports
	$(BIN)/ruff check --fix --select I .
	$(BIN)/ruff format .

bench: install-bench ## measure beside peers and print ratios; wants a quiet machine
	@$(BIN)/python -m benchmarks $(ARGS)

FUZZ_SECONDS ?= 600
fuzz: install-bench ## run every fuzz target for FUZZ_SECONDS (600)
	@for target in tests/fuzz/fuzz_*.py; do \
	  echo "== $$target"; $(BIN)/python $$target -max_total_time=$(FUZZ_SECONDS) -print_final_stats=0 -verbosity=0 || exit 1; done

snapshots: install-dev ## record the OpenAPI description after a wanted change
	$(BIN)/python scripts/snapshots.py

lock: install-dev ## pin the dependencies anew
	scripts/lock

wheel: install-dev ## build the wheel into dist/
	$(BIN)/python -m hatchling build -t wheel -d dist

clean: ## remove the environment and caches; var/ (your data) stays
	rm -rf .venv .venv.lock dist build .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
