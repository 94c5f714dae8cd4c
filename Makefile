# Two commands for newcomers: `make run`, `make test`. `make help` lists the rest.
PYTHON ?= python3
BIN := .venv/bin
PROJECT := examples/quickstart

.DEFAULT_GOAL := help
.PHONY: help install run test test-real check format bench conformance docs frontend requirements clean

help:  ## This list
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*##/\t/' | expand -t 14

.venv/runtime: requirements/runtime.txt requirements/build.txt pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Homeport needs Python 3.11 or newer; name one with: make PYTHON=python3.12")'
	@$(PYTHON) -c 'import venv, ensurepip' 2>/dev/null || { echo "This Python has no venv; on Debian and Ubuntu: apt install python3-venv"; exit 1; }
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --disable-pip-version-check --require-hashes -r requirements/runtime.txt -r requirements/build.txt
	$(BIN)/pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $@

.venv/dev: .venv/runtime requirements/dev.txt
	$(BIN)/pip install --quiet --disable-pip-version-check --require-hashes -r requirements/dev.txt
	@touch $@

install: .venv/runtime  ## Make .venv, install pinned dependencies, agree to the quickstart project
	@$(BIN)/homeport trust --yes --quiet --project $(PROJECT)
	@$(BIN)/homeport sync --frozen --project $(PROJECT)

run: install  ## Gateway and console on the quickstart project
	@$(BIN)/homeport up --project $(PROJECT)

test: .venv/dev  ## The suite (at most 10 minutes on two cores)
	@scripts/browser.sh
	@scripts/as-user.sh $(BIN)/pytest -n 2 --dist worksteal -m "not real"

test-real: .venv/dev  ## Public servers, agents' programs, longer runs
	@scripts/as-user.sh $(BIN)/pytest -m real

check: .venv/dev  ## Format, lint, types, import contracts, generated files
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/basedpyright
	$(BIN)/lint-imports --no-cache
	$(BIN)/python scripts/reference.py --check
	@scripts/frontend.sh --check

format: .venv/dev  ## Write the format
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: .venv/dev  ## Ratios measured in one run; JSON in bench/results/
	$(BIN)/python -m bench

conformance: .venv/dev  ## The official suite through a running gateway, both revisions
	@$(BIN)/python -m tests.conformance

docs: .venv/dev  ## Write the reference pages out of the code
	$(BIN)/python scripts/reference.py

frontend:  ## Build the console's front end into the package
	@scripts/frontend.sh

requirements:  ## Compile requirements/*.in with hashes
	cd requirements && ../$(BIN)/uv pip compile -q --universal --python-version 3.11 --generate-hashes --no-header runtime.in -o runtime.txt
	cd requirements && ../$(BIN)/uv pip compile -q --universal --python-version 3.11 --generate-hashes --no-header dev.in -c runtime.txt -o dev.txt
	cd requirements && ../$(BIN)/uv pip compile -q --universal --python-version 3.11 --generate-hashes --no-header build.in -c dev.txt -o build.txt

clean:  ## Remove what was made
	rm -rf .venv .cache frontend/node_modules
