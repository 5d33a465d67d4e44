"""The zoo of small models that proofs are tested with: the verdicts on each, and how many are wrong.

    python benchmarks/proof_zoo.py

Every model reads four variables and is held against all its inputs. The models are those of
tests/shared/proof_zoo.py, honest ones first and then traps.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "tests" / "shared"))

from proof_zoo import HONEST, TRAPS, examine
from rich.console import Console
from rich.table import Table


def zoo_table() -> Table:
    """One line a model: verdicts, wrong ones, and who refused it."""
    table = Table("model", "proved", "refuted", "undecided", "wrong", "refused by", "reason", title="zoo")
    wrong = 0
    for name in (*HONEST, *TRAPS):
        found = examine(name)
        wrong += found.wrong
        counts = (found.proved, found.refuted, found.undecided, found.wrong)
        reason = found.reason.partition(": ")[2] or found.reason
        table.add_row(name, *map(str, counts), found.refused_by, reason)
    table.caption = f"{len(HONEST)} honest models, {len(TRAPS)} traps, {wrong} wrong verdicts"
    return table


if __name__ == "__main__":
    Console(width=220).print(zoo_table())
