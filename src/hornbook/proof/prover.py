"""A model as two functions of its inputs: positive where it accepts, and positive where it rejects.

Before anything is said about a model, what was read of it is held against the model itself.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal, TypeAlias

import numpy as np

from hornbook.distributions import Groups
from hornbook.errors import HornbookError
from hornbook.logic import Batch, Bools, Interpretation, Rule, Vocabulary
from hornbook.logic.theory import violation
from hornbook.models import Predictor
from hornbook.oracles import Classifier, Judge
from hornbook.proof.bounds import Bounds
from hornbook.proof.branch import branch
from hornbook.proof.network import relu_net, unproved
from hornbook.proof.region import FALSE, TRUE, UNKNOWN, Space, States, Values
from hornbook.proof.trees import Forest, leaves_of
from hornbook.proof.witness import STARTS, Admits, Found, climb, random_states
from hornbook.queries import Membership, Proved, interpretation
from hornbook.randomness import Purpose, generator

BRANCHING = "branch and bound"

PROBES, PROBE_BLOCK = 4096, 512
"""Inputs on which a reading is compared with its model, and how many at a time."""

LARGEST_SUM = 1e30
"""Rounding is bounded for sums that stay far below the greatest number of single precision."""

Side: TypeAlias = Bounds | Forest
"""Trees have leaves to reach, networks have layers to bound."""


def sides(predictor: Predictor, space: Space) -> tuple[Side, Side]:
    """The model where it accepts, and where it rejects; refused unless it computes what was read."""
    accepting, rejecting = _read(predictor, space)
    refuse_misreading(predictor, accepting)
    return accepting, rejecting


def search(
    side: Side,
    seconds: float,
    keep: Callable[[Bools], Bools] | None = None,
    admits: Admits | None = None,
) -> Found:
    """Bound the output by branch and bound until its sign is decided; see `branch`."""
    if isinstance(side, Forest):
        return side.search(seconds, keep, admits)
    return branch(side, side.root(), seconds, keep, admits)


def refuse_misreading(predictor: Predictor, accepting: Side) -> None:
    """Raise if some input shows that a model does not compute what was read of it.

    Half of the inputs have states at random; in each of the others some states are rare, so that
    nearly all values are true, or false, or unknown. Scores may differ by what rounding can amount
    to, and decisions only where the score is as close to its threshold.
    """
    space, rng = accepting.space, generator(0, Purpose.MODEL_READING)
    shares = np.concatenate([np.ones((PROBES // 2, 3)), rng.dirichlet(np.full(3, 0.3), PROBES // 2)])
    for start in range(0, PROBES, PROBE_BLOCK):
        part = shares[start : start + PROBE_BLOCK, None]
        states = random_states(space, space.whole(), len(part), rng, part)
        batch = space.batch(states)
        try:
            scores, decided = predictor(batch).astype(np.float64), predictor.decide(batch)
        except HornbookError as error:
            raise unproved(predictor, f"it cannot be asked: {error}") from error
        outputs, off = accepting.evaluate(states)
        read = accepting.link.scores(outputs)
        wrong = np.abs(scores - read) > accepting.link.allowance(read, off)
        wrong |= (decided != (outputs >= 0)) & (np.abs(outputs) > off + accepting.link.tolerance)
        if wrong.any():
            at = int(wrong.argmax())
            raise unproved(
                predictor,
                f"it does not compute what was read of it: it scores {scores[at]:.6g} where {read[at]:.6g} "
                f"was read, and it decides {bool(decided[at])}, for {_describe(space, states[at])}",
            )


def _read(predictor: Predictor, space: Space) -> tuple[Side, Side]:
    leaves = leaves_of(predictor, space)
    if leaves is None:
        net = relu_net(predictor)
        accepting = Bounds(net, space)
        if max(sizes.max() for sizes in accepting.magnitudes) > LARGEST_SUM:
            raise unproved(predictor, f"its sums may be above {LARGEST_SUM:g}, so they may overflow")
        return accepting, Bounds(net.negated(), space)
    accepts, rejects = (partial(_decides, predictor, space, sign) for sign in (True, False))
    return Forest(leaves, space, accepts), Forest(leaves.negated(), space, rejects)


def _decides(predictor: Predictor, space: Space, sign: bool, states: States) -> Bools:
    decided: Bools = predictor.decide(space.batch(states)) == sign
    return decided


def _describe(space: Space, states: States) -> str:
    values = {FALSE: "0", TRUE: "1"}
    names = [space.vocabulary.name(int(v)) for v in space.literals.drawn]
    return ", ".join(f"{name}={values.get(s, '?')}" for name, s in zip(names, states.tolist(), strict=True))


Status: TypeAlias = Literal["proved", "refuted", "undecided"]

LOCAL, VACUOUS = "local search", "no input breaks it"

SECONDS = 60.0
"""What a question may take."""


@dataclass(frozen=True)
class Verdict:
    """The answer to one question.

    Parameters
    ----------
    status
        Whether the model rejects every input in question, or accepts the witness.
    by
        Which engine settled it, or was asked last.
    seconds
        What it took.
    bound
        No output is above this, rounding included; negative if proved.
    witness
        An input that the model accepts, for a refuted question.
    reason
        Why it is undecided.

    """

    status: Status
    by: str
    seconds: float
    bound: float
    witness: Interpretation | None = None
    reason: str = ""

    @property
    def guarantee(self) -> Proved | None:
        """What a proof guarantees."""
        return Proved(self.by, -self.bound) if self.status == "proved" else None

    def __str__(self) -> str:
        if self.status == "proved":
            return str(self.guarantee)
        if self.status == "refuted":
            return f"refuted by {self.by}"
        return f"undecided: {self.reason}"


class Prover:
    """Answers questions about one model, each for all its inputs.

    Parameters
    ----------
    predictor
        The model, a feed-forward ReLU network or an ensemble of trees.
    vocabulary
        What the questions are about.
    groups
        Sets of variables of which at most one is true.
    values
        Whether inputs may have unknown values; by default if the model has a number for them.
    label, features
        For a classifier: the name of what it predicts, and what it reads; see `Classifier`.
    seconds
        What a question may take.

    Examples
    --------
    >>> import torch
    >>> from hornbook.logic import HornTheory
    >>> from hornbook.models import as_predictor
    >>> module = torch.nn.Sequential(torch.nn.Linear(2, 1))
    >>> with torch.no_grad():
    ...     _ = module[0].weight.copy_(torch.tensor([[-2.0, 2.0]])), module[0].bias.fill_(0.5)
    >>> theory = HornTheory.parse("sunny -> happy", Vocabulary(["sunny", "happy"]))
    >>> prover = Prover(as_predictor(module, encoding="half"), theory.vocabulary)
    >>> prover.rule(*theory).status  # accepts 0.5 + 2·happy - 2·sunny > 0
    'proved'

    """

    def __init__(
        self,
        predictor: Predictor,
        vocabulary: Vocabulary,
        *,
        groups: Groups = (),
        values: Values | None = None,
        label: str | None = None,
        features: Sequence[str] | None = None,
        seconds: float = SECONDS,
    ) -> None:
        if seconds <= 0:
            raise HornbookError(f"a proof needs time; got seconds={seconds}")
        encoding = predictor.encoding
        native = encoding.unknown is not None and not np.isnan(encoding.unknown)
        self.values: Values = values or ("ternary" if native else "complete")
        self.predictor, self.vocabulary, self.groups = predictor, vocabulary, groups
        self.label, self.seconds = label, seconds
        self.classifier = None if label is None else Classifier(predictor, vocabulary, label, features)
        self.member: Membership = self.classifier or Judge(predictor)
        rows = np.arange(len(vocabulary)) if self.classifier is None else self.classifier.rows
        read = vocabulary if self.classifier is None else self.classifier.features
        self.places = {int(v): place for place, v in enumerate(rows)}
        grouped = tuple(tuple(self.places[v] for v in group if v in self.places) for group in groups)
        predictor.check(read)
        self.space = Space.of(read, encoding, grouped, self.values)
        self.accepting, self.rejecting = sides(predictor, self.space)

    def rule(self, rule: Rule, seconds: float | None = None) -> Verdict:
        """Whether the model rejects every input that violates a rule."""
        item = violation(rule)
        return self.question(item.true, item.false, seconds)

    def question(self, true: Iterable[int], false: Iterable[int], seconds: float | None = None) -> Verdict:
        """Whether the model rejects every input in which some variables are true and others false."""
        started = time.perf_counter()
        item = interpretation(self.vocabulary, true, false)
        region = self.region(item)
        if region is None:
            return Verdict("proved", VACUOUS, 0.0, -np.inf)
        bounds = self.side(item)
        limit = self.seconds if seconds is None else seconds
        return self._decided(item, region, bounds, started, started + limit)

    def linear(self, rule: Rule) -> float:
        """What a bound without search says of the inputs that violate a rule: how far it is from easy."""
        item = violation(rule)
        item = interpretation(self.vocabulary, item.true, item.false)
        region, bounds = self.region(item), self.side(item)
        if region is None:
            return -np.inf
        if bounds is None:
            return np.inf
        return bounds.within(region).rough()

    def _decided(
        self, item: Interpretation, region: Bools, bounds: Side | None, started: float, deadline: float
    ) -> Verdict:
        states = random_states(self.space, region, STARTS, generator(0, Purpose.PROOF_STARTS))
        if bounds is None:  # a label that is free is never contradicted
            return self._refuted(item, states[0], LOCAL, started, np.inf)
        free = region.sum(axis=1) > 1
        bounds, inner = bounds.within(region), region[free]

        def whole(states: States) -> States:
            complete: States = region.argmax(axis=1)
            complete[free] = states
            return complete

        states, outputs = climb(bounds, inner, states[:, free])
        best = states[outputs.argmax()]
        if outputs.max() > 0:
            return self._refuted(item, whole(best), LOCAL, started, np.inf)
        found = search(bounds, deadline - time.perf_counter())
        if found.best > 0 and found.states is not None:
            return self._refuted(item, whole(found.states), BRANCHING, started, found.upper)
        seconds = time.perf_counter() - started
        if found.upper < 0:
            return Verdict("proved", BRANCHING, seconds, found.upper)
        # the bound that was reached when time was up depends on the machine, so it is not among the words
        reason = f"not decided in {deadline - started:g} s"
        if found.ended:
            reason = f"no output is above {found.upper:.3g}, closer to 0 than rounding allows to tell"
        return Verdict("undecided", BRANCHING, seconds, found.upper, reason=reason)

    def _refuted(
        self, item: Interpretation, states: States, by: str, started: float, bound: float
    ) -> Verdict:
        """The verdict on a witness, once the model itself has been asked."""
        witness = self.interpretation(item, states)
        accepted = self.member(Batch.from_interpretations([witness], self.vocabulary))[0]
        seconds = time.perf_counter() - started
        if accepted:
            return Verdict("refuted", by, seconds, bound, witness)
        return Verdict("undecided", by, seconds, bound, reason="an output within rounding of 0 was found")

    def interpretation(self, item: Interpretation, states: States) -> Interpretation:
        """An input as an interpretation of the whole vocabulary, with what the question says beside it."""
        (read,) = self.space.batch(states[None])
        whole = {place: v for v, place in self.places.items()}
        true = item.true | {whole[place] for place in read.true}
        false = item.false | {whole[place] for place in read.false}
        return interpretation(self.vocabulary, true, false)

    def region(self, item: Interpretation) -> Bools | None:
        """The inputs in question; None if there are none."""
        if item.true & item.false:
            return None
        true, false = ({self.places[v] for v in part if v in self.places} for part in (item.true, item.false))
        region = self.space.region(true, false)
        return region if region.any(axis=1).all() else None

    def side(self, item: Interpretation) -> Side | None:
        """The network that is positive where the model accepts."""
        if self.classifier is None or self.classifier.label in item.true:
            return self.accepting
        return self.rejecting if self.classifier.label in item.false else None

    def states(self, item: Interpretation) -> States:
        """The input that an interpretation of the whole vocabulary is to the network."""
        true, false = ({self.places[v] for v in part if v in self.places} for part in (item.true, item.false))
        own = self.space.region(true, false)
        certain = own.sum(axis=1) == 1
        states: States = np.where(certain, own.argmax(axis=1), UNKNOWN)
        return states

    def literal(self, base: int, true: bool) -> int | None:
        """The variable that says that a base variable is true, or false, if there is one."""
        own = next(v for v, place in self.places.items() if place == self.space.literals.drawn[base])
        return own if true else self.vocabulary.dual(own)
