"""What the choices decide that the paper leaves open: each is varied alone, with the paper's own network.

    python benchmarks/open_choices.py [--data hcc-survival.csv] [-o run/choices]

The distance is the mean over the seven published figures of |log₂(here / published)|, each at most 3.
"""

import argparse
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from hornbook.paper import PAPER_PROTOCOL, SCALES, TreeBudget, reproduce
from hornbook.paper.claims import ACCURACY, BODY_FEATURES, DISAGREEMENT, QUERIES, RULES_OF_T
from hornbook.queries import DEFAULT_MISSING, Budget, Settings
from hornbook.storage import lock_folder
from hornbook.tables import load_dataset

LEVELS: tuple[Mapping[str, Any], ...] = (
    {},
    *({"open_unknown": share} for share in (DEFAULT_MISSING, 0.8, 0.99)),
    *({"random_unknown": share} for share in (0.1, 0.6, 0.9)),
    *({"hard_share": share} for share in (0.05, 0.1, 0.2)),
    *({"asked_violations": share} for share in (0.0, 0.1, 0.25)),
    *({"line_7": way} for way in ("heads", "append")),
    {"close": True},
    *({"encoding": encoding} for encoding in ("half", "signed", "two-channel")),
    *({"epochs": epochs} for epochs in (5, 100)),
)
SCALE = replace(
    SCALES["quick"],
    name="choices",
    repetitions=3,
    ours=Settings(Budget(equivalence_queries=QUERIES), coherence=0),
    tree=TreeBudget(size=100_000, samples=1, tuning=2_000),
    sweep=None,
    evaluation=1,
)
PUBLISHED = {
    "error": 1 - ACCURACY,
    **DISAGREEMENT,
    "in_t_by_side": float(RULES_OF_T),
    "body_features": float(BODY_FEATURES),
}
PAIRS = {"t_nn": "t_nn", "h_nn": "lrn_star_nn", "t_h": "t_lrn_star", "t_tree": "t_tree"}
FARTHEST = 3.0


def read_figures(results: Mapping[str, Any]) -> dict[str, float]:
    """The medians of one experiment that are compared with the published figures."""
    mixed, rules = results["evaluation"]["shares"]["mixed"], results["evaluation"]["rules"]["lrn_star"]
    return {
        "error": 1 - results["search"]["chosen"]["held_out"]["median"],
        **{figure: mixed[pair]["median"] for figure, pair in PAIRS.items()},
        **{figure: rules[figure]["median"] for figure in ("in_t_by_side", "body_features")},
    }


def measure_distance(figures: Mapping[str, float]) -> float:
    """The distance from all published figures."""
    ratios = [figures[name] / wanted for name, wanted in PUBLISHED.items()]
    return float(np.mean([min(abs(np.log2(ratio)), FARTHEST) if ratio > 0 else FARTHEST for ratio in ratios]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path)
    parser.add_argument("-o", "--output", type=Path, default=Path("run/choices"))
    given = parser.parse_args()
    table = load_dataset() if given.data is None else load_dataset("hcc", path=given.data)
    names = [", ".join(f"{name}={value}" for name, value in level.items()) or "default" for level in LEVELS]
    protocols = [
        replace(PAPER_PROTOCOL, name=name, **level) for name, level in zip(names, LEVELS, strict=True)
    ]
    with lock_folder(given.output):
        metrics = reproduce(table, given.output, SCALE, protocols=protocols, synthetic=given.data is None)
    printed = Table("choice", "distance", *PUBLISHED)
    printed.add_row("published", "0", *(f"{figure:.4g}" for figure in PUBLISHED.values()))
    for name in names:
        figures = read_figures(metrics["experiments"][name])
        printed.add_row(
            name, f"{measure_distance(figures):.2f}", *(f"{each:.4g}" for each in figures.values())
        )
    Console(width=110).print(printed)


if __name__ == "__main__":
    main()
