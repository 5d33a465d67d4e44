"""Hold verdicts about columns against the model itself, for each kind of model and form of table.

PYTHONPATH=tests/shared python benchmarks/proof_forms.py [questions]
"""

import sys
import warnings
from collections import Counter

from column_zoo import CASES, examine

NAMES = ("proved", "refuted", "undecided", "refused", "not fitted", "wrong")


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


if __name__ == "__main__":
    main()
