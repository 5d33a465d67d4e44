"""The report of a reproduction: on a terminal, as a page, and in a Markdown document."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import reduce
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from hornbook.errors import HornbookError
from hornbook.paper.claims import (
    BODY_FEATURES,
    DISAGREEMENT,
    HOURS,
    NETS,
    OURS,
    PAPER_NAMES,
    QUERIES,
    REJECTED,
    RULES_OF_T,
    describe_answer,
    find_share,
    judge_claims,
    percent,
    write_range,
)
from hornbook.report import render_page
from hornbook.storage import read_text, write_file


@dataclass(frozen=True)
class ReportTable:
    """A table of text cells with a title and a note, independent of its output format."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str = ""

    def to_markdown(self) -> str:
        """The table as Markdown, under a heading.

        Examples
        --------
        >>> print(ReportTable("Animals", ("name", "legs"), (("horse", "4"),)).to_markdown())
        ## Animals
        <BLANKLINE>
        | name | legs |
        |---|---|
        | horse | 4 |
        <BLANKLINE>

        """
        cells = ([cell.replace("\n", " ").replace("|", "\\|") for cell in row] for row in self.rows)
        drawn = ["| " + " | ".join(row) + " |" for row in (self.columns, *cells)]
        drawn.insert(1, "|" + "---|" * len(self.columns))
        note = [self.note, ""] if self.note else []
        return "\n".join([f"## {self.title}", "", *note, *drawn, ""])


class Figure(NamedTuple):
    """A row of a table of figures: its name, where and how it is read, and the published value.

    `path` leads through the results of an experiment, one name a step.
    """

    name: str
    path: tuple[str, ...]
    form: str = ".2%"
    published: str = "–"


class FigureTable(NamedTuple):
    """A table of figures: its title, its rows and a note."""

    title: str
    figures: tuple[Figure, ...]
    note: str


MIXED = ("evaluation", "shares", "mixed")

TABLE_2 = FigureTable(
    "Table 2",
    (
        Figure("network – T (t_nn)", (*MIXED, "t_nn"), published=percent(DISAGREEMENT["t_nn"])),
        Figure("LRN* – network (h_nn)", (*MIXED, "lrn_star_nn"), published=percent(DISAGREEMENT["h_nn"])),
        Figure("ours – network", (*MIXED, "ours_nn")),
        Figure("LRN* – T (t_h)", (*MIXED, "t_lrn_star"), published=percent(DISAGREEMENT["t_h"])),
        Figure("ours – T", (*MIXED, "t_ours")),
        Figure("tree – T (t_tree)", (*MIXED, "t_tree"), published=percent(DISAGREEMENT["t_tree"])),
        Figure("tree – network", (*MIXED, "tree_nn")),
        Figure("real rows that the network rejects", REJECTED),
        Figure("log-odds of the empty interpretation", ("search", "empty"), ".1f"),
    ),
    "Of fresh interpretations, the share that two of them judge differently.",
)

COUNTS = ("evaluation", "rules")

RULES = FigureTable(
    "Rules",
    tuple(
        Figure(f"{name}: {what}", path, form, was if reader == "lrn_star" else "–")
        for reader, name in {"lrn_star": "LRN*", "ours": "ours"}.items()
        for what, path, form, was in (
            ("rules", (*COUNTS, reader, "count"), ".0f", "–"),
            ("in T, up to the side of the class", (*COUNTS, reader, "in_t_by_side"), ".0f", str(RULES_OF_T)),
            ("entailed by T", (*COUNTS, reader, "entailed_by_t"), ".0f", "some more"),
            ("literals in a body", (*COUNTS, reader, "body_literals"), ".1f", "–"),
            ("features in a body", (*COUNTS, reader, "body_features"), ".1f", f"about {BODY_FEATURES}"),
            ("equivalence queries", (reader, "equivalence_queries"), ".0f", str(QUERIES)),
            ("answers of the network", (reader, "membership_queries"), ",.0f", "–"),
            ("stopped by", (reader, "stopped"), "", "–"),
        )
    ),
    "B → survives and B ∧ not_survives → ⊥ differ in the side of the class literal alone. Bodies are "
    "counted without the class; the rule of a patient has about 91 literals about 44 features.",
)

