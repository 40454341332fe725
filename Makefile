PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed
# One more than there are processors: some tests wait for programs that they start.
WORKERS = $(shell $(PYTHON) -c 'import os; print((os.cpu_count() or 1) + 1)')

# Modules are compiled once, and not again by each process that a test starts.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo test test-all test-plain test-shared coverage docs lint style format clean

demo: $(INSTALLED)  ## Compare the EDF scenario; ends with the table and the path of the report.
	rm -rf demo-results
	$(BIN)/rebecsim compare for_edf --out demo-results

# Imports and types are checked beside the tests, as that uses one processor only; what is said of
# them comes last.
test: style  ## Lint, types, import contracts, all tests but slow ones.
	@echo '($(CHECKS)) &'; ($(CHECKS)) > $(VENV)/checks.log 2>&1 & checks=$$!; \
	echo '$(TEST)'; $(TEST); tests=$$?; \
	wait $$checks; checks=$$?; cat $(VENV)/checks.log; exit $$((tests | checks))

CHECKS = $(BIN)/lint-imports && $(BIN)/mypy
TEST = $(BIN)/pytest -n $(WORKERS) --dist worksteal -m "not slow"

test-all: PROFILE = thorough
test-all: lint test-plain  ## The same, the slow tests, more examples of dear properties, and those below.
	$(BIN)/pytest -n $(WORKERS) --dist worksteal --hypothesis-profile $(PROFILE)

PROFILE = quick
PLAIN = tests/native tests/exploration/compiled/test_serving.py tests/exploration/compiled/test_engines.py

test-plain: $(INSTALLED)  ## The engines again, as plain Python; Ctrl-C again, where it is ignored.
	NUMBA_DISABLE_JIT=1 $(BIN)/pytest -n $(WORKERS) --dist worksteal \
		--hypothesis-profile $(PROFILE) -m plain $(PLAIN)
	trap '' INT; $(BIN)/pytest tests/test_interrupts.py

test-shared: $(INSTALLED)  ## Only the tests that read ../shared/data, which may not be copied.
	$(BIN)/pytest -n $(WORKERS) --dist worksteal -m "shared and not slow"

coverage: $(INSTALLED)  ## Which lines the tests reach; without those that explore whole state spaces.
	$(BIN)/pytest -n $(WORKERS) -m "not large and not slow" --cov --cov-report=term:skip-covered

docs: $(INSTALLED)  ## Build the documentation site into site/.
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

lint: style
	$(BIN)/lint-imports
	$(BIN)/mypy

style: $(INSTALLED)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

format: $(INSTALLED)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

$(INSTALLED): setup.cfg pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit("rebecsim needs Python 3.11 or newer; try: make PYTHON=python3.12 ..." if sys.version_info < (3, 11) else 0)'
	@echo 'Setting up a virtual environment in $(VENV) ...'
	@$(PYTHON) -m venv $(VENV)
	@echo 'Installing rebecsim and what it needs there, about 600 MB; this takes a minute or two ...'
	@$(BIN)/pip install --disable-pip-version-check --progress-bar off --no-compile --editable '.[test,docs]' > $(VENV)/install.log 2>&1 \
		|| { cat $(VENV)/install.log; exit 1; }
	@$(BIN)/python -m compileall -qq -j 0 $(VENV)/lib || true  # by all processors; pip would use one
	@echo 'Installed. Later runs begin at once.'
	@touch $@

clean:
	rm -rf $(VENV) build site demo-results .coverage* .mypy_cache .pytest_cache .ruff_cache .hypothesis *.egg-info
