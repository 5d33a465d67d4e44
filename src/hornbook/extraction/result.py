"""The result of a run as one value that estimators, reports, run folders and commands read; its JSON form."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import Any, get_args

import numpy as np
import pandas as pd

from hornbook.code_book import EMPTY_BOOK, CodeBook, are_whole
from hornbook.errors import HornbookError
from hornbook.explanations import CompiledExplanation, Explanation, GroupFidelity, read_explanation
from hornbook.extraction.fidelity import CommonestClass, Fidelity, UnseenPopulation
from hornbook.logic import HornTheory
from hornbook.queries import Estimated, Exact, Guarantee, Pac, Proved, Unknown
from hornbook.statistics import Share
from hornbook.storage import parse_json

FORMAT = 1
"""The version of the JSON form."""

PARTS = {
    "target": str,
    "classes": list,
    "code_book": dict,
    "frontier": list,
    "lines": list,
    "columns": list,
    "groups": list,
    "differences": list,
    "answers": int,
    "stop_reason": str,
    "distribution": str,
    "missing_values": str,
    "notes": list,
    "provenance": dict,
}
"""The type of each part of the JSON form that is no value of its own."""


MAX_SHOWN_CATEGORIES = 32
"""Categories of a column that an extraction keeps, the commonest first."""


@dataclass(frozen=True)
class LineStatistics:
    """How often a line of an explanation applies, and how often the model agrees with it there.

    Attributes
    ----------
    rows
        How many rows of the table it applies to, unseen ones included; None where it is not known.
    support
        The share of fresh samples that it applies to.
    precision
        Of these samples, the share to which the model gives the line's outcome; None for a line
        that decides nothing by itself.
    guarantee
        What was proved about the line for every input; None if nothing was tried.

    """

    rows: int | None
    support: Share
    precision: Share | None
    guarantee: Guarantee | None = None


@dataclass(frozen=True)
class Difference:
    """A row that explanation and model decide differently.

    Attributes
    ----------
    row
        The values of the columns that are summarised; None where one is missing.
    explanation, model
        The class that each decides for, in words.
    facts
        The facts by which the explanation decides, in words.

    """

    row: Mapping[str, Any]
    explanation: str
    model: str
    facts: tuple[str, ...]


@dataclass(frozen=True)
class ColumnSummary:
    """What values a column of the table has.

    Attributes
    ----------
    name
        The column.
    missing
        The share of rows without a value.
    numbers
        The least, middle and greatest value of a column of numbers; empty for categories.
    whole
        Whether all its values are whole numbers.
    categories
        The commonest values of a column of categories, the commonest first.

    """

    name: str
    missing: float
    numbers: tuple[float, ...] = ()
    whole: bool = False
    categories: tuple[Any, ...] = ()

    @classmethod
    def of(cls, values: pd.Series[Any], code_book: CodeBook = EMPTY_BOOK) -> ColumnSummary:
        """Summarise a column; a code book says whether its numbers are categories."""
        name, missing = str(values.name), float(values.isna().mean()) if len(values) else 0.0
        known = values.dropna()
        if code_book.are_quantities(values):
            numbers = known.to_numpy(np.float64)
            if not len(numbers):
                return cls(name, missing)
            spread = numbers.min(), np.median(numbers), numbers.max()
            return cls(name, missing, tuple(map(float, spread)), are_whole(numbers))
        common = known.value_counts().index[:MAX_SHOWN_CATEGORIES]
        return cls(name, missing, categories=tuple(map(plain_value, common)))


@dataclass(frozen=True)
class FrontierPoint:
    """An explanation of some size, and how faithful it is.

    `explanation` is None for a hypothesis on the way of a query learner, of which only the size is
    kept. `lines` are the statistics of its lines, if they were measured.
    """

    literals: int
    fidelity: Fidelity
    explanation: Explanation | None = None
    lines: tuple[LineStatistics, ...] = ()


@dataclass(frozen=True)
class Extraction:
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
    columns
        What values the columns of the table have.
    groups
        The groups of samples on which explanation and model differ most often, the worst first.
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
    provenance
        What it was made from: model, data, settings, versions.

    """

    target: str
    classes: tuple[Any, ...]
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
    groups: tuple[GroupFidelity, ...] = ()
    notes: tuple[str, ...] = ()
    provenance: Mapping[str, Any] = field(default_factory=dict)

    @property
    def code_book(self) -> CodeBook:
        """The user's words for columns, values and classes."""
        return self.explanation.code_book

    @cached_property
    def compiled(self) -> CompiledExplanation:
        """The explanation as a Horn theory."""
        return self.explanation.compile()

    @property
    def theory(self) -> HornTheory:
        """The rules that derive what the explanation decides, without the background."""
        known = set(self.compiled.background)
        rules = (rule for rule in self.compiled.theory if rule not in known)
        return HornTheory(self.compiled.theory.vocabulary, rules)

    @property
    def background(self) -> HornTheory:
        """What always holds."""
        return self.compiled.background

    def to_object(self) -> dict[str, Any]:
        """Everything, ready for JSON."""
        return {
            "format": FORMAT,
            "target": self.target,
            "classes": [plain_value(name) for name in self.classes],
            "code_book": self.code_book.to_object(),
            "explanation": self.explanation.to_object(),
            "fidelity": fidelity_object(self.fidelity),
            "guarantee": guarantee_object(self.guarantee),
            "frontier": [
                {
                    "literals": point.literals,
                    "fidelity": fidelity_object(point.fidelity),
                    "explanation": None if point.explanation is None else point.explanation.to_object(),
                    "lines": list(map(_line_object, point.lines)),
                }
                for point in self.frontier
            ],
            "lines": [
                {"text": line.text, **_line_object(statistics)}
                for line, statistics in zip(self.explanation.lines(), self.lines, strict=True)
            ],
            "columns": [asdict(column) for column in self.columns],
            "groups": [
                {"condition": group.condition, "fidelity": share_object(group.fidelity)}
                for group in self.groups
            ],
            "differences": [asdict(difference) for difference in self.differences],
            "answers": self.answers,
            "stop_reason": self.stop_reason,
            "distribution": self.distribution,
            "missing_values": self.missing_values,
            "notes": list(self.notes),
            "provenance": dict(self.provenance),
        }

    def to_json(self) -> str:
        """The JSON form."""
        return json.dumps(self.to_object(), ensure_ascii=False, indent=1) + "\n"

    @classmethod
    def from_json(cls, text: str, source: str = "the extraction") -> Extraction:
        """Read what `to_json` wrote; a message says what is wrong with anything else."""
        try:
            content = parse_json(text)
            if content["format"] != FORMAT:
                raise HornbookError(f"format {content['format']!r} is not {FORMAT}")
            return cls._read(content)
        except HornbookError as error:
            raise HornbookError(f"{source} is not what an extraction leaves there: {error}") from None
        except (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError) as error:
            raise HornbookError(f"{source} is not what an extraction leaves there: {error!r}") from None

    @classmethod
    def _read(cls, content: Mapping[str, Any]) -> Extraction:
        for name, kind in PARTS.items():
            if not isinstance(content[name], kind):
                raise HornbookError(f"{name!r} is {content[name]!r}")
        columns = tuple(map(_read_column, content["columns"]))
        code_book = restore_code_book(content["code_book"], columns)
        explanation = read_explanation(content["explanation"]).with_code_book(code_book)
        _refuse_others(content["classes"], str | int | float)
        _refuse_others(content["notes"], str)
        if len(content["classes"]) != len(explanation.classes):
            raise HornbookError("there are not as many classes as the explanation has")
        if len(content["lines"]) != len(explanation.lines()):
            raise HornbookError("there are not as many statistics as the explanation has lines")
        return cls(
            target=content["target"],
            classes=tuple(content["classes"]),
            explanation=explanation,
            fidelity=read_fidelity(content["fidelity"]),
            guarantee=read_guarantee(content["guarantee"]),
            frontier=tuple(_read_point(point, code_book) for point in content["frontier"]),
            lines=tuple(map(_read_line, content["lines"])),
            columns=columns,
            groups=tuple(
                GroupFidelity(str(group["condition"]), read_share(group["fidelity"]))
                for group in content["groups"]
            ),
            differences=tuple(map(_read_difference, content["differences"])),
            answers=content["answers"],
            stop_reason=content["stop_reason"],
            distribution=content["distribution"],
            missing_values=content["missing_values"],
            notes=tuple(content["notes"]),
            provenance=content["provenance"],
        )


