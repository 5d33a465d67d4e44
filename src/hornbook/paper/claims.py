"""The paper's claims, judged by the metrics of a reproduction, and the answer in three sentences.

A claim of the paper is judged under the protocol `paper`; what we promise of our own rules is judged
under every protocol.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

HOLDS, NOT_REPRODUCED, FAILS, UNCLEAR = "holds", "not reproduced", "does not hold", "unclear"

OUR_LIMITS = {"paper": 0.005, "hard": 0.008}
"""The disagreement with the network that our rules are to stay below, for each protocol."""

OUR_SECONDS = 8
"""The CPU-seconds in which our rules are to be read."""


@dataclass(frozen=True)
class JudgedClaim:
    """A claim with the published figure, the figure found here, and the verdict.

    `topic` is its short name, `tried` says which choices were tried where a claim of the paper was
    not reproduced.
    """

    protocol: str
    topic: str
    claim: str
    published: str
    here: str
    verdict: str
    tried: str = ""

    @property
    def is_published(self) -> bool:
        """Whether the claim is the paper's."""
        return self.published != "–"


def judge_claims(metrics: Mapping[str, Any]) -> list[JudgedClaim]:
    """Judge each claim by the metrics of a run.

    Claims are judged by medians over the repetitions; a trend holds if every repetition shows it,
    and is unclear if only some do.
    """
    published = judge_published_claims(metrics) if "paper" in metrics["experiments"] else []
    return [*published, *(claim for protocol in metrics["experiments"] for claim in _ours(metrics, protocol))]


def judge_published_claims(metrics: Mapping[str, Any]) -> list[JudgedClaim]:
    """Judge the paper's claims, under its protocol."""
    experiment, shares = metrics["experiments"]["paper"], metrics["disagreement"]["paper"]
    known, scan = metrics["published"], metrics.get("scan")
    figures = {
        pair: share["estimate"] for reader in ("lrn_star", "tree") for pair, share in shares[reader].items()
    }
    rules, accuracy = experiment["rules"]["lrn_star"], experiment["accuracy"]["cross_validated"]["median"]
    spent = {name: metrics["seconds"]["paper"][name]["cpu"]["median"] for name in ("lrn_star", "tree")}
    pace = spent["tree"] / spent["lrn_star"]
    counted = {name: f"{about['median']:.3g}" for name, about in rules.items() if name != "examples"}

    def claim(topic: str, text: str, was: str, here: str, holds: bool, figure: str = "") -> JudgedClaim:
        verdict = HOLDS if holds else NOT_REPRODUCED
        return JudgedClaim(
            "paper", topic, text, was, here, verdict, "" if holds else describe_tried(scan, figure)
        )

    def disagreement(pair: str, text: str) -> JudgedClaim:
        was, here = known["disagreement"][pair], figures[pair]
        return claim(pair, f"{text} ({pair})", percent(was), percent(here), here <= was, pair)

    return [
        claim(
            "accuracy",
            "the chosen network is at least as accurate as the paper's (cross-validated)",
            f"{known['accuracy']:.4f}",
            f"{accuracy:.4f}",
            accuracy >= known["accuracy"],
            "error",
        ),
        disagreement("t_nn", "the network differs from T on at most as much as published"),
        disagreement(
            "h_nn", "LRN* after 100 queries differs from the network on at most as much as published"
        ),
        disagreement("t_h", "LRN* after 100 queries differs from T on at most as much as published"),
        disagreement("t_tree", "the tree differs from T on at most as much as published"),
        claim(
            "pace",
            "LRN* is at least twice as fast as the tree (CPU-seconds)",
            f"{known['hours']['lrn_star']} h against {known['hours']['tree']} h",
            f"{spent['lrn_star']:.1f} s against {spent['tree']:.1f} s ({pace:.0f} ×)",
            pace >= 2,
        ),
        claim(
            "rules of T",
            "at least 20 extracted rules are rules of T, up to the side of the class literal",
            f"{known['rules_of_t']}",
            f"{counted['in_t_by_side']} of {counted['count']} (literally {counted['in_t']})",
            rules["in_t_by_side"]["median"] >= known["rules_of_t"],
            "in_t_by_side",
        ),
        claim(
            "entailed rules",
            "further extracted rules are entailed by T",
            "yes, in words",
            f"{counted['entailed_by_t']} entailed",
            rules["entailed_by_t"]["median"] > rules["in_t_by_side"]["median"],
            "entailed_by_t",
        ),
        claim(
            "length of bodies",
            "bodies speak of about 40 different variables (30 to 50 features)",
            f"{known['body_features']}",
            f"{counted['body_features']} features in {counted['body_literals']} literals",
            30 <= rules["body_features"]["median"] <= 50,
            "body_features",
        ),
        _trend(
            "missing values and accuracy",
            "more missing values make more accurate networks (common test set)",
            experiment["missing"],
            "common",
            better=1,
        ),
        _trend(
            "missing values and rules",
            "more missing values make better rules (smaller t_h)",
            experiment["missing"],
            "t_h",
            better=-1,
        ),
    ]


