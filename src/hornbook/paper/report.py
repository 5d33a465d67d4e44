"""The report of a reproduction: on a terminal, as a page, as Markdown, and in a document."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from hornbook.errors import HornbookError
from hornbook.paper.claims import (
    OURS,
    PAPER_NAMES,
    REJECTED,
    describe_answer,
    find_share,
    judge_claims,
    write_brief,
)
from hornbook.paper.tables import summary_tables, tables
from hornbook.report import Chart, Dot, Series, render_page
from hornbook.storage import read_text, write_file

PAPER_TITLE = "Extracting rules from neural networks with partial interpretations"

MENU = {
    "Verdicts": "Verdicts",
    "Table 2": "Table 2",
    "Seed by seed": "Seeds",
    "Rules": "Rules",
    "Table 1": "Table 1",
    "Missing values": "Missing values",
    "What the paper leaves open": "Open choices",
}
"""The tables in the menu of the page, by title, with their short names."""


def title(metrics: Mapping[str, Any]) -> str:
    """The title, which says whether the cohort is synthetic."""
    return f"{PAPER_TITLE}, reproduced on {_name_rows(metrics['data'])}"


def _name_rows(data: Mapping[str, Any]) -> str:
    return "a synthetic cohort, with no patient behind it" if data["synthetic"] else str(data["name"])


def opening(metrics: Mapping[str, Any]) -> str:
    """The introduction: data, experiments, scale and seeds of the run."""
    data, seeds = metrics["data"], metrics["seeds"]
    return (
        f"Data: {data['described']}; {data['variables']} variables with duals, "
        f"{data['rules_of_t']} rules in T. The paper says of a vector that it has “1 if v ∈ I, and 0 "
        "otherwise”, so that an unknown pair is (0, 0); and that inputs are in {0, 1, ?}, which ½ stands "
        f"for. Both are shown. Scale {metrics['scale']}, seeds {seeds[0]} to {seeds[-1]}, "
        f"{metrics['sample']:,} samples a query."
    )


MAIN_TOPICS = {"t_nn": "net – T (t_nn)", "h_nn": "LRN* – net (h_nn)", "t_h": "LRN* – T (t_h)"}
"""The claims that a terminal shows of a run that does not meet the conditions of all."""


def verdict_lines(metrics: Mapping[str, Any]) -> list[str]:
    """The verdict for a terminal: a line a claim, then our rules and the real rows; shares in per cent."""
    claims, labels = judge_claims(metrics), metrics["labels"]
    names = [name for name in metrics["experiments"] if name in PAPER_NAMES] or list(labels)
    topics = {claim.topic: MAIN_TOPICS.get(claim.topic, claim.topic) for claim in claims}
    if not all(claim.is_met for claim in claims):
        topics = MAIN_TOPICS
    rows = [(metrics["data"]["name"], "paper", *(f"unknown {labels[name]}, in %" for name in names))]
    for topic, name in topics.items():
        several = [claim for claim in claims if claim.topic == topic]
        cells = (f"{claim.brief} {claim.verdict}" for claim in several)
        rows += [(name, claim.published, *cells) for claim in several[:1]]
    for name, path in (("ours – net", OURS), ("real rows rejected", REJECTED)):
        shares = (find_share(metrics["experiments"][each], path) for each in names)
        rows.append((name, "–", *(write_brief(runs, ".2%") for runs in shares)))
    return [
        f"{name:19}{known:9}{' '.join(f'{cell:24}' for cell in cells)}".rstrip()
        for name, known, *cells in rows
    ]


def to_markdown(metrics: Mapping[str, Any]) -> str:
    """The whole report as Markdown, without plots."""
    parts = (table.to_markdown() for table in tables(metrics))
    return "\n".join(
        [f"# {title(metrics)}\n", describe_answer(metrics) + "\n", opening(metrics) + "\n", *parts]
    )


def to_html(metrics: Mapping[str, Any]) -> str:
    """The whole report as one self-contained page."""
    return render_page(
        "reproduction.html",
        title=title(metrics),
        answer=describe_answer(metrics),
        opening=opening(metrics),
        tables=tables(metrics),
        menu=MENU,
        charts=charts(metrics),
    )


RUN_START = "<!-- the answer and the tables of a run, written by `hornbook reproduce --write` -->\n"
RUN_END = "<!-- the end of the run -->\n"


class Document(NamedTuple):
    """What is kept of a Markdown document into which a run is written."""

    above: str
    below: str

    @classmethod
    def read(cls, path: Path) -> Document:
        """Read a document; refuse one without the two marks between which a run stands."""
        text = read_text(path)
        for mark in (RUN_START, RUN_END):
            if mark not in text:
                raise HornbookError(f"{path} lacks the line {mark.strip()}")
        return cls(text.partition(RUN_START)[0], text.partition(RUN_END)[2])

    def write(self, metrics: Mapping[str, Any], path: Path) -> None:
        """Write it with the answer and the tables that give it; the rest is in the run folder."""
        parts = ["", describe_answer(metrics), ""]
        parts += [table.to_markdown() for table in summary_tables(metrics)]
        write_file(path, "".join([self.above, RUN_START, "\n".join([*parts, ""]), RUN_END, self.below]))


def charts(metrics: Mapping[str, Any]) -> dict[str, list[Chart]]:
    """The charts, keyed by the title of the table they belong to."""
    labels, experiments = metrics["labels"], metrics["experiments"]
    frontier = Chart(
        "Disagreement of our rules with the network, query by query: median and range",
        "equivalence queries",
        "h_nn",
        tuple(
            Series(labels[name], tuple(frontier_dots(results["ours"]["frontier"]["runs"])))
            for name, results in experiments.items()
        ),
        percent=True,
    )
    swept = {name: results["missing"] for name, results in experiments.items() if "missing" in results}
    trends = [
        Chart(
            title,
            "unknown values of rejected examples, %",
            heading,
            tuple(Series(labels[name], tuple(sweep_dots(points, figure))) for name, points in swept.items()),
            percent=True,
        )
        for figure, heading, title in (
            ("common", "accuracy", "Accuracy on the common test: median and range"),
            ("t_h", "t_h", "Distance of LRN*'s rules from T: median and range"),
        )
        if swept
    ]
    return {"Table 2": [frontier], "Missing values": trends}


def sweep_dots(points: Sequence[Mapping[str, Any]], figure: str) -> Iterator[Dot]:
    """Median and range of a figure at each level of missing values."""
    for point in points:
        summary = point[figure]
        yield Dot(100 * point["unknown"]["median"], summary["median"], summary["least"], summary["most"])


def frontier_dots(frontiers: Sequence[Sequence[tuple[int, float]]]) -> Iterator[Dot]:
    """Median and range of h_nn after each query; one that ended earlier keeps its last value."""
    for at in range(max(map(len, frontiers), default=0)):
        shares = sorted(frontier[min(at, len(frontier) - 1)][1] for frontier in frontiers if frontier)
        yield Dot(at + 1, shares[len(shares) // 2], shares[0], shares[-1])
