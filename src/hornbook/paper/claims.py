"""The paper's published figures and claims, compared with what a reproduction found.

A claim is judged where its conditions are met: a run with fewer samples, queries or labels than the
paper's gives figures, and no verdict. A verdict has two sides: a figure that is better than the published
one may be so because the task is easier.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any, Literal, TypeAlias

import numpy as np

from hornbook.queries import Net

ACCURACY = 0.9612
"""The accuracy of the chosen net (the table of architectures)."""

NETS = (
    (Net((32, 16, 8, 16, 32), 0.1), ACCURACY),
    (Net((32, 32, 32, 8), 0.1), 0.9592),
    (Net((32, 32, 32), 0.1), 0.9382),
    (Net((32, 8, 32, 16), 0.1), 0.9217),
)
"""Its four best nets and their accuracies (the table of architectures); the first was chosen."""

DISAGREEMENT = {"t_h": 0.092, "t_nn": 0.060, "h_nn": 0.058, "t_tree": 0.084}
"""Published disagreement after 100 equivalence queries (the table of results)."""

HOURS = {"lrn_star": 60, "tree": 120}
"""About how long the extractions took (under Results)."""

RULES_OF_T = 20
"""How many extracted rules are rules of T (under Results)."""

BODY_FEATURES = 40
"""About how many different variables the body of an extracted rule has (under Results).

The rule of a patient has about 91 literals about 44 of the 49 features: the figure is one of features.
"""

QUERIES = 100
"""The limit on equivalence queries (under Test Setting)."""

AS_PUBLISHED, BETTER, WORSE = "as published", "better", "worse"
NOT_COMPARABLE = "not comparable"

TOLERANCE = 0.25
"""A median that is off by at most this share of the published figure is as published."""

MIN_LEVELS = 5
"""Number of levels of missing values from which a trend is judged."""

PAPER_NAMES = ("paper", "paper-half")
"""The protocols under which the paper's claims are judged."""

Condition: TypeAlias = Literal["net", "queries", "tree", "levels"]
"""What a run needs for a claim to be judged."""


@dataclass(frozen=True)
class Claim:
    """A claim of the paper about a figure.

    Parameters
    ----------
    topic, text
        Its short name, and what is claimed.
    expected
        The published figure.
    form
        How the figure is written.
    needs
        The conditions under which it is judged.
    more_is_better
        Whether a larger figure is a better one.
    words
        The published figure in words, where it is a lower limit.

    """

    topic: str
    text: str
    expected: float
    form: str = ".2%"
    needs: tuple[Condition, ...] = ("net", "queries")
    more_is_better: bool = False
    words: str = ""

    @property
    def published(self) -> str:
        """The published figure in words."""
        return self.words or write_figure(self.expected, self.form)


CLAIMS = (
    Claim("t_nn", "network against T (t_nn)", DISAGREEMENT["t_nn"]),
    Claim("h_nn", "LRN* against the network (h_nn)", DISAGREEMENT["h_nn"]),
    Claim("t_h", "LRN* against T (t_h)", DISAGREEMENT["t_h"]),
    Claim("t_tree", "tree against T (t_tree)", DISAGREEMENT["t_tree"], needs=("net", "tree")),
    Claim("network error", "error of the chosen network, in folds", 1 - ACCURACY, needs=("net",)),
    Claim(
        "pace",
        "time of the tree, in times of LRN*",
        HOURS["tree"] / HOURS["lrn_star"],
        ".3g",
        ("net", "queries", "tree"),
        more_is_better=True,
    ),
    Claim("rules of T", "extracted rules that are in T", RULES_OF_T, ".3g", more_is_better=True),
    Claim("entailed rules", "further rules that T entails", 1, ".3g", more_is_better=True, words="some"),
    Claim("features", "different features in a body", BODY_FEATURES, ".3g", more_is_better=True),
)
"""The claims about figures; about missing values there are two more."""

TRENDS = (
    ("missing: nets", "more missing values: better networks", "common", 1),
    ("missing: rules", "more missing values: better rules (t_h)", "t_h", -1),
)
"""The claims about missing values: topic, text, figure, and the sign of a change for the better."""


@dataclass(frozen=True)
class JudgedClaim:
    """A claim under one protocol: the published figure, the one here, the verdict and its reason.

    `brief` is the figure here for a terminal; `is_met` says whether the run meets the claim's conditions.
    """

    protocol: str
    topic: str
    text: str
    published: str
    here: str
    brief: str
    verdict: str
    reason: str
    is_met: bool


