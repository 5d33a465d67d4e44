"""The paper's published figures and claims, compared with what a reproduction found.

A claim is judged where its conditions are met: a run with fewer samples, queries or labels than the
paper's gives figures, and no verdict. A figure that is better than the published one may be so because the
task is easier.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any, Literal, TypeAlias

import numpy as np

from hornbook.paper.networks import Net

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
        return self.words or write_range([self.expected], self.form)


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
    """A claim under one protocol: the published figure, the one here, and the verdict.

    `lacks` says which conditions of a verdict the run does not meet.
    """

    protocol: str
    topic: str
    text: str
    published: str
    here: str
    verdict: str
    lacks: str


def judge_claims(metrics: Mapping[str, Any]) -> list[JudgedClaim]:
    """Judge each claim of the paper under each of its protocols."""
    return [
        claim
        for name in PAPER_NAMES
        if name in metrics["experiments"]
        for claim in (*_judge_figures(metrics, name), *_judge_trends(metrics, name))
    ]


def _judge_figures(metrics: Mapping[str, Any], protocol: str) -> Iterator[JudgedClaim]:
    """Judge the claims about figures under a protocol."""
    figures = list_figures(metrics, protocol)
    for claim in CLAIMS:
        values, lacks = figures[claim.topic], find_unmet(metrics["settings"], claim.needs)
        verdict = NOT_COMPARABLE if lacks else _compare(claim, values)
        here = write_range(values, claim.form)
        yield JudgedClaim(protocol, claim.topic, claim.text, claim.published, here, verdict, lacks)


def list_figures(metrics: Mapping[str, Any], protocol: str) -> dict[str, Sequence[float]]:
    """The figure of each claim in every repetition, by topic."""
    results, spent = metrics["experiments"][protocol], metrics["seconds"][protocol]
    rules = {name: each["runs"] for name, each in results["evaluation"]["rules"]["lrn_star"].items()}
    pairs = {"t_nn": "t_nn", "h_nn": "lrn_star_nn", "t_h": "t_lrn_star", "t_tree": "t_tree"}
    accuracies = results["search"]["chosen"]["cross_validated"]["runs"]
    times = (spent[name]["cpu"]["runs"] for name in ("tree", "lrn_star"))
    both = zip(rules["entailed_by_t"], rules["in_t_by_side"], strict=True)
    return {
        **{
            topic: find_share(results, ("evaluation", "shares", "mixed", pair))
            for topic, pair in pairs.items()
        },
        "network error": [1 - each for each in accuracies],
        "pace": [tree / lrn_star for tree, lrn_star in zip(*times, strict=True)],
        "rules of T": rules["in_t_by_side"],
        "entailed rules": [entailed - in_t for entailed, in_t in both],
        "features": rules["body_features"],
    }


def find_unmet(settings: Mapping[str, Any], needs: Sequence[Condition]) -> str:
    """What conditions of the paper's experiment a run lacks; empty if they are met."""
    known, ours, tree, sweep = (settings[name] for name in ("selection", "ours", "tree", "sweep"))
    effort = (ours["budget"]["equivalence_queries"], ours["size"], settings["evaluation"])
    lacks = {
        "net": str(NETS[0][0]) not in known["nets"] and "the paper's own net was not searched",
        "queries": effort != (QUERIES, "paper", 2) and "fewer queries or samples than the paper's",
        "tree": tree["size"] is not None
        and f"{tree['samples']} samples of {tree['size']:,} for the tree, not whole ones of a query",
        "levels": sweep["queries"] < QUERIES
        and f"{sweep['queries']} queries a level where the paper has {QUERIES}",
    }
    return "; ".join(words for need in needs if (words := lacks[need]))


def _compare(claim: Claim, values: Sequence[float]) -> str:
    """The verdict about the figures of all repetitions: the median, or the middle half, is as published."""
    low, median, high = np.quantile(values, (0.25, 0.5, 0.75)).tolist()
    near = abs(median - claim.expected) <= TOLERANCE * claim.expected
    if near or low <= claim.expected <= high or (claim.words and median > claim.expected):
        return AS_PUBLISHED
    return BETTER if (median > claim.expected) == claim.more_is_better else WORSE


def _judge_trends(metrics: Mapping[str, Any], protocol: str) -> Iterator[JudgedClaim]:
    """Judge trends from the fewest to the most missing values, repetition by repetition."""
    points: Sequence[Mapping[str, Any]] = metrics["experiments"][protocol].get("missing", ())
    for topic, text, figure, better in TRENDS if points else ():
        first, last = points[0][figure]["runs"], points[-1][figure]["runs"]
        changes = [after - before for before, after in zip(first, last, strict=True)]
        improved, count = sum(better * change > 0 for change in changes), len(changes)
        verdict = AS_PUBLISHED if improved == count else WORSE if not improved else NOT_COMPARABLE
        lacks = find_unmet(metrics["settings"], ("levels",)) if figure == "t_h" else ""
        here = f"in {improved} of {count}"
        yield JudgedClaim(
            protocol, topic, text, "in words", here, NOT_COMPARABLE if lacks else verdict, lacks
        )


OURS, REJECTED = ("evaluation", "shares", "mixed", "ours_nn"), ("evaluation", "rows_rejected")
"""Where results have how often our rules and the network differ, and which real rows it rejects."""


def find_share(results: Mapping[str, Any], path: Sequence[str]) -> list[float]:
    """A share in every repetition; `path` leads through the results of an experiment."""
    return [run["estimate"] for run in reduce(lambda part, step: part[step], path, results)["runs"]]


def describe_answer(metrics: Mapping[str, Any]) -> str:
    """The answer in a few sentences: the verdicts by protocol, our rules, and the real rows."""
    sentences, claims = [], judge_claims(metrics)
    for name in dict.fromkeys(claim.protocol for claim in claims):
        verdicts = [claim.verdict for claim in claims if claim.protocol == name]
        counts = ", ".join(
            f"{verdicts.count(verdict)} {verdict}"
            for verdict in (AS_PUBLISHED, BETTER, WORSE, NOT_COMPARABLE)
            if verdict in verdicts
        )
        label = metrics["labels"][name]
        sentences.append(f"With an unknown pair as {label}, of the paper's {len(verdicts)} claims: {counts}.")
    ours, rejected = (
        "; ".join(
            f"{percent(float(np.median(find_share(results, path))))} ({metrics['labels'][name].strip('()')})"
            for name, results in metrics["experiments"].items()
        )
        for path in (OURS, REJECTED)
    )
    sentences.append(
        f"Our rules, read from the same networks with as many queries, differ from them on {ours}. "
        f"Of the real rows with their right class the networks reject {rejected}: they know what a row "
        "looks like, not its class."
    )
    return " ".join(sentences)


def percent(share: float) -> str:
    """A share in per cent, with two decimals."""
    return f"{100 * share:.2f} %"


def write_range(values: Sequence[float], form: str) -> str:
    """The median of several figures, with their range in brackets where they differ.

    Examples
    --------
    >>> write_range([0.02, 0.01, 0.06], ".0%"), write_range([3, 3, 3], ".0f")
    ('2 % [1–6]', '3')

    """
    least, median, most = (f"{each:{form}}".replace("%", " %") for each in np.quantile(values, (0, 0.5, 1)))
    return median if least == most else f"{median} [{least.removesuffix(' %')}–{most.removesuffix(' %')}]"
