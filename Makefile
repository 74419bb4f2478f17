# Two commands do everything on a machine with Python and make: `make demo` and `make test`.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
LOCK := requirements/constraints.txt
PYTEST := $(BIN)/python -m pytest

.PHONY: demo test test-slow lint format docs bench lock clean

demo: $(VENV)/.base
	@$(BIN)/labelrules demo

# The compiled kernels are checked twice: compiled code reads out of bounds without complaint.
test: lint
	$(PYTEST) -n auto -m "not slow"
	NUMBA_DISABLE_JIT=1 $(PYTEST) -n auto -m "not slow" tests/kernels

test-slow: $(VENV)/.test
	$(PYTEST) -n auto -m slow

lint: $(VENV)/.test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo

format: $(VENV)/.test
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

docs: $(VENV)/.docs
	$(BIN)/sphinx-build -W --keep-going -b html docs docs/_build/html

bench: $(VENV)/.test
	$(BIN)/python benchmarks/run.py

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
	rm -rf $(VENV) docs/_build .pytest_cache .mypy_cache .ruff_cache .hypothesis
