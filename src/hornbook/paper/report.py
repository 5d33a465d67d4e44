"""The report of a reproduction: claims with verdicts, tables and charts, as Markdown and HTML."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from hornbook.paper.claims import answer_in_sentences
from hornbook.paper.tables import (
    ReportTable,
    caveats_table,
    choices_table,
    chosen_nets_table,
    claims_table,
    disagreement_table,
    errors_table,
    examples_table,
    missing_table,
    nets_table,
    paper_table,
    rules_table,
    scan_sentence,
    scan_table,
    times_table,
)
from hornbook.report import Chart, Dot, Series, render_page

PAPER_TITLE = "Extracting rules from neural networks with partial interpretations"


def title(metrics: Mapping[str, Any]) -> str:
    """The title, which says whether the cohort is synthetic."""
    return f"{PAPER_TITLE}, reproduced on {_name_rows(metrics['data'])}"


def _name_rows(data: Mapping[str, Any]) -> str:
    return "a synthetic cohort, with no patient behind it" if data["synthetic"] else str(data["name"])


def opening(metrics: Mapping[str, Any]) -> str:
    """The introduction: data, protocols, scale and seeds of the run."""
    data, seeds = metrics["data"], metrics["seeds"]
    protocols = ", ".join(map(_describe_protocol, metrics["experiments"]))
    return (
        f"Data: {data['described']}; {data['variables']} variables with duals, "
        f"{data['rules_of_t']} rules in T. Protocols: {protocols}. "
        f"Scale {metrics['scale']}, repeated with the seeds {seeds[0]} to "
        f"{seeds[-1]}. Figures are medians; in parentheses the 95 % interval of the median repetition where "
        "there is one, in brackets the range over the repetitions."
    )


def _describe_protocol(name: str) -> str:
    meanings = {"paper": "as the text of the paper has it", "hard": "a harder task of ours"}
    return f"{name} ({meanings[name]})" if name in meanings else name


def summary_tables(metrics: Mapping[str, Any]) -> list[ReportTable]:
    """The tables that answer first: Table 2 as the paper prints it, and the claims."""
    first, *others = (paper_table(metrics, protocol) for protocol in metrics["experiments"])
    return [first, claims_table(metrics), *others]


def tables(metrics: Mapping[str, Any]) -> list[ReportTable]:
    """The tables of figures: those that answer first, then the details of each protocol."""
    details = (table for protocol in metrics["experiments"] for table in _protocol_tables(metrics, protocol))
    scan = [scan_table(metrics["scan"])] if "scan" in metrics else []
    return [*summary_tables(metrics), *scan, *details, times_table(metrics)]


def _protocol_tables(metrics: Mapping[str, Any], protocol: str) -> list[ReportTable]:
    missing = [missing_table(metrics, protocol)] if metrics["experiments"][protocol]["missing"] else []
    makers = (disagreement_table, errors_table, rules_table, nets_table, chosen_nets_table, caveats_table)
    return [*(make(metrics, protocol) for make in makers), *missing]


def details(metrics: Mapping[str, Any]) -> list[ReportTable]:
    """The tables of text: some of the rules, and the choices that the paper leaves open."""
    protocols = list(metrics["experiments"])
    return [
        *(choices_table(metrics, protocol) for protocol in protocols),
        *(examples_table(metrics, protocol) for protocol in protocols),
    ]


def to_markdown(metrics: Mapping[str, Any]) -> str:
    """The whole report as Markdown, without plots."""
    first, *others = tables(metrics)
    choices = (choices_table(metrics, protocol) for protocol in metrics["experiments"])
    parts = [
        f"# {title(metrics)}\n",
        " ".join(answer_in_sentences(metrics)) + "\n",
        first.to_markdown(),
        opening(metrics) + "\n",
        *(table.to_markdown() for table in (*others, *choices)),
    ]
    return "\n".join(parts)


def to_html(metrics: Mapping[str, Any]) -> str:
    """The whole report as one self-contained page."""
    return render_page(
        "reproduction.html",
        title=title(metrics),
        answer=" ".join(answer_in_sentences(metrics)),
        opening=opening(metrics),
        tables=[*tables(metrics), *details(metrics)],
        charts=charts(metrics),
    )


def scan_title(scan: Mapping[str, Any]) -> str:
    """The title of a scan."""
    return f"What the open choices decide, on {_name_rows(scan['data'])}"


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
        charts={},
    )


def charts(metrics: Mapping[str, Any]) -> dict[str, Chart]:
    """The charts, keyed by the title of the table they belong to."""
    found = {}
    for protocol, experiment in metrics["experiments"].items():
        frontiers = tuple(
            Series(f"seed {seed}", tuple(Dot(number, share) for number, (_, share) in enumerate(frontier, 1)))
            for seed, frontier in zip(metrics["seeds"], experiment["frontiers"], strict=True)
        )
        found[disagreement_table(metrics, protocol).title] = Chart(
            "Disagreement of our rules with the network, query by query",
            "equivalence queries",
            "h_nn",
            frontiers,
            percent=True,
        )
        if experiment["missing"]:
            found[missing_table(metrics, protocol).title] = _missing_chart(experiment["missing"])
    return found


def _missing_chart(points: Iterable[Mapping[str, Any]]) -> Chart:
    series = {
        label: tuple(
            Dot(100 * point["missing"], found["median"], found["least"], found["most"])
            for point in points
            for found in [point[name]]
        )
        for name, label in (
            ("common", "accuracy, common test"),
            ("own", "accuracy, own test"),
            ("t_h", "t_h"),
        )
    }
    return Chart(
        "Accuracy, and distance of the rules from T, against the share of missing values",
        "unknown among the open values of rejected training examples, %",
        "share",
        tuple(Series(label, dots) for label, dots in series.items()),
        percent=True,
    )
