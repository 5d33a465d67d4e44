"""An extraction: one run and its whole result, which estimators, reports, run folders and commands read."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from hornbook.errors import HornbookError
from hornbook.evaluate import Fidelity
from hornbook.explanations import (
    CompiledExplanation,
    Explanation,
    GroupFidelity,
    measure_groups,
    read_explanation,
)
from hornbook.logic import HornTheory
from hornbook.queries import Estimated, Exact, Guarantee, Pac, Proved, Unknown
from hornbook.randomness import Purpose, generator
from hornbook.statistics import Share
from hornbook.surrogates import Candidate, Form, search_explanations
from hornbook.teacher import ClassifierTeacher

FORMAT = 1
"""The version of the JSON form."""

PARTS = {
    "target": str,
    "classes": list,
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

EVALUATION_SAMPLES = 1 << 13
"""Fresh samples that fidelity is measured on."""

MAX_DIFFERENCES = 20
"""Rows on which explanation and model differ that an extraction keeps."""

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
    def of(cls, values: pd.Series[Any]) -> ColumnSummary:
        """Summarise a column."""
        name, missing = str(values.name), float(values.isna().mean()) if len(values) else 0.0
        known = values.dropna()
        if pd.api.types.is_numeric_dtype(values) and not pd.api.types.is_bool_dtype(values):
            numbers = known.to_numpy(np.float64)
            if not len(numbers):
                return cls(name, missing)
            spread = numbers.min(), np.median(numbers), numbers.max()
            return cls(name, missing, tuple(map(float, spread)), bool((numbers == np.floor(numbers)).all()))
        common = known.value_counts().index[:MAX_SHOWN_CATEGORIES]
        return cls(name, missing, categories=tuple(map(_plain, common)))


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
        What values the columns have that the explanation speaks of, or another one of the frontier.
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
            "classes": [_plain(name) for name in self.classes],
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
            content = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise HornbookError(f"{source} is no JSON: {error}") from None
        try:
            if content["format"] != FORMAT:
                raise HornbookError(f"format {content['format']!r} is not {FORMAT}")
            return cls._read(content)
        except (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError) as error:
            raise HornbookError(f"{source} is not what an extraction leaves there: {error!r}") from None
        except HornbookError as error:
            raise HornbookError(f"{source} is not what an extraction leaves there: {error}") from None

    @classmethod
    def _read(cls, content: Mapping[str, Any]) -> Extraction:
        for name, kind in PARTS.items():
            if not isinstance(content[name], kind):
                raise HornbookError(f"{name!r} is {content[name]!r}")
        explanation = read_explanation(content["explanation"])
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
            frontier=tuple(map(_read_point, content["frontier"])),
            lines=tuple(map(_read_line, content["lines"])),
            columns=tuple(map(_read_column, content["columns"])),
            groups=tuple(
                GroupFidelity(str(group["condition"]), read_share(group["fidelity"]))
                for group in content["groups"]
            ),
            differences=tuple(map(_read_difference, content["differences"])),
            answers=content["answers"],
            stop_reason=content["stop_reason"],
            distribution=content["distribution"],
            missing_values=content["missing_values"],
            notes=tuple(map(str, content["notes"])),
            provenance=content["provenance"],
        )


def explain_classifier(
    teacher: ClassifierTeacher,
    unseen: pd.DataFrame,
    target: str,
    *,
    form: Form = "auto",
    max_literals: int = 20,
    n_samples: int | None = None,
    seed: int = 0,
    watch: Callable[[Candidate], None] | None = None,
) -> Extraction:
    """Explain what a classifier does, in the columns of a table.

    Parameters
    ----------
    teacher
        The classifier, bound to rows.
    unseen
        Rows that the teacher does not have: fidelity is measured on them.
    target
        What the model predicts: what its classes are called in words.
    form
        `tree`, `card`, `rules`, or `auto` for the best of them.
    max_literals
        The most conditions that there may be to read.
    n_samples
        How many samples the explanation is fitted to; by default 16,000 to 24,000.
    seed
        Makes the run repeatable.
    watch
        Is called with every candidate.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from hornbook.teacher import bind_classifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> X = X[["petal width (cm)"]]
    >>> model = DecisionTreeClassifier(max_depth=1).fit(X, y == 2)
    >>> teacher = bind_classifier(model, X[::2], seed=0)
    >>> extraction = explain_classifier(teacher, X[1::2], "virginica", form="tree")
    >>> print(extraction.explanation)
    if petal width (cm) > 1.7: virginica
    otherwise: not virginica
    >>> print(extraction.fidelity)
    on 75 unseen rows 100.00 % (95 % interval 95.20 % to 100.00 %)

    """
    result = search_explanations(
        teacher.labels,
        teacher.sampler,
        name_classes(target, teacher.classes),
        seed=seed,
        max_literals=max_literals,
        form=form,
        n_samples=n_samples,
        watch=watch,
    )
    chosen = result.chosen.explanation
    fresh = teacher.sample(EVALUATION_SAMPLES, generator(seed, Purpose.EVALUATION))
    labelled = LabelledPopulations.of(teacher, unseen, fresh)
    fidelity = labelled.measure(chosen)
    rows = pd.concat([teacher.frame, unseen])
    frontier = tuple(
        FrontierPoint(
            point.literals,
            labelled.measure(point.explanation),
            point.explanation,
            tuple(measure_lines(point.explanation, rows, fresh, labelled.fresh_labels)),
        )
        for point in result.frontier()
    )
    columns = tuple(dict.fromkeys((*chosen.columns, *list_columns(frontier))))
    return Extraction(
        target=target,
        classes=teacher.classes,
        explanation=chosen,
        fidelity=fidelity,
        guarantee=Estimated(complement(fidelity.share), _name_population(fidelity, teacher)),
        frontier=frontier,
        lines=tuple(measure_lines(chosen, rows, fresh, labelled.fresh_labels)),
        columns=tuple(ColumnSummary.of(rows[name]) for name in columns),
        groups=tuple(measure_groups(chosen, fresh, labelled.fresh_labels)),
        differences=tuple(list_differences(chosen, *labelled.headline, columns)),
        answers=result.answers + len(rows) + len(fresh),
        stop_reason="every form and size was tried",
        distribution=teacher.sampler.describe(),
        missing_values=teacher.describe(),
    )


@dataclass(frozen=True, eq=False)
class LabelledPopulations:
    """Unseen rows, fresh samples and the rows that were used, each with the model's labels."""

    unseen: pd.DataFrame
    unseen_labels: NDArray[np.intp]
    fresh: pd.DataFrame
    fresh_labels: NDArray[np.intp]
    used: pd.DataFrame
    used_labels: NDArray[np.intp]

    @classmethod
    def of(cls, teacher: ClassifierTeacher, unseen: pd.DataFrame, fresh: pd.DataFrame) -> LabelledPopulations:
        """Ask the model about each population."""
        used = teacher.frame
        return cls(unseen, teacher.labels(unseen), fresh, teacher.labels(fresh), used, teacher.labels(used))

    @property
    def headline(self) -> tuple[pd.DataFrame, NDArray[np.intp]]:
        """The population of the headline: the unseen rows, or the samples where there are none."""
        if len(self.unseen):
            return self.unseen, self.unseen_labels
        return self.fresh, self.fresh_labels

    def measure(self, explanation: Explanation) -> Fidelity:
        """The fidelity on unseen rows, if there are any, on fresh samples, and on the rows that were used."""

        def share(rows: pd.DataFrame, labels: NDArray[np.intp]) -> Share:
            return Share.of(int((explanation.decide(rows) == labels).sum()), len(rows))

        return Fidelity(
            samples=share(self.fresh, self.fresh_labels),
            unseen_rows=share(self.unseen, self.unseen_labels) if len(self.unseen) else None,
            used_rows=share(self.used, self.used_labels).estimate,
        )


