"""Puts the answer and the tables of a run of `hornbook reproduce` into docs/reproduction.md.

    hornbook reproduce --data hcc-survival.csv --scale paper --scan -o run/
    hornbook reproduce --data hcc-survival.csv --scale paper -o run/
    python benchmarks/reproduction.py run/

The answer with Table 2 stands between the first two markers of the document, all other tables below
the last one. What stands elsewhere is kept.
"""

import argparse
from pathlib import Path

DOCUMENT = Path(__file__).parents[1] / "docs" / "reproduction.md"
ANSWER = "<!-- the answer of a run, put here by benchmarks/reproduction.py -->\n"
ANSWER_END = "<!-- the end of the answer -->\n"
TABLES = "<!-- below: the tables of a run, put here by benchmarks/reproduction.py -->\n"
FIRST_TABLE = "## What holds\n"


def main() -> None:
    """Replace the answer and the tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("run", type=Path, help="the folder of the run")
    written = (parser.parse_args().run / "tables.md").read_text("utf-8")
    _, _, written = written.partition("\n")  # the document has a title of its own
    answer, heading, tables = written.partition(FIRST_TABLE)
    document = DOCUMENT.read_text("utf-8")
    if not all(marker in document for marker in (ANSWER, ANSWER_END, TABLES)):
        parser.error(f"{DOCUMENT} has lost one of its markers")
    above, _, rest = document.partition(ANSWER)
    _, _, rest = rest.partition(ANSWER_END)
    prose, _, _ = rest.partition(TABLES)
    parts = (above, ANSWER, answer, ANSWER_END, prose, TABLES, "\n", heading, tables)
    DOCUMENT.write_text("".join(parts), "utf-8")


if __name__ == "__main__":
    main()
