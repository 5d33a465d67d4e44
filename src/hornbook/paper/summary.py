"""The metrics of a run: what its repetitions found, as medians with ranges."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from hornbook.paper import published as paper
from hornbook.paper.repetition import READINGS, Repetition
from hornbook.paper.stages import read_json

PAIRS = ("t_h", "t_nn", "h_nn", "t_tree", "tree_nn")
"""The columns of the paper's table of results, and tree_nn."""


def summarise(
    config: Mapping[str, Any],
    repetitions: Sequence[Repetition],
    times: Mapping[str, Sequence[Mapping[str, float]]],
) -> dict[str, Any]:
    """Everything that a run found, ready for JSON; all that differs between equal runs is in `seconds`.

    A share is that of the median repetition, with its own interval, and the range over all of
    them; other figures are medians with ranges.
    """
    searches = [_kept(each, "search", "search.json") for each in repetitions]
    evaluations = [_kept(each, "evaluation", "evaluation.json") for each in repetitions]
    mixed, *kinds = evaluations[0]["shares"]
    return {
        "scale": config["scale"],
        "seeds": [each.seed for each in repetitions],
        "data": config["data"],
        "sample": config["sample"],
        "evaluated": evaluations[0]["size"],
        "disagreement": _disagreement(evaluations, mixed),
        "by_kind": {kind: _disagreement(evaluations, kind) for kind in kinds},
        "longer": {
            pair: middle([found["shares"][mixed][_judges(pair, "longer")] for found in evaluations])
            for pair in PAIRS
        },
        "errors": {
            reading: {
                kind: middle([found["errors"][reading][kind] for found in evaluations])
                for kind in ("missing", "wrong")
            }
            for reading in READINGS
        },
        "accuracy": _accuracy(searches),
        "rules": {reading: _rules(evaluations, reading) for reading in READINGS},
        "readings": {reading: _readings(repetitions, reading) for reading in READINGS},
        "frontiers": [_kept(each, "ours", "reading.json")["frontier"] for each in repetitions],
        "missing": _missing([_kept(each, "missing", "points.json") for each in repetitions]),
        "honesty": {
            "rows_rejected": middle([found["rows_rejected"] for found in evaluations]),
            "incoherent": {
                kind: middle([found["incoherent"][kind] for found in evaluations])
                for kind in evaluations[0]["incoherent"]
            },
            "choices": config["choices"],
        },
        "published": {
            "disagreement": paper.DISAGREEMENT,
            "hours": paper.HOURS,
            "rules_of_t": paper.RULES_OF_T,
            "mean_body": paper.BODY_LENGTH,
        },
        "seconds": {
            **{
                stage: {
                    **spread([each["seconds"] for each in several]),
                    # other processes, which a search has many of, would be missing
                    "cpu": None if stage == "search" else spread([each["cpu"] for each in several]),
                }
                for stage, several in times.items()
            },
            "total": sum(each["seconds"] for several in times.values() for each in several),
        },
    }


def spread(values: Sequence[float]) -> dict[str, Any]:
    """The median of some values, their range, and the values.

    Examples
    --------
    >>> spread([3, 1, 2])
    {'median': 2.0, 'least': 1, 'most': 3, 'runs': [3, 1, 2]}

    """
    return {
        "median": float(np.median(values)),
        "least": min(values),
        "most": max(values),
        "runs": list(values),
    }


def middle(shares: Sequence[Mapping[str, float]]) -> dict[str, Any]:
    """The share in the middle with its interval, the range of all estimates, and all shares."""
    ordered = sorted(shares, key=lambda share: share["estimate"])
    return {
        **ordered[len(ordered) // 2],
        "least": ordered[0]["estimate"],
        "most": ordered[-1]["estimate"],
        "runs": list(shares),
    }


def _kept(repetition: Repetition, stage: str, file: str) -> Any:
    return read_json(repetition.run / repetition.at(stage) / file)


def _disagreement(evaluations: Sequence[Any], kind: str) -> dict[str, Any]:
    """For the paper's reading and for ours, the columns of the table of results."""
    return {
        reading: {
            # the hypothesis h is what was read in that way
            pair: middle([found["shares"][kind][_judges(pair, reading)] for found in evaluations])
            for pair in PAIRS
        }
        for reading in ("paper", "ours")
    }


def _judges(pair: str, reading: str) -> str:
    return "_".join(reading if judge == "h" else judge for judge in pair.split("_"))


def _accuracy(searches: Sequence[Any]) -> dict[str, Any]:
    chosen = [found["chosen"] for found in searches]
    return {
        **{
            name: spread([each[name] for each in chosen]) for name in ("cross_validated", "again", "held_out")
        },
        "chosen": chosen,
        "best": searches[0]["best"],
        "published": [
            {
                **{name: same[0][name] for name in ("net", "rate", "published")},
                **{name: spread([each[name] for each in same]) for name in ("cross_validated", "held_out")},
            }
            for same in zip(*(found["published"] for found in searches), strict=True)
        ],
        "configurations": searches[0]["configurations"],
        "trainings": searches[0]["trainings"],
        "failures": searches[0]["failures"],
        "held_out_by_kind": {
            kind: spread([found["held_out_by_kind"][kind] for found in searches])
            for kind in searches[0]["held_out_by_kind"]
        },
    }


def _rules(evaluations: Sequence[Any], reading: str) -> dict[str, Any]:
    found = [evaluation["rules"][reading] for evaluation in evaluations]
    counted = ("count", "in_t", "entailed_by_t", "mean_body")
    return {
        **{name: spread([each[name] for each in found]) for name in counted},
        "examples": found[0]["examples"],
    }


def _readings(repetitions: Sequence[Repetition], reading: str) -> dict[str, Any]:
    """What the readings asked, and why they stopped."""
    found = [_kept(each, reading, "reading.json") for each in repetitions]
    return {
        "membership_queries": spread([each["membership_queries"] for each in found]),
        "stopped": [each["stopped"] for each in found],
        **(
            {"parameters": [{name: each[name] for name in ("grace_period", "delta")} for each in found]}
            if reading == "tree"
            else {"equivalence_queries": spread([each["equivalence_queries"] for each in found])}
        ),
    }


def _missing(sweeps: Sequence[Any]) -> list[dict[str, Any]]:
    """For each share of missing values, accuracies and rules over the repetitions."""
    return [
        {
            "missing": points[0]["missing"],
            "unknown": float(np.mean([point["unknown"] for point in points])),
            **{
                name: spread([value for point in points for value in point[name]])
                for name in ("own", "common", "t_h", "h_nn")
            },
        }
        for points in zip(*sweeps, strict=True)
    ]
