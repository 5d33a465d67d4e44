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
    "onnx": 8,
    "xgboost": 8,
    "xgboost-binary": 8,
    "lightgbm": 3,
}

UNREAD = ("run-rules", "run-report", "run-seconds")
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


def test_damaged_boosters_are_read_or_refused_or_end_the_process_of_their_library(tmp_path):
    """Nearly all files that end a process do so when they are tried, and are refused."""
    cases = [(name, case) for name in BOOSTERS for case in range(CASES[name])]
    outcomes = {name: Counter() for name in BOOSTERS}
    for booster, outcome in _try_elsewhere(cases, tmp_path):
        outcomes[booster][outcome] += 1
    for own in outcomes.values():
        assert set(own) <= {"read", "refused", "ended"}
        assert own["read"] and own["refused"] and own["ended"] <= 2


def _try_elsewhere(left, folder):
    """Each file with the outcome of its case in another process, which is started again where it ends."""
    while left:
        with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as process:
            try:
                while left:
                    yield left[0][0], process.submit(_try_named_case, *left[0], folder).result()
                    left.pop(0)
            except BrokenProcessPool:
                yield left.pop(0)[0], "ended"


def _try_named_case(name, case, folder):
    return try_case(OTHER_FORMATS[name], case, folder)