def judge_claims(metrics: Mapping[str, Any]) -> list[JudgedClaim]:
    """Judge each claim of the paper under each of its protocols."""
    names = [name for name in PAPER_NAMES if name in metrics["experiments"]]
    return [claim for name in names for claim in _Judge(metrics, name).judge()]


@dataclass(frozen=True)
class _Judge:
    """Judges the paper's claims under one protocol."""

    metrics: Mapping[str, Any]
    protocol: str

    @property
    def results(self) -> Mapping[str, Any]:
        """The results of all stages."""
        stages: Mapping[str, Any] = self.metrics["experiments"][self.protocol]
        return stages

    def judge(self) -> Iterator[JudgedClaim]:
        """Judge all claims."""
        figures = self.list_values()
        for claim in CLAIMS:
            values = figures[claim.topic]
            verdict, reason = self._compare(claim, values)
            here, brief = write_range(values, claim.form), write_brief(values, claim.form)
            known = (claim.topic, claim.text, claim.published, here, brief)
            yield self._judged(known, verdict, reason, claim.needs)
        if "missing" in self.results:
            yield from (self._judge_trend(*trend) for trend in TRENDS)

    def list_values(self) -> dict[str, Sequence[float]]:
        """The figure of each claim in every repetition, by topic."""
        evaluation, spent = self.results["evaluation"], self.metrics["seconds"][self.protocol]
        rules = {name: each["runs"] for name, each in evaluation["rules"]["lrn_star"].items()}
        pairs = {"t_nn": "t_nn", "h_nn": "lrn_star_nn", "t_h": "t_lrn_star", "t_tree": "t_tree"}
        values: dict[str, Sequence[float]] = {
            topic: [run["estimate"] for run in evaluation["shares"]["mixed"][pair]["runs"]]
            for topic, pair in pairs.items()
        }
        values["network error"] = [
            1 - each for each in self.results["search"]["chosen"]["cross_validated"]["runs"]
        ]
        times = (spent[name]["cpu"]["runs"] for name in ("tree", "lrn_star"))
        values["pace"] = [tree / lrn_star for tree, lrn_star in zip(*times, strict=True)]
        values["rules of T"], values["features"] = rules["in_t_by_side"], rules["body_features"]
        both = zip(rules["entailed_by_t"], rules["in_t_by_side"], strict=True)
        values["entailed rules"] = [entailed - in_t for entailed, in_t in both]
        return values

    def unmet_condition(self, need: Condition) -> str:
        """What a condition of the paper's experiment lacks in this run; empty if it is met."""
        settings = self.metrics["settings"]
        known, ours, tree, sweep = (settings[name] for name in ("selection", "ours", "tree", "sweep"))
        effort = (ours["budget"]["equivalence_queries"], ours["size"], settings["evaluation"])
        match need:
            case "net" if str(NETS[0][0]) not in known["nets"]:
                return "the paper's own net was not among those that were searched"
            case "queries" if effort != (QUERIES, "paper", 2):
                return "fewer queries or samples than the paper's"
            case "tree" if tree["size"] is not None:
                return (
                    f"{tree['samples']} samples of {tree['size']:,} for the tree, not whole ones of a query"
                )
            case "levels" if len(sweep["shares"]) < MIN_LEVELS or sweep["queries"] < QUERIES:
                return (
                    f"{len(sweep['shares'])} levels, with {sweep['queries']} queries each where the paper "
                    f"has {QUERIES}"
                )
        return ""

    def _judged(
        self, known: tuple[str, str, str, str, str], verdict: str, reason: str, needs: Sequence[Condition]
    ) -> JudgedClaim:
        """The claim with its verdict, or, where its conditions are not met, without one."""
        unmet = [why for need in needs if (why := self.unmet_condition(need))]
        if unmet:
            verdict, reason = NOT_COMPARABLE, "; ".join(unmet)
        return JudgedClaim(self.protocol, *known, verdict, reason, not unmet)

    def _compare(self, claim: Claim, values: Sequence[float]) -> tuple[str, str]:
        """Compare the figures of all repetitions with the published one: verdict and reason."""
        low, median, high = np.quantile(values, (0.25, 0.5, 0.75)).tolist()
        near = abs(median - claim.expected) <= TOLERANCE * claim.expected
        if near or low <= claim.expected <= high or (claim.words and median > claim.expected):
            return AS_PUBLISHED, "the median, or the middle half, meets the published figure"
        verdict = BETTER if (median > claim.expected) == claim.more_is_better else WORSE
        others = sum((each > claim.expected) != (median > claim.expected) for each in values)
        reason = f"{others} of {len(values)} repetitions are on the other side of it" if others else ""
        if verdict == WORSE:
            return verdict, reason
        rejected = float(np.median(find_share(self.results, REJECTED)))
        why = {
            "pace": "another machine, reasoner and tree",
        }.get(claim.topic, f"an easier task: the network rejects {percent(rejected)} of the real rows")
        return verdict, "; ".join(filter(None, (reason, why)))

    def _judge_trend(self, topic: str, text: str, figure: str, better: int) -> JudgedClaim:
        """Judge a trend from the fewest to the most missing values, repetition by repetition."""
        points: Sequence[Mapping[str, Any]] = self.results["missing"]
        first, last = points[0][figure]["runs"], points[-1][figure]["runs"]
        changes = [after - before for before, after in zip(first, last, strict=True)]
        improved, count = sum(better * change > 0 for change in changes), len(changes)
        verdict = AS_PUBLISHED if improved == count else WORSE if not improved else NOT_COMPARABLE
        unknown = [f"{100 * points[at]['unknown']['median']:.0f}" for at in (0, -1)]
        reason = (
            f"{100 * min(changes):+.1f} to {100 * max(changes):+.1f} points from {unknown[0]} to "
            f"{unknown[1]} % of all values unknown"
        )
        needs: Sequence[Condition] = ("levels",) if figure == "t_h" else ()
        here = f"in {improved} of {count}"
        return self._judged((topic, text, "in words", here, here), verdict, reason, needs)


