"""What a run is made from: a table with its target, a model, and the files that its configuration names."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from hornbook.code_book import UNNAMED_TARGET, CodeBook, describe_unknown
from hornbook.errors import HornbookError
from hornbook.extraction import ColumnSummary, UnknownLevels, read_given_rows
from hornbook.models import (
    Predictor,
    RemoteModel,
    Subject,
    as_predictor,
    is_url,
    name_model_source,
    note_accuracy,
    note_columns,
    note_cut,
    note_levels,
    note_size,
)
from hornbook.queries import QuerySubject
from hornbook.storage import file_checksum
from hornbook.tables import (
    DATASETS,
    MISSING_MARKERS,
    Kind,
    Table,
    TextFormat,
    fit_columns,
    is_query,
    is_source,
    load_dataset,
    number_rows,
    read_new_rows,
    read_table,
)

if TYPE_CHECKING:
    from hornbook.queries import TrainedClassifier

MAX_TABLE_ROWS = 200_000
"""The most rows of a file that a run reads; from a longer file it draws this number, uniformly."""

NEARLY_ALIKE = 0.8
"""How alike a target and a column are, from 0 to 1, if one is the other mistyped."""

MAX_SHOWN_NAME = 100
"""Number of characters of a file's name that an error shows."""

Remark = Callable[[str], None]
"""Is told what was found out about a file, such as its format, in words."""


def ignore(remark: str) -> None:
    """Tell nobody."""


@dataclass(frozen=True)
class TargetTable:
    """A table as a run reads it.

    Parameters
    ----------
    table
        The whole table.
    target
        What the model predicts.
    features
        The columns without the target, the groups and the weights, as the model reads them.
    labels
        The target's own values; None where the table has no such column.
    source
        What the run was given: path or dataset, and options.
    groups
        The group of each row, of rows that are held out together or not at all.
    weights
        How many cases each row stands for.

    """

    table: Table
    target: str
    features: pd.DataFrame
    labels: pd.Series[Any] | None
    source: dict[str, Any]
    groups: pd.Series[Any] | None = None
    weights: pd.Series[Any] | None = None

    def kinds_of(self, frame: pd.DataFrame, code_book: CodeBook) -> dict[str, Kind]:
        """The kinds of the columns of a frame, which are some of the table's; levels are categories."""
        return {
            column: "categorical" if code_book.words(column).are_categories else kind
            for column, kind in self.table.kinds.items()
            if column in frame
        }

    def choose_columns(self, columns: Sequence[str] | None, drop: Sequence[str] = ()) -> TargetTable:
        """The table with some of its features: all that are named, or all but those that are dropped."""
        known = list(map(str, self.features))
        for name in (*(columns or ()), *drop):
            if name not in known:
                raise HornbookError(describe_unknown(name, known))
        kept = [name for name in (columns or known) if name not in drop]
        if not kept:
            raise HornbookError(f"no column is left besides {self.target!r}")
        return replace(self, features=self.features[kept], source={**self.source, "columns": kept})

    def with_test_rows(self, file: Mapping[str, Any]) -> TargetTable:
        """The table, with the file of its test rows: name, path, checksum, and what is read as missing."""
        return replace(self, source={**self.source, "test": dict(file)})

    def to_object(self) -> dict[str, Any]:
        """Where the table came from, and what it held, for a run's configuration."""
        return {
            "name": self.table.name,
            "sha256": self.table.checksum(),
            "describe": self.table.describe(),
            **self.source,
        }

    def bind(
        self,
        model: Any,
        settings: Mapping[str, Any],
        words: CodeBook,
    ) -> Subject:
        """Bind a classifier to the rows as a run with these settings does; test rows are not read."""
        return Subject.bind(
            cut_model(model, settings),
            self.features,
            target=self.target,
            code_book=words,
            groups=self.groups,
            weights=self.weights,
            hold_out="test" not in self.source,
            seed=settings["seed"],
        )

    def bind_queries(self, model: Any, settings: Mapping[str, Any], words: CodeBook) -> QuerySubject:
        """Bind a judge, or a classifier, to the variables of the rows as a run by queries does."""
        frame = self.frame_of(settings)
        return QuerySubject.bind(
            model,
            frame,
            target=None if settings["judge"] else self.target,
            row_rules=self.target if settings.get("row_rules") else None,
            kinds=self.kinds_of(frame, words),
            code_book=words,
            groups=self.groups,
            seed=settings["seed"],
        )

    def frame_of(self, settings: Mapping[str, Any]) -> pd.DataFrame:
        """The columns that a model is asked about: a judge about all, a classifier about the features."""
        return self.table.frame if settings.get("judge") else self.features


