"""The report of a reproduction: on a terminal, as a page, as Markdown, and in a document."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from textwrap import wrap
from typing import Any, NamedTuple

from hornbook.errors import HornbookError
from hornbook.paper.claims import PAPER_NAMES, describe_answer, describe_ours, judge_claims
from hornbook.paper.tables import scan_sentence, scan_table, tables
from hornbook.report import Chart, Dot, Series, render_page
from hornbook.storage import read_text, write_file

PAPER_TITLE = "Extracting rules from neural networks with partial interpretations"

MENU = {
    "Verdicts": "Verdicts",
    "Table 2": "Table 2",
    "What the open choices decide": "Scan",
    "Two kinds of error": "Errors",
    "Rules": "Rules",
    "Table 1. The paper's nets, and those that were chosen": "Networks",
    "Missing values": "Missing values",
    "Times": "Times",
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
        f"for. Both are shown. Scale {metrics['scale']}, repeated with the seeds {seeds[0]} to "
        f"{seeds[-1]}. Figures are medians; in parentheses the 95 % interval of the median repetition where "
        "there is one, in brackets the range over the repetitions."
    )


LINE_WIDTH = 80
"""Width of the verdict on a terminal, in characters."""


def verdict_lines(metrics: Mapping[str, Any]) -> list[str]:
    """The verdict for a terminal: a line a claim, our rules, and the real rows."""
    names, labels = [name for name in PAPER_NAMES if name in metrics["experiments"]], metrics["labels"]
    seeds = metrics["seeds"]
    lines = [
        f"{metrics['data']['name']}, scale {metrics['scale']}, seeds {seeds[0]} to {seeds[-1]}",
        f"{'':18}{'published':10}" + "".join(f"{'unknown as ' + labels[name]:26}" for name in names),
    ]
    claims = [
        claim for claim in judge_claims(metrics) if claim.is_published and claim.topic != "entailed rules"
    ]
    for topic in dict.fromkeys(claim.topic for claim in claims):
        several = [claim for claim in claims if claim.topic == topic]
        cells = "".join(f"{f'{claim.here}, {claim.verdict}':26}" for claim in several)
        lines.append(f"{topic:18}{several[0].published:10}{cells}")
    shown = lines if names else lines[:1]
    return [*(line.rstrip() for line in shown), *wrap(describe_ours(metrics), LINE_WIDTH)]


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


def scan_title(scan: Mapping[str, Any]) -> str:
    """The title of a scan."""
    return f"What the open choices decide, on {_name_rows(scan['data'])}"


def scan_lines(scan: Mapping[str, Any]) -> list[str]:
    """The answer of a scan for a terminal."""
    return wrap(f"{scan_title(scan)}: {scan_sentence(scan)}", LINE_WIDTH)


def scan_to_markdown(scan: Mapping[str, Any]) -> str:
    """The page of a scan as Markdown."""
    return f"# {scan_title(scan)}\n\n{scan_table(scan).to_markdown()}"


def scan_to_html(scan: Mapping[str, Any]) -> str:
    """The page of a scan."""
    return render_page(
        "reproduction.html",
        title=scan_title(scan),
        answer=scan_sentence(scan),
        opening=f"Data: {scan['data']['described']}.",
        tables=[scan_table(scan)],
        menu={},
        charts={},
    )


ANSWER_START = "<!-- the answer of a run, written by `hornbook reproduce --write` -->\n"
ANSWER_END = "<!-- the end of the answer -->\n"
TABLES_START = "<!-- below: the tables of a run, written by `hornbook reproduce --write` -->\n"


class Document(NamedTuple):
    """What is kept of a Markdown document into which a run is written."""

    above: str
    prose: str

    @classmethod
    def read(cls, path: Path) -> Document:
        """Read a document; refuse one without the three marks at which the parts of a run stand."""
        text = read_text(path)
        for mark in (ANSWER_START, ANSWER_END, TABLES_START):
            if mark not in text:
                raise HornbookError(f"{path} lacks the line {mark.strip()}")
        above, _, rest = text.partition(ANSWER_START)
        return cls(above, rest.partition(ANSWER_END)[2].partition(TABLES_START)[0])

    def write(self, metrics: Mapping[str, Any], path: Path) -> None:
        """Write it with the answer and Table 2 between the first two marks, all else below the last."""
        claims, first, *others = tables(metrics)
        answer = "\n".join(
            ["", describe_answer(metrics) + "\n", first.to_markdown(), opening(metrics) + "\n\n"]
        )
        below = "\n".join(["", *(table.to_markdown() for table in (claims, *others))])
        parts = (self.above, ANSWER_START, answer, ANSWER_END, self.prose, TABLES_START, below)
        write_file(path, "".join(parts))


def charts(metrics: Mapping[str, Any]) -> dict[str, list[Chart]]:
    """The charts, keyed by the title of the table they belong to."""
    labels, experiments = metrics["labels"], metrics["experiments"]
    charts_by_title = {
        "Table 2": [
            Chart(
                "Disagreement of our rules with the network, query by query: median and range",
                "equivalence queries",
                "h_nn",
                tuple(
                    Series(labels[name], _frontier_dots(results["ours"]["frontier"]["runs"]))
                    for name, results in experiments.items()
                ),
                percent=True,
            )
        ]
    }
    swept = {name: results["missing"] for name, results in experiments.items() if "missing" in results}
    if swept:
        charts_by_title["Missing values"] = [
            Chart(
                title,
                "unknown values of rejected examples, %",
                name,
                tuple(
                    Series(
                        labels[protocol],
                        tuple(
                            Dot(
                                100 * point["unknown"]["median"],
                                *(point[figure][each] for each in ("median", "least", "most")),
                            )
                            for point in points
                        ),
                    )
                    for protocol, points in swept.items()
                ),
                percent=True,
            )
            for figure, name, title in (
                ("common", "accuracy", "Accuracy on the common test: median and range"),
                ("t_h", "t_h", "Distance of LRN*'s rules from T: median and range"),
            )
        ]
    return charts_by_title


def _frontier_dots(frontiers: Sequence[Sequence[tuple[int, float]]]) -> tuple[Dot, ...]:
    """Median and range of h_nn after each query; one that ended earlier keeps its last value."""
    longest = max(map(len, frontiers), default=0)
    dots = []
    for at in range(longest):
        shares = sorted(frontier[min(at, len(frontier) - 1)][1] for frontier in frontiers if frontier)
        dots.append(Dot(at + 1, shares[len(shares) // 2], shares[0], shares[-1]))
    return tuple(dots)
