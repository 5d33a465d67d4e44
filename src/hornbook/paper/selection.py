"""Model selection: search the grid, score the best nets again, and train the winner.

The best of thousands of noisy scores is partly best by luck. The finalists are therefore trained
again, from other initial weights and on other folds, and only these scores decide. The accuracy on
fresh examples is reported, but plays no part.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import numpy as np

from hornbook.data.examples import Examples, Tally, accuracy_by_kind, assign_parts
from hornbook.errors import HornbookError
from hornbook.models.network import MLP, EncodingName, Fold, Net, Setting, Training, encode, make_folds
from hornbook.models.training import train
from hornbook.paper.search import Score, Scores, grid, score_nets


@dataclass(frozen=True)
class ModelSelection:
    """The settings of a model selection.

    Parameters
    ----------
    nets
        The nets to search; by default the paper's 4,080 configurations.
    training, encoding
        How nets are trained, and how interpretations are encoded.
    folds
        The number of folds of the cross-validation.
    finalists, seeds
        The number of nets that are scored again, and of seeds for it.
    seed
        The seed of the folds, the initial weights and the order of examples; scoring again uses
        the seeds that follow it.

    """

    nets: tuple[Net, ...] = field(default_factory=grid, repr=False)
    training: Training = field(default_factory=Training)
    encoding: EncodingName = "half"
    folds: int = 3
    finalists: int = 50
    seeds: int = 5
    seed: int = 0

    def __post_init__(self) -> None:
        if min(self.finalists, self.seeds) < 1:
            raise HornbookError(
                f"a choice needs a finalist and a seed; got finalists={self.finalists}, seeds={self.seeds}"
            )

    def validation(self, examples: Examples, seed: int) -> Setting:
        """Cross-validation on the examples."""
        inputs = encode(examples.batch, self.encoding)
        numbers = assign_parts(examples, [1] * self.folds, np.random.default_rng(seed))
        return Setting(inputs, examples.accepted, make_folds(numbers), self.training, seed)

    def test(self, examples: Examples, fresh: Examples, seed: int) -> Setting:
        """Training on all the examples, to be tested on fresh ones."""
        together = Examples.concatenate([examples, fresh])
        fold = Fold(*np.split(np.arange(len(together)), [len(examples)]))
        inputs = encode(together.batch, self.encoding)
        return Setting(inputs, together.accepted, (fold,), self.training, seed)


@dataclass(frozen=True)
class Finalist:
    """One of the best nets of the search, scored again.

    `found` is its score in the search and `again` its scores with other seeds. `fresh` and
    `losses` are its accuracies on fresh examples and its final losses when it is trained on all
    examples with these seeds.
    """

    found: Score
    again: tuple[Score, ...]
    fresh: tuple[float, ...]
    losses: tuple[float, ...]

    @property
    def net(self) -> Net:
        """The net."""
        return self.found.net

    @property
    def mean(self) -> float:
        """The mean accuracy when scored again, which decides the selection."""
        return float(np.mean([score.mean for score in self.again]))

    @property
    def spread(self) -> float:
        """The standard deviation of that accuracy from seed to seed."""
        return float(np.std([score.mean for score in self.again]))


@dataclass(frozen=True, eq=False)
class SelectionResult:
    """The result of a model selection: all scores, the finalists (best first) and the trained network.

    `fresh` is the accuracy of the trained network on fresh examples, by kind.
    """

    scores: Scores
    finalists: tuple[Finalist, ...]
    network: MLP
    fresh: dict[str, Tally]

    @property
    def chosen(self) -> Finalist:
        """The best finalist."""
        return self.finalists[0]


def select_network(
    examples: Examples,
    fresh: Examples,
    selection: ModelSelection | None = None,
    *,
    device: str = "cpu",
    n_jobs: int | None = -1,
    folder: str | Path | None = None,
) -> SelectionResult:
    """Search the nets, score the best ones again, and train the winner.

    The winner is trained on all examples with each of the further seeds; the network with the
    least final loss is kept.

    Parameters
    ----------
    examples
        The examples for training and validation.
    fresh
        Examples that play no part in the selection.
    selection
        The settings.
    device, n_jobs, folder
        Where nets are trained and where outcomes are saved; see `score_nets`.

    """
    selection = selection or ModelSelection()
    scored = partial(score_nets, device=device, n_jobs=n_jobs, folder=folder)
    scores = scored(selection.nets, selection.validation(examples, selection.seed))
    best = scores.best(selection.finalists)
    nets = [found.net for found in best]
    seeds = range(selection.seed + 1, selection.seed + 1 + selection.seeds)
    again = [scored(nets, selection.validation(examples, seed)) for seed in seeds]
    tested = [scored(nets, selection.test(examples, fresh, seed)) for seed in seeds]
    finalists = [
        Finalist(
            found,
            tuple(scores[at] for scores in again),
            tuple(scores[at].mean for scores in tested),
            tuple(float(scores.outcome.loss_after[at, 0]) for scores in tested),
        )
        for at, found in enumerate(best)
    ]
    finalists.sort(key=lambda finalist: (-finalist.mean, finalist.spread))
    chosen = finalists[0]
    network = train(
        examples,
        chosen.net,
        training=selection.training,
        encoding=selection.encoding,
        seed=seeds[int(np.argmin(np.nan_to_num(chosen.losses, nan=np.inf)))],
    )
    return SelectionResult(scores, tuple(finalists), network, accuracy_by_kind(fresh, network(fresh.batch)))
