# Two commands for a newcomer: make demo, make test. Each sets up .venv with pip on its first run.

PYTHON ?= python3
BIN := .venv/bin
LOCK := requirements.lock
# two processes with a thread each, on two cores; the processes that tests start find compiled modules
TEST_ENVIRONMENT := OMP_NUM_THREADS=1 PYTHONDONTWRITEBYTECODE=

.PHONY: demo test check docs format benchmarks clean

# A model is explained first; then the paper is reproduced, on a synthetic cohort and with its own network only.
demo: .venv/demo.stamp
	@$(BIN)/python examples/read_a_classifier.py run/demo/report.html
	@$(BIN)/hornbook reproduce --scale quick -o run/demo/paper

test: check

# Reports are tested in Chromium where it and its driver are; elsewhere those tests skip.
check: .venv/test.stamp
	$(BIN)/ruff format --check
	$(BIN)/ruff check
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/vulture
	$(TEST_ENVIRONMENT) $(BIN)/python -m pytest -n 2 --dist=worksteal

docs: .venv/docs.stamp
	$(BIN)/zensical build --strict

format: .venv/test.stamp
	$(BIN)/ruff format
	$(BIN)/ruff check --fix

benchmarks: .venv/test.stamp
	for script in closure learning extraction; do $(BIN)/python benchmarks/$$script.py; done

clean:
	rm -rf .venv

.venv/bin/python:
	$(PYTHON) -m venv .venv

.venv/demo.stamp: .venv/bin/python pyproject.toml $(LOCK)
	$(BIN)/pip install --quiet --constraint $(LOCK) --editable ".[torch]"
	touch $@

.venv/docs.stamp: .venv/bin/python pyproject.toml $(LOCK)
	$(BIN)/pip install --quiet --constraint $(LOCK) --editable ".[docs]"
	touch $@

.venv/test.stamp: .venv/bin/python pyproject.toml $(LOCK)
	$(BIN)/pip install --quiet --constraint $(LOCK) --editable ".[test]"
	touch $@
