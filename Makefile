# Two commands for a newcomer: make demo, make test. Each sets up .venv with pip on its first run.

PYTHON ?= python3
BIN := .venv/bin
LOCK := requirements.lock

.PHONY: demo test check browser docs format benchmarks clean

demo: .venv/demo.stamp
	$(BIN)/hornbook reproduce --scale quick -o run/demo

test: check

check: .venv/test.stamp browser
	$(BIN)/ruff format --check
	$(BIN)/ruff check
	$(BIN)/mypy
	$(BIN)/lint-imports
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 --dist=worksteal  # two processes with a thread each, on two cores

# Reports are tested in Chromium. Where it is absent and may not be installed, those tests skip.
browser:
	@command -v chromium >/dev/null && command -v chromedriver >/dev/null || \
	if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
		apt-get update -qq && DEBIAN_FRONTEND=noninteractive \
		apt-get install -y -qq --no-install-recommends chromium chromium-driver >/dev/null || \
		echo "Chromium could not be installed: the tests of reports in a browser will skip"; \
	else echo "no Chromium here: the tests of reports in a browser will skip"; fi

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
	$(BIN)/pip install --quiet --constraint $(LOCK) --editable ".[river,torch]"
	touch $@

.venv/docs.stamp: .venv/bin/python pyproject.toml $(LOCK)
	$(BIN)/pip install --quiet --constraint $(LOCK) --editable ".[docs]"
	touch $@

.venv/test.stamp: .venv/bin/python pyproject.toml $(LOCK)
	$(BIN)/pip install --quiet --constraint $(LOCK) --editable ".[test]"
	touch $@
