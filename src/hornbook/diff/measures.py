"""Figures about a diff that nothing was chosen by: of its lines, of groups of rows, and of single rows.

Groups are listed and chosen by some rows and tested on others. Each test is exact, and since many
groups are tested, the share of false ones among those that are reported is controlled. So is the share
of their intervals that miss: those of groups that were selected because they differ much are wider.

References
----------
Y. Benjamini, D. Yekutieli. The control of the false discovery rate in multiple testing under
dependency. The Annals of Statistics 29, 2001.
Y. Benjamini, D. Yekutieli. False discovery rate-adjusted multiple confidence intervals for selected
parameters. Journal of the American Statistical Association 100, 2005.

"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import false_discovery_control

from hornbook.code_book import CodeBook
from hornbook.conditions import Condition, meet_conditions
from hornbook.diff.result import (
    FALSE_DISCOVERY_RATE,
    TELLING_ROWS,
    DiffGroup,
    DiffLine,
    DiffRow,
    ModelSide,
)
from hornbook.diff.samples import Compared, ModelPair, PairSamples, add_answers
from hornbook.diff.switches import ClassSwitches
from hornbook.explanations import Explanation, RuleSet
from hornbook.extraction import list_groups
from hornbook.randomness import Purpose, generator
from hornbook.reasons.changes import plain_cell
from hornbook.statistics import Share, StratifiedShare, measure_enrichment
from hornbook.surrogates.grid import Ints

POOL_FACTOR = 4
"""Free samples for each one that rules are fitted to: they tell how much a line applies to."""

SAME_SAMPLES_SHARE, LINE_SAMPLES_SHARE = 1 / 2, 1 / 16
"""Samples asked about where no switch is said, and of each line for a switch, for each one fitted to."""

MAX_SHOWN_ROWS, MAX_SHOWN_COLUMNS = 20, 6
"""Rows with disagreement that are kept, and columns of them where the explanation names none."""

MAX_TESTED_GROUPS = 40
"""Groups that are tested, those that look worst on other rows."""

MIN_GROUP_ROWS = 10
"""Rows that a group needs among those by which groups are chosen."""


@dataclass(frozen=True)
class SampleFigures:
    """Figures of the lines of an explanation on fresh samples.

    Attributes
    ----------
    share
        The share of all samples with disagreement; the strata are the lines that decide.
    support, precision
        For each line that decides, the share of samples that it applies to, and the share of those
        asked about that switch as it says.
    answers
        How many answers were needed.

    """

    share: StratifiedShare
    support: tuple[Share, ...]
    precision: tuple[Share, ...]
    answers: int

    def contrast(self, place: int) -> tuple[float, float]:
        """The share of samples with disagreement where a line applies, and where it does not."""
        size, inside = self.share.sizes[place].estimate, self.share.shares[place].estimate
        rest = self.share.estimate - (size * inside if size else 0.0)
        return inside, rest / (1 - size) if size < 1 else math.nan


def measure_samples(
    pair: ModelPair, explanation: Explanation, switches: ClassSwitches, n_samples: int, seed: int
) -> SampleFigures:
    """Measure an explanation on fresh samples, asked about more often where it speaks of a switch.

    Free samples say how much each line applies to. Both models are asked about some samples of each
    line, enough that a line for few samples has its figure too.
    """
    pool = pair.old.sample(POOL_FACTOR * n_samples, generator(seed, Purpose.EVALUATION))
    rows, answers = pool, 0
    if pair.column in explanation.columns:
        rows = add_answers(pool, pair.column, pair.classes, pair.label_old(pool))
        answers = len(pool)
    strata = find_lines(explanation, rows)  # (samples,)
    outcomes = list_outcomes(explanation)
    members = np.bincount(strata, minlength=len(outcomes))
    same = members[outcomes == 0].sum()
    differs, right, sizes = [], [], []
    for line, outcome in enumerate(outcomes.tolist()):
        budget = LINE_SAMPLES_SHARE * n_samples
        if not outcome:
            budget = SAME_SAMPLES_SHARE * n_samples * members[line] / max(same, 1)
        part = pool.iloc[np.flatnonzero(strata == line)[: max(1, round(budget))]]
        old, new = pair.labels(part)
        differs.append(int((old != new).sum()))
        right.append(int((switches.number(old, new) == outcome).sum()))
        sizes.append(len(part))
    return SampleFigures(
        StratifiedShare.of(members.tolist(), differs, sizes),
        tuple(Share.of(count, len(pool)) for count in members.tolist()),
        tuple(Share.of(hits, size) for hits, size in zip(right, sizes, strict=True)),
        answers + 2 * sum(sizes),
    )


def list_outcomes(explanation: Explanation) -> Ints:
    """The number of the class that each line decides for, of those that decide, shape (lines,)."""
    return np.array(
        [explanation.classes.index(line.outcome) for line in explanation.lines() if line.outcome], np.intp
    )


def find_lines(explanation: Explanation, frame: pd.DataFrame) -> Ints:
    """Which of the lines that decide applies to each row, shape (rows,)."""
    deciding = [bool(line.outcome) for line in explanation.lines()]
    places: Ints = explanation.match_lines(frame)[deciding].argmax(axis=0)
    return places


def measure_diff_lines(
    explanation: Explanation,
    switches: ClassSwitches,
    used: PairSamples,
    unseen: PairSamples,
    figures: SampleFigures | None = None,
) -> Iterator[DiffLine | None]:
    """The statistics of each line; None for one that decides nothing."""
    on_used, on_unseen = (find_lines(explanation, rows.frame) for rows in (used, unseen))
    numbers = switches.number(unseen.old, unseen.new)
    place = 0
    for line in explanation.lines():
        if not line.outcome:
            yield None
            continue
        applies = on_unseen == place
        inside, elsewhere = (Share.where(unseen.differs[part]).estimate for part in (applies, ~applies))
        if figures is not None and applies.sum() < TELLING_ROWS:
            inside, elsewhere = figures.contrast(place)
        yield DiffLine(
            int((on_used == place).sum() + applies.sum()),
            unseen.measure(numbers == explanation.classes.index(line.outcome), applies),
            inside,
            elsewhere,
            None if figures is None else figures.support[place],
            None if figures is None else figures.precision[place],
        )
        place += 1


def find_diff_groups(
    chosen_on: PairSamples,
    tested_on: PairSamples,
    explanations: Iterable[Explanation],
    code_book: CodeBook,
) -> list[DiffGroup]:
    """The groups that look worst on some rows, tested on others; those with most disagreement first.

    Parameters
    ----------
    chosen_on
        Rows by which groups are chosen, with the answers of both sides.
    tested_on
        Other rows, by which they are tested: one of each unit, since tests are about independent rows.
    explanations
        Explanations whose rules are groups too.
    code_book
        The words.

    """
    rows, differs = chosen_on.frame, chosen_on.differs
    everywhere = Share.where(differs)
    ranked: list[tuple[float, str, tuple[Condition, ...]]] = []
    for words, body in dict(list_candidate_groups(rows, explanations, code_book)).items():
        inside = Share.where(differs[meet_conditions(body, rows)])
        if MIN_GROUP_ROWS <= inside.size < len(rows) and inside.hits:
            ranked.append((measure_enrichment(inside, everywhere), words, body))
    ranked.sort(key=lambda one: one[0])
    tested_on = tested_on.take_one_of_each_unit()
    rows, differs = tested_on.frame, tested_on.differs
    everywhere = Share.where(differs)
    shares = [
        (words, Share.where(differs[meet_conditions(body, rows)]))
        for _, words, body in ranked[:MAX_TESTED_GROUPS]
    ]
    tested = [(words, share) for words, share in shares if share.size]
    p_values = [measure_enrichment(share, everywhere) for _, share in tested]
    # for each group the least false discovery rate at which it is a discovery
    q_values = false_discovery_control(p_values, method="by").tolist()
    discoveries = sum(q_value <= FALSE_DISCOVERY_RATE for q_value in q_values)
    missing = FALSE_DISCOVERY_RATE * discoveries / max(len(tested), 1)
    groups = []
    for (words, share), p_value, q_value in zip(tested, p_values, q_values, strict=True):
        group = DiffGroup(words, share, p_value, q_value)
        groups.append(replace(group, share=share.at_confidence(1 - missing)) if group.is_discovery else group)
    return sorted(groups, key=lambda group: (not group.is_discovery, -group.share.estimate))


def list_candidate_groups(
    rows: pd.DataFrame, explanations: Iterable[Explanation], code_book: CodeBook
) -> Iterator[tuple[str, tuple[Condition, ...]]]:
    """Groups in words and as conditions: parts of each column, and the bodies of rules."""
    for column in rows.columns:
        yield from list_groups(rows, str(column), code_book)
    for explanation in explanations:
        if isinstance(explanation, RuleSet):
            for rule in explanation.rules:
                yield " and ".join(map(code_book.describe, rule.body)), rule.body


def list_diff_rows(
    rows: PairSamples, names: Sequence[Any], explanation: Explanation, compared: Compared
) -> Iterator[DiffRow]:
    """List some rows with disagreement, with their values in the columns of the explanation, or the first.

    `names` are what the table's index calls the rows.
    """
    lines, decided = find_lines(explanation, rows.frame), explanation.decide(rows.frame)
    shown = [name for name in explanation.columns if name != compared.column]
    shown = shown or [str(name) for name in compared.frame.columns[:MAX_SHOWN_COLUMNS]]
    for place in np.flatnonzero(rows.differs)[:MAX_SHOWN_ROWS].tolist():
        yield DiffRow(
            row=names[place],
            values={name: plain_cell(rows.frame[name].iloc[place]) for name in shown},
            old=compared.classes[rows.old[place]],
            new=compared.classes[rows.new[place]],
            line=int(lines[place]) if decided[place] else None,
        )


def describe_sides(compared: Compared, judged: PairSamples) -> Iterator[ModelSide]:
    """Describe each model: the columns that it reads, and how often it gives each class to some rows."""
    for teacher, labels in zip(compared.teachers, (judged.old, judged.new), strict=False):
        yield ModelSide(
            teacher.predictor.name,
            tuple(teacher.columns),
            {name: Share.where(labels == number) for number, name in enumerate(compared.classes)},
        )
