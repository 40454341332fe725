PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
FOR_DEMO := $(VENV)/.demo
INSTALLED := $(VENV)/.installed
# Passed on to pip, for example '--constraint tests/oldest.txt'.
PIP_OPTIONS =
# One more than there are processors: some tests wait for programs that they start.
WORKERS = $(shell $(PYTHON) -c 'import os; print((os.cpu_count() or 1) + 1)')

# Modules are compiled once, and not again by each process that a test starts.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo test test-all test-plain test-installed test-shared coverage docs playground pictures lint style format clean

demo: $(FOR_DEMO)  ## Compare the EDF scenario; ends with the table and the path of the report.
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
test-all: lint test-plain test-installed playground  ## The same, the slow tests, more examples of dear properties, and those below.
	$(BIN)/pytest -n $(WORKERS) --dist worksteal --hypothesis-profile $(PROFILE)
	newest=$$($(BIN)/python tests/installing/installation.py --newest) && \
		if [ "$$newest" != "$(PYTHON)" ]; then $(MAKE) test VENV=$(VENV)-newest PYTHON=$$newest; fi

PROFILE = quick
PLAIN = tests/native tests/exploration/compiled/test_serving.py tests/exploration/compiled/test_engines.py

test-plain: $(INSTALLED)  ## The engines again, as plain Python; Ctrl-C again, where it is ignored.
	NUMBA_DISABLE_JIT=1 $(BIN)/pytest -n $(WORKERS) --dist worksteal \
		--hypothesis-profile $(PROFILE) -m plain $(PLAIN)
	trap '' INT; $(BIN)/pytest tests/test_interrupts.py

test-installed:  ## As users install it: fresh environments, each Python there is, newest and oldest packages.
	$(PYTHON) tests/installing/installation.py
	$(PYTHON) tests/installing/installation.py --oldest

test-shared: $(INSTALLED)  ## Only the tests that read ../shared/data, which may not be copied.
	$(BIN)/pytest -n $(WORKERS) --dist worksteal -m "shared and not slow"

coverage: $(INSTALLED)  ## Which lines the tests reach; without those that explore whole state spaces.
	$(BIN)/pytest -n $(WORKERS) -m "not large and not slow" --cov --cov-report=term:skip-covered

docs: $(INSTALLED)  ## Build the documentation site into site/.
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

playground:  ## Build the page that runs models in its reader's browser; with npm, and after `make docs`.
	$(PYTHON) -m docs.playground.build site/playground

pictures: $(INSTALLED)  ## Pictures of all pages, wide and narrow, light and dark, in pictures/.
	$(BIN)/python -m tests.web.pictures pictures

lint: style
	$(BIN)/lint-imports
	$(BIN)/mypy

style: $(INSTALLED)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

format: $(INSTALLED)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# The environment is made once. What the demo takes is installed first, the rest when it is needed.
$(FOR_DEMO): setup.cfg pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit("rebecsim needs Python 3.11 or newer; try: make PYTHON=python3.12 ..." if sys.version_info < (3, 11) else 0)'
	@echo 'Installing what the demo needs in $(VENV): some 500 MB, above all pyarrow, scipy and matplotlib.'
	@echo 'Left out: the compiler (numba), SQL (duckdb), the browser pages, and what tests need.'
	@$(PYTHON) -m venv $(VENV)
	@$(call INSTALL,.[reports])
	@touch $@

$(INSTALLED): $(FOR_DEMO) setup.cfg pyproject.toml
	@echo 'Installing what the tests and documents need in $(VENV): 1,100 MB more, above all numba, ortools and mypy.'
	@$(call INSTALL,.[test$(comma)docs])
	@$(BIN)/python -m compileall -qq -j 0 $(VENV)/lib || true  # by all processors; pip would use one
	@touch $@

comma := ,
# Names each package that is fetched; all that pip says is in a file, which is shown if it fails.
define INSTALL
{ $(BIN)/pip install --disable-pip-version-check --progress-bar off --no-compile $(PIP_OPTIONS) --editable '$(1)' 2>&1; \
	echo $$? > $(VENV)/status; } | tee $(VENV)/install.log \
	| sed -nE 's/^ *(Downloading|Using cached) ([^ ]+-[^ ]+) (\(.* MB\)).*/  \2 \3/p'; \
	[ "$$(cat $(VENV)/status)" = 0 ] || { cat $(VENV)/install.log; exit 1; }; \
	echo "Installed: $$(du -sm $(VENV) | cut -f1) MB in all."
endef

clean:
	rm -rf $(VENV) build site demo-results pictures .coverage* .mypy_cache .pytest_cache .ruff_cache .hypothesis *.egg-info
