"""The tables of a reproduction and of its scan, as cells of text.

A table of figures is data: for each figure its name, the published value, where it stands among the
results of an experiment, and its format. One renderer puts the experiments side by side.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any, NamedTuple

from hornbook.paper import published
from hornbook.paper.claims import judge_claims, percent

READER_NAMES = {
    "lrn_star": "LRN*",
    "ours": "ours",
    "longer": "LRN*, with more queries",
    "tree": "Hoeffding tree",
}
KIND_NAMES = {
    "mixed": "mixed",
    "random": "random",
    "violation": "violating a rule of T",
    "row": "real rows",
    "near miss": "near misses",
}
PAIRS = ("t_nn", "t_lrn_star", "lrn_star_nn", "t_ours", "ours_nn", "t_tree", "tree_nn")
"""The pairs of judges whose disagreement is shown by kind of interpretation."""

STAGE_NAMES = {
    "search": "architecture search",
    "lrn_star": "LRN*",
    "longer": "LRN*, with more queries",
    "ours": "ours",
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


def tables(metrics: Mapping[str, Any]) -> list[ReportTable]:
    """All tables, those that answer first."""
    scan = [scan_table(metrics["scan"])] if "scan" in metrics else []
    first, *others = (_figure_table(metrics, *table) for table in _list_figures(metrics))
    texts = (_chosen_table(metrics), _choices_table(metrics), _examples_table(metrics))
    return [_claims_table(metrics), first, *scan, *others, *texts]


def _list_figures(metrics: Mapping[str, Any]) -> Iterator[tuple[str, str, list[Figure]]]:
    """The tables of figures: title, note, rows."""
    known, first = metrics["published"], next(iter(metrics["experiments"].values()))
    mixed = ("evaluation", "shares", "mixed")
    was = {pair: percent(share) for pair, share in known["disagreement"].items()}
    yield (
        "Table 2",
        f"Of {first['evaluation']['size']['median']:,.0f} fresh interpretations a repetition, the share "
        "judged differently: t is the target theory T, h the rules, nn the network, tree the Hoeffding tree.",
        [
            Figure(
                "equivalence queries",
                ("lrn_star", "equivalence_queries"),
                ".0f",
                str(known["queries"]),
            ),
            Figure("t_h, LRN*", (*mixed, "t_lrn_star"), published=was["t_h"]),
            Figure("t_nn", (*mixed, "t_nn"), published=was["t_nn"]),
            Figure("h_nn, LRN*", (*mixed, "lrn_star_nn"), published=was["h_nn"]),
            Figure("t_tree", (*mixed, "t_tree"), published=was["t_tree"]),
            Figure("tree_nn", (*mixed, "tree_nn")),
            Figure("t_h, ours", (*mixed, "t_ours")),
            Figure("h_nn, ours", (*mixed, "ours_nn")),
            Figure("h_nn, LRN* with more queries", (*mixed, "longer_nn")),
            Figure("real rows with their class that the network rejects", ("evaluation", "rows_rejected")),
        ],
    )
    yield (
        "Interpretations judged differently, by kind",
        "Real rows are counted once each.",
        [
            Figure(
                f"{KIND_NAMES.get(kind, kind)}: {pair.replace('lrn_star', 'LRN*')}", (*mixed[:2], kind, pair)
            )
            for kind in dict.fromkeys(
                kind
                for each in metrics["experiments"].values()
                for kind in each["evaluation"]["shares"]
                if kind != "mixed"
            )
            for pair in PAIRS
        ],
    )
    yield (
        "Two kinds of error",
        "Of mixed interpretations: rules are missing where the network alone rejects, and wrong where it "
        "alone accepts.",
        [
            Figure(f"{name}: rules are {error}", ("evaluation", "errors", reader, error))
            for reader, name in READER_NAMES.items()
            for error in ("missing", "wrong")
        ],
    )
    yield ("Rules", RULES_NOTE, list(_list_rule_figures(known)))
    yield (
        "Table 1. The paper's nets, and those that were chosen",
        f"{first['search']['configurations']['median']:,.0f} configurations, "
        f"{first['search']['trainings']['median']:,.0f} trainings a repetition.",
        [
            *(
                Figure(f"{net}, {part}", ("search", "published", str(net), name), ".4f", was)
                for net, accuracy in published.NETS
                for part, name, was in (
                    ("cross-validated", "cross_validated", f"{accuracy:.4f}"),
                    ("held out", "held_out", "–"),
                )
            ),
            Figure("chosen net, cross-validated", ("search", "chosen", "cross_validated"), ".4f"),
            Figure("chosen net, scored again with further seeds", ("search", "chosen", "again"), ".4f"),
            Figure("chosen net, held out", ("search", "chosen", "held_out"), ".4f"),
            *(
                Figure(f"chosen net, held out: {kind}", ("search", "held_out_by_kind", kind), ".1%")
                for kind in dict.fromkeys(
                    kind
                    for each in metrics["experiments"].values()
                    for kind in each["search"]["held_out_by_kind"]
                )
            ),
        ],
    )
    if levels := len(first.get("missing", ())):
        yield (
            "Missing values",
            "The paper's net, trained on rejected examples of the patients who lack most, with more and more "
            "of their open values unknown, and on as many accepted ones with the same share of unknown "
            "values; rules are read by LRN*.",
            [
                Figure(
                    f"{100 * first['missing'][level]['missing']['median']:.0f} % of the open values: {name}",
                    path,
                    form,
                )
                for level in range(levels)
                for name, path, form in (
                    ("unknown of all", ("missing", level, "unknown"), ".1%"),
                    ("accuracy, own test", ("missing", level, "own"), ".3f"),
                    ("accuracy, common test", ("missing", level, "common"), ".3f"),
                    ("t_h", ("missing", level, "t_h"), ".2%"),
                    ("h_nn", ("missing", level, "h_nn"), ".2%"),
                )
            ],
        )
    yield (
        "Coherence of the networks",
        "An answer is incoherent if no theory gives it beside the answers about completions.",
        [
            Figure(name, ("evaluation", "incoherent", kind))
            for kind, name in (
                ("rejected", "rejected although a completion is accepted, of the rejected"),
                ("accepted", "accepted although no completion that was tried is, of the accepted"),
                ("rate", "incoherent, of all"),
            )
        ],
    )
    yield (
        "Times",
        "Seconds by the clock include waiting where a machine is busy; CPU-seconds grow when cores are "
        "shared; stages run side by side where there are cores. All stages: "
        f"{metrics['seconds']['total']:.0f} s.",
        [
            Figure(f"{name}, {unit}", ("seconds", stage, kind), ".1f", was if kind == "cpu" else "–")
            for stage, name in STAGE_NAMES.items()
            for was in (f"about {known['hours'][stage]} h" if stage in known["hours"] else "–",)
            for kind, unit in (("seconds", "s"), ("cpu", "CPU-s"))
        ],
    )


RULES_NOTE = (
    "B → survives and B ∧ not_survives → ⊥ differ in the side of the class literal alone. Bodies are counted "
    "without the class; the rule of a patient has about 91 literals about 44 features."
)


def _list_rule_figures(known: Mapping[str, Any]) -> Iterator[Figure]:
    """The figures about the rules of every reader."""
    for reader, name in READER_NAMES.items():
        was = (str(known["rules_of_t"]), "some", f"about {known['body_features']}", str(known["queries"]))
        of_t, entailed, features, queries = was if reader == "lrn_star" else 4 * ("–",)
        rules = ("evaluation", "rules", reader)
        yield Figure(f"{name}: rules", (*rules, "count"), ".0f")
        yield Figure(f"{name}: in T literally", (*rules, "in_t"), ".0f")
        yield Figure(f"{name}: in T up to the side of the class", (*rules, "in_t_by_side"), ".0f", of_t)
        yield Figure(f"{name}: entailed by T", (*rules, "entailed_by_t"), ".0f", entailed)
        yield Figure(f"{name}: literals in a body", (*rules, "body_literals"), ".1f")
        yield Figure(f"{name}: features in a body", (*rules, "body_features"), ".1f", features)
        if reader != "tree":
            yield Figure(f"{name}: equivalence queries", (reader, "equivalence_queries"), ".0f", queries)
        yield Figure(f"{name}: answers of the network", (reader, "membership_queries"), ",.0f")
        yield Figure(f"{name}: stopped by", (reader, "stopped"), "")


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
    except KeyError:
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
        "A median is as published if it is within a quarter of the published figure, or that lies in the "
        "range of the repetitions. A figure is not comparable where the paper's conditions are not met, or "
        "where the repetitions contradict each other.",
    )


def _chosen_table(metrics: Mapping[str, Any]) -> ReportTable:
    experiments = metrics["experiments"].values()
    return ReportTable(
        "The network of each repetition",
        ("seed", *metrics["labels"].values()),
        tuple(
            (
                str(seed),
                *(
                    f"{chosen['net']['runs'][at]}: {chosen['cross_validated']['runs'][at]:.4f}, "
                    f"held out {chosen['held_out']['runs'][at]:.4f}"
                    for chosen in (each["search"]["chosen"] for each in experiments)
                ),
            )
            for at, seed in enumerate(metrics["seeds"])
        ),
        "With its cross-validated accuracy, and that on fresh examples that played no part.",
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
