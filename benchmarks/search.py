"""The architecture search in trainings per second, beside one network at a time.

    python benchmarks/search.py                          a sample of the search, and the plain loop
    python benchmarks/search.py --full --device cuda     every training

It needs NumPy and PyTorch alone, so it runs where nothing is installed: PYTHONPATH=src.
The examples are random: the time does not depend on what they say.
"""

import argparse
import os
import time

import numpy as np

from hornbook.logic import Batch, Vocabulary
from hornbook.paper import search
from hornbook.paper.search import Setting, make_folds
from hornbook.queries import Examples, Net, Training, train
from hornbook.queries.network import encode, torch

EXAMPLES, VARIABLES, FOLDS = 320, 204, 3
"""The size of the paper's task."""


def random_examples(rng: np.random.Generator) -> Examples:
    """Random interpretations with random labels."""
    vocabulary = Vocabulary(f"v{v}" for v in range(VARIABLES))
    batch = Batch.from_array(rng.choice([0, 1, np.nan], (EXAMPLES, VARIABLES)), vocabulary)
    return Examples(batch, rng.random(EXAMPLES) < 0.5, np.full(EXAMPLES, "random"))


def batched(nets: list[Net], setting: Setting, device: str, processes: int | None) -> float:
    """Seconds to train the nets on every fold."""
    started = time.perf_counter()
    search.score_nets(nets, setting, device=device, n_jobs=processes)
    return time.perf_counter() - started


def plain(nets: list[Net], examples: Examples, setting: Setting) -> float:
    """Seconds to train the nets on the first fold, one after another."""
    started = time.perf_counter()
    for net in nets:
        train(examples[setting.folds[0].train], net, training=setting.training)
    return time.perf_counter() - started


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--full", action="store_true", help="train all 12,240 networks")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--epochs", type=int, default=100)
    parser.add_argument("--processes", type=int, default=os.cpu_count())
    parser.add_argument("--every", type=int, default=12, help="train each so manieth chunk of the search")
    parser.add_argument("--alone", type=int, default=24, help="networks trained one at a time")
    args = parser.parse_args()

    rng = np.random.default_rng(0)
    examples, training = random_examples(rng), Training(epochs=args.epochs)
    folds = make_folds(rng.permutation(np.arange(EXAMPLES) % FOLDS))
    setting = Setting(encode(examples.batch, "half"), examples.accepted, folds, training)
    nets = search.grid()
    chunks = search.group_nets(nets, search.NETS_PER_CHUNK[args.device])
    chosen = [
        nets[at]
        for chunk in chunks[0 if args.full else args.every // 2 :: 1 if args.full else args.every]
        for at in chunk
    ]
    total = len(nets) * FOLDS

    print(f"torch {torch.__version__} on {args.device}, {args.epochs} epochs")
    warm = Setting(setting.inputs, setting.labels, folds, Training(epochs=1))
    search.score_nets(nets[::200], warm, device=args.device, n_jobs=args.processes)
    seconds = batched(chosen, setting, args.device, args.processes)
    rate = len(chosen) * FOLDS / seconds
    print(f"in stacks: {len(chosen) * FOLDS} trainings in {seconds:.2f} s, {rate:.1f} a second")
    seconds_alone = plain([nets[at] for at in rng.permutation(len(nets))[: args.alone]], examples, setting)
    rate_alone = args.alone / seconds_alone
    print(f"one at a time: {args.alone} trainings in {seconds_alone:.2f} s, {rate_alone:.1f} a second")
    print(f"all {total} trainings: {total / rate:.1f} s in stacks, {total / rate_alone:.0f} s one at a time")


if __name__ == "__main__":
    main()
