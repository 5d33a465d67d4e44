"""The architecture search: train all nets of a grid, score the best ones again, and train the winner.

Nets are trained in parallel, and an interrupted search can be resumed. The best of thousands of
noisy scores is partly best by luck. The finalists are therefore trained again, from other initial
weights and on other folds, and only these scores decide. The accuracy on fresh examples is
reported, but plays no part.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property, partial
from io import BytesIO
from itertools import groupby, product
from pathlib import Path
from zipfile import BadZipFile

import numpy as np

import hornbook
from hornbook.errors import HornbookError
from hornbook.paper.lockstep import Fold, Outcome, Setting, cross_validate, make_folds
from hornbook.paper.stages import show_progress
from hornbook.parallel import parallel_map
from hornbook.queries import MLP, Examples, Net, Training, accuracy_by_kind, assign_parts, train
from hornbook.queries.network import Bools, EncodingName, encode, torch
from hornbook.statistics import Share
from hornbook.storage import write_errors, write_file


@dataclass(frozen=True)
class Score:
    """One net: its validation accuracy in each fold, and how many of its trainings failed."""

    net: Net
    accuracies: tuple[float, ...]
    diverged: int
    collapsed: int

    @property
    def mean(self) -> float:
        """The mean accuracy."""
        return float(np.mean(self.accuracies))

    @property
    def spread(self) -> float:
        """The standard deviation of the accuracy."""
        return float(np.std(self.accuracies))


@dataclass(frozen=True)
class Failures:
    """The trainings at one learning rate, and how many of them failed."""

    rate: float
    trainings: int
    diverged: int
    collapsed: int


@dataclass(frozen=True, eq=False)
class Scores:
    """The outcome of every training of a search.

    A training *diverged* if its loss ended as no number, or higher than it began; it
    *collapsed* if the net now gives the same output to every example.
    """

    nets: tuple[Net, ...]
    outcome: Outcome

    @cached_property
    def diverged(self) -> Bools:
        """For each net and fold, whether the training diverged."""
        return ~(self.outcome.loss_after <= self.outcome.loss_before)

    @property
    def collapsed(self) -> Bools:
        """For each net and fold, whether the training collapsed."""
        return self.outcome.constant

    def best(self, count: int) -> list[Score]:
        """The nets of highest mean accuracy; of equals, those of smaller spread, then of fewer units."""
        accuracy = self.outcome.accuracy.astype(np.float64)
        units = [sum(net.widths) for net in self.nets]
        order = np.lexsort((units, accuracy.std(1).round(6), -accuracy.mean(1).round(6)))
        return [self[at] for at in order[:count].tolist()]

    def failures(self) -> list[Failures]:
        """For each learning rate, how many trainings diverged and how many collapsed."""
        rates = np.array([net.rate for net in self.nets])
        return [
            Failures(
                rate,
                self.diverged[rates == rate].size,
                int(self.diverged[rates == rate].sum()),
                int(self.collapsed[rates == rate].sum()),
            )
            for rate in np.unique(rates).tolist()
        ]

    def __getitem__(self, position: int) -> Score:
        return Score(
            self.nets[position],
            tuple(self.outcome.accuracy[position].tolist()),
            int(self.diverged[position].sum()),
            int(self.collapsed[position].sum()),
        )

    def __len__(self) -> int:
        return len(self.nets)


NETS_PER_CHUNK = {"cpu": 24, "cuda": 4096}
"""Number of nets trained in lockstep: few on a CPU, so that they have similar widths and fit the
cache; many on a GPU, so that every launch occupies the whole chip."""


def grid(
    depths: Iterable[int] = (2, 3, 4, 5),
    widths: Sequence[int] = (4, 8, 16, 32),
    rates: Sequence[float] = (0.001, 0.01, 0.1),
) -> tuple[Net, ...]:
    """Every combination of hidden layers and learning rate; by default the paper's 4,080.

    Examples
    --------
    >>> len(grid())
    4080
    >>> grid(depths=[1], widths=[4, 8], rates=[0.1])
    (Net(widths=(4,), rate=0.1), Net(widths=(8,), rate=0.1))

    """
    return tuple(
        Net(layers, rate) for depth in depths for layers in product(widths, repeat=depth) for rate in rates
    )


def score_nets(
    nets: Sequence[Net],
    setting: Setting,
    *,
    device: str = "cpu",
    n_jobs: int | None = -1,
    folder: str | Path | None = None,
) -> Scores:
    """Train every net on every fold.

    Parameters
    ----------
    nets
        The nets; see `grid`.
    setting
        The examples, folds and training parameters.
    device
        `cpu`, or `cuda` for a GPU.
    n_jobs
        Number of processes on a CPU, by default one per core; see `hornbook.parallel.parallel_map`.
        The result does not depend on it.
    folder
        Where finished chunks are saved, so that an interrupted search can be resumed. A chunk
        is trained again unless everything that determines its outcome is the same.

    """
    kind = device.partition(":")[0]
    if kind not in NETS_PER_CHUNK or (kind == "cuda" and not torch.cuda.is_available()):
        raise HornbookError(f"there is no device {device!r} here; use 'cpu', or 'cuda' where there is a GPU")
    if not nets:
        raise HornbookError("there are no nets to train")
    parts = [
        NetChunk(chosen, tuple(nets[at] for at in chosen), setting, device)
        for chosen in group_nets(nets, NETS_PER_CHUNK[kind])
    ]
    outcomes = _train_chunks(parts, n_jobs) if folder is None else _resume_chunks(parts, n_jobs, Path(folder))
    return Scores(tuple(nets), _concatenate_outcomes(show_progress(outcomes, len(parts), "training")))


def group_nets(nets: Sequence[Net], size: int) -> list[tuple[int, ...]]:
    """Group nets to train together: the positions of at most `size` nets of one depth and similar widths.

    Sorted by widths, neighbours agree in the first layers, which are the costly ones, so that
    little is padded. The costliest come first, so that parallel processes end together.
    """
    order = sorted(range(len(nets)), key=lambda at: (len(nets[at].widths), nets[at].widths), reverse=True)
    by_depth = [tuple(group) for _, group in groupby(order, key=lambda at: len(nets[at].widths))]
    return [group[start : start + size] for group in by_depth for start in range(0, len(group), size)]


@dataclass(frozen=True, eq=False)
class NetChunk:
    """Nets that are trained together, with their positions in the search."""

    positions: tuple[int, ...]
    nets: tuple[Net, ...]
    setting: Setting
    device: str

    @property
    def checksum(self) -> str:
        """A digest of everything that determines the outcome."""
        setting = self.setting
        described = (hornbook.__version__, self.nets, setting.training, setting.seed, self.device)
        digest = hashlib.sha256(repr(described).encode())
        for array in (setting.inputs, setting.labels, *(items for fold in setting.folds for items in fold)):
            digest.update(repr((array.shape, array.dtype.str)).encode())
            digest.update(array.tobytes())
        return digest.hexdigest()


ChunkOutcomes = Iterator[tuple[tuple[int, ...], Outcome]]


def _train_chunks(parts: Sequence[NetChunk], n_jobs: int | None) -> ChunkOutcomes:
    """Train all chunks; yield their outcomes in order."""
    if not parts:
        return
    setting, device = parts[0].setting, parts[0].device
    if device == "cpu":
        train_chunk = partial(_cross_validate_chunk, setting, device)
        outcomes = parallel_map(train_chunk, [part.nets for part in parts], n_jobs)
        yield from zip((part.positions for part in parts), outcomes, strict=True)
    else:
        yield from ((part.positions, _cross_validate_chunk(setting, device, part.nets)) for part in parts)


def _cross_validate_chunk(setting: Setting, device: str, nets: tuple[Net, ...]) -> Outcome:
    return cross_validate(nets, setting, device)


def _resume_chunks(parts: Sequence[NetChunk], n_jobs: int | None, folder: Path) -> ChunkOutcomes:
    """Yield the saved outcomes of a folder; then train, save and yield the others."""
    with write_errors(folder):
        folder.mkdir(parents=True, exist_ok=True)
    files = {part.positions: folder / f"{part.checksum}.npz" for part in parts}
    pending = []
    for part in parts:
        if (kept := _read_outcome(files[part.positions])) is None:
            pending.append(part)
        else:
            yield part.positions, kept
    for positions, outcome in _train_chunks(pending, n_jobs):
        content = BytesIO()
        np.savez(content, **vars(outcome))
        write_file(files[positions], content.getvalue())
        yield positions, outcome


def _read_outcome(path: Path) -> Outcome | None:
    """A saved outcome; None where there is none, or only a damaged one."""
    try:
        with np.load(path) as kept:
            return Outcome(**kept)
    except (OSError, ValueError, TypeError, BadZipFile):
        return None


def _concatenate_outcomes(found: ChunkOutcomes) -> Outcome:
    """Join the outcomes of all chunks, in the order of the nets' positions."""
    positions, outcomes = zip(*found, strict=True)
    order = np.argsort(np.concatenate(positions))
    columns = ([getattr(outcome, field.name) for outcome in outcomes] for field in fields(Outcome))
    return Outcome(*(np.concatenate(column)[order] for column in columns))


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
    fresh: dict[str, Share]

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