def load_target_table(
    source: str,
    target: str | None,
    positive: str | None = None,
    above: float | None = None,
    csv: str | None = None,
    groups: str | None = None,
    weight: str | None = None,
    remark: Remark = ignore,
) -> TargetTable:
    """Load a table from files, by a query or by the name of a dataset, and set target and groups apart.

    `positive` and `above` make two classes of the target's values. A file need not have the target
    as a column: then it only names what the model predicts. `csv` describes the format of a text,
    `groups` names the column of groups, and `weight` that of weights.
    """
    exists = is_source(source)
    if not exists and source in DATASETS:
        table = _number_table(load_dataset(source))
        target = target or str(table.label)
    elif not exists and not os.path.isdir(source):
        name = source if len(source) <= MAX_SHOWN_NAME else f"{source[:MAX_SHOWN_NAME]}…"
        raise HornbookError(f"there is no file or dataset {name!r}; the datasets are {', '.join(DATASETS)}")
    else:
        table = read_table_file(source, csv, MAX_TABLE_ROWS, remark)
        if target is None:
            columns = list(table.frame.columns)
            raise HornbookError(
                f"name the column of {source} that the model predicts with --target; its columns are "
                f"{', '.join(columns[:8])}{' …' if len(columns) > 8 else ''}"
            )
    given = {
        "source": str(Path(source).resolve()) if exists and not is_query(source) else source,
        "target": target,
        "positive": positive,
        "above": above,
        "csv": table.text_format and table.text_format.describe(),
        **({} if groups is None else {"groups": groups}),
        **({} if weight is None else {"weight": weight}),
    }
    if target not in table.frame:
        _refuse_mistyped(target, list(table.frame.columns), table.name)
    if positive is not None or above is not None:
        table = table.with_label(target, positive, above)
        target = str(table.label)
    frame = table.frame
    labels = frame.get(target)
    for option, column in (("groups", groups), ("weight", weight)):
        if column is not None and (column == target or column not in frame):
            others = ", ".join(name for name in frame.columns if name != target)
            raise HornbookError(f"--{option} {column}: name one of the columns {others}")
    features = frame.drop(columns=[name for name in (target, groups, weight) if name in frame])
    if features.shape[1] == 0:
        raise HornbookError(f"{table.name} has no columns besides {target!r}")
    apart = [None if name is None else frame[name] for name in (groups, weight)]
    return TargetTable(table, target, features, labels, given, *apart)


def _refuse_mistyped(target: str, columns: list[str], name: str) -> None:
    """Refuse the name of a target that is nearly that of a column: the model would be given its answer."""
    folded = {_fold(each): each for each in columns}
    close = get_close_matches(_fold(target), folded, n=1, cutoff=NEARLY_ALIKE)
    if close:
        raise HornbookError(f"{name} has no column {target!r}; did you mean {folded[close[0]]!r}?")


def _fold(name: str) -> str:
    return "".join(each for each in name.casefold() if each.isalnum())


def read_table_file(
    source: str | Path, csv: str | None, max_rows: int | None = None, remark: Remark = ignore
) -> Table:
    """Read a table from files or by a query; `csv` describes how a text is written: see `TextFormat`."""
    given = TextFormat.parse(csv or "")
    signs = {name: sign for name, sign in asdict(given).items() if name != "missing"}
    table = read_table(source, max_rows=max_rows, missing=[*MISSING_MARKERS, *given.markers], **signs)
    if given.missing is not None:
        if table.text_format is None:
            raise HornbookError(
                f"{table.name} is not text with words for missing values; leave out --missing"
            )
        table = replace(table, text_format=replace(table.text_format, missing=given.missing))
    remark_on(table.name, table.notes, remark)
    if table.source_rows is not None:
        remark(f"{' '.join(table.name.split())} {describe_sample(len(table), table.source_rows)}")
    return _number_table(table)


def read_row_file(
    path: Path, csv: str | None, max_rows: int | None = None, remark: Remark = ignore
) -> pd.DataFrame:
    """Read the rows of a file, whose columns may have no value at all; `csv` as for a table."""
    given = TextFormat.parse(csv or "")
    rows, reading = read_new_rows(path, given, max_rows)
    remark_on(path.name, reading.notes, remark)
    if len(rows) < reading.rows:
        remark(f"{' '.join(path.name.split())} {describe_sample(len(rows), reading.rows)}")
    return rows


def read_test_rows(
    path: Path,
    like: pd.DataFrame,
    words: CodeBook,
    csv: str | None = None,
    unknown_levels: str = "refuse",
    remark: Remark = ignore,
) -> pd.DataFrame:
    """The rows of a file, in the columns of a table and with its values."""
    rows, levels = (
        read_row_file(path, csv, MAX_TABLE_ROWS, remark),
        UnknownLevels(unknown_levels == "missing"),
    )
    summaries = [ColumnSummary.of(values, words) for _, values in like.items()]
    try:
        rows = fit_columns(read_given_rows(summaries, words, rows, levels), like, path.name)
    except HornbookError as error:
        raise HornbookError(str(error) if path.name in str(error) else f"{path.name}, {error}") from None
    for note in levels.describe():
        remark(f"{path.name}: {note}")
    return rows


