"""The paper's claims, compared with what a reproduction found; and what we promise of our own rules.

A claim is judged where its conditions are met: a run with fewer samples, queries or labels than the
paper's gives figures, and no verdict. A verdict has two sides: a figure that is better than the published
one may be so because the task is easier.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np

from hornbook.paper import published

AS_PUBLISHED, BETTER, WORSE = "as published", "better", "worse"
NOT_COMPARABLE = "not comparable"
HOLDS, FAILS = "holds", "does not hold"

TOLERANCE = 0.25
"""A median that is off by at most this share of the published figure is as published."""

OUR_LIMITS = {"paper": 0.005, "paper-half": 0.005, "hard": 0.008}
"""The disagreement with the network that our rules are to stay below, for each protocol."""

OUR_SECONDS = 8
"""The CPU-seconds in which our rules are to be read."""

MIN_LEVELS = 5
"""Number of levels of missing values from which a trend is judged."""

Condition: TypeAlias = Literal["net", "queries", "tree", "levels"]


@dataclass(frozen=True)
class JudgedClaim:
    """A claim under one protocol: the published figure, the figure here, the verdict and its reason.

    `topic` is its short name. A promise about our own rules has no published figure.
    """

    protocol: str
    topic: str
    claim: str
    published: str
    here: str
    verdict: str
    reason: str = ""

    @property
    def is_published(self) -> bool:
        """Whether the claim is the paper's."""
        return self.published != "–"


def judge_claims(metrics: Mapping[str, Any]) -> list[JudgedClaim]:
    """Judge each claim of the paper under its protocols, and our promises under every protocol."""
    names = list(metrics["experiments"])
    theirs = [claim for name in names if name in PAPER_NAMES for claim in _Judge(metrics, name).judge()]
    return [*theirs, *(claim for name in names for claim in _judge_ours(metrics, name))]


PAPER_NAMES = ("paper", "paper-half")
"""The protocols under which the paper's claims are judged."""


