"""The report of a reproduction: claims with verdicts, tables and charts, as Markdown and HTML."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from hornbook.paper.claims import judge_claims, percent
from hornbook.report import Chart, Dot, Series, render_page


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
    "paper": "LRN*, as in the paper",
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
PAPER_TITLE = "Extracting rules from neural networks with partial interpretations"


def tables(metrics: Mapping[str, Any]) -> list[ReportTable]:
    """The tables of figures, starting with the claims."""
    return [
        _claims(metrics),
        _nets(metrics),
        _chosen_nets(metrics),
        _disagreement(metrics),
        _errors(metrics),
        _times(metrics),
        _rules(metrics),
        _missing(metrics),
        _caveats(metrics),
    ]


def details(metrics: Mapping[str, Any]) -> list[ReportTable]:
    """The tables of text: some of the rules, and the choices that the paper leaves open."""
    return [_examples(metrics), _choices(metrics)]


def title(metrics: Mapping[str, Any]) -> str:
    """The title, which says whether the cohort is synthetic."""
    data = metrics["data"]
    rows = "a synthetic cohort, with no patient behind it" if data["synthetic"] else data["name"]
    return f"{PAPER_TITLE}, reproduced on {rows}"


def opening(metrics: Mapping[str, Any]) -> str:
    """The introduction: data, scale and seeds of the run."""
    data, seeds = metrics["data"], metrics["seeds"]
    return (
        f"Data: {data['described']}; {data['variables']} variables with duals, "
        f"{data['rules_of_t']} rules in T. Scale {metrics['scale']}, repeated with the seeds {seeds[0]} to "
        f"{seeds[-1]}. Figures are medians; in parentheses the 95 % interval of the median repetition where "
        "there is one, in brackets the range over the repetitions."
    )


def to_markdown(metrics: Mapping[str, Any]) -> str:
    """The whole report as Markdown, without plots."""
    parts = [
        f"# {title(metrics)}\n",
        opening(metrics) + "\n",
        *(table.to_markdown() for table in tables(metrics)),
    ]
    return "\n".join(parts)


def to_html(metrics: Mapping[str, Any]) -> str:
    """The whole report as one self-contained page."""
    return render_page(
        "reproduction.html",
        title=title(metrics),
        opening=opening(metrics),
        ours=metrics["disagreement"]["ours"],
        seconds=metrics["seconds"]["ours"],
        published=metrics["published"],
        tables=[*tables(metrics), *details(metrics)],
        charts=charts(metrics),
    )


def charts(metrics: Mapping[str, Any]) -> dict[str, Chart]:
    """The charts, keyed by the title of the table they belong to."""
    frontiers = tuple(
        Series(f"seed {seed}", tuple(Dot(number, share) for number, (_, share) in enumerate(frontier, 1)))
        for seed, frontier in zip(metrics["seeds"], metrics["frontiers"], strict=True)
    )
    return {
        _disagreement(metrics).title: Chart(
            "Disagreement of our rules with the network, query by query",
            "equivalence queries",
            "h_nn",
            frontiers,
            percent=True,
        ),
        _missing(metrics).title: Chart(
            "Accuracy, and distance of the rules from T, against the share of missing values",
            "unknown among the open values of rejected training examples, %",
            "share",
            tuple(
                Series(
                    label,
                    tuple(
                        Dot(100 * point["missing"], found["median"], found["least"], found["most"])
                        for point in metrics["missing"]
                        for found in [point[name]]
                    ),
                )
                for name, label in (
                    ("common", "accuracy, common test"),
                    ("own", "accuracy, own test"),
                    ("t_h", "t_h"),
                )
            ),
            percent=True,
        ),
    }


def _claims(metrics: Mapping[str, Any]) -> ReportTable:
    return ReportTable(
        "What holds",
        ("claim", "published", "here", "verdict"),
        tuple((each.claim, each.published, each.here, each.verdict) for each in judge_claims(metrics)),
    )


def _nets(metrics: Mapping[str, Any]) -> ReportTable:
    accuracy = metrics["accuracy"]
    pairs = zip(accuracy["published"], accuracy["best"], strict=False)
    return ReportTable(
        "Table 1. The best nets",
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


def _chosen_nets(metrics: Mapping[str, Any]) -> ReportTable:
    return ReportTable(
        "The network of each repetition",
        ("seed", "net", "rate", "cross-validated", "scored again", "held out"),
        tuple(
            (
                str(seed),
                each["net"],
                f"{each['rate']:g}",
                *(f"{each[name]:.4f}" for name in ("cross_validated", "again", "held_out")),
            )
            for seed, each in zip(metrics["seeds"], metrics["accuracy"]["chosen"], strict=True)
        ),
        "Cross-validated in the search; scored again with further seeds, which decides; held out: "
        "fresh examples that played no part.",
    )


def _disagreement(metrics: Mapping[str, Any]) -> ReportTable:
    pairs = tuple(metrics["disagreement"]["ours"])
    published = metrics["published"]["disagreement"]
    mixed = metrics["disagreement"]
    found = {
        "mixed": {"paper": mixed["paper"], "longer": metrics["longer"], "ours": mixed["ours"]},
        **metrics["by_kind"],
    }
    rows = [
        (
            KIND_NAMES["mixed"],
            READING_NAMES["published"],
            *(percent(published[pair]) if pair in published else "–" for pair in pairs),
        )
    ]
    rows += [
        (KIND_NAMES.get(kind, kind), READING_NAMES[reading], *(_format_share(shares[pair]) for pair in pairs))
        for kind, readings in found.items()
        for reading, shares in readings.items()
    ]
    return ReportTable(
        "Table 2. Interpretations judged differently",
        ("interpretations", "h is read by", *pairs),
        tuple(rows),
        f"Of {metrics['evaluated']:,} fresh interpretations a repetition: t is the target theory T, h the "
        "rules, nn the network, tree the Hoeffding tree.",
    )


def _errors(metrics: Mapping[str, Any]) -> ReportTable:
    return ReportTable(
        "Two kinds of error",
        (
            "read by",
            "rules are missing: the network alone rejects",
            "rules are wrong: the network alone accepts",
        ),
        tuple(
            (READING_NAMES[reading], _format_share(errors["missing"]), _format_share(errors["wrong"]))
            for reading, errors in metrics["errors"].items()
        ),
        "Of mixed interpretations.",
    )


def _times(metrics: Mapping[str, Any]) -> ReportTable:
    seconds, hours = metrics["seconds"], metrics["published"]["hours"]
    stages = (
        ("search", "architecture search", "–"),
        ("paper", READING_NAMES["paper"], f"about {hours['lrn_star']} h"),
        ("longer", READING_NAMES["longer"], "–"),
        ("ours", "ours", "–"),
        ("tree", "Hoeffding tree, tuning included", f"about {hours['tree']} h"),
        ("missing", "sweep over missing values", "–"),
        ("evaluation", "evaluation", "–"),
    )
    return ReportTable(
        "Times",
        ("stage", "seconds", "CPU-seconds", "published"),
        (
            *(
                (name, _format_values(seconds[stage], ".1f"), _format_cpu(seconds[stage]["cpu"]), published)
                for stage, name, published in stages
            ),
            ("all stages of all repetitions", f"{seconds['total']:.0f}", "–", "–"),
        ),
        "Seconds by the clock include waiting where a machine is busy; stages run side by side where there "
        "are cores. The published times are of another machine and reasoner.",
    )


def _rules(metrics: Mapping[str, Any]) -> ReportTable:
    published = metrics["published"]
    rows = [
        (
            READING_NAMES["published"],
            "–",
            str(published["rules_of_t"]),
            "some",
            f"about {published['mean_body']}",
            "100",
            "–",
            "–",
        )
    ]
    for reading, about in metrics["rules"].items():
        asked = metrics["readings"][reading]
        queries = (
            _format_values(asked["equivalence_queries"], ".0f") if "equivalence_queries" in asked else "–"
        )
        rows.append(
            (
                READING_NAMES[reading],
                _format_values(about["count"], ".0f"),
                _format_values(about["in_t"], ".0f"),
                _format_values(about["entailed_by_t"], ".0f"),
                _format_values(about["mean_body"], ".1f"),
                queries,
                _format_values(asked["membership_queries"], ",.0f"),
                "; ".join(dict.fromkeys(asked["stopped"])),
            )
        )
    return ReportTable(
        "Rules",
        (
            "read by",
            "rules",
            "in T literally",
            "entailed by T",
            "literals in a body",
            "equivalence queries",
            "answers of the network",
            "stopped by",
        ),
        tuple(rows),
    )


def _examples(metrics: Mapping[str, Any]) -> ReportTable:
    return ReportTable(
        "Rules in words",
        ("read by", "rule"),
        tuple(
            (READING_NAMES[reading], example)
            for reading, about in metrics["rules"].items()
            for example in about["examples"]
        ),
        f"The first rules that were found with seed {metrics['seeds'][0]}.",
    )


def _missing(metrics: Mapping[str, Any]) -> ReportTable:
    return ReportTable(
        "Missing values",
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
            for point in metrics["missing"]
        ),
        "The paper's net, trained on rejected examples with more and more missing values among those that "
        "the violated rule leaves open; rules are read in our way.",
    )


def _caveats(metrics: Mapping[str, Any]) -> ReportTable:
    caveats, kinds = metrics["caveats"], metrics["accuracy"]["held_out_by_kind"]
    incoherent = caveats["incoherent"]
    return ReportTable(
        "Caveats",
        ("question", "answer"),
        (
            (
                "real rows with their true class that the network rejects",
                _format_share(caveats["rows_rejected"]),
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


def _choices(metrics: Mapping[str, Any]) -> ReportTable:
    return ReportTable(
        "What the paper leaves open",
        ("question", "here"),
        tuple((question, answer) for question, answer in metrics["caveats"]["choices"]),
    )


def _format_share(share: Mapping[str, float]) -> str:
    low, high, least, most = (100 * share[name] for name in ("low", "high", "least", "most"))
    return f"{percent(share['estimate'])} ({low:.2f}–{high:.2f}) [{least:.2f}–{most:.2f}]"


def _format_values(found: Mapping[str, float], form: str) -> str:
    median, least, most = (f"{found[name]:{form}}".replace("%", " %") for name in ("median", "least", "most"))
    return median if least == most else f"{median} [{least.removesuffix(' %')}–{most.removesuffix(' %')}]"


def _format_cpu(found: Mapping[str, float] | None) -> str:
    return "–" if found is None else _format_values(found, ".1f")