def _number_table(table: Table) -> Table:
    return replace(table, frame=table.frame.set_axis(number_rows(len(table))))


def remark_on(name: str, notes: Iterable[str], remark: Remark) -> None:
    """Tell what was taken for missing values in a text, and what looks like numbers."""
    for note in notes:
        remark(f"{' '.join(name.split())}: {note}")


def describe_sample(rows: int, source_rows: int) -> str:
    """How many rows of a source are used, in words."""
    return f"has {source_rows:,} rows; {rows:,} of them are used, drawn at random"


def cut_model(model: Any, settings: Mapping[str, Any]) -> Any:
    """The model, or one whose numbers are cut into classes as a run's settings say."""
    bands, threshold = settings.get("bands"), settings.get("threshold")
    if isinstance(model, Predictor) or (not bands and threshold is None):
        return model
    if isinstance(model, RemoteModel):
        raise HornbookError("say what a server's numbers mean in a TOML file that names it: threshold = 0.3")
    return as_predictor(model, bands=bands, threshold=threshold)


def encode_judge(model: Any, encoding: str | None, source: str, rows: pd.DataFrame) -> Predictor:
    """A loaded model as a predictor of two classes; one behind an endpoint is asked about rows for them."""
    if isinstance(model, RemoteModel):
        model.find_classes(rows)
    return as_predictor(model, encoding=encoding, name=name_model_source(source))


def describe_code_book(path: Path | None) -> dict[str, Any] | None:
    """The name, place and checksum of a code book."""
    return None if path is None else describe_file(path)


def describe_file(path: Path) -> dict[str, Any]:
    """The name, place and checksum of a file."""
    return {"name": path.name, "path": str(path.resolve()), "sha256": file_checksum(path)}


def describe_model(source: str, model: Any) -> dict[str, Any]:
    """The name, place and checksum of a model file; the URL and description of a model behind an endpoint.

    A file that describes an endpoint has no checksum here: other limits make no other model. One that
    describes a language model has its own checksum and those of the model's files.
    """
    endpoint = find_endpoint(model)
    if endpoint is None:
        own = model.source if isinstance(model, Predictor) else model
        files = [each for each in getattr(own, "weights", ()) if isinstance(each, Path)]
        weights = {each.name: describe_file(each) for each in files}
        return {**describe_file(Path(source)), **({"weights": weights} if weights else {})}
    path = Path(source)
    about = {"url": source} if is_url(source) else {"path": str(path.resolve())}
    return {"name": name_model_source(source), **about, "endpoint": endpoint.describe()}


def find_endpoint(model: Any) -> RemoteModel | None:
    """The endpoint behind a model, if it is behind one."""
    source = model.source if isinstance(model, Predictor) else model
    return source if isinstance(source, RemoteModel) else None


def describe_network(trained: TrainedClassifier, file: str) -> dict[str, Any]:
    """The name of a trained network, its place in the run folder, its checksum and its accuracy."""
    checksum = hashlib.sha256(trained.network.to_bytes()).hexdigest()
    held_out = {"accuracy": trained.accuracy.estimate, "rows": trained.accuracy.size}
    about = {"name": "the network", "path": file, "sha256": checksum, "held_out": held_out}
    return {**about, **trained.network.provenance}


def is_trained(about: Mapping[str, Any]) -> bool:
    """Whether a run trained its model, which then is in its folder; by what its configuration says of it."""
    return "held_out" in about


def note_inputs(
    table: TargetTable, subject: Subject | QuerySubject, about: Mapping[str, Any]
) -> Iterator[str]:
    """Say of how many rows the table is a sample, what the model reads, and how often it agrees with labels.

    A model that the run trained agrees with the rows that it was trained on; its accuracy is known.
    """
    if table.table.source_rows is not None:
        yield f"{table.table.name} {describe_sample(len(table.table), table.table.source_rows)}"
    if isinstance(subject, Subject):
        if table.labels is None and table.target != UNNAMED_TARGET:
            yield f"{table.table.name} has no column `{table.target}`: it only says what the model predicts"
        yield from note_size(subject)
        yield from note_columns(subject)
        yield from note_levels(subject)
    is_judge = isinstance(subject, QuerySubject) and subject.teacher.label is None
    if not is_judge and not is_trained(about):
        yield from note_cut(subject, has_option=isinstance(subject, Subject))
    if table.labels is not None and not is_judge and not is_trained(about):
        yield from note_accuracy(subject, table.labels)
