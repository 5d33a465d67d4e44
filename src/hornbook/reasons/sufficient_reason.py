"""Why a model decides a row so: sufficient reasons with a guarantee, as values, in words and as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any, Literal, TypeAlias

from hornbook.code_book import EMPTY_BOOK, CodeBook
from hornbook.conditions import Condition, find_range, make_range
from hornbook.reasons.changes import Changes
from hornbook.schema import also_writes
from hornbook.statistics import Share

ReasonLevel: TypeAlias = Literal["sampled", "proved", "minimal"]
"""How sure a reason is: by samples, for every row of a domain, or so that no condition can go."""


@dataclass(frozen=True)
class Coverage:
    """How many rows of the table meet a reason, and how many of those the model decides alike."""

    met: int
    alike: int
    rows: int


@also_writes("facts", "keeps_share")
@dataclass(frozen=True)
class SufficientReason:
    """Conditions that a row meets and under which the model keeps its answer, whatever the others are.

    Parameters
    ----------
    conditions
        The conditions, in the order of the columns; none if the model always answers so.
    outcome
        The model's class, in words.
    level
        `sampled`: for at least a share of the rows that meet the conditions. `proved`: for every
        row of the domain that meets them. `minimal`: proved, and proved that no condition can go.
    share
        The share of fresh samples that meet the conditions and get the class, with an exact interval.
        Nothing was chosen by these samples.
    least_share
        The share that was asked for.
    coverage
        How many rows of the table meet the conditions, and how many of those get the class.
    note
        Why a higher level was not reached, if it was asked for.
    seconds
        How long the search took.
    code_book
        The user's words.
    short
        A reason with fewer conditions that samples bear out, if this one is proved and long.

    Examples
    --------
    >>> from hornbook.conditions import Threshold
    >>> reason = SufficientReason(
    ...     (Threshold("bili", 2.1), Threshold("age", 50), Threshold("age", 70, above=False)),
    ...     "dead", "minimal", Share.of(2000, 2000), 0.95, Coverage(41, 41, 312))
    >>> print(reason)
    dead, because bili > 2.1 and 50 < age ≤ 70
    proved: whatever the other values are, the model says dead; no condition can go
    41 of 312 rows meet this; the model says dead for 41 of them

    """

    conditions: tuple[Condition, ...]
    outcome: str
    level: ReasonLevel
    share: Share
    least_share: float
    coverage: Coverage
    note: str = ""
    seconds: float = field(default=0.0, compare=False)
    code_book: CodeBook = field(default=EMPTY_BOOK, compare=False, repr=False)
    short: SufficientReason | None = None

    @property
    def readable(self) -> SufficientReason:
        """What to read first: the short reason, if there is one."""
        return self.short or self

    @property
    def facts(self) -> tuple[str, ...]:
        """The conditions in words, both ends of a column's range together."""
        return tuple(_describe_conditions(self.conditions, self.code_book))

    @property
    def keeps_share(self) -> bool:
        """Whether the model keeps its answer on as large a share of rows as was asked for."""
        return self.level != "sampled" or self.share.low >= self.least_share

    def describe_guarantee(self) -> str:
        """How sure the reason is, in words."""
        if self.level == "sampled":
            share, interval = str(self.share).split(" (")
            samples = f"{share} of {self.share.size:,} fresh samples that meet this ({interval}"
            return f"sampled: the model says {self.outcome} for {samples}"
        if_all = f" if {' and '.join(self.facts)}" if self.short else ""
        proved = f"proved: whatever the other values are, the model says {self.outcome}{if_all}"
        return f"{proved}; no condition can go" if self.level == "minimal" else proved

    def describe_coverage(self) -> str:
        """How many rows of the table the reason is about, in words."""
        met, alike, rows = self.coverage.met, self.coverage.alike, self.coverage.rows
        return f"{met:,} of {rows:,} rows meet this; the model says {self.outcome} for {alike:,} of them"

    def __str__(self) -> str:
        reason = f"because {' and '.join(self.facts)}" if self.conditions else "whatever the row says"
        note = (f"not more: {self.note}",) if self.note else ()
        first = (f"{self.outcome}, {reason}",) if self.short is None else (str(self.short),)
        return "\n".join((*first, self.describe_guarantee(), self.describe_coverage(), *note))


@dataclass(frozen=True)
class Why:
    """Why a model decides one row so.

    Parameters
    ----------
    outcome
        The model's class, in words.
    reasons
        Sufficient reasons, the best first.
    row
        The values of the row, None where one is missing.
    changes
        What would change the decision, if that was asked for.
    notes
        What else there is to say, such as that the model changes its answers.

    """

    outcome: str
    reasons: tuple[SufficientReason, ...]
    row: Mapping[str, Any] = field(default_factory=dict)
    changes: Changes | None = None
    notes: tuple[str, ...] = ()

    def __str__(self) -> str:
        between = "\n" if len(self.reasons) < 2 else "\n\n"
        changes = [] if self.changes is None else [str(self.changes)]
        return between.join([*map(str, self.reasons), *changes, *self.notes])


def _describe_conditions(conditions: tuple[Condition, ...], code_book: CodeBook) -> Iterator[str]:
    for column, group in groupby(conditions, key=lambda condition: condition.column):
        own = list(group)
        if sum(len(each.cuts) for each in own) == 2:
            yield code_book.describe(make_range(column, *find_range(own)))
        else:
            yield from map(code_book.describe, own)
