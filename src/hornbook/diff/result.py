"""The differences between two models, or between a model and the truth, as one value."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from hornbook.conditions import Condition, condition_object
from hornbook.explanations import Explanation
from hornbook.extraction import share_object
from hornbook.statistics import Share, StratifiedShare

DIFF_FORMAT = 1
"""The version of the JSON form."""

FALSE_DISCOVERY_RATE = 0.05
"""The share of groups that are said to differ more, and do not, is at most this on average."""


@dataclass(frozen=True)
class DiffLine:
    """A line of the explanation that says where models disagree, and how often it is right.

    Attributes
    ----------
    rows
        How many rows of the table it applies to, unseen ones included.
    unseen
        Of the unseen rows that it applies to, the share that switches as it says.
    support
        The share of samples that it applies to; None where no samples can be drawn.
    precision
        Of the samples that it applies to, the share that switches as it says.

    """

    rows: int
    unseen: Share
    support: Share | None = None
    precision: Share | None = None


@dataclass(frozen=True)
class DiffGroup:
    """A group of rows, and the share of its unseen rows on which there is disagreement.

    Attributes
    ----------
    condition
        The group in words.
    share
        The share of its unseen rows with disagreement. Of the intervals of all groups that are
        discoveries at most 5 % miss on average; so they have a higher confidence than others.
    p_value
        The probability of so much disagreement if the group were like all rows, by Fisher's exact test.
    q_value
        The least false discovery rate at which the group counts as one with more disagreement.

    """

    condition: str
    share: Share
    p_value: float
    q_value: float

    @property
    def is_discovery(self) -> bool:
        """Whether there is more disagreement than elsewhere, with the false discovery rate controlled."""
        return self.q_value <= FALSE_DISCOVERY_RATE


@dataclass(frozen=True)
class DiffRow:
    """A row on which there is disagreement.

    Attributes
    ----------
    row
        The number of the row in the table.
    values
        Its values in the columns that matter; None where one is missing.
    old, new
        What each side says.
    line
        The number of the explanation's line that says so; None if none does.
    changes
        The fewest new values with which both say the same, each column with its value in words.
    agreed
        What both say then; empty if nothing was found.

    """

    row: int
    values: Mapping[str, Any]
    old: str
    new: str
    line: int | None
    changes: tuple[str, ...] = ()
    agreed: str = ""


@dataclass(frozen=True)
class ModelSide:
    """One of the two models.

    Attributes
    ----------
    name
        What it is called.
    columns
        The columns of the table that it reads.
    shares
        For each class, the share of rows that it gives the class.
    explanation
        A short tree that decides about as the model does.
    fidelity
        The share of unseen rows on which tree and model say the same.

    """

    name: str
    columns: tuple[str, ...]
    shares: Mapping[str, Share]
    explanation: Explanation
    fidelity: Share


@dataclass(frozen=True)
class AgreementRegion:
    """Conditions under which both models were proved to say the same, for every row of the domain.

    Attributes
    ----------
    body
        The conditions.
    words
        The conditions in words.
    outcome
        What both say.
    rows
        How many rows of the table meet the conditions.
    support
        The share of samples that meet them.

    """

    body: tuple[Condition, ...]
    words: str
    outcome: str
    rows: int
    support: Share


@dataclass(frozen=True)
class ModelDiff:
    """The disagreement of two models, or of a model and the truth.

    Attributes
    ----------
    sides
        What the two are called: `old` and `new`, or `model` and `truth`.
    classes
        The classes, in words.
    unseen_rows
        The share of unseen rows with disagreement; nothing was chosen by them.
    samples
        The share of all samples with disagreement; None against the truth, of which only rows tell.
    switches
        For each switch from one class to another, in words, the share of unseen rows.
    explanation
        Where the disagreement is: its classes are `the same` and the switches.
    lines
        The statistics of each line of the explanation; None for a line that decides nothing.
    recall
        The share of the unseen rows with disagreement to which a line applies that says it rightly.
    groups
        The groups that were tested: first those with more disagreement than elsewhere, the worst first.
    rows
        Some of the unseen rows with disagreement, and what would end it.
    models
        The models themselves, side by side.
    regions
        Where both were proved to say the same.
    answers
        How many answers the models gave.
    distribution, missing_values
        Where samples came from, and how missing values were answered about, in words.
    notes
        What else a reader should know, a sentence each.
    provenance
        What it was made from.

    """

    sides: tuple[str, str]
    target: str
    classes: tuple[str, ...]
    unseen_rows: Share
    samples: StratifiedShare | None
    switches: Mapping[str, Share]
    explanation: Explanation
    lines: tuple[DiffLine | None, ...]
    recall: Share
    groups: tuple[DiffGroup, ...]
    rows: tuple[DiffRow, ...]
    models: tuple[ModelSide, ...]
    answers: int
    distribution: str
    missing_values: str
    regions: tuple[AgreementRegion, ...] = ()
    notes: tuple[str, ...] = ()
    provenance: Mapping[str, Any] = field(default_factory=dict)

    @property
    def share(self) -> Share | StratifiedShare:
        """The headline: the share of unseen rows with disagreement, or of samples where there are none."""
        return self.samples if self.samples is not None and not self.unseen_rows.size else self.unseen_rows

    @property
    def population(self) -> str:
        """The name of the cases of which the headline is a share."""
        return "samples" if self.share is self.samples else "unseen rows"

    def describe_size(self) -> str:
        """How many cases the headline is about, and how many they count as."""
        if isinstance(self.share, StratifiedShare):
            return f"{self.share.size:,} {self.population}"
        return self.share.describe_size(self.population)

    @property
    def verb(self) -> str:
        """The verb for a disagreement."""
        return "the model errs" if self.sides[1] == "truth" else "they disagree"

    def describe(self) -> list[str]:
        """The figures in words, a line each."""
        lines = []
        if self.unseen_rows.size:
            rows = self.unseen_rows.describe_size("unseen rows")
            lines.append(f"{self.verb} on {self.unseen_rows} of {rows}")
        if self.samples is not None:
            lines.append(f"{self.verb} on {self.samples} of samples, {self.samples.size:,} asked about")
        if self.recall.size:
            lines.append(
                f"the lines above say {self.recall.hits} of the {self.recall.size} unseen rows rightly on "
                f"which {self.verb}"
            )
        return lines

    def __str__(self) -> str:
        return "\n".join(self._write())

    def _write(self) -> Iterator[str]:
        for line, statistics in zip(self.explanation.lines(), self.lines, strict=True):
            text = "  " * line.depth + line.text + (f": {line.outcome}" if line.outcome else "")
            yield text if statistics is None else f"{text}   # {describe_line(statistics)}"
        yield from (f"# {line}" for line in self.describe())
        discoveries = [group for group in self.groups if group.is_discovery]
        if self.groups:
            found = f"{len(discoveries)} of {len(self.groups)} groups that were tested"
            yield f"# {found} have more of it than all rows, with a false discovery rate of 5 %"
        for group in discoveries:
            yield f"#   {group.condition}: {group.share}"
        for region in self.regions:
            yield f"# proved: whenever {region.words}, both say {region.outcome}   ({region.rows:,} rows)"
        yield from (f"# {note}" for note in self.notes)

    def to_object(self) -> dict[str, Any]:
        """Everything, ready for JSON."""
        return {
            "format": DIFF_FORMAT,
            "sides": list(self.sides),
            "target": self.target,
            "classes": list(self.classes),
            "unseen_rows": share_object(self.unseen_rows),
            "samples": None if self.samples is None else stratified_object(self.samples),
            "switches": {words: share_object(share) for words, share in self.switches.items()},
            "explanation": self.explanation.to_object(),
            "lines": [
                {"text": line.text, "outcome": line.outcome or None, **_line_object(statistics)}
                for line, statistics in zip(self.explanation.lines(), self.lines, strict=True)
            ],
            "recall": share_object(self.recall),
            "groups": [
                {
                    **asdict(group),
                    "share": {**share_object(group.share), "confidence": group.share.confidence},
                    "discovery": group.is_discovery,
                }
                for group in self.groups
            ],
            "rows": [{**asdict(row), "changes": list(row.changes)} for row in self.rows],
            "models": list(map(_side_object, self.models)),
            "regions": [
                {
                    "if": list(map(condition_object, region.body)),
                    "words": region.words,
                    "both": region.outcome,
                    "rows": region.rows,
                    "support": share_object(region.support),
                }
                for region in self.regions
            ],
            "answers": self.answers,
            "distribution": self.distribution,
            "missing_values": self.missing_values,
            "notes": list(self.notes),
            "provenance": dict(self.provenance),
        }

    def to_json(self) -> str:
        """The JSON form."""
        return json.dumps(self.to_object(), ensure_ascii=False, indent=1) + "\n"


def describe_line(line: DiffLine) -> str:
    """Say how often a line applies and is right."""
    words = ["1 row" if line.rows == 1 else f"{line.rows:,} rows"]
    if line.unseen.size:
        words.append(f"right on {line.unseen.hits} of {line.unseen.size} unseen")
    if line.precision is not None and line.precision.size:
        words.append(f"on samples {line.precision}")
    return "; ".join(words)


def stratified_object(share: StratifiedShare) -> dict[str, Any]:
    """A share of strata with its interval, ready for JSON."""
    return {
        "share": share.estimate,
        "interval": [share.low, share.high],
        "strata": [
            {"of_all": size.estimate, "hits": own.hits, "of": own.size}
            for size, own in zip(share.sizes, share.shares, strict=True)
        ],
    }


def _line_object(line: DiffLine | None) -> dict[str, Any]:
    if line is None:
        return {}
    shares = {"unseen": line.unseen, "support": line.support, "precision": line.precision}
    return {
        "rows": line.rows,
        **{name: None if share is None else share_object(share) for name, share in shares.items()},
    }


def _side_object(side: ModelSide) -> dict[str, Any]:
    return {
        "name": side.name,
        "columns": list(side.columns),
        "shares": {name: share_object(share) for name, share in side.shares.items()},
        "explanation": side.explanation.to_object(),
        "fidelity": share_object(side.fidelity),
    }
