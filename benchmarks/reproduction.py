"""Puts the tables of a run of `hornbook reproduce` into docs/reproduction.md.

    hornbook reproduce --data hcc-survival.csv --scale paper -o run/
    python benchmarks/reproduction.py run/

What stands above the marker in the document is kept, what stands below it is replaced.
"""

import argparse
from pathlib import Path

DOCUMENT = Path(__file__).parents[1] / "docs" / "reproduction.md"
MARKER = "<!-- below: the tables of a run, put here by benchmarks/reproduction.py -->\n"


def main() -> None:
    """Replace the tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("run", type=Path, help="the folder of the run")
    tables = (parser.parse_args().run / "tables.md").read_text("utf-8")
    _, _, below = tables.partition("\n")  # the document has a title of its own
    kept, marker, _ = DOCUMENT.read_text("utf-8").partition(MARKER)
    if not marker:
        parser.error(f"{DOCUMENT} has lost its marker: {MARKER}")
    DOCUMENT.write_text(kept + MARKER + below, "utf-8")


if __name__ == "__main__":
    main()
