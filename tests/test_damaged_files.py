"""Whatever happens to the bytes of a model, a theory or a file of a run, it is read, or refused in one
line; many more cases are run by `benchmarks/fuzz.py`."""

from collections import Counter

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
}

UNREAD = ("run-rules", "run-seconds")
"""Files that are written for people; no command reads them."""


BOOSTERS = ("xgboost", "xgboost-binary", "lightgbm")
"""Files whose libraries trust them: a damaged one may end the process."""


@pytest.mark.parametrize(
    "name", [name for name in OTHER_FORMATS if name not in ("keras", "skops", *BOOSTERS)]
)
def test_damaged_file_is_read_or_refused_in_one_line(name, tmp_path):
    assert try_case(OTHER_FORMATS[name], 0, tmp_path) == "read"
    outcomes = Counter(
        try_case(OTHER_FORMATS[name], case, tmp_path) for case in range(1, CASES.get(name, 60))
    )
    assert set(outcomes) <= {"read", "refused"} and (outcomes["refused"] or name in UNREAD)
