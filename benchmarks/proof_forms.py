"""Hold verdicts about columns against the model itself, for each kind of model and form of table.

    PYTHONPATH=tests/shared python benchmarks/proof_forms.py [questions]

First against whole domains; then about rows of single precision next to another decision.
"""

import sys
import warnings
from collections import Counter

import numpy as np
from column_zoo import CASES, examine, examine_close

NAMES = ("proved", "refuted", "undecided", "refused", "not fitted", "wrong")
CLOSE_KINDS = ("regression", "scaled regression", "perceptron")


def write_row(kind: str, form: str, counts: Counter[str], note: str = "") -> None:
    """Print one row of the table."""
    print(f"{kind:26} {form:22}", *(f"{counts[name]:10}" for name in NAMES), note[:160], flush=True)


def main() -> None:
    warnings.simplefilter("ignore")
    questions = int(sys.argv[1]) if len(sys.argv) > 1 else 60
    total: Counter[str] = Counter()
    print(f"{'kind':26} {'form':22}", *(f"{name:>10}" for name in NAMES))
    for kind, form in CASES:
        counts, reason = examine(kind, form, questions)
        total += counts
        write_row(kind, form, counts, reason if counts["refused"] or counts["undecided"] else "")
    write_row("all", "", total)
    for kind in CLOSE_KINDS:
        for trained_in in (np.float64, np.float32):
            parts = [examine_close(kind, trained_in, 10, seed) for seed in range(3)]
            write_row(kind, f"close, {trained_in.__name__}", sum(parts, Counter()))


if __name__ == "__main__":
    main()