def list_columns(frontier: Iterable[FrontierPoint]) -> Iterator[str]:
    """The columns that the explanations of a frontier speak of."""
    for point in frontier:
        if point.explanation is not None:
            yield from point.explanation.columns


def list_differences(
    explanation: Explanation,
    rows: pd.DataFrame,
    labels: NDArray[np.intp],
    columns: tuple[str, ...] = (),
) -> Iterator[Difference]:
    """Some of the rows that the model decides differently, with their values in some columns.

    `labels` are the model's classes. By default the columns are those of the explanation.
    """
    decided = explanation.decide(rows)
    for number in np.flatnonzero(decided != labels)[:MAX_DIFFERENCES]:
        row = rows.iloc[[number]]
        values = {name: row[name].iloc[0] for name in columns or explanation.columns}
        yield Difference(
            {name: None if pd.isna(value) else _plain(value) for name, value in values.items()},
            explanation.classes[decided[number]],
            explanation.classes[labels[number]],
            explanation.explain(row).facts,
        )


def measure_lines(
    explanation: Explanation, rows: pd.DataFrame, fresh: pd.DataFrame, labels: NDArray[np.intp]
) -> Iterator[LineStatistics]:
    """The statistics of each line, from rows of the table and labelled fresh samples."""
    on_rows, on_fresh = explanation.match_lines(rows), explanation.match_lines(fresh)
    for line, row_match, match in zip(explanation.lines(), on_rows, on_fresh, strict=True):
        hits, precision = int(match.sum()), None
        if line.outcome:
            right = match & (labels == explanation.classes.index(line.outcome))
            precision = Share.of(int(right.sum()), hits)
        yield LineStatistics(int(row_match.sum()), Share.of(hits, len(fresh)), precision)


