"""Tables of words and figures, told apart from how they are shown."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Table:
    """A titled table, and what a reader should know of it."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str = ""

    def to_markdown(self) -> str:
        """The table as Markdown, under a heading.

        Examples
        --------
        >>> print(Table("Animals", ("name", "legs"), (("horse", "4"),)).to_markdown())
        ## Animals
        <BLANKLINE>
        | name | legs |
        |---|---|
        | horse | 4 |
        <BLANKLINE>

        """
        lines = [self.columns, ("---",) * len(self.columns), *self.rows]
        drawn = ["| " + " | ".join(_cell(cell) for cell in line) + " |" for line in lines]
        drawn[1] = "|" + "---|" * len(self.columns)
        note = [self.note, ""] if self.note else []
        return "\n".join([f"## {self.title}", "", *note, *drawn, ""])

    def to_rich(self) -> Any:
        """The table for a terminal."""
        from rich import box
        from rich.table import Table as RichTable
        from rich.text import Text

        table = RichTable(title=Text(self.title), title_justify="left", box=box.SIMPLE_HEAD)
        for column in self.columns:
            table.add_column(Text(column), overflow="fold")
        for row in self.rows:
            table.add_row(*map(Text, row))
        return table


def _cell(text: str) -> str:
    return text.replace("\n", " ").replace("|", "\\|")