TABLE_1 = FigureTable(
    "Table 1",
    (
        *(
            Figure(str(net), ("search", "published", str(net), "cross_validated"), ".4f", f"{accuracy:.4f}")
            for net, accuracy in NETS
        ),
        Figure("chosen net, cross-validated", ("search", "chosen", "cross_validated"), ".4f"),
        Figure("chosen net, fresh examples", ("search", "chosen", "held_out"), ".4f"),
    ),
    "Accuracies in folds, and of the chosen net on fresh examples.",
)

SEARCH = FigureTable(
    "The search",
    (
        Figure("chosen nets", ("search", "chosen", "net"), ""),
        Figure("chosen net, with further seeds", ("search", "chosen", "again"), ".4f"),
        Figure("configurations", ("search", "configurations"), ",.0f", "4,080"),
        Figure("trainings", ("search", "trainings"), ",.0f", "12,240"),
    ),
    "",
)

TIMES = FigureTable(
    "CPU-seconds",
    tuple(
        Figure(name, ("seconds", stage, "cpu"), ".1f", f"about {HOURS[stage]} h" if stage in HOURS else "–")
        for stage, name in {
            "lrn_star": "LRN*",
            "ours": "ours",
            "tree": "tree, tuning included",
            "missing": "sweep over missing values",
            "evaluation": "evaluation",
        }.items()
    ),
    "Drawing and the network's answers are included.",
)


def tables(metrics: Mapping[str, Any]) -> list[ReportTable]:
    """The tables of the page, those that answer first."""
    second, rules, first, search, times = (
        figure_table(metrics, each) for each in (TABLE_2, RULES, TABLE_1, SEARCH, TIMES)
    )
    candidates = [verdict_table(metrics), second, rules, first, search, missing_table(metrics), times]
    return [table for table in candidates if table.rows]


def summary_tables(metrics: Mapping[str, Any]) -> list[ReportTable]:
    """The tables of a document: verdicts, the paper's tables, and short ones of what is beside them."""
    readings = {name: each for name, each in metrics["experiments"].items() if name in PAPER_NAMES}
    of_readings = {**metrics, "experiments": readings or metrics["experiments"]}
    candidates = [
        verdict_table(metrics),
        figure_table(metrics, TABLE_2),
        figure_table(of_readings, TABLE_1),
        missing_table(metrics),
    ]
    return [table for table in candidates if table.rows]


def figure_table(metrics: Mapping[str, Any], table: FigureTable) -> ReportTable:
    """A table of figures, with a column for each experiment; figures that none of them has are left out."""
    experiments = [
        {**results, "seconds": metrics["seconds"][name]} for name, results in metrics["experiments"].items()
    ]
    rows = (
        (figure.name, figure.published, *(find_figure(results, figure) for results in experiments))
        for figure in table.figures
    )
    kept = tuple(row for row in rows if any(cell != "–" for cell in row[2:]))
    columns = ("", "published", *(metrics["labels"][name] for name in metrics["experiments"]))
    return ReportTable(table.title, columns, kept, table.note)


def find_figure(results: Any, figure: Figure) -> str:
    """A figure of an experiment, with its range over the repetitions; a dash if it has none."""
    try:
        runs = reduce(lambda part, step: part[step], figure.path, results)["runs"]
    except KeyError:
        return "–"
    if isinstance(runs[0], dict):
        runs = [run["estimate"] for run in runs]
    if isinstance(runs[0], int | float):
        return write_range(runs, figure.form)
    return "; ".join(dict.fromkeys(runs))


