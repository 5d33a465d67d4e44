"""What commands read: tables, models, theories, and values that are set."""

from __future__ import annotations

from collections.abc import Container, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from hornbook.cli.output import count_answers, print_remark
from hornbook.errors import HornbookError
from hornbook.storage import lock_folder, read_text

if TYPE_CHECKING:  # NumPy, pandas and scikit-learn take a second, and help needs none of them
    import pandas as pd

    from hornbook.logic import HornTheory
    from hornbook.runs import ProofLimits, TargetTable


@dataclass(frozen=True)
class TableOptions:
    """Which table is read, and what of it."""

    data: str
    target: str | None = None
    positive: str | None = None
    above: float | None = None
    groups: str | None = None
    weight: str | None = None
    columns: list[str] | None = None
    drop: list[str] | None = None
    csv: str | None = None
    missing: str | None = None

    @property
    def text(self) -> str | None:
        """How a text is written."""
        return describe_text(self.csv, self.missing)

    def load(self) -> TargetTable:
        """The table with the columns of --columns, without those of --drop."""
        from hornbook.runs import load_target_table

        table = load_target_table(
            self.data,
            self.target,
            self.positive,
            self.above,
            self.text,
            self.groups,
            self.weight,
            print_remark,
        )
        known = set(map(str, table.features))
        named, dropped = split_columns(self.columns, known), split_columns(self.drop, known)
        return table.choose_columns(named or None, dropped) if named or dropped else table


@dataclass(frozen=True)
class ModelOptions:
    """Which model is asked, how, and for how long."""

    model: str | None = None
    train: bool = False
    trust_pickle: bool = False
    proof: bool = False
    seconds: float | None = None
    max_answers: int | None = None

    def limit(self, context: typer.Context, proof_follows: bool = False) -> None:
        """Keep the limits until the command ends; of the seconds, a proof that follows gets half."""
        if self.proof:
            refuse_endpoint_proof(self.model)
        seconds = self.seconds and self.seconds / (1 + proof_follows)
        context.with_resource(count_answers(self.max_answers, seconds))

    @property
    def proof_limits(self) -> ProofLimits | None:
        """How long proofs may take, if there are any."""
        from hornbook.runs import ProofLimits

        return ProofLimits(total=self.seconds and self.seconds / 2) if self.proof else None


def open_table(
    context: typer.Context, reading: TableOptions, asking: ModelOptions, folder: Path | None
) -> TargetTable:
    """Load the table of a run and lock its folder; refuse options that the run would fail with later."""
    from hornbook.tables import find_identifiers

    if (asking.model is None) != asking.train:
        raise HornbookError("give either --model FILE or --train, which trains a model on the table")
    if asking.model is not None and reading.positive is not None:
        raise HornbookError(
            "--positive is about the target of a model that is trained; what the classes of --model are "
            'called is said in the code book, as in [classes] 1 = "good"'
        )
    table = reading.load()
    if asking.train and (names := find_identifiers(table.features)) and reading.columns is None:
        print_remark(f"columns that name rows are left out: {', '.join(names)}; --columns brings them back")
        table = table.choose_columns(None, names)
    if asking.train and table.labels is None:
        raise HornbookError(f"{table.table.name} has no column {table.target!r} to train a model on")
    if folder is not None:
        context.with_resource(lock_folder(folder))  # until the command ends
    return table


def split_columns(given: list[str] | None, known: Container[str]) -> list[str]:
    """Names of columns, several with commas between them; a known one may have commas itself."""
    return [name for text in given or () for name in ([text] if text in known else split_names(text))]


def split_names(text: str) -> list[str]:
    """Names with commas between them."""
    return [name.strip() for name in text.split(",")]


def read_cuts(bands: str | None, threshold: float | None) -> dict[str, Any]:
    """The numbers of --bands and --threshold, as settings of a run."""
    try:
        numbers = None if bands is None else [float(part) for part in split_names(bands)]
    except ValueError:
        raise HornbookError(
            f"--bands {bands}: write numbers with commas between them, such as 10,20"
        ) from None
    return {"bands": numbers, "threshold": threshold}


def read_row_parts(source: str, csv: str | None) -> Iterator[pd.DataFrame]:
    """Read the rows of files or a query some thousand at a time, so that memory does not grow with them."""
    from hornbook.runs import remark_on
    from hornbook.tables import TextFormat, name_source, read_new_parts

    parts, reading = read_new_parts(source, TextFormat.parse(csv or ""))
    remark_on(name_source(source), reading.notes, print_remark)
    return parts


def describe_text(csv: str | None, missing: str | None) -> str | None:
    """How a text is written, by --csv and by the words of --missing."""
    from hornbook.tables import TextFormat

    return csv if missing is None else replace(TextFormat.parse(csv or ""), missing=missing).describe()


def refuse_endpoint_proof(model: str | None) -> None:
    """Refuse to prove anything about a model that can only be asked."""
    from hornbook.models import names_endpoint

    if names_endpoint(model):
        raise HornbookError("nothing can be proved about a model behind an endpoint: it can only be asked")


def describe_requests(model: Any) -> list[str]:
    """What a model behind an endpoint was asked, as a line of a summary; nothing of other models."""
    from hornbook.runs import find_endpoint

    endpoint = find_endpoint(model)
    return [] if endpoint is None else [endpoint.describe_requests()]


def read_pairs(given: list[str]) -> dict[str, str]:
    """The values that were set as `column=value`, by their columns."""
    values: dict[str, str] = {}
    for pair in given:
        name, sign, value = pair.rpartition("=")
        if not sign or not name:
            raise HornbookError(f"expected column=value, such as age=61, not {pair!r}")
        if name in values:
            raise HornbookError(f"{name!r} is set twice, to {values[name]!r} and to {value!r}; set it once")
        values[name] = value
    return values


def read_theory(path: Path, like: HornTheory | None = None) -> HornTheory:
    """Read a theory from a `.horn` or `.json` file, over the vocabulary of `like` if it is given."""
    from hornbook.logic import HornTheory

    text = read_text(path)
    try:
        if path.suffix == ".json":
            theory = HornTheory.from_json(text)
            theory = theory.over(like.vocabulary) if like else theory
        else:
            theory = HornTheory.parse(text, like.vocabulary if like else None)
    except HornbookError as error:
        raise HornbookError(f"{path}, {error}") from None
    if not theory.rules:
        raise HornbookError(
            f"{path} holds no rules; write one rule per line, such as: horse & wings -> pegasus"
        )
    return theory
