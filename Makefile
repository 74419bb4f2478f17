# Two commands do everything on a machine with Python and make: `make demo` and `make test`.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
LOCK := requirements/constraints.txt
PYTEST := $(BIN)/python -m pytest

.PHONY: demo test test-slow test-gpu lint format docs notebook bench casestudies peers lock clean check-style check-types check-layers check-tests check-uncompiled

demo: $(VENV)/.base
	@$(BIN)/labelrules demo

# Every check runs, whatever the others find; the last line names those that failed.
CHECKS := style types layers tests uncompiled

test: $(VENV)/.test
	@failed=""; \
	for check in $(CHECKS); do \
	  $(MAKE) --no-print-directory check-$$check || failed="$$failed $$check"; \
	done; \
	if [ -n "$$failed" ]; then echo "make test: failed:$$failed"; exit 1; fi; \
	echo "make test: passed: $(CHECKS)"

test-slow: $(VENV)/.test
	$(PYTEST) -n auto -m slow

# On a machine with a GPU: also install CuPy (labelrules[gpu]) into $(VENV); else all are skipped.
test-gpu: $(VENV)/.test
	$(PYTEST) -m gpu tests/gpu

lint: check-style check-types check-layers

check-style: $(VENV)/.test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

check-types: $(VENV)/.test
	$(BIN)/mypy

check-layers: $(VENV)/.test
	$(BIN)/lint-imports --no-logo

check-tests: $(VENV)/.test
	$(PYTEST) -n auto -m "not slow and not gpu"

# Again as plain Python: compiled code reads out of bounds without complaint.
check-uncompiled: $(VENV)/.test
	NUMBA_DISABLE_JIT=1 $(PYTEST) -n auto -m "not slow" tests/kernels

format: $(VENV)/.test
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

docs: $(VENV)/.docs
	$(BIN)/sphinx-build -W --keep-going -b html docs docs/_build/html

# The notebook with its results, from the script of the same name.
notebook: $(VENV)/.docs
	$(BIN)/jupytext --from py:percent --to ipynb --execute docs/notebooks/clinic.py

bench: $(VENV)/.test
	$(BIN)/python benchmarks/run.py

# The chapter's case studies: make casestudies DATA=folder; more options by CASESTUDIES="--quick".
DATA ?= $(or $(LABELRULES_DATA),../shared/data)

casestudies: $(VENV)/.base
	PYTHONPATH=benchmarks $(BIN)/python -m casestudies "$(DATA)" $(CASESTUDIES)

# Other programs beside ours, hours long; a run that was ended goes on, PEERS has options.
peers: $(VENV)/.test
	PYTHONPATH=benchmarks $(BIN)/python -m peers $(PEERS)

# Versions are pinned for every supported Python at once; uv is needed here only.
lock:
	uv pip compile --universal --python-version 3.11 --all-extras --no-emit-index-url \
	  --no-emit-find-links --no-annotate --no-header pyproject.toml requirements/build.in -o $(LOCK)

$(VENV)/.created:
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install -q -c $(LOCK) -r requirements/build.in
	@touch $@

$(VENV)/.base: $(VENV)/.created pyproject.toml $(LOCK)
	$(BIN)/python -m pip install -q -c $(LOCK) --no-build-isolation -e .
	@touch $@

$(VENV)/.test: $(VENV)/.base
	$(BIN)/python -m pip install -q -c $(LOCK) --no-build-isolation -e ".[test]"
	@touch $@

$(VENV)/.docs: $(VENV)/.test
	$(BIN)/python -m pip install -q -c $(LOCK) --no-build-isolation -e ".[docs]"
	@touch $@

clean:
	rm -rf $(VENV) docs/_build docs/api/generated docs/gallery .pytest_cache .mypy_cache .ruff_cache .hypothesis .records_cache
