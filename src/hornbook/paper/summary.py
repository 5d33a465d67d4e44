"""The metrics of a reproduction: medians and ranges over its repetitions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from hornbook.paper import published as paper
from hornbook.paper.repetition import READINGS, Repetition
from hornbook.paper.stages import read_json

PAIRS = ("t_h", "t_nn", "h_nn", "t_tree", "tree_nn")
"""Pairs of judges whose disagreement is reported: those of the paper, and tree_nn."""


def summarise(
    config: Mapping[str, Any],
    repetitions: Sequence[Repetition],
    times: Mapping[str, Sequence[Mapping[str, float]]],
) -> dict[str, Any]:
    """Summarise all results of a run as a JSON object; only `seconds` differs between equal runs.

    A share is that of the median repetition with its interval, and the range over all
    repetitions; other figures are medians with ranges.
    """
    searches = [_read_result(each, "search", "search.json") for each in repetitions]
    evaluations = [_read_result(each, "evaluation", "evaluation.json") for each in repetitions]
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
            pair: summarise_shares([found["shares"][mixed][_judges(pair, "longer")] for found in evaluations])
            for pair in PAIRS
        },
        "errors": {
            reading: {
                kind: summarise_shares([found["errors"][reading][kind] for found in evaluations])
                for kind in ("missing", "wrong")
            }
            for reading in READINGS
        },
        "accuracy": _accuracy(searches),
        "rules": {reading: _rules(evaluations, reading) for reading in READINGS},
        "readings": {reading: _readings(repetitions, reading) for reading in READINGS},
        "frontiers": [_read_result(each, "ours", "reading.json")["frontier"] for each in repetitions],
        "missing": _missing([_read_result(each, "missing", "points.json") for each in repetitions]),
        "caveats": {
            "rows_rejected": summarise_shares([found["rows_rejected"] for found in evaluations]),
            "incoherent": {
                kind: summarise_shares([found["incoherent"][kind] for found in evaluations])
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
                    **summarise_values([each["seconds"] for each in several]),
                    # other processes, which a search has many of, would be missing
                    "cpu": None if stage == "search" else summarise_values([each["cpu"] for each in several]),
                }
                for stage, several in times.items()
            },
            "total": sum(each["seconds"] for several in times.values() for each in several),
        },
    }


def summarise_values(values: Sequence[float]) -> dict[str, Any]:
    """Return the median of some values, their range, and the values.

    Examples
    --------
    >>> summarise_values([3, 1, 2])
    {'median': 2.0, 'least': 1, 'most': 3, 'runs': [3, 1, 2]}

    """
    return {
        "median": float(np.median(values)),
        "least": min(values),
        "most": max(values),
        "runs": list(values),
    }


def summarise_shares(shares: Sequence[Mapping[str, float]]) -> dict[str, Any]:
    """Return the median share with its interval, the range of all estimates, and all shares."""
    ordered = sorted(shares, key=lambda share: share["estimate"])
    return {
        **ordered[len(ordered) // 2],
        "least": ordered[0]["estimate"],
        "most": ordered[-1]["estimate"],
        "runs": list(shares),
    }


def _read_result(repetition: Repetition, stage: str, file: str) -> Any:
    return read_json(repetition.run / repetition.stage_path(stage) / file)


def _disagreement(evaluations: Sequence[Any], kind: str) -> dict[str, Any]:
    """The columns of the table of results, for the paper's extraction and for ours."""
    return {
        reading: {
            # h is the hypothesis of that extraction
            pair: summarise_shares([found["shares"][kind][_judges(pair, reading)] for found in evaluations])
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
            name: summarise_values([each[name] for each in chosen])
            for name in ("cross_validated", "again", "held_out")
        },
        "chosen": chosen,
        "best": searches[0]["best"],
        "published": [
            {
                **{name: same[0][name] for name in ("net", "rate", "published")},
                **{
                    name: summarise_values([each[name] for each in same])
                    for name in ("cross_validated", "held_out")
                },
            }
            for same in zip(*(found["published"] for found in searches), strict=True)
        ],
        "configurations": searches[0]["configurations"],
        "trainings": searches[0]["trainings"],
        "failures": searches[0]["failures"],
        "held_out_by_kind": {
            kind: summarise_values([found["held_out_by_kind"][kind] for found in searches])
            for kind in searches[0]["held_out_by_kind"]
        },
    }


def _rules(evaluations: Sequence[Any], reading: str) -> dict[str, Any]:
    found = [evaluation["rules"][reading] for evaluation in evaluations]
    counted = ("count", "in_t", "entailed_by_t", "mean_body")
    return {
        **{name: summarise_values([each[name] for each in found]) for name in counted},
        "examples": found[0]["examples"],
    }


def _readings(repetitions: Sequence[Repetition], reading: str) -> dict[str, Any]:
    """The number of queries of each extraction, and why it stopped."""
    found = [_read_result(each, reading, "reading.json") for each in repetitions]
    return {
        "membership_queries": summarise_values([each["membership_queries"] for each in found]),
        "stopped": [each["stopped"] for each in found],
        **(
            {"parameters": [{name: each[name] for name in ("grace_period", "delta")} for each in found]}
            if reading == "tree"
            else {"equivalence_queries": summarise_values([each["equivalence_queries"] for each in found])}
        ),
    }


def _missing(sweeps: Sequence[Any]) -> list[dict[str, Any]]:
    """Accuracies and rules for each share of missing values, over the repetitions."""
    return [
        {
            "missing": points[0]["missing"],
            "unknown": float(np.mean([point["unknown"] for point in points])),
            **{
                name: summarise_values([value for point in points for value in point[name]])
                for name in ("own", "common", "t_h", "h_nn")
            },
        }
        for points in zip(*sweeps, strict=True)
    ]
