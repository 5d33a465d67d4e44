"""The report of an extraction as one self-contained page."""

from __future__ import annotations

from hornbook.reports.charts import convergence_chart, fidelity_chart
from hornbook.reports.content import Report
from hornbook.reports.page import render
from hornbook.reports.wording import meaning


def to_html(report: Report) -> str:
    """The report as HTML: one file that reads nothing from anywhere.

    Examples
    --------
    >>> from hornbook.intervals import Share
    >>> from hornbook.logic.theory import HornTheory
    >>> from hornbook.queries import Exact
    >>> from hornbook.reports.content import Honesty, ReportedRule, Spent
    >>> theory = HornTheory.parse("fever & cough -> ill")
    >>> rules = tuple(ReportedRule(rule, Share.of(30, 100), Share.of(9, 9)) for rule in theory)
    >>> report = Report(
    ...     title="What the model says about ill",
    ...     background=HornTheory(theory.vocabulary),
    ...     rules=rules,
    ...     guarantee=Exact(),
    ...     fidelity=Share.of(100, 100),
    ...     stop_reason="equivalent",
    ...     spent=Spent(equivalence_queries=2, membership_queries=120, seconds=0.1),
    ...     honesty=Honesty(distribution="the rows"),
    ... )
    >>> to_html(report).splitlines()[0]
    '<!DOCTYPE html>'

    """
    return render(
        "extraction.html",
        title=report.title,
        report=report,
        meaning=meaning(report.guarantee),
        fidelity=fidelity_chart(report.curve),
        convergence=convergence_chart(report.convergence),
    )
