"""Which net to keep: the best of the search, scored again before one of them is chosen.

The best of thousands of noisy scores is best by luck to a good part. The finalists are
therefore trained again, from other first weights and on other folds, and the choice is made
by these scores alone. How each does on fresh examples is shown beside them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import numpy as np

from hornbook.data.examples import Examples, Tally, accuracy_by_kind, parts
from hornbook.errors import HornbookError
from hornbook.models.network import MLP, EncodingName, Fold, Net, Setting, Training, encode, folds_of
from hornbook.models.training import train
from hornbook.paper.search import Score, Scores, grid, score


@dataclass(frozen=True)
class Contest:
    """The rules by which a net is chosen.

    Parameters
    ----------
    nets
        Where to search; the paper's 4,080 configurations by default.
    training, encoding
        How nets are trained, and how interpretations enter them.
    folds
        On how many folds a net is validated.
    finalists, seeds
        How many of the best are scored again, and how often.
    seed
        Decides the folds, the first weights and the order of the examples; scoring again
        uses the seeds that follow it.

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
        numbers = parts(examples, [1] * self.folds, np.random.default_rng(seed))
        return Setting(inputs, examples.accepted, folds_of(numbers), self.training, seed)

    def test(self, examples: Examples, fresh: Examples, seed: int) -> Setting:
        """Training on all the examples, to be tested on fresh ones."""
        together = Examples.concatenate([examples, fresh])
        fold = Fold(*np.split(np.arange(len(together)), [len(examples)]))
        inputs = encode(together.batch, self.encoding)
        return Setting(inputs, together.accepted, (fold,), self.training, seed)


@dataclass(frozen=True)
class Finalist:
    """One of the best nets of the search, scored again.

    `found` is its score in the search and `again` its scores with other seeds. `fresh` are
    its accuracies on fresh examples when trained on all others with these seeds, and `losses`
    are the losses in which that training ended.
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
        """The mean accuracy when scored again: what the choice is made by."""
        return float(np.mean([score.mean for score in self.again]))

    @property
    def spread(self) -> float:
        """The standard deviation of that accuracy from seed to seed."""
        return float(np.std([score.mean for score in self.again]))


@dataclass(frozen=True, eq=False)
class Selection:
    """The whole search, its finalists with the chosen one first, and the chosen net, trained.

    `fresh` is how the trained network does on fresh examples, by their kind.
    """

    scores: Scores
    finalists: tuple[Finalist, ...]
    network: MLP
    fresh: dict[str, Tally]

    @property
    def chosen(self) -> Finalist:
        """The best finalist."""
        return self.finalists[0]


def select(
    examples: Examples,
    fresh: Examples,
    contest: Contest | None = None,
    *,
    device: str = "cpu",
    n_jobs: int | None = -1,
    folder: str | Path | None = None,
) -> Selection:
    """Search among the nets, score the best again, and train the one that is then best.

    The chosen net is trained on all examples with each of the further seeds, and the
    network that ends in the least loss is kept.

    Parameters
    ----------
    examples
        What the nets are trained and validated on.
    fresh
        Examples that play no part in the choice.
    contest
        The rules of the choice.
    device, n_jobs, folder
        Where the work is done and where finished parts of it are kept; see `score`.

    """
    contest = contest or Contest()
    scored = partial(score, device=device, n_jobs=n_jobs, folder=folder)
    scores = scored(contest.nets, contest.validation(examples, contest.seed))
    best = scores.best(contest.finalists)
    nets = [found.net for found in best]
    seeds = range(contest.seed + 1, contest.seed + 1 + contest.seeds)
    again = [scored(nets, contest.validation(examples, seed)) for seed in seeds]
    tested = [scored(nets, contest.test(examples, fresh, seed)) for seed in seeds]
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
        training=contest.training,
        encoding=contest.encoding,
        seed=seeds[int(np.argmin(np.nan_to_num(chosen.losses, nan=np.inf)))],
    )
    return Selection(scores, tuple(finalists), network, accuracy_by_kind(fresh, network(fresh.batch)))
