"""The metrics of a run: the results of all repetitions of each experiment as one JSON object."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from hornbook.paper import published
from hornbook.paper.repetition import READERS, Repetition
from hornbook.storage import read_json

RESULTS = {
    "search": "search.json",
    **dict.fromkeys(READERS, "reading.json"),
    "missing": "points.json",
    "evaluation": "evaluation.json",
}
"""The file of each stage that enters the metrics."""

Times = Mapping[str, Sequence[Mapping[str, float]]]
"""For each stage the times of each repetition."""


def summarise_repetitions(
    config: Mapping[str, Any], repetitions: Mapping[str, Sequence[Repetition]], times: Mapping[str, Times]
) -> dict[str, Any]:
    """Summarise the repetitions of each protocol; only `seconds` differs between equal runs.

    `experiments` has, for each protocol and stage, what the stage wrote, with a summary over the
    repetitions in the place of each number and share.
    """
    first = next(iter(repetitions.values()))
    return {
        "scale": config["scale"],
        "seeds": [each.seed for each in first],
        "data": config["data"],
        "sample": config["sample"],
        "settings": config["settings"],
        "labels": {name: several[0].task.protocol.label for name, several in repetitions.items()},
        "experiments": {name: _summarise_stages(several) for name, several in repetitions.items()},
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
            **{
                name: {
                    # the processes of a search are not counted, as no stage sees them
                    stage: summarise([{**each, "cpu": None} if stage == "search" else each for each in spent])
                    for stage, spent in several.items()
                }
                for name, several in times.items()
            },
            "total": sum(
                each["seconds"] for several in times.values() for spent in several.values() for each in spent
            ),
        },
    }


def _summarise_stages(repetitions: Sequence[Repetition]) -> dict[str, Any]:
    """The results of one protocol by stage."""
    return {
        stage: summarise([read_json(each.run / each.stage_path(stage) / file) for each in repetitions])
        for stage, file in RESULTS.items()
        if stage in repetitions[0].stages()
    }


def summarise(results: Sequence[Any]) -> Any:
    """Summarise results of the same form: what stands in the same place of each becomes one summary.

    A number becomes its median, range and values. A share becomes the median repetition's, with its
    95 % interval and the range of all estimates. Texts, and lists of anything but objects, are listed.

    Examples
    --------
    >>> summarise([{"rules": 3, "net": "8-4"}, {"rules": 1, "net": "4"}, {"rules": 2, "net": "8"}])
    {'rules': {'median': 2.0, 'least': 1, 'most': 3, 'runs': [3, 1, 2]}, 'net': {'runs': ['8-4', '4', '8']}}
    >>> summarise([{"estimate": 0.5, "low": 0.4, "high": 0.6}])["least"]
    0.5

    """
    first = results[0]
    if isinstance(first, dict):
        if first.keys() == {"estimate", "low", "high"}:
            ordered = sorted(results, key=lambda share: float(share["estimate"]))
            estimates = {"least": ordered[0]["estimate"], "most": ordered[-1]["estimate"]}
            return {**ordered[len(ordered) // 2], **estimates, "runs": list(results)}
        return {name: summarise([each[name] for each in results]) for name in first}
    if isinstance(first, int | float):
        return {
            "median": float(np.median(results)),
            "least": min(results),
            "most": max(results),
            "runs": list(results),
        }
    if isinstance(first, list) and first and isinstance(first[0], dict):
        return [summarise(parts) for parts in zip(*results, strict=True)]
    return {"runs": list(results)}
