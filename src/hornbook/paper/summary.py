"""The metrics of a run: the results of all repetitions of each protocol as one JSON object."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from hornbook.paper import published
from hornbook.paper.repetition import READINGS, Repetition
from hornbook.storage import read_json

HYPOTHESIS_FIGURES = ("t_h", "t_nn", "h_nn")
TREE_FIGURES = ("t_tree", "tree_nn")
"""Pairs of judges whose disagreement is reported: those of the paper, and tree_nn."""

Times = Mapping[str, Sequence[Mapping[str, float]]]
"""For each stage the times of each repetition."""


def summarise(
    config: Mapping[str, Any], repetitions: Mapping[str, Sequence[Repetition]], times: Mapping[str, Times]
) -> dict[str, Any]:
    """Summarise the repetitions of each protocol; only `seconds` differs between equal runs.

    `disagreement` has a share for each protocol, reader and figure: `estimate` is the median over the
    repetitions, `low` and `high` are the 95 % interval of the median repetition, `least` and `most`
    the range over all of them.
    """
    experiments = {name: _summarise_protocol(several) for name, several in repetitions.items()}
    first = next(iter(repetitions.values()))
    seconds = {name: _summarise_times(several) for name, several in times.items()}
    return {
        "scale": config["scale"],
        "seeds": [each.seed for each in first],
        "data": config["data"],
        "sample": config["sample"],
        "disagreement": {name: each.pop("disagreement") for name, each in experiments.items()},
        "rows_rejected": {name: each.pop("rows_rejected") for name, each in experiments.items()},
        "experiments": experiments,
        "choices": config["choices"],
        "published": {
            "accuracy": published.ACCURACY,
            "disagreement": published.DISAGREEMENT,
            "hours": published.HOURS,
            "rules_of_t": published.RULES_OF_T,
            "body_features": published.BODY_FEATURES,
            "queries": published.QUERIES,
        },
        "seconds": {
            **seconds,
            "total": sum(
                each["seconds"]
                for stages in times.values()
                for several in stages.values()
                for each in several
            ),
        },
    }


def _summarise_protocol(repetitions: Sequence[Repetition]) -> dict[str, Any]:
    """The results of one protocol: shares of the median repetition, other figures as medians."""
    searches = [_read_result(each, "search", "search.json") for each in repetitions]
    evaluations = [_read_result(each, "evaluation", "evaluation.json") for each in repetitions]
    mixed, *kinds = evaluations[0]["shares"]
    swept = repetitions[0].task.protocol.is_published
    return {
        "evaluated": evaluations[0]["size"],
        "disagreement": _disagreement(evaluations, mixed),
        "by_kind": {kind: _disagreement(evaluations, kind) for kind in kinds},
        "longer": {
            pair: summarise_shares([found["shares"][mixed][_judges(pair, "longer")] for found in evaluations])
            for pair in HYPOTHESIS_FIGURES
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
        "missing": _missing([_read_result(each, "missing", "points.json") for each in repetitions])
        if swept
        else [],
        "rows_rejected": summarise_shares([found["rows_rejected"] for found in evaluations]),
        "incoherent": {
            kind: summarise_shares([found["incoherent"][kind] for found in evaluations])
            for kind in evaluations[0]["incoherent"]
        },
    }


def _summarise_times(times: Times) -> dict[str, Any]:
    return {
        stage: {
            **summarise_values([each["seconds"] for each in several]),
            # other processes, which a search has many of, would be missing
            "cpu": None if stage == "search" else summarise_values([each["cpu"] for each in several]),
        }
        for stage, several in times.items()
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
    """The disagreement figures of each reader: LRN*, ours and the tree."""

    def summarise_pair(pair: str, reading: str) -> dict[str, Any]:
        return summarise_shares([found["shares"][kind][_judges(pair, reading)] for found in evaluations])

    return {
        "lrn_star": {pair: summarise_pair(pair, "lrn_star") for pair in HYPOTHESIS_FIGURES},
        "ours": {pair: summarise_pair(pair, "ours") for pair in HYPOTHESIS_FIGURES},
        "tree": {pair: summarise_pair(pair, "tree") for pair in TREE_FIGURES},
    }


def _judges(pair: str, reading: str) -> str:
    """The pair of judges in an evaluation: h is the hypothesis of that reading."""
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
    counted = [name for name in found[0] if name != "examples"]
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
