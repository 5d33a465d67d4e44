"""Options that several commands have: one name and one meaning each."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

MODEL_SECONDS = 600.0
"""Seconds in which a model has to answer each call, unless a command is told otherwise."""


class UnknownLevelsOption(StrEnum):
    """What becomes of levels that the table never had."""

    REFUSE = "refuse"
    MISSING = "missing"


class FormOption(StrEnum):
    """The form of an explanation."""

    AUTO = "auto"
    RULES = "rules"
    CARD = "card"
    TREE = "tree"


DataArgument = Annotated[
    str,
    typer.Argument(
        help="A CSV, Parquet or JSON file, a folder of them, a pattern, an SQL query, or a dataset's name."
    ),
]
RunArgument = Annotated[
    Path, typer.Argument(help="A run folder, made by hornbook extract or hornbook learn.")
]
TargetOption = Annotated[
    str | None, typer.Option(help="The column that the model predicts; not needed for a dataset.")
]
ColumnsOption = Annotated[
    list[str] | None, typer.Option("--columns", help="The only columns that the model is given: age,sex.")
]
DropOption = Annotated[
    list[str] | None, typer.Option("--drop", help="Columns that the model is not given: id,name.")
]
PositiveOption = Annotated[str | None, typer.Option(help="The value of the target that counts as true.")]
AboveOption = Annotated[float | None, typer.Option(help="Targets above this number count as true.")]
OutputOption = Annotated[
    Path | None, typer.Option("--output", "-o", help="The run folder to write: result, report, settings.")
]
CsvOption = Annotated[
    str | None,
    typer.Option(
        "--csv",
        help='How a text is written, such as "delimiter=; decimal=, thousands=. encoding=cp1252".',
    ),
]
EncodingOption = Annotated[
    str | None,
    typer.Option(help="Input encoding of unknown values: zero, half, signed, two-channel, nan, complete."),
]
CodeBookOption = Annotated[
    Path | None,
    typer.Option("--code-book", help="A TOML file with labels, units, names of levels and classes."),
]
TrustOption = Annotated[
    bool,
    typer.Option("--trust-pickle", help="Load a pickle, or types unknown to skops, which can run any code."),
]
MovedModelOption = Annotated[Path | None, typer.Option("--model", help="The model file, if it has moved.")]
ModelSecondsOption = Annotated[
    float,
    typer.Option("--model-seconds", min=0.001, help="Seconds in which the model has to answer each call."),
]
ProofOption = Annotated[
    bool,
    typer.Option(
        "--proof", help="Prove or refute each rule or line for every input (ReLU networks and trees)."
    ),
]
ProofSecondsOption = Annotated[
    float, typer.Option("--proof-seconds", min=0.1, help="Time limit of each proof in seconds.")
]
TestOption = Annotated[
    Path | None,
    typer.Option(help="A file of rows, with the table's columns, to measure fidelity on; none are held out."),
]
LevelsOption = Annotated[
    UnknownLevelsOption,
    typer.Option(
        "--unknown-levels", help="Levels that the table never had: refuse them, or take as missing."
    ),
]
GroupsOption = Annotated[
    str | None,
    typer.Option(
        "--groups",
        help="A column of groups, such as patients: their rows are held out together; not read by the model.",
    ),
]
SetOption = Annotated[
    list[str] | None,
    typer.Option("--set", help="A known value, column=value: a number, a word, or ? for unknown."),
]
SeedOption = Annotated[int, typer.Option(min=0, help="Random seed.")]
ForceOption = Annotated[bool, typer.Option("--force", help="Overwrite an earlier run in the folder.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]