def verdict_table(metrics: Mapping[str, Any]) -> ReportTable:
    """The verdicts, with a column for each reading of the paper."""
    labels, rows, claims = metrics["labels"], [], judge_claims(metrics)
    for topic in dict.fromkeys(claim.topic for claim in claims):
        several = [claim for claim in claims if claim.topic == topic]
        cells = (f"{claim.here}: {claim.verdict}" for claim in several)
        rows.append((several[0].text, several[0].published, *cells))
    seeds, lacks = metrics["seeds"], dict.fromkeys(claim.lacks for claim in claims if claim.lacks)
    note = (
        f"Medians over the seeds {seeds[0]} to {seeds[-1]}, in brackets their range. As published: within a "
        "quarter of the published figure, or that is in the middle half of the runs. Not comparable: "
        "the paper's conditions are not met, or runs contradict each other."
    )
    names = dict.fromkeys(claim.protocol for claim in claims)
    heading = ("claim", "published", *(labels[name] for name in names))
    note += f" Here: {'; '.join(lacks)}." if lacks else ""
    return ReportTable("Verdicts", heading, tuple(rows), note)


MISSING = (("common", "accuracy", ".3f"), ("t_h", "t_h", ".2%"))
"""The figures of the sweep over missing values, with their headings and formats."""


def missing_table(metrics: Mapping[str, Any]) -> ReportTable:
    """Accuracy and rules against the share of unknown values, level by level."""
    swept = {name: each["missing"] for name, each in metrics["experiments"].items() if "missing" in each}
    headings = (f"{metrics['labels'][name]}: {heading}" for name in swept for _, heading, _ in MISSING)
    rows = []
    for level in zip(*swept.values(), strict=True):
        shares = (write_range(level[0][name]["runs"], ".0%") for name in ("missing", "unknown"))
        cells = (write_range(each[name]["runs"], form) for each in level for name, _, form in MISSING)
        rows.append((*shares, *cells))
    note = (
        "The paper's net, trained on the rules of the patients who lack most, with ever more of their open "
        "values unknown, and on as many accepted examples with the same share unknown. One test for all "
        "levels; rules of LRN*."
    )
    return ReportTable("Missing values", ("open unknown", "all unknown", *headings), tuple(rows), note)


def verdict_lines(metrics: Mapping[str, Any]) -> list[str]:
    """The verdicts for a terminal: a line a claim, then our rules and the real rows; medians."""
    claims, experiments = judge_claims(metrics), metrics["experiments"]
    names = [name for name in experiments if name in PAPER_NAMES] or list(experiments)
    rows = [(metrics["data"]["name"], "published", *(f"unknown {metrics['labels'][name]}" for name in names))]
    for topic in dict.fromkeys(claim.topic for claim in claims):
        several = [claim for claim in claims if claim.topic == topic]
        cells = (f"{claim.here.partition(' [')[0]}: {claim.verdict}" for claim in several)
        rows.append((topic, several[0].published, *cells))
    for name, path in (("ours – network", OURS), ("rows rejected", REJECTED)):
        shares = (percent(float(np.median(find_share(experiments[each], path)))) for each in names)
        rows.append((name, "–", *shares))
    return [
        f"{name:15} {known:10}{' '.join(f'{cell:25}' for cell in cells)}".rstrip()
        for name, known, *cells in rows
    ]


def to_html(metrics: Mapping[str, Any]) -> str:
    """The whole report as one self-contained page; its title says whether the cohort is synthetic."""
    data, seeds = metrics["data"], metrics["seeds"]
    rows = "a synthetic cohort, with no patient behind it" if data["synthetic"] else data["name"]
    opening = (
        f"Data: {data['described']}; {data['variables']} variables with duals, "
        f"{data['rules_of_t']} rules in T. The paper says of a vector that it has “1 if v ∈ I, and 0 "
        "otherwise”, so that an unknown pair is (0, 0); and that inputs are in {0, 1, ?}, which ½ stands "
        f"for. Both are shown. Scale {metrics['scale']}, seeds {seeds[0]} to {seeds[-1]}, "
        f"{metrics['sample']:,} samples a query."
    )
    return render_page(
        "reproduction.html",
        title=f"Extracting rules from neural networks with partial interpretations, reproduced on {rows}",
        answer=describe_answer(metrics),
        opening=opening,
        tables=tables(metrics),
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
