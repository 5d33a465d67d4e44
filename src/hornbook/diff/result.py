"""The differences between two models, or between a model and the truth, as one value."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from hornbook.display import Displayed, count_things
from hornbook.explanations import Line, RuleSet
from hornbook.schema import also_writes, write_json
from hornbook.statistics import Share, StratifiedShare

DIFF_FORMAT = 4
"""The version of the JSON form."""

TELLING_ROWS = 20
"""Unseen rows that tell more about a line than samples do."""


@dataclass(frozen=True)
class DiffLine(Displayed):
    """A line of the explanation that says where models disagree, and how often it is right.

    Attributes
    ----------
    rows
        How many rows of the table it applies to, held-out ones included.
    unseen
        Of the held-out rows that it applies to, the share that switches as it says.
    differs, elsewhere
        The share with any disagreement where it applies, and elsewhere: of held-out rows, or of samples
        where it applies to few of them.
    support
        The share of samples that it applies to; None where no samples can be drawn.
    precision
        Of the samples that it applies to, the share that switches as it says.

    """

    rows: int
    unseen: Share
    differs: float
    elsewhere: float
    support: Share | None = None
    precision: Share | None = None

    @property
    def is_right(self) -> bool:
        """Whether it is right more often than not: on held-out rows, or samples if these rows are few."""
        few = self.unseen.size < TELLING_ROWS and self.precision is not None and self.precision.size
        share = self.precision if few else self.unseen
        return share is None or not share.estimate < 0.5  # nothing is known without any

    def __str__(self) -> str:
        words = [count_things(self.rows, "row")]
        if self.unseen.size:
            words.append(f"right on {self.unseen.hits} of {self.unseen.size} held-out rows")
        if self.precision is not None and self.precision.size:
            words.append(f"on samples {self.precision}")
        return "; ".join(words)


@dataclass(frozen=True)
class DiffRow(Displayed):
    """A row on which there is disagreement.

    Attributes
    ----------
    row
        The row, by the table's index.
    values
        Its values in the columns that matter; None where one is missing.
    old, new
        What each side says.
    line
        The number of the line that names a switch for it; None if none does.

    """

    row: Any
    values: Mapping[str, Any]
    old: str
    new: str
    line: int | None

    def __str__(self) -> str:
        return f"row {self.row}: {self.old} → {self.new}"


@dataclass(frozen=True)
class ModelSide(Displayed):
    """One of the two models.

    Attributes
    ----------
    name
        What it is called.
    columns
        The columns of the table that it reads.
    shares
        For each class, the share of rows that it gives the class.

    """

    name: str
    columns: tuple[str, ...]
    shares: Mapping[str, Share]

    def __str__(self) -> str:
        shares = ", ".join(f"{name} {100 * share.estimate:.2f} %" for name, share in self.shares.items())
        return f"{self.name}: {shares}"


@also_writes(
    text=lambda diff: [line.text for line in diff.explanation.lines()],
    says=lambda diff: [diff.say(*each) for each in zip(diff.explanation.lines(), diff.lines, strict=True)],
    format=lambda diff: DIFF_FORMAT,
)
@dataclass(frozen=True)
class ModelDiff(Displayed):
    """The disagreement of two models, or of a model and the truth.

    Attributes
    ----------
    sides
        What the two are called: `old` and `new`, or `model` and `truth`.
    classes
        The classes, in words.
    share
        The share of all rows of the table with disagreement.
    samples
        The share of all samples with disagreement; None against the truth, of which only rows tell.
    switches
        For each switch from one class to another, in words, the share of rows.
    explanation
        Where the disagreement is: its classes are `the same` and the switches.
    lines
        The statistics of each line of the explanation.
    recall
        The share of the held-out rows with disagreement to which a line applies that says it rightly.
    rows
        Some of the held-out rows with disagreement.
    models
        The models themselves, side by side.
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
    share: Share
    switches: Mapping[str, Share]
    explanation: RuleSet
    lines: tuple[DiffLine, ...]
    recall: Share
    rows: tuple[DiffRow, ...]
    models: tuple[ModelSide, ...]
    samples: StratifiedShare | None = None
    answers: int = 0
    distribution: str = ""
    missing_values: str = ""
    notes: tuple[str, ...] = ()
    provenance: Mapping[str, Any] = field(default_factory=dict)

    @property
    def verb(self) -> str:
        """The verb for a disagreement."""
        return "the model errs" if self.sides[1] == "truth" else "they disagree"

    def say(self, line: Line, own: DiffLine) -> str:
        """What a line says: its outcome, or where that is mostly wrong how often there is disagreement."""
        if own.is_right:
            return line.outcome
        return f"{self.verb} on {100 * own.differs:.0f} % of these, {100 * own.elsewhere:.0f} % elsewhere"

    def describe(self) -> list[str]:
        """The figures in words, a line each."""
        lines = [f"{self.verb} on {self.share} of {self.share.describe_size('rows')}"]
        if self.samples is not None:
            lines.append(f"{self.verb} on {self.samples} of samples; {self.samples.size:,} were asked")
        if self.recall.size:
            lines.append(
                f"of the {self.recall.size} held-out rows on which {self.verb}, the lines above name "
                f"{self.recall.hits} rightly"
            )
        return lines

    def __str__(self) -> str:
        lines = [
            f"{line.text}: {self.say(line, own)}   # {own}"
            for line, own in zip(self.explanation.lines(), self.lines, strict=True)
        ]
        return "\n".join([*lines, *(f"# {line}" for line in (*self.describe(), *self.notes))])

    def to_json(self) -> str:
        """The JSON form."""
        return write_json(self)