DISAGREEMENTS = (
    ("t_nn", "how often the network differs from T", "t_nn"),
    ("h_nn", "how often LRN* differs from the network", "lrn_star_nn"),
    ("t_h", "how often LRN* differs from T", "t_lrn_star"),
    ("t_tree", "how often the tree differs from T", "t_tree"),
)
"""The pairs of judges of the paper's table of results, in words, and by their names in an evaluation."""


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

    def judge(self) -> list[JudgedClaim]:
        """Judge all claims."""
        known = self.metrics["published"]
        rules = self.results["evaluation"]["rules"]["lrn_star"]
        accuracy = self.results["search"]["chosen"]["cross_validated"]
        return [
            self._compare(
                "accuracy",
                "accuracy of the chosen network, cross-validated",
                (f"{known['accuracy']:.4f}", 1 - known["accuracy"]),
                (f"{accuracy['median']:.4f}", [1 - each for each in accuracy["runs"]]),
                ("net",),
                "error",
            ),
            *(self._disagreement(pair, text, judges) for pair, text, judges in DISAGREEMENTS),
            self._pace(),
            self._compare(
                "rules of T",
                "extracted rules that are rules of T, up to the side of the class literal",
                (f"{known['rules_of_t']}", known["rules_of_t"]),
                (
                    f"{rules['in_t_by_side']['median']:g} of {rules['count']['median']:g}",
                    rules["in_t_by_side"]["runs"],
                ),
                ("net", "queries"),
                "in_t_by_side",
                more_is_better=True,
            ),
            self._entailed(rules),
            self._compare(
                "length of bodies",
                "different features in a body (more is as specific as a patient, fewer is more general)",
                (f"about {known['body_features']}", known["body_features"]),
                (f"{rules['body_features']['median']:.1f}", rules["body_features"]["runs"]),
                ("net", "queries"),
                "body_features",
                more_is_better=True,
            ),
            self._trend("missing: networks", "more missing values make more accurate networks", "common", 1),
            self._trend("missing: rules", "more missing values make better rules (t_h)", "t_h", -1),
        ]

    def _disagreement(self, pair: str, text: str, judges: str) -> JudgedClaim:
        """Compare how often two judges disagree."""
        known = self.metrics["published"]["disagreement"][pair]
        share = self.results["evaluation"]["shares"]["mixed"][judges]
        return self._compare(
            pair,
            f"{text} ({pair})",
            (percent(known), known),
            (percent(share["estimate"]), [each["estimate"] for each in share["runs"]]),
            ("net", "tree") if pair == "t_tree" else ("net", "queries"),
            pair,
        )

    def _claim(
        self, topic: str, text: str, was: str, here: str, verdict: str, reason: str, *needs: Condition
    ) -> JudgedClaim:
        """The claim with its verdict, or, where its conditions are not met, without one."""
        unmet = [why for need in needs if (why := self.unmet_condition(need))]
        if unmet:
            verdict, reason = NOT_COMPARABLE, "; ".join(unmet)
        return JudgedClaim(self.protocol, topic, text, was, here, verdict, reason)

    def unmet_condition(self, need: Condition) -> str:
        """What a condition of the paper's experiment lacks in this run; empty if it is met."""
        settings = self.metrics["settings"]
        known, ours, tree, sweep = (settings[name] for name in ("selection", "ours", "tree", "sweep"))
        match need:
            case "net" if str(published.NETS[0][0]) not in known["nets"]:
                return "the paper's own net was not among those that were searched"
            case "queries" if (
                ours["budget"]["equivalence_queries"],
                ours["size"],
                settings["evaluation"],
            ) != (
                published.QUERIES,
                "paper",
                2,
            ):
                return "fewer queries or samples than the paper's"
            case "tree" if tree["size"] is not None:
                return (
                    f"{tree['samples']} samples of {tree['size']:,} for the tree, not whole ones of a query"
                )
            case "levels" if len(sweep["shares"]) < MIN_LEVELS or sweep["queries"] < published.QUERIES:
                return (
                    f"{len(sweep['shares'])} levels, with {sweep['queries']} queries each where the paper "
                    f"has {published.QUERIES}"
                )
        return ""

    def _compare(
        self,
        topic: str,
        text: str,
        was: tuple[str, float],
        here: tuple[str, Sequence[float]],
        needs: tuple[Condition, ...],
        figure: str,
        *,
        more_is_better: bool = False,
    ) -> JudgedClaim:
        """Compare the figures of all repetitions with the published one; both are given in words too."""
        expected = was[1]
        least, low, median, high, most = np.quantile(here[1], (0, 0.25, 0.5, 0.75, 1)).tolist()
        if low <= expected <= high or abs(median - expected) <= TOLERANCE * expected:
            verdict = AS_PUBLISHED
        else:
            verdict = BETTER if (median > expected) == more_is_better else WORSE
        form = "{:.4g}" if more_is_better else "{:.2%}"
        reason = f"{form.format(least)} to {form.format(most)} over the repetitions".replace("%", " %")
        if verdict == BETTER and not more_is_better:
            rejected = percent(self.results["evaluation"]["rows_rejected"]["estimate"])
            reason += f"; an easier task: of the real rows with their class the network rejects {rejected}"
        if verdict == WORSE:
            reason += describe_scan(self.metrics.get("scan"), figure)
        return self._claim(topic, text, was[0], here[0], verdict, reason, *needs)

    def _pace(self) -> JudgedClaim:
        """Compare how many times as long the tree took as LRN*."""
        spent = self.metrics["seconds"][self.protocol]
        lrn_star, tree = (spent[name]["cpu"]["median"] for name in ("lrn_star", "tree"))
        hours, pace = self.metrics["published"]["hours"], tree / lrn_star
        expected = hours["tree"] / hours["lrn_star"]
        near = abs(pace - expected) <= TOLERANCE * expected
        return self._claim(
            "pace",
            "how many times as long as LRN* the tree takes",
            f"{expected:g} ×",
            f"{pace:.0f} ×" if pace >= 10 else f"{pace:.1f} ×",
            AS_PUBLISHED if near else BETTER if pace > expected else WORSE,
            f"{lrn_star:.1f} and {tree:.1f} CPU-seconds, {hours['lrn_star']} and {hours['tree']} hours "
            "there, of another machine, reasoner and tree",
            "net",
            "queries",
            "tree",
        )

    def _entailed(self, rules: Mapping[str, Any]) -> JudgedClaim:
        """Whether further extracted rules are entailed by T."""
        further = rules["entailed_by_t"]["median"] - rules["in_t_by_side"]["median"]
        return self._claim(
            "entailed rules",
            "further extracted rules that are entailed by T",
            "some",
            f"{further:g} of {rules['count']['median']:g}",
            AS_PUBLISHED if further > 0 else WORSE,
            f"{rules['entailed_by_t']['least']:g} to {rules['entailed_by_t']['most']:g} entailed over the "
            "repetitions, rules of T included",
            "net",
            "queries",
        )

    def _trend(self, topic: str, text: str, name: str, better: int) -> JudgedClaim:
        """Judge a trend from the fewest to the most missing values, repetition by repetition."""
        points: Sequence[Mapping[str, Any]] = self.results["missing"]
        first, last = points[0][name]["runs"], points[-1][name]["runs"]
        changes = [after - before for before, after in zip(first, last, strict=True)]
        improved, count = sum(better * change > 0 for change in changes), len(changes)
        verdict = AS_PUBLISHED if improved == count else WORSE if not improved else NOT_COMPARABLE
        unknown = [f"{100 * point['unknown']['median']:.0f}" for point in points]
        return self._claim(
            topic,
            text,
            "in words",
            f"in {improved} of {count}",
            verdict,
            f"{100 * min(changes):+.1f} to {100 * max(changes):+.1f} percentage points over the repetitions, "
            f"with {', '.join(unknown)} % of all values unknown",
            *(("levels",) if name == "t_h" else ()),
        )


