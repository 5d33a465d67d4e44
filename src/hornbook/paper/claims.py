"""The paper's claims, judged by the metrics of a reproduction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

HOLDS, FAILS, UNCLEAR = "holds", "does not hold", "unclear"


@dataclass(frozen=True)
class JudgedClaim:
    """A claim with the published figure, the figure found here, and the verdict."""

    claim: str
    published: str
    here: str
    verdict: str


def judge_claims(metrics: Mapping[str, Any]) -> list[JudgedClaim]:
    """Judge each claim by the metrics of a run.

    Claims are judged by medians over the repetitions; a trend holds if every repetition shows it,
    and is unclear if only some do.
    """
    published = metrics["published"]
    seconds, accuracy, rules = metrics["seconds"], metrics["accuracy"], metrics["rules"]
    paper, ours = metrics["disagreement"]["paper"], metrics["disagreement"]["ours"]
    spent = {reading: seconds[reading]["cpu"] for reading in ("paper", "ours", "tree")}
    pace = spent["tree"]["median"] / spent["paper"]["median"]
    best = max(each["published"] for each in accuracy["published"])
    gap = ours["t_h"]["estimate"] - ours["t_nn"]["estimate"]
    return [
        _claim(
            "the chosen network is at least as accurate as the paper's (cross-validated)",
            f"{best:.4f}",
            f"{accuracy['cross_validated']['median']:.4f}",
            accuracy["cross_validated"]["median"] >= best,
        ),
        _claim(
            "LRN*, as in the paper: the hypothesis differs from the network less than the network from T",
            f"{percent(published['disagreement']['h_nn'])} < {percent(published['disagreement']['t_nn'])}",
            f"{percent(paper['h_nn']['estimate'])} against {percent(paper['t_nn']['estimate'])}",
            paper["h_nn"]["estimate"] < paper["t_nn"]["estimate"],
        ),
        _claim(
            "LRN*, as in the paper: t_h and h_nn are of the published order (at most twice, at least half)",
            f"{percent(published['disagreement']['t_h'])} and {percent(published['disagreement']['h_nn'])}",
            f"{percent(paper['t_h']['estimate'])} and {percent(paper['h_nn']['estimate'])}",
            all(
                0.5 <= paper[pair]["estimate"] / published["disagreement"][pair] <= 2
                for pair in ("t_h", "h_nn")
            ),
        ),
        _claim(
            "LRN*, as in the paper, is at least twice as fast as the tree (CPU-seconds)",
            f"{published['hours']['lrn_star']} h against {published['hours']['tree']} h",
            f"{spent['paper']['median']:.1f} s against {spent['tree']['median']:.1f} s ({pace:.0f} ×)",
            pace >= 2,
        ),
        _claim(
            "LRN*, as in the paper: at least 20 extracted rules are rules of T",
            f"{published['rules_of_t']}",
            f"{rules['paper']['in_t']['median']:g} of {rules['paper']['count']['median']:g}",
            rules["paper"]["in_t"]["median"] >= published["rules_of_t"],
        ),
        _claim(
            "LRN*, as in the paper: bodies have about 40 variables (30 to 50)",
            f"{published['mean_body']}",
            f"{rules['paper']['mean_body']['median']:.1f}",
            30 <= rules["paper"]["mean_body"]["median"] <= 50,
        ),
        _trend(
            "more missing values make more accurate networks (common test set)",
            metrics["missing"],
            "common",
            better=1,
        ),
        _trend("more missing values make better rules (smaller t_h)", metrics["missing"], "t_h", better=-1),
        _claim(
            "ours: the hypothesis differs from the network on at most 1 %",
            "–",
            percent(ours["h_nn"]["estimate"]),
            ours["h_nn"]["estimate"] <= 0.01,
        ),
        _claim(
            "ours: t_h is at most t_nn and one percentage point",
            "–",
            f"{percent(ours['t_h']['estimate'])} against {percent(ours['t_nn']['estimate'])}",
            gap <= 0.01,
        ),
        _claim(
            "ours: the network is read in less than 30 CPU-seconds",
            "–",
            f"{spent['ours']['median']:.1f} s",
            spent["ours"]["median"] < 30,
        ),
    ]


def _claim(claim: str, published: str, here: str, holds: bool) -> JudgedClaim:
    return JudgedClaim(claim, published, here, HOLDS if holds else FAILS)


def _trend(claim: str, points: Sequence[Mapping[str, Any]], name: str, better: int) -> JudgedClaim:
    """Judge a trend from the fewest to the most missing values, repetition by repetition."""
    first, last = points[0][name]["runs"], points[-1][name]["runs"]
    changes = [after - before for before, after in zip(first, last, strict=True)]
    improved = sum(better * change > 0 for change in changes)
    here = (
        f"{100 * min(changes):+.1f} to {100 * max(changes):+.1f} percentage points, better in {improved} of "
        f"{len(changes)} repetitions"
    )
    verdict = HOLDS if improved == len(changes) else UNCLEAR if improved else FAILS
    return JudgedClaim(claim, "yes, in words", here, verdict)


def percent(share: float) -> str:
    """A share in per cent, with two decimals."""
    return f"{100 * share:.2f} %"