def name_classes(target: str, classes: tuple[Any, ...]) -> tuple[str, ...]:
    """Classes in words: `dead` and `not dead` for 1 and 0, else what the model calls them.

    Examples
    --------
    >>> name_classes("dead", (0, 1)), name_classes("iris", ("setosa", "virginica"))
    (('not dead', 'dead'), ('setosa', 'virginica'))
    >>> name_classes("grade", (1, 2, 3))
    ('grade 1', 'grade 2', 'grade 3')

    """
    if len(classes) == 2 and not isinstance(classes[0], str) and tuple(classes) == (0, 1):
        return f"not {target}", target
    return tuple(name if isinstance(name, str) else f"{target} {name}" for name in classes)


def share_object(share: Share) -> dict[str, Any]:
    """A share with its interval, ready for JSON."""
    estimate = share.estimate if share.size else None
    return {"share": estimate, "interval": [share.low, share.high], "hits": share.hits, "of": share.size}


def read_share(content: Mapping[str, Any]) -> Share:
    """The share that `share_object` wrote; its interval is computed anew."""
    hits, size = content["hits"], content["of"]
    if type(hits) is not int or type(size) is not int or not 0 <= hits <= size:
        raise HornbookError(f"{hits!r} of {size!r} is no share")
    return Share.of(hits, size)


def fidelity_object(fidelity: Fidelity) -> dict[str, Any]:
    """The fidelity on each population, ready for JSON: the headline first."""
    unseen = fidelity.unseen_rows
    return {
        "unseen_rows": None if unseen is None else share_object(unseen),
        "samples": share_object(fidelity.samples),
        "used_rows": None if np.isnan(fidelity.used_rows) else fidelity.used_rows,
    }


def read_fidelity(content: Mapping[str, Any]) -> Fidelity:
    """The fidelity that `fidelity_object` wrote."""
    unseen, used = content["unseen_rows"], content["used_rows"]
    return Fidelity(
        read_share(content["samples"]),
        None if unseen is None else read_share(unseen),
        float("nan") if used is None else float(used),
    )


def _plain(value: Any) -> Any:
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


def _read_point(content: Mapping[str, Any]) -> FrontierPoint:
    explanation = content["explanation"]
    read = None if explanation is None else read_explanation(explanation)
    lines = tuple(map(_read_line, content["lines"]))
    if lines and (read is None or len(lines) != len(read.lines())):
        raise HornbookError("a point of the frontier has not as many statistics as lines")
    return FrontierPoint(int(content["literals"]), read_fidelity(content["fidelity"]), read, lines)


def _read_line(content: Mapping[str, Any]) -> LineStatistics:
    precision, guarantee = content["precision"], content["guarantee"]
    return LineStatistics(
        content["rows"],
        read_share(content["support"]),
        None if precision is None else read_share(precision),
        None if guarantee is None else read_guarantee(guarantee),
    )


def _read_column(content: Mapping[str, Any]) -> ColumnSummary:
    numbers, categories = tuple(map(float, content["numbers"])), tuple(content["categories"])
    return ColumnSummary(
        content["name"], float(content["missing"]), numbers, bool(content["whole"]), categories
    )


def _read_difference(content: Mapping[str, Any]) -> Difference:
    return Difference(dict(content["row"]), content["explanation"], content["model"], tuple(content["facts"]))


def complement(share: Share) -> Share:
    """The share of the cases that a share does not count."""
    return Share.of(share.size - share.hits, share.size)


def _name_population(fidelity: Fidelity, teacher: ClassifierTeacher) -> str:
    return "unseen rows of the table" if fidelity.unseen_rows is not None else teacher.sampler.describe()
