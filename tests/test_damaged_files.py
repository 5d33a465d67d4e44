"""Whatever happens to the bytes of a model, a theory or a file of a run, it is read, or refused in one
line; many more cases are run by `benchmarks/fuzz.py`."""

import multiprocessing
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool

import pytest
from fuzzing import try_case
from fuzzing_others import OTHER_FORMATS

CASES = {
    "trace": 10,
    "run-extraction": 15,
    "run-config": 20,
    "run-metrics": 20,
    "run-report": 10,
    "run-rules": 2,
    "run-seconds": 2,
    "xgboost": 12,
    "xgboost-binary": 10,
    "lightgbm": 3,
}

UNREAD = ("run-rules", "run-seconds")
"""Files that are written for people; no command reads them."""


BOOSTERS = ("xgboost", "xgboost-binary", "lightgbm")
"""Files whose libraries may end the process, though they did not when the file was tried."""


@pytest.mark.parametrize(
    "name", [name for name in OTHER_FORMATS if name not in ("keras", "skops", *BOOSTERS)]
)
def test_damaged_file_is_read_or_refused_in_one_line(name, tmp_path):
    assert try_case(OTHER_FORMATS[name], 0, tmp_path) == "read"
    outcomes = Counter(
        try_case(OTHER_FORMATS[name], case, tmp_path) for case in range(1, CASES.get(name, 60))
    )
    assert set(outcomes) <= {"read", "refused"} and (outcomes["refused"] or name in UNREAD)


@pytest.mark.parametrize("name", BOOSTERS)
def test_damaged_booster_is_read_or_refused_or_ends_the_process_of_its_library(name, tmp_path):
    """Nearly all files that end a process do so when they are tried, and are refused."""
    outcomes = Counter(_try_elsewhere(name, range(CASES[name]), tmp_path))
    assert set(outcomes) <= {"read", "refused", "ended"}
    assert outcomes["read"] and outcomes["refused"] and outcomes["ended"] <= 2


def _try_elsewhere(name, cases, folder):
    """The outcome of each case in a process of its own, which is started again where it ends."""
    left = list(cases)
    while left:
        with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as process:
            try:
                while left:
                    yield process.submit(_try_named_case, name, left[0], folder).result()
                    left.pop(0)
            except BrokenProcessPool:
                left.pop(0)
                yield "ended"


def _try_named_case(name, case, folder):
    return try_case(OTHER_FORMATS[name], case, folder)
