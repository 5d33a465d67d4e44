"""Groups of rows with more disagreement than elsewhere, among many that are looked at.

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

from collections.abc import Iterable, Iterator
from dataclasses import replace

import pandas as pd
from scipy.stats import false_discovery_control

from hornbook.code_book import CodeBook
from hornbook.comparison.disagreement import PairSamples
from hornbook.comparison.model_diff import FALSE_DISCOVERY_RATE, DiffGroup
from hornbook.conditions import Condition, meet_conditions
from hornbook.explanations import Explanation, RuleSet, list_groups
from hornbook.statistics import Share, measure_enrichment

MAX_TESTED_GROUPS = 40
"""Groups that are tested, those that look worst on other rows."""

MIN_GROUP_ROWS = 10
"""Rows that a group needs among those by which groups are chosen."""

Body = tuple[Condition, ...]


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
    ranked: list[tuple[float, str, Body]] = []
    for words, body in dict(list_candidates(rows, explanations, code_book)).items():
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


def list_candidates(
    rows: pd.DataFrame, explanations: Iterable[Explanation], code_book: CodeBook
) -> Iterator[tuple[str, Body]]:
    """Groups in words and as conditions: parts of each column, and the bodies of rules."""
    for column in rows.columns:
        yield from list_groups(rows, str(column), code_book)
    for explanation in explanations:
        if isinstance(explanation, RuleSet):
            for rule in explanation.rules:
                yield " and ".join(map(code_book.describe, rule.body)), rule.body