def share_object(share: Share) -> dict[str, Any]:
    """A share with its interval, ready for JSON.

    How many independent samples it counts as is left out where that is all of them.
    """
    estimate = share.estimate if share.size else None
    content = {"share": estimate, "interval": [share.low, share.high], "hits": share.hits, "of": share.size}
    if share.independent != share.size:
        content["independent"] = share.independent
    return content


def read_share(content: Mapping[str, Any]) -> Share:
    """The share that `share_object` wrote; its interval is computed anew."""
    hits, size = content["hits"], content["of"]
    if type(hits) is not int or type(size) is not int or not 0 <= hits <= size:
        raise HornbookError(f"{hits!r} of {size!r} is no share")
    independent = content.get("independent", size)
    if type(independent) is not int or not min(size, 1) <= independent <= size:
        raise HornbookError(f"{size!r} samples do not count as {independent!r}")
    return Share.of(hits, size, independent=independent)


def fidelity_object(fidelity: Fidelity) -> dict[str, Any]:
    """The fidelity on each population, ready for JSON: the headline first."""
    unseen = fidelity.unseen_rows
    return {
        "unseen_rows": None if unseen is None else share_object(unseen),
        "samples": share_object(fidelity.samples),
        "used_rows": None if np.isnan(fidelity.used_rows) else fidelity.used_rows,
        "unseen_population": fidelity.unseen_population,
        "commonest": {name: asdict(commonest) for name, commonest in fidelity.commonest.items()},
    }


