"""The prover: decides, for all inputs of a domain at once, whether a model obeys a rule.

A model is read as functions of its inputs, its sides: for each class one that is positive where another
class is ahead. Before anything is proved, they are compared with the model's own answers. There is one
`Prover`; what differs is the domain: rows of a table (`columns.ColumnProver`), or interpretations
(`RuleProver`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from typing import Any, Generic, TypeVar

import numpy as np

from hornbook.deadline import Deadline
from hornbook.errors import HornbookError
from hornbook.logic import Bools, Interpretation, Rule, Vocabulary, violation
from hornbook.models import Predictor
from hornbook.proof.bounds import Bounds
from hornbook.proof.ensembles import read_ensemble
from hornbook.proof.forest import Leaves
from hornbook.proof.network import ScoreLink, Vector, relu_net, unprovable
from hornbook.proof.region import CLIMB_STARTS, FALSE, TRUE, Space, States, Values, random_states
from hornbook.proof.search import (
    BY_LOCAL_SEARCH,
    BY_VACUITY,
    Side,
    Verdict,
    decide_region,
)
from hornbook.proof.votes import make_forest
from hornbook.queries import Classifier, Groups, Judge, Membership, interpretation
from hornbook.randomness import Purpose, generator

PROOF_SECONDS = 60.0
"""Default time limit of a proof, in seconds."""

PROBES, PROBE_BLOCK = 4096, 2048
"""Number of random inputs on which a reading is compared with its model, and batch size."""

Body = TypeVar("Body")
"""What the inputs in question meet: conditions, or known values of an interpretation."""

Part = TypeVar("Part")
"""Some of the inputs in question, which are decided together."""

Witness = TypeVar("Witness")
"""An input that the model was asked about: an interpretation, or a row of a table."""


class Prover(ABC, Generic[Body, Part, Witness]):
    """Proves or refutes that a model decides for a class about every input that meets a body."""

    def __init__(self, predictor: Predictor, seconds: float) -> None:
        if seconds <= 0:
            raise HornbookError(f"a proof needs time; got seconds={seconds}")
        self.predictor, self.seconds = predictor, seconds
        self.classes = 2
        """The number of classes that the model decides between."""

    def prove(
        self, body: Body, outcome: int, excluded: Sequence[Body] = (), seconds: float | None = None
    ) -> Verdict[Witness]:
        """Prove or refute that the model decides for a class about every input that meets a body.

        Parameters
        ----------
        body
            What the inputs meet.
        outcome
            The number of the class; of two classes 1 is the positive one.
        excluded
            Bodies that the inputs do not meet, such as those of earlier rules.
        seconds
            The time limit.

        """
        deadline = Deadline.after(self.seconds if seconds is None else seconds)
        try:
            parts = self._list_parts(body, excluded)
        except HornbookError as error:
            return Verdict.leave_open(str(error))
        verdicts = []
        for rival, part in product(reversed(range(self.classes - 1)), reversed(parts)):
            verdict = self._decide(part, int(outcome), rival, deadline)
            if verdict.status == "refuted":
                return verdict
            verdicts.append(verdict)
        verdict = combine(verdicts, deadline.elapsed)
        if excluded or verdict.needed is None:  # inputs may be ruled out by other bodies
            return replace(verdict, needed=None)
        return replace(verdict, needed=self._name_needed(body, verdict.needed))

    def prove_monotone(self, column: str, outcome: int, seconds: float | None = None) -> Verdict[Witness]:
        """Prove or refute that a class is never lost where a column rises and the others stay."""
        return Verdict.leave_open(f"monotonicity in {column!r} is proved of trees that read columns")

    @abstractmethod
    def _list_parts(self, body: Body, excluded: Sequence[Body]) -> Sequence[Part]:
        """Parts of the inputs that meet a body and none of the excluded ones; refuse what cannot be asked."""

    @abstractmethod
    def _decide(self, part: Part, outcome: int, rival: int, deadline: Deadline) -> Verdict[Witness]:
        """Decide whether a class is ahead of one of the others on a whole part."""

    @abstractmethod
    def _name_needed(self, body: Body, variables: frozenset[int]) -> frozenset[Any]:
        """The members of a body that restrict some base variables."""


def combine(verdicts: Sequence[Verdict[Witness]], seconds: float) -> Verdict[Witness]:
    """Combine the verdicts about the parts of a question, none of which is refuted."""
    meaningful = [verdict for verdict in verdicts if not verdict.is_vacuous]
    if not meaningful:
        return Verdict("proved", BY_VACUITY, seconds, -np.inf)
    bound = max(verdict.bound for verdict in meaningful)
    for verdict in meaningful:
        if verdict.status == "undecided":
            return Verdict("undecided", verdict.by, seconds, bound, reason=verdict.reason)
    parts = [verdict.needed for verdict in verdicts if verdict.needed is not None]
    needed = frozenset().union(*parts) if len(parts) == len(verdicts) else None
    return Verdict("proved", meaningful[0].by, seconds, bound, needed=needed)


def refuse_difference(
    predictor: Predictor,
    link: ScoreLink,
    answers: tuple[Vector, Bools],
    reading: tuple[Vector, Vector],
    describe: Callable[[int], str],
) -> None:
    """Raise if a model's scores and decisions differ from its outputs as read, beyond their rounding."""
    (scores, decided), (outputs, off) = answers, reading
    read = link.scores(outputs)
    wrong = ~(np.abs(scores - read) <= link.allowance(read, off))  # so that no number is wrong too
    wrong |= (decided != (outputs >= 0)) & (np.abs(outputs) > off + link.tolerance)
    if wrong.any():
        at = int(wrong.argmax())
        raise unprovable(
            predictor,
            f"it does not compute what was read of it: it scores {scores[at]:.6g} where {read[at]:.6g} "
            f"was read, and it decides {bool(decided[at])}, for {describe(at)}",
        )


