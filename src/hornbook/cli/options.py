"""Options that several commands have: one name and one meaning each."""

from __future__ import annotations

from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

GROUPS = ("What to explain", "How long", "How sure", "Output", "Files")
"""The groups of options in the help of a command, in this order."""

what, how_long, how_sure, into, files = (partial(typer.Option, rich_help_panel=group) for group in GROUPS)
"""How an option is declared in its group."""


class LevelsPolicy(StrEnum):
    """What becomes of levels that the table never had."""

    REFUSE = "refuse"
    MISSING = "missing"


class Form(StrEnum):
    """The form of an explanation."""

    AUTO = "auto"
    RULES = "rules"
    CARD = "card"
    TREE = "tree"


Source = Annotated[
    str,
    typer.Argument(help="CSV, Parquet, JSON, an SQL query or a dataset."),
]
RunFolder = Annotated[Path, typer.Argument(help="A run folder, of extract or learn.")]

Target = Annotated[str | None, what(help="The column that the model predicts.")]
Columns = Annotated[
    list[str] | None, what("--columns", help="The only columns that the model gets: age,sex.")
]
Drop = Annotated[list[str] | None, what("--drop", help="Columns that the model does not get: id,name.")]
Bands = Annotated[
    str | None, what("--bands", help="Numbers that cut a regressor's predictions into classes: 10,20.")
]
Threshold = Annotated[
    float | None, what("--threshold", help="The number from which on a model's score counts as yes.")
]
Positive = Annotated[str | None, what(help="The value of the target that counts as true.")]
Above = Annotated[float | None, what(help="Targets above this number count as true.")]
Groups = Annotated[
    str | None,
    what("--groups", help="A column whose rows are held out together."),
]
Weight = Annotated[
    str | None, what("--weight", help="A column: how many cases of the population a row stands for.")
]
Given = Annotated[
    list[str] | None, what("--set", metavar="COLUMN=VALUE", help="A known value; ? for an unknown one.")
]

MaxAnswers = Annotated[
    int | None, how_long("--max-answers", min=100, help="Most answers of the model, if it is slow.")
]
Seconds = Annotated[
    float | None, how_long("--seconds", min=0.1, help="Seconds in all; half of them for proofs.")
]

Proof = Annotated[bool, how_sure("--proof", help="Prove each line for every input (networks, trees).")]
Tolerance = Annotated[
    float | None,
    how_sure("--tolerance", min=0, max=1, help="Exit with 1 if the share is clearly above this."),
]
Strict = Annotated[bool, how_sure("--strict", help="Exit with 1 too if it may be above the tolerance.")]
Seed = Annotated[int, how_sure(min=0, help="Random seed.")]

Output = Annotated[Path | None, into("--output", "-o", help="The run folder to write.")]
Force = Annotated[bool, into("--force", help="Overwrite an earlier run in the folder.")]
Literals = Annotated[
    int | None, how_long("--literals", min=0, help="Take the run's best explanation of at most this length.")
]
Json = Annotated[bool, into("--json", help="Print one JSON object.")]

Model = Annotated[str | None, files("--model", help="The model's file, or its URL.")]
Test = Annotated[Path | None, files(help="Rows to measure fidelity on; none are held out then.")]
Csv = Annotated[str | None, files("--csv", help='"delimiter=; decimal=, thousands=. encoding=cp1252".')]
Missing = Annotated[str | None, files("--missing", help="More words for missing values: unknown,-9.")]
CodeBook = Annotated[
    Path | None, files("--code-book", help="Your words for columns, values, classes (TOML).")
]
UnknownLevels = Annotated[
    LevelsPolicy,
    files("--unknown-levels", metavar="WORD", help="Levels that no row had: refuse, missing."),
]
Encoding = Annotated[str | None, files(help="How a judge reads ?: half, zero, signed, nan …")]
TrustPickle = Annotated[bool, files("--trust-pickle", help="Load a pickle, which can run any code.")]
MovedModel = Annotated[Path | None, files("--model", help="The run's model, if it has moved.")]
MovedData = Annotated[str | None, files("--data", help="The run's table, if it has moved.")]