def _ours(metrics: Mapping[str, Any], protocol: str) -> list[JudgedClaim]:
    """Judge what we promise of our rules under a protocol."""
    shares = {pair: share["estimate"] for pair, share in metrics["disagreement"][protocol]["ours"].items()}
    cpu = metrics["seconds"][protocol]["ours"]["cpu"]["median"]
    limit = OUR_LIMITS.get(protocol, max(OUR_LIMITS.values()))

    def claim(topic: str, text: str, here: str, holds: bool) -> JudgedClaim:
        return JudgedClaim(protocol, topic, f"ours: {text}", "–", here, HOLDS if holds else FAILS)

    return [
        claim(
            "our rules",
            f"the rules differ from the network on at most {100 * limit:g} %",
            percent(shares["h_nn"]),
            shares["h_nn"] <= limit,
        ),
        claim(
            "our rules and T",
            "t_h is at most t_nn and one percentage point",
            f"{percent(shares['t_h'])} against {percent(shares['t_nn'])}",
            shares["t_h"] <= shares["t_nn"] + 0.01,
        ),
        claim(
            "our time",
            f"the network is read in less than {OUR_SECONDS} CPU-seconds",
            f"{cpu:.1f} s",
            cpu < OUR_SECONDS,
        ),
    ]


def answer_in_sentences(metrics: Mapping[str, Any]) -> tuple[str, str, str]:
    """The answer to what the paper says: what holds, what does not, and what our rules add."""
    protocols = list(metrics["experiments"])
    own = "; ".join(
        f"{percent(metrics['disagreement'][name]['ours']['h_nn']['estimate'])} under the protocol {name}"
        for name in protocols
    )
    rejected = "; ".join(
        f"{percent(metrics['rows_rejected'][name]['estimate'])} under {name}" for name in protocols
    )
    ours = (
        f"Our rules, read from the same networks with as many queries, differ from the network on {own}; "
        f"and of the real rows with their right class the networks reject {rejected}, so that they know "
        "what a row looks like, not its class."
    )
    if "paper" not in protocols:
        first = "The paper's claims are judged under the protocol paper, which was not run."
        return first, f"Run it with --protocol paper to judge them, beside {', '.join(protocols)}.", ours
    claims = judge_published_claims(metrics)
    failed = [claim for claim in claims if claim.verdict == NOT_REPRODUCED]
    unclear = [claim for claim in claims if claim.verdict == UNCLEAR]
    known = metrics["published"]["disagreement"]
    shares = {
        pair: percent(share["estimate"])
        for pair, share in metrics["disagreement"]["paper"]["lrn_star"].items()
    }
    number = len(claims) - len(failed) - len(unclear)
    held = (
        f"Done as the paper says, {number} of its {len(claims)} claims hold: "
        f"after {metrics['published']['queries']} equivalence queries LRN* differs from the network on "
        f"{shares['h_nn']} (published {percent(known['h_nn'])}) and from the target T on {shares['t_h']} "
        f"({percent(known['t_h'])}), and the network from T on {shares['t_nn']} ({percent(known['t_nn'])})."
    )
    parts = [
        f"{verdict}: {', '.join(claim.topic for claim in several)}"
        for verdict, several in ((NOT_REPRODUCED, failed), (UNCLEAR, unclear))
        if several
    ]
    rest = f"The others are {'; '.join(parts)}." if parts else "None of its claims fails."
    return held, rest, ours


def describe_tried(scan: Mapping[str, Any] | None, figure: str) -> str:
    """Which choices were tried for a figure that was not reproduced."""
    if not figure:
        return "the protocols of this run"
    if scan is None:
        return "the protocols of this run; `--scan` varies every open choice"
    found = {name: each["figures"][figure]["median"] for name, each in scan["combinations"].items()}
    choices = ", ".join(
        dict.fromkeys(name for each in scan["combinations"].values() for name in each["level"])
    )
    low, high = min(found, key=found.__getitem__), max(found, key=found.__getitem__)
    return (
        f"{len(found)} combinations of {choices}: {figure} from {found[low]:.3g} ({low}) "
        f"to {found[high]:.3g} ({high})"
    )


def _trend(
    topic: str, claim: str, points: Sequence[Mapping[str, Any]], name: str, better: int
) -> JudgedClaim:
    """Judge a trend from the fewest to the most missing values, repetition by repetition."""
    first, last = points[0][name]["runs"], points[-1][name]["runs"]
    changes = [after - before for before, after in zip(first, last, strict=True)]
    improved = sum(better * change > 0 for change in changes)
    here = (
        f"{100 * min(changes):+.1f} to {100 * max(changes):+.1f} percentage points, better in {improved} of "
        f"{len(changes)} repetitions"
    )
    verdict = HOLDS if improved == len(changes) else UNCLEAR if improved else NOT_REPRODUCED
    shares = ", ".join(f"{100 * point['missing']:.0f}" for point in points)
    tried = "" if verdict == HOLDS else f"{shares} % of the open values unknown"
    return JudgedClaim("paper", topic, claim, "yes, in words", here, verdict, tried)


def percent(share: float) -> str:
    """A share in per cent, with two decimals."""
    return f"{100 * share:.2f} %"
