"""The report of a reproduction: on a terminal, as a page, as Markdown, and in a document."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from pathlib import Path
from typing import Any, NamedTuple

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
    write_brief,
    write_figure,
    write_range,
)
from hornbook.report import Chart, Dot, Series, render_page
from hornbook.storage import read_text, write_file

READER_NAMES = {
    "lrn_star": "LRN*",
    "ours": "ours",
    "tree": "tree",
}
"""What extracts rules, as tables call it."""

STAGE_NAMES = {
    **READER_NAMES,
    "tree": "tree, tuning included",
    "missing": "sweep over missing values",
    "evaluation": "evaluation",
}


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
    path: tuple[str | int, ...]
    form: str = ".2%"
    published: str = "–"


KINDS = {
    "violation": "violations of T",
    "random": "random",
    "row": "real rows",
    "near miss": "near misses",
}
"""The kinds of interpretations that are evaluated."""

SHARES = ("evaluation", "shares")
PAIRS = {"t_nn": "network – T", "lrn_star_nn": "LRN* – network", "ours_nn": "ours – network"}
"""The pairs of judges whose disagreement is shown by kind of interpretation."""

KNOWN = {pair: percent(share) for pair, share in DISAGREEMENT.items()}
"""The published disagreements."""

TABLE_2 = (
    Figure("network – T (t_nn)", (*SHARES, "mixed", "t_nn"), published=KNOWN["t_nn"]),
    Figure("LRN* – network (h_nn)", (*SHARES, "mixed", "lrn_star_nn"), published=KNOWN["h_nn"]),
    Figure("ours – network", (*SHARES, "mixed", "ours_nn")),
    Figure("LRN* – T (t_h)", (*SHARES, "mixed", "t_lrn_star"), published=KNOWN["t_h"]),
    Figure("ours – T", (*SHARES, "mixed", "t_ours")),
    Figure("tree – T (t_tree)", (*SHARES, "mixed", "t_tree"), published=KNOWN["t_tree"]),
    Figure("tree – network", (*SHARES, "mixed", "tree_nn")),
    Figure("real rows that the network rejects", ("evaluation", "rows_rejected")),
    Figure("log-odds of the empty interpretation", ("search", "empty"), ".1f"),
)

BY_KIND = tuple(
    Figure(f"{name}: {judges}", (*SHARES, kind, pair))
    for kind, name in KINDS.items()
    for pair, judges in PAIRS.items()
)

RULES = tuple(
    Figure(f"{name}: {what}", (*path, reader, figure), form, was if reader == "lrn_star" else "–")
    for reader, name in READER_NAMES.items()
    for what, path, figure, form, was in (
        ("rules", ("evaluation", "rules"), "count", ".0f", "–"),
        (
            "in T, up to the side of the class",
            ("evaluation", "rules"),
            "in_t_by_side",
            ".0f",
            str(RULES_OF_T),
        ),
        ("entailed by T", ("evaluation", "rules"), "entailed_by_t", ".0f", "some more"),
        ("literals in a body", ("evaluation", "rules"), "body_literals", ".1f", "–"),
        (
            "features in a body",
            ("evaluation", "rules"),
            "body_features",
            ".1f",
            f"about {BODY_FEATURES}",
        ),
        ("equivalence queries", (), "equivalence_queries", ".0f", str(QUERIES)),
        ("answers of the network", (), "membership_queries", ",.0f", "–"),
        ("stopped by", (), "stopped", "", "–"),
    )
)

ACCURACIES = (
    *(
        Figure(str(net), ("search", "published", str(net), "cross_validated"), ".4f", f"{accuracy:.4f}")
        for net, accuracy in NETS
    ),
    Figure("chosen net, cross-validated", ("search", "chosen", "cross_validated"), ".4f"),
    Figure("chosen net, fresh examples", ("search", "chosen", "held_out"), ".4f"),
)

TRAINING = (
    Figure("chosen net, with further seeds", ("search", "chosen", "again"), ".4f"),
    *(
        Figure(f"fresh examples: {kind}", ("search", "held_out_by_kind", kind), ".1%")
        for kind in ("random, accepted", "row, accepted", "near miss, accepted", "violation, rejected")
    ),
    Figure("chosen nets", ("search", "chosen", "net"), ""),
    Figure("configurations", ("search", "configurations"), ",.0f", "4,080"),
    Figure("trainings", ("search", "trainings"), ",.0f", "12,240"),
)

TIMES = tuple(
    Figure(name, ("seconds", stage, "cpu"), ".1f", was)
    for stage, name in STAGE_NAMES.items()
    for was in (f"about {HOURS[stage]} h" if stage in HOURS else "–",)
)

FIGURE_TABLES = (
    (
        "Table 2",
        "Of fresh interpretations, the share that two of them judge differently.",
        TABLE_2,
    ),
    ("By kind of interpretation", "Real rows are counted once each, with their class.", BY_KIND),
    (
        "Rules",
        "B → survives and B ∧ not_survives → ⊥ differ in the side of the class literal alone. Bodies are "
        "counted without the class; the rule of a patient has about 91 literals about 44 features.",
        RULES,
    ),
    ("Table 1", "Accuracies in folds, and of the chosen net on fresh examples.", ACCURACIES),
    ("The search", "", TRAINING),
    (
        "CPU-seconds",
        "Drawing and the network's answers are included.",
        TIMES,
    ),
)
"""The tables of figures: title, note, rows. Figures that a run does not have are left out."""


def tables(metrics: Mapping[str, Any]) -> list[ReportTable]:
    """All tables, those that answer first."""
    verdicts, reasons = claim_tables(metrics)
    second, kinds, rules, nets, training, times = (figure_table(metrics, *table) for table in FIGURE_TABLES)
    candidates = [verdicts, second, reasons, seed_table(metrics), rules, kinds, nets, training]
    candidates += [missing_table(metrics), times, choices_table(metrics)]
    return [table for table in candidates if table.rows]


def summary_tables(metrics: Mapping[str, Any]) -> list[ReportTable]:
    """The tables for a document: verdicts, the paper's tables, and short ones of what is beside them."""
    readings = {name: each for name, each in metrics["experiments"].items() if name in PAPER_NAMES}
    verdicts, _, *others = tables({**metrics, "experiments": readings or metrics["experiments"]})
    (first,) = (table for table in others if table.title == "Table 1")
    (choices,) = (table for table in others if table.title == "What the paper leaves open")
    answers = replace(choices, columns=choices.columns[:2], rows=tuple(row[:2] for row in choices.rows))
    second = figure_table(metrics, *FIGURE_TABLES[0])
    candidates = [verdicts, second, first, missing_table(metrics, MISSING[:2]), answers]
    return [table for table in candidates if table.rows]