def read_fidelity(content: Mapping[str, Any]) -> Fidelity:
    """The fidelity that `fidelity_object` wrote."""
    unseen, used, population = content["unseen_rows"], content["used_rows"], content["unseen_population"]
    if population not in get_args(UnseenPopulation):
        raise HornbookError(f"{population!r} is no population of unseen rows")
    return Fidelity(
        read_share(content["samples"]),
        None if unseen is None else read_share(unseen),
        float("nan") if used is None else float(used),
        population,
        {
            name: CommonestClass(str(commonest["name"]), float(commonest["share"]))
            for name, commonest in content.get("commonest", {}).items()
        },
    )


def plain_value(value: Any) -> Any:
    return value.item() if hasattr(value, "item") else value


def guarantee_object(guarantee: Guarantee) -> dict[str, Any]:
    """A guarantee, ready for JSON: its kind, what it says in words, and its parts."""
    content: dict[str, Any] = {"kind": guarantee.kind, "says": str(guarantee)}
    for name, value in vars(guarantee).items():
        if isinstance(value, Share):
            content[name] = share_object(value)
        elif name != "kind":
            content[name] = None if value == math.inf else value
    return content


def read_guarantee(content: Mapping[str, Any]) -> Guarantee:
    """The guarantee that `guarantee_object` wrote."""
    parts = {name: value for name, value in content.items() if name not in ("kind", "says")}
    match content["kind"]:
        case "exact":
            return Exact()
        case "proved":
            return Proved(parts["by"], math.inf if parts["margin"] is None else float(parts["margin"]))
        case "pac":
            return Pac(float(parts["epsilon"]), float(parts["delta"]), parts["distribution"])
        case "estimated":
            return Estimated(read_share(parts["disagreement"]), parts["distribution"])
        case "none" | "refuted" | "undecided" as kind:
            return Unknown(parts["reason"], kind)
        case other:
            raise HornbookError(f"there is no guarantee of the kind {other!r}")


def _line_object(statistics: LineStatistics) -> dict[str, Any]:
    precision, guarantee = statistics.precision, statistics.guarantee
    return {
        "rows": statistics.rows,
        "support": share_object(statistics.support),
        "precision": None if precision is None else share_object(precision),
        "guarantee": None if guarantee is None else guarantee_object(guarantee),
    }


def restore_code_book(content: Mapping[str, Any], columns: tuple[ColumnSummary, ...]) -> CodeBook:
    """The code book of a table: the words of the user, and which columns have whole numbers."""
    pairs = {
        column.name: tuple(sorted(column.categories, key=str))
        for column in columns
        if len(column.categories) == 2
    }
    whole = (column.name for column in columns if column.whole)
    return CodeBook.from_object(content).with_whole(whole).with_pairs(pairs)


def _read_point(content: Mapping[str, Any], code_book: CodeBook) -> FrontierPoint:
    explanation = content["explanation"]
    read = None if explanation is None else read_explanation(explanation).with_code_book(code_book)
    lines = tuple(map(_read_line, content["lines"]))
    if lines and (read is None or len(lines) != len(read.lines())):
        raise HornbookError("a point of the frontier has not as many statistics as lines")
    return FrontierPoint(int(content["literals"]), read_fidelity(content["fidelity"]), read, lines)


def _read_line(content: Mapping[str, Any]) -> LineStatistics:
    precision, guarantee, rows = content["precision"], content["guarantee"], content["rows"]
    if rows is not None and (type(rows) is not int or rows < 0):
        raise HornbookError(f"{rows!r} is no number of rows")
    return LineStatistics(
        rows,
        read_share(content["support"]),
        None if precision is None else read_share(precision),
        None if guarantee is None else read_guarantee(guarantee),
    )


def _read_column(content: Mapping[str, Any]) -> ColumnSummary:
    numbers, categories = tuple(map(float, content["numbers"])), tuple(content["categories"])
    _refuse_others([content["name"]], str)
    _refuse_others(categories, str | int | float)
    if len(numbers) not in (0, 3):
        raise HornbookError(f"{numbers!r} are not the least, middle and greatest value of a column")
    return ColumnSummary(
        content["name"], float(content["missing"]), numbers, bool(content["whole"]), categories
    )


def _read_difference(content: Mapping[str, Any]) -> Difference:
    row, facts = dict(content["row"]), tuple(content["facts"])
    _refuse_others([content["explanation"], content["model"], *facts], str)
    _refuse_others(row.values(), str | int | float | None)
    return Difference(row, content["explanation"], content["model"], facts)


def _refuse_others(values: Iterable[Any], kinds: Any) -> None:
    """Refuse values of other types."""
    for value in values:
        if not isinstance(value, kinds):
            raise HornbookError(f"{value!r} stands where another kind of value belongs")