@dataclass(frozen=True)
class Interpretations:
    """The interpretations that a proof is about.

    Parameters
    ----------
    vocabulary
        Their variables.
    groups
        Sets of variables that exclude each other.
    values
        Whether inputs may have unknown values; by default, if the model encodes them by a number.
    label, features
        For a classifier: the name of its label, and its input variables; see `Classifier`.

    """

    vocabulary: Vocabulary
    groups: Groups = ()
    values: Values | None = None
    label: str | None = None
    features: Sequence[str] | None = None


class RuleProver(Prover[Interpretation, Interpretation, Interpretation]):
    """Proves or refutes rules about a model that reads interpretations, each for all its inputs.

    Parameters
    ----------
    predictor
        The model, a feed-forward ReLU network or an ensemble of trees.
    domain
        The interpretations in question.
    seconds
        Time limit of each question.

    Examples
    --------
    >>> import torch
    >>> from hornbook.logic import HornTheory
    >>> from hornbook.models import as_predictor
    >>> module = torch.nn.Sequential(torch.nn.Linear(2, 1))
    >>> with torch.no_grad():
    ...     _ = module[0].weight.copy_(torch.tensor([[-2.0, 2.0]])), module[0].bias.fill_(0.5)
    >>> theory = HornTheory.parse("sunny -> happy", Vocabulary(["sunny", "happy"]))
    >>> prover = RuleProver(as_predictor(module, encoding="half"), Interpretations(theory.vocabulary))
    >>> prover.prove_rule(*theory).status  # accepts 0.5 + 2·happy - 2·sunny > 0
    'proved'

    """

    def __init__(self, predictor: Predictor, domain: Interpretations, seconds: float = PROOF_SECONDS) -> None:
        super().__init__(predictor, seconds)
        self.domain, self.vocabulary, self.groups = domain, domain.vocabulary, domain.groups
        encoding = predictor.encoding
        native = encoding.unknown is not None and not np.isnan(encoding.unknown)
        self.values: Values = domain.values or ("ternary" if native else "complete")
        self.classifier = None
        if domain.label is not None:
            self.classifier = Classifier(predictor, self.vocabulary, domain.label, domain.features)
        self.member: Membership = self.classifier or Judge(predictor)
        rows = np.arange(len(self.vocabulary)) if self.classifier is None else self.classifier.rows
        read = self.vocabulary if self.classifier is None else self.classifier.features
        self.places = {int(v): place for place, v in enumerate(rows)}
        grouped = tuple(tuple(self.places[v] for v in group if v in self.places) for group in self.groups)
        predictor.check(read)
        self.space = Space.of(read, encoding, grouped, self.values)
        self.accepting, self.rejecting = self._read_sides()
        self._refuse_misreading()

    def _read_sides(self) -> tuple[Side, Side]:
        """Read the model as two functions: one is positive where it accepts, the other where it rejects."""
        ensemble = read_ensemble(self.predictor)
        if ensemble is None:
            net = relu_net(self.predictor)
            accepting = Bounds(net, self.space)
            accepting.refuse_overflow(self.predictor)
            return accepting, Bounds(net.negate(), self.space)
        leaves = Leaves.of(ensemble, self.space)
        return (
            make_forest(leaves, self.space, lambda states: self._decide_states(states)),
            make_forest(leaves.negate(), self.space, lambda states: ~self._decide_states(states)),
        )

    def _decide_states(self, states: States) -> Bools:
        """Whether the model decides for its positive class, (inputs,)."""
        return self.predictor.decide(self.space.batch(states))

    def _refuse_misreading(self) -> None:
        """Raise if the model's answer to some random input differs from what was read of it.

        Half of the inputs have uniformly random states; in each of the others some states are rare, so
        that nearly all values are true, or false, or unknown. Scores may differ by the rounding error,
        and decisions only where the score is that close to the threshold.
        """
        rng, space = generator(0, Purpose.MODEL_READING), self.space
        shares = np.concatenate([np.ones((PROBES // 2, 3)), rng.dirichlet(np.full(3, 0.3), PROBES // 2)])
        for part in np.split(shares[:, None], PROBES // PROBE_BLOCK):
            states = random_states(space, space.whole(), len(part), rng, part)
            batch = space.batch(states)
            try:
                answers = self.predictor(batch).astype(np.float64), self.predictor.decide(batch)
            except HornbookError as error:
                raise unprovable(self.predictor, f"it cannot be asked: {error}") from error
            link, reading = self.accepting.link, self.accepting.evaluate(states)
            refuse_difference(self.predictor, link, answers, reading, partial(self._describe, states))

    def _describe(self, states: States, at: int) -> str:
        values = {FALSE: "0", TRUE: "1"}
        names = [self.space.vocabulary.name(int(v)) for v in self.space.literals.drawn]
        own = zip(names, states[at].tolist(), strict=True)
        return ", ".join(f"{name}={values.get(state, '?')}" for name, state in own)

    def prove_rule(self, rule: Rule, seconds: float | None = None) -> Verdict[Interpretation]:
        """Prove that the model rejects every input that violates a rule, or refute it."""
        item = self.violate(rule)
        return self.prove_rejection(item.true, item.false, seconds)

    def prove_rejection(
        self, true: Iterable[int], false: Iterable[int], seconds: float | None = None
    ) -> Verdict[Interpretation]:
        """Prove or refute that the model rejects every input with these variables true and those false."""
        item = interpretation(self.vocabulary, true, false)
        side, region = self.side(item), self.region(item)
        if side is not None or region is None:
            return self.prove(item, int(side is self.rejecting), seconds=seconds)
        # a label that is free is never contradicted
        states = random_states(self.space, region, CLIMB_STARTS, generator(0, Purpose.PROOF_STARTS))
        witness = self.interpretation(item, states[0])
        return Verdict("refuted", BY_LOCAL_SEARCH, witness=witness)

    def _list_parts(
        self, body: Interpretation, excluded: Sequence[Interpretation]
    ) -> Sequence[Interpretation]:
        if excluded:
            raise HornbookError("proofs about interpretations exclude none")
        return [] if self.region(body) is None else [body]

    def _decide(
        self, part: Interpretation, outcome: int, rival: int, deadline: Deadline
    ) -> Verdict[Interpretation]:
        def confirm(states: States, shares: Vector | None) -> Interpretation | None:
            contrary = self._decide_states(states[None])[0] != outcome
            return self.interpretation(part, states) if contrary else None

        side = (self.accepting, self.rejecting)[outcome]
        return decide_region(side, self._allowed_states(part), deadline, confirm)

    def _name_needed(self, body: Interpretation, variables: frozenset[int]) -> frozenset[int]:
        """The facts of a question that restrict some base variables, perhaps by way of a group."""
        for members in self.space.groups:
            if not variables.isdisjoint(members.tolist()):
                variables |= {*members.tolist()}
        facts = (v for v in body.true | body.false if v in self.places)
        return frozenset(v for v in facts if self.base_variable(v) in variables)

    def violate(self, rule: Rule) -> Interpretation:
        """The values of an input that violates a rule, those of duals included."""
        item = violation(rule)
        return interpretation(self.vocabulary, item.true, item.false)

    def base_variable(self, variable: int) -> int:
        """The base variable that decides a variable which the model reads."""
        (literal,) = self.space.literals.true([self.places[variable]])
        return literal % self.space.count

    def interpretation(self, item: Interpretation, states: States) -> Interpretation:
        """Convert an input to an interpretation of the whole vocabulary, with the question's facts."""
        (read,) = self.space.batch(states[None])
        whole = {place: v for v, place in self.places.items()}
        true = item.true | {whole[place] for place in read.true}
        false = item.false | {whole[place] for place in read.false}
        return interpretation(self.vocabulary, true, false)

    def region(self, item: Interpretation) -> Bools | None:
        """Return the region of the inputs with these facts; None if it is empty."""
        if item.true & item.false:
            return None
        region = self._allowed_states(item)
        return region if region.any(axis=1).all() else None

    def _allowed_states(self, item: Interpretation) -> Bools:
        true, false = ({self.places[v] for v in part if v in self.places} for part in (item.true, item.false))
        return self.space.region(true, false)

    def side(self, item: Interpretation) -> Side | None:
        """Return the side to bound for a question; None if the question leaves the label free."""
        if self.classifier is None or self.classifier.label in item.true:
            return self.accepting
        return self.rejecting if self.classifier.label in item.false else None
