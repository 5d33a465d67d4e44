"""The result of a run as one value that users, reports, run folders and commands read; its JSON form."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from hornbook.code_book import CodeBook, list_values
from hornbook.conditions import Value
from hornbook.display import Displayed, Listing, count_things
from hornbook.errors import HornbookError
from hornbook.explanations import CompiledExplanation, Decision, Explanation, explain_row
from hornbook.extraction.columns import (
    ColumnSummary,
    UnknownLevels,
    name_values,
    read_given_rows,
    read_values,
)
from hornbook.extraction.fidelity import Fidelity
from hornbook.lazy import load_lazily
from hornbook.logic import HornTheory
from hornbook.queries import Estimated, Guarantee
from hornbook.schema import also_writes, read_object, write_json, write_object
from hornbook.statistics import Share
from hornbook.storage import parse_json, write_file
from hornbook.tables import as_frame, read_frame

_upper = load_lazily(
    "hornbook",
    {
        "exports": ["write_explanation"],
        "report": ["to_html", "to_notebook"],
        "runs": ["save_extraction"],
    },
)
"""What an extraction opens of the packages above it, each when it is asked for."""

FORMAT = 3
"""The version of the JSON form."""

EVERY_SIZE = "every form and size was tried"
"""The end of a run that was not cut short."""


@dataclass(frozen=True)
class LineStatistics(Displayed):
    """How often a line of an explanation applies, and how often the model agrees with it there.

    Attributes
    ----------
    rows
        How many rows of the table it applies to, held-out ones included; None where it is not known.
    support
        The share of fresh samples that it applies to.
    precision
        Of these samples, the share to which the model gives the line's outcome; None for a line
        that decides nothing by itself.
    guarantee
        What was proved about the line for every input; None if nothing was tried.
    row_precision
        Of the rows of the table that it applies to, the share to which the model gives the line's outcome;
        None where it is not known.

    """

    rows: int | None
    support: Share
    precision: Share | None
    guarantee: Guarantee | None = None
    row_precision: Share | None = None

    def __post_init__(self) -> None:
        if self.rows is not None and self.rows < 0:
            raise HornbookError(f"{self.rows} is not a number of rows")

    @property
    def mark(self) -> str:
        """A comment after a line that was refuted."""
        is_refuted = self.guarantee is not None and self.guarantee.kind == "refuted"
        return "   # refuted: the model decides otherwise about some rows" if is_refuted else ""

    def __str__(self) -> str:
        parts = [] if self.rows is None else [f"applies to {count_things(self.rows, 'row')}"]
        if self.row_precision is not None and self.row_precision.size:
            parts.append(f"the model agrees on {self.row_precision}")
        if self.precision is not None and self.precision.size:
            parts.append(f"on samples {self.precision}")
        return "; ".join([*parts, *([] if self.guarantee is None else [str(self.guarantee)])])


@dataclass(frozen=True)
class RiskRow(Displayed):
    """How often a model decides for a class where the points of a card have a total, or one in a range.

    Attributes
    ----------
    low, high
        The range of totals; infinite at its open end.
    rows, samples
        Of the rows of the table, and of fresh samples, with such a total: the share that the model decides
        for the second of two classes, or for the class with most points of several.

    """

    low: float
    high: float
    rows: Share
    samples: Share

    @property
    def total(self) -> str:
        """The range in words: `3`, `4 to 6`, `7 or more`."""
        low, high = (f"{end:.0f}".replace("-", "−") for end in (self.low, self.high))
        if self.low == self.high:
            return low
        if np.isinf(self.low):
            return "any" if np.isinf(self.high) else f"{high} or less"
        return f"{low} or more" if np.isinf(self.high) else f"{low} to {high}"

    def __str__(self) -> str:
        return f"total {self.total}: {self.rows} of {self.rows.size:,} rows"


@dataclass(frozen=True)
class ColumnImportance(Displayed):
    """How often an answer changes if a sample gets the value of another one in a column.

    Attributes
    ----------
    name
        The column.
    model, explanation
        The share of samples whose answer changes, the model's and the explanation's.

    """

    name: str
    model: Share
    explanation: Share

    def __str__(self) -> str:
        return f"{self.name}: exchanged, it changes {self.model} of the model's answers"


@dataclass(frozen=True)
class Difference(Displayed):
    """A row that explanation and model decide differently.

    Attributes
    ----------
    row
        The values of the columns that are summarised; None where one is missing.
    explanation, model
        The class that each decides for, in words.
    facts
        The facts by which the explanation decides, in words.
    index
        What the table's index calls the row; None for a sample.

    """

    row: Mapping[str, Value | None]
    explanation: str
    model: str
    facts: tuple[str, ...]
    index: Value | None = None

    def __str__(self) -> str:
        name = "a sample" if self.index is None else f"row {self.index}"
        return f"{name}: {self.explanation} by the explanation, {self.model} by the model"


@dataclass(frozen=True)
class FrontierPoint(Displayed):
    """An explanation of some size, and how faithful it is.

    `explanation` is None for a hypothesis on the way of a query learner, of which only the size is
    kept. `lines` and `risks` are the statistics of its lines and of its totals, if they were measured.
    `missed` is the share of the samples that it was made from by which any tree with as many literals, or
    up to three literals in rules, may decide more of them as the model does: 0 if none is better, None if
    that was not found out.
    """

    literals: int
    fidelity: Fidelity
    explanation: Explanation | None = None
    lines: tuple[LineStatistics, ...] = ()
    missed: float | None = None
    risks: tuple[RiskRow, ...] = ()

    def __post_init__(self) -> None:
        expected = 0 if self.explanation is None else len(self.explanation.lines())
        if self.lines and len(self.lines) != expected:
            raise HornbookError("a point of the frontier has not as many statistics as lines")

    def __str__(self) -> str:
        return "; ".join(
            filter(None, [f"{count_things(self.literals, 'literal')}: {self.fidelity}", self.optimum])
        )

    @property
    def optimum(self) -> str:
        """How far it may be from the best one of its size, in words; empty if that was not found out."""
        if self.missed is None:
            return ""
        far = f"within {100 * self.missed:.2g} points of " if self.missed else ""
        return f"{far}optimal on the samples"


@dataclass(frozen=True)
class BeyondHorn(Displayed):
    """What no Horn theory can say of a model whose every case was asked about.

    Attributes
    ----------
    cases
        How many cases the model rejects although every Horn theory that accepts all accepted cases accepts
        them.
    clauses
        What excludes these cases, in words: `she → nurse or dancer`.

    """

    cases: int
    clauses: tuple[str, ...]

    def __str__(self) -> str:
        return "\n".join([f"{count_things(self.cases, 'case')} beyond Horn rules", *self.clauses])


@also_writes("code_book", text=lambda extraction: [line.text for line in extraction.explanation.lines()])
@dataclass(frozen=True)
class Extraction(Displayed):
    """The explanation of a model, how faithful it is, and what it took.

    Attributes
    ----------
    target
        What the model predicts.
    classes
        What the model calls its classes, in the order of the explanation's.
    explanation
        What a person reads.
    fidelity
        How often explanation and model say the same, on each population.
    guarantee
        Under what the explanation is held to be faithful.
    frontier
        The best explanation of every size, the shortest first.
    lines
        The statistics of each line of the explanation.
    risks
        The risk table of a card: how often the model decides so at each total of points.
    importance
        The columns that matter most to the model, the first most: how often an answer changes by them.
    columns
        What values the columns of the table have.
    differences
        Some rows that explanation and model decide differently.
    answers
        How many answers the model gave.
    stop_reason
        What ended the run.
    distribution, missing_values
        Where samples came from, and how the model was asked about missing values, in words.
    notes
        What else a reader should know, a sentence each.
    beyond_horn
        What no Horn theory can say, where every case was asked about; None elsewhere.
    provenance
        What it was made from: model, data, settings, versions.

    """

    target: str
    classes: tuple[Value, ...]
    explanation: Explanation
    fidelity: Fidelity
    guarantee: Guarantee
    frontier: tuple[FrontierPoint, ...]
    lines: tuple[LineStatistics, ...]
    columns: tuple[ColumnSummary, ...]
    differences: tuple[Difference, ...]
    answers: int
    stop_reason: str
    distribution: str
    missing_values: str
    risks: tuple[RiskRow, ...] = ()
    importance: tuple[ColumnImportance, ...] = ()
    notes: tuple[str, ...] = ()
    beyond_horn: BeyondHorn | None = None
    provenance: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if len(self.classes) != len(self.explanation.classes):
            raise HornbookError("there are not as many classes as the explanation has")
        if len(self.lines) != len(self.explanation.lines()):
            raise HornbookError("there are not as many statistics as the explanation has lines")
        object.__setattr__(self, "frontier", Listing(self.frontier))

    def __repr__(self) -> str:
        return f"{self.explanation!r}; fidelity {self.fidelity}"

    def __str__(self) -> str:
        return "\n".join([str(self.explanation), *(f"# {comment}" for comment in self.describe_fidelity())])

    def describe_fidelity(self) -> list[str]:
        """How far to trust it, a line each: fidelity, each class, the totals of a card, and notes."""
        table, risks = self.fidelity.table, self.describe_risks()
        return [
            f"fidelity to the model {self.fidelity}",
            *(() if table is None else table.describe_classes()),
            *([risks] if risks else []),
            *self.notes,
            *([] if self.stop_reason == EVERY_SIZE else [f"stopped: {self.stop_reason}"]),
        ]

    def describe_risks(self) -> str:
        """The risk table of a card in a sentence, of rows of the table; empty without one."""
        shares = "; ".join(
            f"{row.total}: " + (f"{100 * row.rows.estimate:.3g} %" if row.rows.size else "no row")
            for row in self.risks
        )
        if not shares:
            return ""
        if len(self.classes) > 2:
            return f"rows decided as the model does, by the lead in points: {shares}"
        return f"rows that the model decides for {self.explanation.classes[1]}, by their points: {shares}"

    def predict(self, X: Any, unknown_levels: Literal["refuse", "missing"] = "refuse") -> NDArray[Any]:
        """The class of each row as the explanation decides, by the model's own names of classes.

        The rows have the columns of the table, or at least those that the explanation speaks of. Levels that
        the table never had are refused, or taken for missing.
        """
        given, frame = as_frame(X), read_frame(X)
        if given is None or not all(isinstance(name, str) for name in given.columns):
            if frame.shape[1] != len(self.columns):
                raise HornbookError(
                    f"a row has {len(self.columns)} values, one a column; got {frame.shape[1]}"
                )
            frame = frame.set_axis(self._column_names, axis=1)
        for name in self.explanation.columns:
            if name not in frame:
                raise HornbookError(
                    f"the rows have no column {name!r}; they have {list_values(frame.columns)}"
                )
        levels = UnknownLevels(unknown_levels == "missing")
        rows = read_given_rows(self.columns, self.code_book, frame, levels)
        predicted: NDArray[Any] = np.array(self.classes)[self.explanation.decide(rows)]
        return predicted

    def explain(self, row: Any) -> Decision:
        """Why the explanation decides as it does about one row, and the smallest change that would change it.

        Parameters
        ----------
        row
            A series, a list, a frame of one row, or a mapping of some columns to values: the others
            are missing. Values are the table's own, as text too, or names of the code book; None
            and `?` stand for a missing one. The label does not count.

        """
        values = name_values(row, self._column_names)
        if self.target not in self._column_names:
            values.pop(self.target, None)
        return explain_row(self.explanation, read_values(self.columns, self.code_book, values))

    def describe_refuted(self) -> Iterator[str]:
        """Say how many lines a proof refuted, for whoever decides rows by them."""
        if refuted := sum(bool(line.mark) for line in self.lines):
            yield (
                f"{refuted} of the {len(self.lines)} lines that decide here are refuted: "
                "the model decides otherwise about some rows that meet them"
            )

    def choose(self, literals: int) -> Extraction:
        """The extraction with the best explanation of at most this length; see `frontier`.

        Which rows it decides otherwise is known of the first choice only, and left out.
        """
        if isinstance(literals, bool) or not isinstance(literals, int | np.integer):
            raise HornbookError(f"literals is a whole number, such as 5; got {literals!r}")
        points = [point for point in self.frontier if point.explanation is not None]
        if not points:
            raise HornbookError(
                "of rules by queries only the sizes on the way are kept; learn with max_rules="
            )
        within = [point for point in points if point.literals <= literals]
        if not within:
            raise HornbookError(
                f"the shortest explanation has {points[0].literals} literals to read; got literals={literals}"
            )
        best = max(within, key=lambda point: point.literals)
        assert best.explanation is not None
        if best.explanation == self.explanation:
            return self
        guarantee = self.guarantee
        if isinstance(guarantee, Estimated):
            guarantee = replace(guarantee, disagreement=best.fidelity.share.complement())
        return replace(
            self,
            explanation=best.explanation,
            fidelity=best.fidelity,
            guarantee=guarantee,
            lines=best.lines,
            risks=best.risks,
            importance=(),
            differences=(),
        )

    def report(self, path: str | Path) -> None:
        """Write the report, one HTML page."""
        write_file(Path(path), _upper("to_html")(self))

    def save(self, folder: str | Path) -> None:
        """Save the extraction and its report in a folder; `hornbook.load` reads it."""
        _upper("save_extraction")(Path(folder), self)

    def export(self, form: str, path: str | Path) -> None:
        """Write the explanation in another format: `sql`, `python`, `prolog` or `pmml`.

        It gives the model's own values of classes, such as 1 and 0.
        """
        write = _upper("write_explanation")
        write_file(Path(path), write(self.explanation, form, self.target, self.classes, self.levels))

    def _repr_html_(self) -> str:
        """The explanation in a notebook."""
        html: str = _upper("to_notebook")(self)
        return html

    @property
    def levels(self) -> dict[str, tuple[Value, ...]]:
        """The values that each column of categories has, as far as all of them are known."""
        return {column.name: column.levels for column in self.columns if column.levels}

    @cached_property
    def _column_names(self) -> list[str]:
        return [column.name for column in self.columns]

    @property
    def code_book(self) -> CodeBook:
        """The user's words for columns, values and classes."""
        return self.explanation.code_book

    def with_code_book(self, code_book: CodeBook) -> Extraction:
        """The same extraction in other words."""
        frontier = (
            point
            if point.explanation is None
            else replace(point, explanation=point.explanation.with_code_book(code_book))
            for point in self.frontier
        )
        explanation = self.explanation.with_code_book(code_book)
        return replace(self, explanation=explanation, frontier=tuple(frontier))

    @cached_property
    def compiled(self) -> CompiledExplanation:
        """The explanation as a Horn theory."""
        return self.explanation.compile()

    @property
    def theory(self) -> HornTheory:
        """The rules that derive what the explanation decides, without the background."""
        return HornTheory(self.compiled.theory.vocabulary, self.compiled.rules)

    @property
    def background(self) -> HornTheory:
        """What always holds."""
        return self.compiled.background

    def to_object(self) -> dict[str, Any]:
        """Everything, ready for JSON."""
        return {"format": FORMAT, **write_object(self)}

    def to_json(self) -> str:
        """The JSON form."""
        return write_json(self.to_object())

    @classmethod
    def from_json(cls, text: str, source: str = "the extraction") -> Extraction:
        """Read what `to_json` wrote; a message says what is wrong with anything else."""
        try:
            content = parse_json(text)
        except HornbookError as error:
            raise HornbookError(f"{source} is not what an extraction leaves there: {error}") from None
        return cls.from_object(content, source)

    @classmethod
    def from_object(cls, content: Any, source: str = "the extraction") -> Extraction:
        """Read what `to_object` wrote; a message says what is wrong with anything else."""
        try:
            if not isinstance(content, dict) or content.get("format") != FORMAT:
                raise HornbookError(f"it is not of format {FORMAT}")
            extraction = read_object(cls, {name: content[name] for name in content if name != "format"})
            return extraction.with_code_book(read_object(CodeBook, content.get("code_book"), "code_book"))
        except HornbookError as error:
            raise HornbookError(f"{source} is not what an extraction leaves there: {error}") from None