def figure_table(metrics: Mapping[str, Any], title: str, note: str, figures: Sequence[Figure]) -> ReportTable:
    """A table of figures, with a column for each experiment; figures that none of them has are left out."""
    experiments = [
        {**results, "seconds": metrics["seconds"][name]} for name, results in metrics["experiments"].items()
    ]
    rows = (
        (figure.name, figure.published, *(find_figure(results, figure) for results in experiments))
        for figure in figures
    )
    kept = [row for row in rows if any(cell != "–" for cell in row[2:])]
    columns = ("", "published", *(metrics["labels"][name] for name in metrics["experiments"]))
    if all(row[1] == "–" for row in kept):
        columns, kept = (columns[0], *columns[2:]), [(row[0], *row[2:]) for row in kept]
    return ReportTable(title, columns, tuple(kept), note)


def find_figure(results: Any, figure: Figure) -> str:
    """A figure of an experiment, with its range over the repetitions; a dash if it has none."""
    try:
        runs = reduce(lambda part, step: part[step], figure.path, results)["runs"]
    except (KeyError, IndexError):
        return "–"
    if isinstance(runs[0], dict):
        runs = [run["estimate"] for run in runs]
    if isinstance(runs[0], int | float):
        return write_range(runs, figure.form)
    return "; ".join(str(each) for each in dict.fromkeys(runs) if each is not None) or "–"


def claim_tables(metrics: Mapping[str, Any]) -> tuple[ReportTable, ReportTable]:
    """The verdicts, with a column for each reading of the paper; and what each rests on."""
    labels, verdicts, reasons = metrics["labels"], [], []
    claims = judge_claims(metrics)
    names = list(dict.fromkeys(claim.protocol for claim in claims))
    for topic in dict.fromkeys(claim.topic for claim in claims):
        several = {claim.protocol: claim for claim in claims if claim.topic == topic}
        first = next(iter(several.values()))
        cells = (f"{claim.here}: {claim.verdict}" for claim in several.values())
        verdicts.append((first.text, first.published, *cells))
        reasons.append((topic, merge_texts({labels[name]: each.reason for name, each in several.items()})))
    seeds = metrics["seeds"]
    note = (
        f"Medians over the seeds {seeds[0]} to {seeds[-1]}, in brackets their range. As published: within a "
        "quarter of the published figure, or that is in the middle half of the runs. Not comparable: "
        "the paper's conditions are not met, or runs contradict each other."
    )
    heading = ("claim", "published", *(labels[name] for name in names))
    return (
        ReportTable("Verdicts", heading, tuple(verdicts), note),
        ReportTable("What the verdicts rest on", ("claim", "reason"), tuple(reasons)),
    )


