"""The tables of a reproduction and of its scan, as cells of text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from hornbook.paper.claims import judge_claims, percent


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
        lines = [self.columns, ("---",) * len(self.columns), *self.rows]
        drawn = ["| " + " | ".join(_cell(cell) for cell in line) + " |" for line in lines]
        drawn[1] = "|" + "---|" * len(self.columns)
        note = [self.note, ""] if self.note else []
        return "\n".join([f"## {self.title}", "", *note, *drawn, ""])

    def to_rich(self) -> Any:
        """The table for a terminal."""
        from rich import box
        from rich.table import Table as RichTable
        from rich.text import Text

        table = RichTable(title=Text(self.title), title_justify="left", box=box.SIMPLE_HEAD)
        for column in self.columns:
            table.add_column(Text(column), overflow="fold")
        for row in self.rows:
            table.add_row(*map(Text, row))
        return table


def _cell(text: str) -> str:
    return text.replace("\n", " ").replace("|", "\\|")


READING_NAMES = {
    "published": "published",
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


def paper_table(metrics: Mapping[str, Any], protocol: str) -> ReportTable:
    """Table 2 as the paper prints it, a line for each of its columns."""
    published, found = metrics["published"], metrics["disagreement"][protocol]
    is_published = protocol == "paper"
    queries = metrics["experiments"][protocol]["readings"]
    rows = [
        (
            "equivalence queries",
            str(published["queries"]) if is_published else "–",
            *(
                _format_values(queries[reader]["equivalence_queries"], ".0f")
                for reader in ("lrn_star", "ours")
            ),
        )
    ]
    for pair, known in published["disagreement"].items():
        shares = [found["tree" if pair == "t_tree" else reader][pair] for reader in ("lrn_star", "ours")]
        rows.append((pair, percent(known) if is_published else "–", *map(_format_share, shares)))
    rejected = _format_share(metrics["rows_rejected"][protocol])
    return ReportTable(
        f"Table 2, protocol {protocol}",
        ("", "published", "LRN* here", "ours"),
        tuple(rows),
        f"Of {metrics['experiments'][protocol]['evaluated']:,} fresh interpretations a repetition, the share "
        "judged differently: t is the target theory T, h the rules, nn the network, tree the Hoeffding tree. "
        f"Of the real rows with their right class the network rejects {rejected}.",
    )


def claims_table(metrics: Mapping[str, Any]) -> ReportTable:
    return ReportTable(
        "What holds",
        ("protocol", "claim", "published", "here", "verdict", "tried"),
        tuple(
            (each.protocol, each.claim, each.published, each.here, each.verdict, each.tried)
            for each in judge_claims(metrics)
        ),
    )


def nets_table(metrics: Mapping[str, Any], protocol: str) -> ReportTable:
    accuracy = metrics["experiments"][protocol]["accuracy"]
    pairs = zip(accuracy["published"], accuracy["best"], strict=False)
    return ReportTable(
        f"Table 1. The best nets, protocol {protocol}",
        (
            "the paper's",
            "rate",
            "published",
            "cross-validated here",
            "held out",
            f"the best with seed {metrics['seeds'][0]}",
            "rate",
            "cross-validated",
            "held out",
        ),
        tuple(
            (
                theirs["net"],
                f"{theirs['rate']:g}",
                f"{theirs['published']:.4f}",
                _format_values(theirs["cross_validated"], ".4f"),
                _format_values(theirs["held_out"], ".4f"),
                best["net"],
                f"{best['rate']:g}",
                f"{best['cross_validated']:.4f}",
                f"{best['held_out']:.4f}",
            )
            for theirs, best in pairs
        ),
        f"{accuracy['configurations']:,} configurations, {accuracy['trainings']:,} trainings a repetition.",
    )


def chosen_nets_table(metrics: Mapping[str, Any], protocol: str) -> ReportTable:
    chosen = metrics["experiments"][protocol]["accuracy"]["chosen"]
    return ReportTable(
        f"The network of each repetition, protocol {protocol}",
        ("seed", "net", "rate", "cross-validated", "scored again", "held out"),
        tuple(
            (
                str(seed),
                each["net"],
                f"{each['rate']:g}",
                *(f"{each[name]:.4f}" for name in ("cross_validated", "again", "held_out")),
            )
            for seed, each in zip(metrics["seeds"], chosen, strict=True)
        ),
        "Cross-validated in the search; scored again with further seeds, which decides; held out: "
        "fresh examples that played no part.",
    )


def disagreement_table(metrics: Mapping[str, Any], protocol: str) -> ReportTable:
    experiment, mixed = metrics["experiments"][protocol], metrics["disagreement"][protocol]
    pairs = ("t_h", "t_nn", "h_nn", "t_tree", "tree_nn")
    found = {
        "mixed": {"lrn_star": mixed["lrn_star"], "longer": experiment["longer"], "ours": mixed["ours"]},
        **{
            kind: {reading: readers[reading] for reading in ("lrn_star", "ours")}
            for kind, readers in experiment["by_kind"].items()
        },
    }
    trees = {"mixed": mixed["tree"], **{kind: each["tree"] for kind, each in experiment["by_kind"].items()}}
    rows = tuple(
        (
            KIND_NAMES.get(kind, kind),
            READING_NAMES[reading],
            *(_format_share({**shares, **trees[kind]}[pair]) for pair in pairs),
        )
        for kind, readings in found.items()
        for reading, shares in readings.items()
    )
    return ReportTable(
        f"Interpretations judged differently, by kind, protocol {protocol}",
        ("interpretations", "h is read by", *pairs),
        rows,
        "Real rows are counted once each.",
    )


def errors_table(metrics: Mapping[str, Any], protocol: str) -> ReportTable:
    return ReportTable(
        f"Two kinds of error, protocol {protocol}",
        (
            "read by",
            "rules are missing: the network alone rejects",
            "rules are wrong: the network alone accepts",
        ),
        tuple(
            (READING_NAMES[reading], _format_share(errors["missing"]), _format_share(errors["wrong"]))
            for reading, errors in metrics["experiments"][protocol]["errors"].items()
        ),
        "Of mixed interpretations.",
    )


def times_table(metrics: Mapping[str, Any]) -> ReportTable:
    seconds, hours = metrics["seconds"], metrics["published"]["hours"]
    stages = (
        ("search", "architecture search", "–"),
        ("lrn_star", READING_NAMES["lrn_star"], f"about {hours['lrn_star']} h"),
        ("longer", READING_NAMES["longer"], "–"),
        ("ours", "ours", "–"),
        ("tree", "Hoeffding tree, tuning included", f"about {hours['tree']} h"),
        ("missing", "sweep over missing values", "–"),
        ("evaluation", "evaluation", "–"),
    )
    rows = (
        (
            protocol,
            name,
            _format_values(seconds[protocol][stage], ".1f"),
            _format_cpu(seconds[protocol][stage]["cpu"]),
            published if protocol == "paper" else "–",
        )
        for protocol in metrics["experiments"]
        for stage, name, published in stages
        if stage in seconds[protocol]
    )
    return ReportTable(
        "Times",
        ("protocol", "stage", "seconds", "CPU-seconds", "published"),
        (*rows, ("all", "all stages of all repetitions", f"{seconds['total']:.0f}", "–", "–")),
        "Seconds by the clock include waiting where a machine is busy, and CPU-seconds grow when cores are "
        "shared; stages run side by side where there are cores. The published times are of another machine "
        "and reasoner.",
    )


def rules_table(metrics: Mapping[str, Any], protocol: str) -> ReportTable:
    published, experiment = metrics["published"], metrics["experiments"][protocol]
    rows: list[tuple[str, ...]] = [
        (
            READING_NAMES["published"],
            "–",
            str(published["rules_of_t"]),
            "–",
            "some",
            "–",
            f"about {published['body_features']}",
            str(published["queries"]),
            "–",
            "–",
        )
    ]
    for reading, about in experiment["rules"].items():
        asked = experiment["readings"][reading]
        queries = (
            _format_values(asked["equivalence_queries"], ".0f") if "equivalence_queries" in asked else "–"
        )
        rows.append(
            (
                READING_NAMES[reading],
                _format_values(about["count"], ".0f"),
                *(_format_values(about[name], ".0f") for name in ("in_t", "in_t_by_side", "entailed_by_t")),
                *(_format_values(about[name], ".1f") for name in ("body_literals", "body_features")),
                queries,
                _format_values(asked["membership_queries"], ",.0f"),
                "; ".join(dict.fromkeys(asked["stopped"])),
            )
        )
    return ReportTable(
        f"Rules, protocol {protocol}",
        (
            "read by",
            "rules",
            "in T literally",
            "in T up to the side of the class",
            "entailed by T",
            "literals in a body",
            "features in a body",
            "equivalence queries",
            "answers of the network",
            "stopped by",
        ),
        tuple(rows),
        "B → survives and B ∧ not_survives → ⊥ differ in the side of the class literal alone. Bodies are "
        "counted without the class; the rule of a patient has about 91 literals about 44 features.",
    )


def examples_table(metrics: Mapping[str, Any], protocol: str) -> ReportTable:
    return ReportTable(
        f"Rules in words, protocol {protocol}",
        ("read by", "rule"),
        tuple(
            (READING_NAMES[reading], example)
            for reading, about in metrics["experiments"][protocol]["rules"].items()
            for example in about["examples"]
        ),
        f"The first rules that were found with seed {metrics['seeds'][0]}.",
    )


def missing_table(metrics: Mapping[str, Any], protocol: str) -> ReportTable:
    return ReportTable(
        f"Missing values, protocol {protocol}",
        (
            "open values unknown",
            "all values unknown",
            "accuracy, own test",
            "accuracy, common test",
            "t_h",
            "h_nn",
        ),
        tuple(
            (
                f"{100 * point['missing']:.0f} %",
                f"{100 * point['unknown']:.1f} %",
                _format_values(point["own"], ".3f"),
                _format_values(point["common"], ".3f"),
                _format_values(point["t_h"], ".2%"),
                _format_values(point["h_nn"], ".2%"),
            )
            for point in metrics["experiments"][protocol]["missing"]
        ),
        "The paper's net, trained on rejected examples with more and more missing values among those that "
        "the violated rule leaves open; rules are read by LRN*, as in the paper.",
    )


def caveats_table(metrics: Mapping[str, Any], protocol: str) -> ReportTable:
    experiment = metrics["experiments"][protocol]
    kinds, incoherent = experiment["accuracy"]["held_out_by_kind"], experiment["incoherent"]
    return ReportTable(
        f"Caveats, protocol {protocol}",
        ("question", "answer"),
        (
            (
                "real rows with their true class that the network rejects",
                _format_share(metrics["rows_rejected"][protocol]),
            ),
            (
                "rejected although a completion is accepted, of the rejected",
                _format_share(incoherent["rejected"]),
            ),
            (
                "accepted although no completion that was tried is, of the accepted",
                _format_share(incoherent["accepted"]),
            ),
            ("incoherent, of all", _format_share(incoherent["rate"])),
            *(
                (f"right about held-out examples: {kind}", _format_values(found, ".1%"))
                for kind, found in kinds.items()
            ),
        ),
    )


def choices_table(metrics: Mapping[str, Any], protocol: str) -> ReportTable:
    return ReportTable(
        f"What the paper leaves open, protocol {protocol}",
        ("choice", "here", "why"),
        tuple(tuple(choice) for choice in metrics["choices"][protocol]),
    )


def _format_share(share: Mapping[str, float]) -> str:
    low, high, least, most = (100 * share[name] for name in ("low", "high", "least", "most"))
    return f"{percent(share['estimate'])} ({low:.2f}–{high:.2f}) [{least:.2f}–{most:.2f}]"


def _format_values(found: Mapping[str, float], form: str) -> str:
    median, least, most = (f"{found[name]:{form}}".replace("%", " %") for name in ("median", "least", "most"))
    return median if least == most else f"{median} [{least.removesuffix(' %')}–{most.removesuffix(' %')}]"


def _format_cpu(found: Mapping[str, float] | None) -> str:
    return "–" if found is None else _format_values(found, ".1f")


def scan_sentence(scan: Mapping[str, Any]) -> str:
    """The combination that comes nearest to all published figures, in a sentence."""
    name, combinations = scan["nearest"], scan["combinations"]
    nearest, default = combinations[name], combinations["default"]
    figures = {figure: each["median"] for figure, each in nearest["figures"].items()}
    return (
        f"Of {len(combinations)} combinations “{name}” comes nearest to all published figures at once "
        f"(distance {nearest['distance']:.2f}; the default {default['distance']:.2f}): "
        f"accuracy {1 - figures['error']:.4f}, "
        f"{', '.join(f'{pair} {percent(figures[pair])}' for pair in ('t_nn', 'h_nn', 't_h', 't_tree'))}, "
        f"{figures['in_t_by_side']:g} rules of T, {figures['body_features']:.1f} features in a body."
    )


def scan_table(scan: Mapping[str, Any]) -> ReportTable:
    """The figures of every combination of a scan, under the published ones."""
    known = scan["published"]
    published = (
        "published",
        "0",
        f"{1 - known['error']:.4f}",
        *(percent(known[pair]) for pair in ("t_nn", "h_nn", "t_h", "t_tree")),
        "–",
        f"{known['in_t_by_side']:g}",
        "some",
        "–",
        f"about {known['body_features']:g}",
        "–",
    )
    rows = (_scan_row(name, each) for name, each in scan["combinations"].items())
    return ReportTable(
        "What the open choices decide",
        (
            "choice",
            "distance",
            "accuracy",
            "t_nn",
            "h_nn",
            "t_h",
            "t_tree",
            "rules",
            "in T: literally / up to the side of the class",
            "entailed by T",
            "literals in a body",
            "features in a body",
            "real rows rejected",
        ),
        (published, *rows),
        f"{scan_sentence(scan)} Each choice is varied alone around the protocol paper; the nearest are then "
        "combined. The net is always 32-16-8-16-32, read by LRN* with 100 queries, and the tree gets few "
        f"labels. Medians over the seeds {scan['seeds'][0]} to {scan['seeds'][-1]}, in brackets their "
        "range. The distance is the mean over the seven published figures of |log₂(here / published)|, each "
        "at most 3, with the accuracy as its error.",
    )


def _scan_row(name: str, combination: Mapping[str, Any]) -> tuple[str, ...]:
    figures = combination["figures"]
    accuracy = {
        "median": 1 - figures["error"]["median"],
        "least": 1 - figures["error"]["most"],
        "most": 1 - figures["error"]["least"],
    }
    in_t = (_format_values(figures[count], ".0f") for count in ("in_t", "in_t_by_side"))
    return (
        name,
        f"{combination['distance']:.2f}",
        _format_values(accuracy, ".4f"),
        *(_format_values(figures[pair], ".2%") for pair in ("t_nn", "h_nn", "t_h", "t_tree")),
        _format_values(figures["count"], ".0f"),
        " / ".join(in_t),
        _format_values(figures["entailed_by_t"], ".0f"),
        _format_values(figures["body_literals"], ".1f"),
        _format_values(figures["body_features"], ".1f"),
        _format_values(figures["rows_rejected"], ".1%"),
    )