def _judge_ours(metrics: Mapping[str, Any], protocol: str) -> list[JudgedClaim]:
    """Judge what we promise of our rules under a protocol."""
    evaluation = metrics["experiments"][protocol]["evaluation"]
    shares = {pair: share["estimate"] for pair, share in evaluation["shares"]["mixed"].items()}
    cpu = metrics["seconds"][protocol]["ours"]["cpu"]["median"]
    limit = OUR_LIMITS.get(protocol, max(OUR_LIMITS.values()))

    def claim(topic: str, text: str, here: str, holds: bool) -> JudgedClaim:
        return JudgedClaim(protocol, topic, f"ours: {text}", "–", here, HOLDS if holds else FAILS)

    return [
        claim(
            "our rules",
            f"the rules differ from the network on at most {100 * limit:g} %",
            percent(shares["ours_nn"]),
            shares["ours_nn"] <= limit,
        ),
        claim(
            "our rules and T",
            "t_h is at most t_nn and one percentage point",
            f"{percent(shares['t_ours'])} against {percent(shares['t_nn'])}",
            shares["t_ours"] <= shares["t_nn"] + 0.01,
        ),
        claim(
            "our time",
            f"the network is read in less than {OUR_SECONDS} CPU-seconds",
            f"{cpu:.1f} s",
            cpu < OUR_SECONDS,
        ),
    ]


def describe_answer(metrics: Mapping[str, Any]) -> str:
    """The answer in a few sentences: the verdicts by protocol, our rules, and the real rows."""
    sentences, labels = [], metrics["labels"]
    for name in (name for name in PAPER_NAMES if name in metrics["experiments"]):
        verdicts = [claim.verdict for claim in _Judge(metrics, name).judge()]
        counts = ", ".join(
            f"{verdicts.count(word)} {word}"
            for word in (AS_PUBLISHED, BETTER, WORSE, NOT_COMPARABLE)
            if word in verdicts
        )
        sentences.append(
            f"With an unknown pair as {labels[name]}, of the paper's {len(verdicts)} claims: {counts}."
        )
    return " ".join([*sentences, describe_ours(metrics)])


def describe_ours(metrics: Mapping[str, Any]) -> str:
    """How near our rules are to the networks, and which of the real rows these reject."""
    evaluations = [
        (metrics["labels"][name].strip("()"), results["evaluation"])
        for name, results in metrics["experiments"].items()
    ]
    ours, rejected = (
        "; ".join(f"{percent(share['estimate'])} ({label})" for label, share in shares)
        for shares in (
            [(label, each["shares"]["mixed"]["ours_nn"]) for label, each in evaluations],
            [(label, each["rows_rejected"]) for label, each in evaluations],
        )
    )
    return (
        f"Our rules, read from the same networks with as many queries, differ from them on {ours}. "
        f"Of the real rows with their right class the networks reject {rejected}: they know what a row "
        "looks like, not its class."
    )


def describe_scan(scan: Mapping[str, Any] | None, figure: str) -> str:
    """What the scan of open choices found for a figure, as the end of a reason."""
    if scan is None:
        return "; --scan varies every open choice"
    medians = {name: each["figures"][figure]["median"] for name, each in scan["combinations"].items()}
    low, high = min(medians, key=medians.__getitem__), max(medians, key=medians.__getitem__)
    return (
        f"; {len(medians)} combinations of open choices gave {medians[low]:.3g} ({low}) "
        f"to {medians[high]:.3g} ({high})"
    )


def percent(share: float) -> str:
    """A share in per cent, with two decimals."""
    return f"{100 * share:.2f} %"