def describe_answer(metrics: Mapping[str, Any]) -> str:
    """The answer in a few sentences: the verdicts by protocol, our rules, and the real rows."""
    sentences = []
    for name in (name for name in PAPER_NAMES if name in metrics["experiments"]):
        verdicts = [claim.verdict for claim in _Judge(metrics, name).judge()]
        counts = ", ".join(
            f"{verdicts.count(verdict)} {verdict}"
            for verdict in (AS_PUBLISHED, BETTER, WORSE, NOT_COMPARABLE)
            if verdict in verdicts
        )
        label = metrics["labels"][name]
        sentences.append(f"With an unknown pair as {label}, of the paper's {len(verdicts)} claims: {counts}.")
    return " ".join([*sentences, describe_ours(metrics)])


OURS, REJECTED = ("evaluation", "shares", "mixed", "ours_nn"), ("evaluation", "rows_rejected")
"""Where results have how often our rules and the network differ, and which real rows it rejects."""


def find_share(results: Mapping[str, Any], path: Sequence[str]) -> list[float]:
    """A share in every repetition; `path` leads through the results of an experiment."""
    return [run["estimate"] for run in reduce(lambda part, step: part[step], path, results)["runs"]]


def describe_ours(metrics: Mapping[str, Any]) -> str:
    """How near our rules are to the networks, and which of the real rows these reject."""
    ours, rejected = (
        "; ".join(
            f"{percent(float(np.median(find_share(results, path))))} ({metrics['labels'][name].strip('()')})"
            for name, results in metrics["experiments"].items()
        )
        for path in (OURS, REJECTED)
    )
    return (
        f"Our rules, read from the same networks with as many queries, differ from them on {ours}. "
        f"Of the real rows with their right class the networks reject {rejected}: they know what a row "
        "looks like, not its class."
    )


def percent(share: float) -> str:
    """A share in per cent, with two decimals."""
    return f"{100 * share:.2f} %"


def write_figure(value: float, form: str) -> str:
    """A figure as tables have it.

    Examples
    --------
    >>> write_figure(0.058, ".2%"), write_figure(20, ".0f")
    ('5.80 %', '20')

    """
    return f"{value:{form}}".replace("%", " %")


def write_range(values: Sequence[float], form: str) -> str:
    """The median of several figures, with their range in brackets where they differ.

    Examples
    --------
    >>> write_range([0.02, 0.01, 0.06], ".0%"), write_range([3, 3, 3], ".0f")
    ('2 % [1–6]', '3')

    """
    least, median, most = (write_figure(float(each), form) for each in np.quantile(values, (0, 0.5, 1)))
    return median if least == most else f"{median} [{least.removesuffix(' %')}–{most.removesuffix(' %')}]"


def write_brief(values: Sequence[float], form: str) -> str:
    """As `write_range`, for a terminal: per cent without their sign, and a shorter range.

    Examples
    --------
    >>> write_brief([0.0294, 0.0206, 0.4854], ".2%")
    '2.94 (2.1–49)'

    """
    least, median, most = np.quantile(values, (0, 0.5, 1)).tolist()
    scale = 100 if form.endswith("%") else 1
    ends = (f"{end:.0f}" if end >= 10 else f"{end:.2g}" for end in (scale * least, scale * most))
    return f"{write_figure(median, form).removesuffix(' %')} ({'–'.join(ends)})"
