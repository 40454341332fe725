PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed

.PHONY: demo test lint format clean

demo: $(INSTALLED)  ## Compare the EDF scenario; ends with the table and the path of the report.
	rm -rf demo-results
	$(BIN)/rebecsim compare for_edf --out demo-results

test: lint  ## Everything that CI runs: lint, types, import contracts, tests with coverage.
	$(BIN)/pytest -n auto -m large --no-cov
	$(BIN)/pytest -n auto -m "not large" --cov --cov-report=term:skip-covered

lint: $(INSTALLED)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(INSTALLED)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

$(INSTALLED): setup.cfg pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit("rebecsim needs Python 3.11 or newer; try: make PYTHON=python3.12 ..." if sys.version_info < (3, 11) else 0)'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check --editable '.[test]'
	touch $@

clean:
	rm -rf $(VENV) build demo-results .coverage* .mypy_cache .pytest_cache .ruff_cache .hypothesis *.egg-info
