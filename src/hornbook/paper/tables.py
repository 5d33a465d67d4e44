"""The tables of a reproduction and of its scan, as cells of text.

A table of figures is data: for each figure its name, the published value, where it stands among the
results of an experiment, and its format. One renderer puts the experiments side by side.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any, NamedTuple

from hornbook.paper import published
from hornbook.paper.claims import judge_claims, percent
from hornbook.paper.missing import Sweep

READER_NAMES = {
    "lrn_star": "LRN*",
    "ours": "ours",
    "longer": "LRN*, with more queries",
    "tree": "Hoeffding tree",
}
STAGE_NAMES = {
    "search": "architecture search",
    **READER_NAMES,
    "tree": "Hoeffding tree, tuning included",
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
    """A row of a table of figures: its name, the published value, and where and how it is read.

    `path` leads through the results of an experiment, one name a step.
    """

    name: str
    path: tuple[str | int, ...]
    form: str = ".2%"
    published: str = "–"


KINDS = {
    "random": "random",
    "violation": "violating a rule of T",
    "row": "real rows",
    "near miss": "near misses",
}
PAIRS = ("t_nn", "t_lrn_star", "lrn_star_nn", "t_ours", "ours_nn", "t_tree", "tree_nn")
"""The pairs of judges whose disagreement is shown by kind of interpretation."""

MIXED, INCOHERENT = ("evaluation", "shares", "mixed"), ("evaluation", "incoherent")
"""The places of results."""

TABLE_2 = (
    Figure("equivalence queries", ("lrn_star", "equivalence_queries"), ".0f", str(published.QUERIES)),
    Figure("t_h, LRN*", (*MIXED, "t_lrn_star"), published=percent(published.DISAGREEMENT["t_h"])),
    Figure("t_nn", (*MIXED, "t_nn"), published=percent(published.DISAGREEMENT["t_nn"])),
    Figure("h_nn, LRN*", (*MIXED, "lrn_star_nn"), published=percent(published.DISAGREEMENT["h_nn"])),
    Figure("t_tree", (*MIXED, "t_tree"), published=percent(published.DISAGREEMENT["t_tree"])),
    Figure("tree_nn", (*MIXED, "tree_nn")),
    Figure("t_h, ours", (*MIXED, "t_ours")),
    Figure("h_nn, ours", (*MIXED, "ours_nn")),
    Figure("h_nn, LRN* with more queries", (*MIXED, "longer_nn")),
    Figure("real rows with their class that the network rejects", ("evaluation", "rows_rejected")),
    Figure("interpretations evaluated", ("evaluation", "size"), ",.0f"),
)

BY_KIND = tuple(
    Figure(f"{name}: {pair.replace('lrn_star', 'LRN*')}", ("evaluation", "shares", kind, pair))
    for kind, name in KINDS.items()
    for pair in PAIRS
)

ERRORS = tuple(
    Figure(f"{name}: rules are {error}", ("evaluation", "errors", reader, error))
    for reader, name in READER_NAMES.items()
    for error in ("missing", "wrong")
)

RULES = tuple(
    Figure(f"{name}: {what}", (*path, reader, figure), form, was if reader == "lrn_star" else "–")
    for reader, name in READER_NAMES.items()
    for what, path, figure, form, was in (
        ("rules", ("evaluation", "rules"), "count", ".0f", "–"),
        ("in T literally", ("evaluation", "rules"), "in_t", ".0f", "–"),
        (
            "in T up to the side of the class",
            ("evaluation", "rules"),
            "in_t_by_side",
            ".0f",
            str(published.RULES_OF_T),
        ),
        ("entailed by T", ("evaluation", "rules"), "entailed_by_t", ".0f", "some"),
        ("literals in a body", ("evaluation", "rules"), "body_literals", ".1f", "–"),
        (
            "features in a body",
            ("evaluation", "rules"),
            "body_features",
            ".1f",
            f"about {published.BODY_FEATURES}",
        ),
        ("equivalence queries", (), "equivalence_queries", ".0f", str(published.QUERIES)),
        ("answers of the network", (), "membership_queries", ",.0f", "–"),
        ("stopped by", (), "stopped", "", "–"),
    )
)

NETS = (
    *(
        Figure(f"{net}, {what}", ("search", "published", str(net), figure), ".4f", was)
        for net, accuracy in published.NETS
        for what, figure, was in (
            ("cross-validated", "cross_validated", f"{accuracy:.4f}"),
            ("held out", "held_out", "–"),
        )
    ),
    Figure("chosen net, cross-validated", ("search", "chosen", "cross_validated"), ".4f"),
    Figure("chosen net, scored again with further seeds", ("search", "chosen", "again"), ".4f"),
    Figure("chosen net, held out", ("search", "chosen", "held_out"), ".4f"),
    *(
        Figure(f"chosen net, held out: {kind}", ("search", "held_out_by_kind", kind), ".1%")
        for kind in ("random, accepted", "row, accepted", "near miss, accepted", "violation, rejected")
    ),
    Figure("chosen net, log-odds of the empty interpretation", ("search", "empty"), ".1f"),
    Figure("chosen nets", ("search", "chosen", "net"), ""),
    Figure("configurations", ("search", "configurations"), ",.0f", "4,080"),
    Figure("trainings", ("search", "trainings"), ",.0f", "12,240"),
    Figure("trainings that diverged", ("search", "diverged"), ",.0f"),
    Figure("trainings that ended in one answer to everything", ("search", "collapsed"), ",.0f"),
)

MISSING = tuple(
    Figure(f"level {level + 1}: {what}", ("missing", level, figure), form)
    for level in range(len(Sweep().shares))
    for what, figure, form in (
        ("unknown of the open values", "missing", ".0%"),
        ("unknown of all values", "unknown", ".1%"),
        ("accuracy, own test", "own", ".3f"),
        ("accuracy, common test", "common", ".3f"),
        ("t_h", "t_h", ".2%"),
        ("h_nn", "h_nn", ".2%"),
    )
)

COHERENCE = (
    Figure("rejected although a completion is accepted, of the rejected", (*INCOHERENT, "rejected")),
    Figure("accepted although no completion that was tried is, of the accepted", (*INCOHERENT, "accepted")),
    Figure("incoherent, of all", (*INCOHERENT, "rate")),
)

TIMES = tuple(
    Figure(f"{name}, {unit}", ("seconds", stage, figure), ".1f", was if figure == "cpu" else "–")
    for stage, name in STAGE_NAMES.items()
    for was in (f"about {published.HOURS[stage]} h" if stage in published.HOURS else "–",)
    for figure, unit in (("seconds", "s"), ("cpu", "CPU-s"))
)

FIGURE_TABLES = (
    (
        "Table 2",
        "Of fresh interpretations, the share judged differently: t is the target theory T, h the rules, nn "
        "the network, tree the Hoeffding tree.",
        TABLE_2,
    ),
    ("Interpretations judged differently, by kind", "Real rows are counted once each.", BY_KIND),
    (
        "Two kinds of error",
        "Of mixed interpretations: rules are missing where the network alone rejects, and wrong where it "
        "alone accepts.",
        ERRORS,
    ),
    (
        "Rules",
        "B → survives and B ∧ not_survives → ⊥ differ in the side of the class literal alone. Bodies are "
        "counted without the class; the rule of a patient has about 91 literals about 44 features.",
        RULES,
    ),
    ("Table 1. The paper's nets, and those that were chosen", "", NETS),
    (
        "Missing values",
        "The paper's net, trained on rejected examples of the patients who lack most, with more and more of "
        "their open values unknown, and on as many accepted ones with the same share of unknown values; "
        "rules are read by LRN*.",
        MISSING,
    ),
    (
        "Coherence of the networks",
        "An answer is incoherent if no theory gives it beside the answers about completions.",
        COHERENCE,
    ),
    (
        "Times",
        "Seconds by the clock include waiting where a machine is busy; CPU-seconds grow when cores are "
        "shared. Stages run side by side where there are cores; a search has processes of its own.",
        TIMES,
    ),
)
"""The tables of figures: title, note, rows. Figures that a run does not have are left out."""


def tables(metrics: Mapping[str, Any]) -> list[ReportTable]:
    """All tables, those that answer first."""
    scan = [scan_table(metrics["scan"])] if "scan" in metrics else []
    first, *others = (_figure_table(metrics, *table) for table in FIGURE_TABLES)
    present = [table for table in others if table.rows]
    return [_claims_table(metrics), first, *scan, *present, _choices_table(metrics), _examples_table(metrics)]


def _figure_table(
    metrics: Mapping[str, Any], title: str, note: str, figures: Sequence[Figure]
) -> ReportTable:
    """A table of figures, with a column for each experiment; figures that none of them has are left out."""
    experiments = [
        {**results, "seconds": metrics["seconds"][name]} for name, results in metrics["experiments"].items()
    ]
    rows = (
        (figure.name, figure.published, *(_format_figure(results, figure) for results in experiments))
        for figure in figures
    )
    kept = [row for row in rows if any(cell != "–" for cell in row[2:])]
    columns = ("", "published", *metrics["labels"].values())
    if all(row[1] == "–" for row in kept):
        columns, kept = (columns[0], *columns[2:]), [(row[0], *row[2:]) for row in kept]
    return ReportTable(title, columns, tuple(kept), note)


def _format_figure(results: Any, figure: Figure) -> str:
    """A figure of an experiment; a dash if it has none."""
    try:
        summary = reduce(lambda part, step: part[step], figure.path, results)
    except (KeyError, IndexError):
        return "–"
    if "low" in summary:
        low, high, least, most = (100 * summary[name] for name in ("low", "high", "least", "most"))
        return f"{percent(summary['estimate'])} ({low:.2f}–{high:.2f}) [{least:.2f}–{most:.2f}]"
    if "median" in summary:
        return _format_values(summary, figure.form)
    return "; ".join(str(each) for each in dict.fromkeys(summary["runs"]) if each is not None) or "–"


def _format_values(summary: Mapping[str, float], form: str) -> str:
    """A median, with the range over the repetitions in brackets."""
    median, least, most = (
        f"{summary[name]:{form}}".replace("%", " %") for name in ("median", "least", "most")
    )
    return median if least == most else f"{median} [{least.removesuffix(' %')}–{most.removesuffix(' %')}]"


def _claims_table(metrics: Mapping[str, Any]) -> ReportTable:
    """The verdicts, with a column for each experiment."""
    labels, rows = metrics["labels"], []
    evaluated = next(iter(metrics["experiments"].values()))["evaluation"]["size"]["median"]
    claims = judge_claims(metrics)
    for topic in dict.fromkeys(claim.topic for claim in claims):
        several = {claim.protocol: claim for claim in claims if claim.topic == topic}
        first = next(iter(several.values()))
        cells = {name: f"{claim.here}: {claim.verdict}" for name, claim in several.items()}
        reason = _merge_texts({labels[name]: claim.reason for name, claim in several.items()})
        rows.append((first.claim, first.published, *(cells.get(name, "–") for name in labels), reason))
    return ReportTable(
        "Verdicts",
        ("claim", "published", *labels.values(), "reason"),
        tuple(rows),
        f"Each rests on the seeds {metrics['seeds'][0]} to {metrics['seeds'][-1]}, LRN* with "
        f"{published.QUERIES} queries of {metrics['sample']:,} samples, and {evaluated:,.0f} "
        "interpretations. A median is as published if it is within a quarter of the published figure, or "
        "that lies within the middle half of the repetitions. A figure is not comparable where the paper's "
        "conditions are not met, or "
        "where the repetitions contradict each other.",
    )


def _choices_table(metrics: Mapping[str, Any]) -> ReportTable:
    """What the paper leaves open; where experiments differ, the answer and the reason of each."""
    labels, by_experiment = metrics["labels"], metrics["choices"]
    rows = []
    for choices in zip(*by_experiment.values(), strict=True):
        questions, *cells = zip(*choices, strict=True)
        named = (dict(zip(map(labels.get, by_experiment), texts, strict=True)) for texts in cells)
        rows.append((questions[0], *map(_merge_texts, named)))
    return ReportTable("What the paper leaves open", ("choice", "here", "why"), tuple(rows))


def _merge_texts(texts: Mapping[str, str]) -> str:
    """What several experiments say, once if they say the same."""
    if len(set(texts.values())) == 1:
        return next(iter(texts.values()))
    return ";\n".join(f"{label}: {text}" for label, text in texts.items())


def _examples_table(metrics: Mapping[str, Any]) -> ReportTable:
    return ReportTable(
        "Rules in words",
        ("read by", "unknown pair", "rule"),
        tuple(
            (READER_NAMES[reader], metrics["labels"][name], example)
            for name, results in metrics["experiments"].items()
            for reader, rules in results["evaluation"]["rules"].items()
            for example in rules["examples"]["runs"][0]
        ),
        f"The first rules that were found with seed {metrics['seeds'][0]}.",
    )


def scan_sentence(scan: Mapping[str, Any]) -> str:
    """The combination that comes nearest to all published figures, in a sentence."""
    name, combinations = scan["nearest"], scan["combinations"]
    nearest, default = combinations[name], combinations["default"]
    figures = {figure: each["median"] for figure, each in nearest["figures"].items()}
    return (
        f"Of {len(combinations)} combinations “{name}” comes nearest to all published figures at once "
        f"(distance {nearest['distance']:.2f}; the default {default['distance']:.2f}): "
        f"accuracy {1 - figures['error']:.4f}, "
        f"{', '.join(f'{pair} {percent(figures[pair])}' for pair in published.DISAGREEMENT)}, "
        f"{figures['in_t_by_side']:g} rules of T, {figures['body_features']:.1f} features in a body."
    )


SCAN_COLUMNS = {
    "error": ("error", ".2%"),
    **{pair: (pair, ".2%") for pair in ("t_nn", "h_nn", "t_h", "t_tree")},
    "count": ("rules", ".0f"),
    "in_t": ("in T literally", ".0f"),
    "in_t_by_side": ("in T up to the side of the class", ".0f"),
    "entailed_by_t": ("entailed by T", ".0f"),
    "body_literals": ("literals in a body", ".1f"),
    "body_features": ("features in a body", ".1f"),
    "rows_rejected": ("real rows rejected", ".1%"),
}
"""The figures of a scan, with their headings and formats."""


def scan_table(scan: Mapping[str, Any]) -> ReportTable:
    """The figures of every combination of a scan, under the published ones."""
    known = scan["published"]
    first = (
        f"{known[name]:{form}}".replace("%", " %") if name in known else "–"
        for name, (_, form) in SCAN_COLUMNS.items()
    )
    rows = (
        (
            name,
            f"{each['distance']:.2f}",
            *(_format_values(each["figures"][figure], form) for figure, (_, form) in SCAN_COLUMNS.items()),
        )
        for name, each in scan["combinations"].items()
    )
    return ReportTable(
        "What the open choices decide",
        ("choice", "distance", *(heading for heading, _ in SCAN_COLUMNS.values())),
        (("published", "0", *first), *rows),
        f"{scan_sentence(scan)} Each choice is varied alone around the protocol paper; the nearest are then "
        "combined. The net is always 32-16-8-16-32, read by LRN* with 100 queries, and the tree gets few "
        f"labels. Medians over the seeds {scan['seeds'][0]} to {scan['seeds'][-1]}, in brackets their "
        "range. The distance is the mean over the seven published figures of |log₂(here / published)|, each "
        "at most 3, with the accuracy as its error.",
    )