SEED_FIGURES = (
    Figure("t_nn", (*SHARES, "mixed", "t_nn")),
    Figure("h_nn, LRN*", (*SHARES, "mixed", "lrn_star_nn")),
    Figure("h_nn, ours", (*SHARES, "mixed", "ours_nn")),
    Figure("t_h, LRN*", (*SHARES, "mixed", "t_lrn_star")),
    Figure("t_h, ours", (*SHARES, "mixed", "t_ours")),
    Figure("log-odds of the empty one", ("search", "empty"), ".1f"),
    Figure("chosen net", ("search", "chosen", "net"), ""),
)
"""The figures that are shown seed by seed."""


def seed_table(metrics: Mapping[str, Any]) -> ReportTable:
    """The figures of every repetition by itself."""
    rows = []
    for name, results in metrics["experiments"].items():
        for at, seed in enumerate(metrics["seeds"]):
            cells = []
            for figure in SEED_FIGURES:
                each = reduce(lambda part, step: part[step], figure.path, results)["runs"][at]
                value = each["estimate"] if isinstance(each, dict) else each
                cells.append(write_figure(value, figure.form))
            rows.append((metrics["labels"][name], str(seed), *cells))
    columns = ("unknown pair", "seed", *(figure.name for figure in SEED_FIGURES))
    return ReportTable("Seed by seed", columns, tuple(rows))


MISSING = (("common", "accuracy", ".3f"), ("t_h", "t_h", ".2%"), ("h_nn", "h_nn", ".2%"))
"""The figures of the sweep over missing values, with their headings and formats."""


def missing_table(
    metrics: Mapping[str, Any], figures: Sequence[tuple[str, str, str]] = MISSING
) -> ReportTable:
    """Accuracy and rules against the share of unknown values, level by level."""
    swept = {name: each["missing"] for name, each in metrics["experiments"].items() if "missing" in each}
    headings = (f"{metrics['labels'][name]}: {heading}" for name in swept for _, heading, _ in figures)
    rows = []
    for level in zip(*swept.values(), strict=True):
        shares = (write_range(level[0][name]["runs"], ".0%") for name in ("missing", "unknown"))
        cells = (write_range(each[name]["runs"], form) for each in level for name, _, form in figures)
        rows.append((*shares, *cells))
    note = (
        "The paper's net, trained on the rules of the patients who lack most, with ever more of their open "
        "values unknown, and on as many accepted examples with the same share unknown. One test for all "
        "levels; rules of LRN*."
    )
    return ReportTable("Missing values", ("open unknown", "all unknown", *headings), tuple(rows), note)


def choices_table(metrics: Mapping[str, Any]) -> ReportTable:
    """What the paper leaves open; where experiments differ, the answer and the reason of each."""
    labels, rows = metrics["labels"], []
    by_experiment = {name: metrics["choices"][name] for name in metrics["experiments"]}
    for choices in zip(*by_experiment.values(), strict=True):
        questions, *cells = zip(*choices, strict=True)
        named = (dict(zip(map(labels.get, by_experiment), texts, strict=True)) for texts in cells)
        rows.append((questions[0], *map(merge_texts, named)))
    return ReportTable("What the paper leaves open", ("choice", "here", "why"), tuple(rows))


def merge_texts(texts: Mapping[str, str]) -> str:
    """What several experiments say, once if they say the same."""
    if len(set(texts.values())) == 1:
        return next(iter(texts.values()))
    return "; ".join(f"{label}: {text}" for label, text in texts.items() if text)


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
    )
    swept = {name: results["missing"] for name, results in experiments.items() if "missing" in results}
    trends = [
        Chart(
            title,
            "unknown values of rejected examples, %",
            heading,
            tuple(Series(labels[name], tuple(sweep_dots(points, figure))) for name, points in swept.items()),
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
