"""The prover: decides, for all inputs at once, whether a model obeys a rule.

A model is read as two functions of its inputs, its sides: one is positive where it accepts, the other
where it rejects. Before anything is proved, both are compared with the model's own answers on random
inputs. A question is answered by local search for a witness first, then by branch and bound.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Generic, Literal, Self, TypeAlias, TypeVar

import numpy as np

from hornbook.deadline import Deadline, Stopwatch
from hornbook.errors import HornbookError
from hornbook.logic import Batch, Bools, Interpretation, Rule, Vocabulary, violation
from hornbook.models import Predictor
from hornbook.proof.bounds import Bounds
from hornbook.proof.branch import bound_at_once, branch_and_bound
from hornbook.proof.ensembles import read_ensemble
from hornbook.proof.forest import Forest
from hornbook.proof.leaves import Leaves
from hornbook.proof.network import ScoreLink, Vector, relu_net, unprovable
from hornbook.proof.region import (
    CLIMB_STARTS,
    FALSE,
    TRUE,
    UNKNOWN,
    InputFilter,
    SearchOutcome,
    Space,
    States,
    Values,
    climb,
    random_states,
)
from hornbook.proof.votes import VotingForest, make_forest
from hornbook.queries import Classifier, Groups, Judge, Membership, Proved, interpretation
from hornbook.randomness import Purpose, generator
from hornbook.schema import leaves_out_defaults

Engine: TypeAlias = Literal[
    "branch and bound", "a SAT solver", "local search", "no input breaks it", "nobody"
]
"""The engines that decide questions; nobody for one that was not asked."""

BY_BRANCHING: Engine = "branch and bound"
BY_SOLVER: Engine = "a SAT solver"
BY_LOCAL_SEARCH: Engine = "local search"
BY_VACUITY: Engine = "no input breaks it"

PROBES, PROBE_BLOCK = 4096, 2048
"""Number of random inputs on which a reading is compared with its model, and batch size."""

LARGEST_SUM = 1e30
"""Models whose sums may exceed this are refused: single precision might overflow."""

Side: TypeAlias = Bounds | Forest
"""A function whose sign is the model's decision: a network with bounds, or trees with leaves."""


def read_sides(predictor: Predictor, space: Space) -> tuple[Side, Side]:
    """Read a model's accepting and rejecting side; refuse it if its own answers differ from them."""
    accepting, rejecting = _read(predictor, space)
    refuse_misreading(predictor, accepting, space)
    return accepting, rejecting


def search(
    side: Side,
    deadline: Deadline,
    accepts: InputFilter | None = None,
) -> SearchOutcome:
    """Decide the sign of a side's maximum by branch and bound; see `branch_and_bound`."""
    if isinstance(side, Forest):
        return side.search(deadline)
    return branch_and_bound(side, side.root(), deadline, accepts)


def refuse_misreading(predictor: Predictor, accepting: Side, space: Space) -> None:
    """Raise if a model's answer to some random input differs from the reading of the model.

    Half of the inputs have uniformly random states; in each of the others some states are rare, so
    that nearly all values are true, or false, or unknown. Scores may differ by the rounding error,
    and decisions only where the score is that close to the threshold.
    """
    rng = generator(0, Purpose.MODEL_READING)
    shares = np.concatenate([np.ones((PROBES // 2, 3)), rng.dirichlet(np.full(3, 0.3), PROBES // 2)])
    for start in range(0, PROBES, PROBE_BLOCK):
        part = shares[start : start + PROBE_BLOCK, None]
        states = random_states(space, space.whole(), len(part), rng, part)
        batch = space.batch(states)
        try:
            scores, decided = predictor(batch).astype(np.float64), predictor.decide(batch)
        except HornbookError as error:
            raise unprovable(predictor, f"it cannot be asked: {error}") from error
        outputs, off = accepting.evaluate(states)
        refuse_difference(
            predictor, accepting.link, (scores, decided), (outputs, off), partial(_describe, space, states)
        )


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


def _read(predictor: Predictor, space: Space) -> tuple[Side, Side]:
    ensemble = read_ensemble(predictor)
    if ensemble is None:
        net = relu_net(predictor)
        accepting = Bounds(net, space)
        if max(sizes.max() for sizes in accepting.magnitudes) > LARGEST_SUM:
            raise unprovable(predictor, f"its sums may be above {LARGEST_SUM:g}, so they may overflow")
        return accepting, Bounds(net.negate(), space)
    leaves = Leaves.of(ensemble, space)
    accepts, rejects = (partial(_decides, predictor, space, sign) for sign in (True, False))
    return make_forest(leaves, space, accepts), make_forest(leaves.negate(), space, rejects)


def _decides(predictor: Predictor, space: Space, sign: bool, states: States) -> Bools:
    decided: Bools = predictor.decide(space.batch(states)) == sign
    return decided


def _describe(space: Space, states: States, at: int) -> str:
    values = {FALSE: "0", TRUE: "1"}
    names = [space.vocabulary.name(int(v)) for v in space.literals.drawn]
    own = zip(names, states[at].tolist(), strict=True)
    return ", ".join(f"{name}={values.get(state, '?')}" for name, state in own)


Status: TypeAlias = Literal["proved", "refuted", "undecided"]

PROOF_SECONDS = 60.0
"""Default time limit of a proof, in seconds."""


Witness_co = TypeVar("Witness_co", covariant=True)
"""An input that the model was asked about: an interpretation, or a row of a table."""


@leaves_out_defaults
@dataclass(frozen=True)
class Verdict(Generic[Witness_co]):
    """The prover's answer to one question.

    Parameters
    ----------
    status
        `proved` if the model rejects every input in question, `refuted` if it accepts the witness.
    by
        The engine that decided, or was asked last.
    seconds
        The time it took.
    bound
        An upper bound on all outputs, rounding included; negative if proved.
    witness
        For a refuted question, an input that the model accepts.
    reason
        Why it is undecided.
    needed
        For a proved question, parts of it on which the proof rests, where the prover knows them: a proof
        about columns gives conditions of the body, one about variables literals; the others can go.

    """

    status: Status
    by: Engine
    seconds: float = field(default=0.0, repr=False)
    bound: float = np.inf
    witness: Witness_co | None = None
    reason: str = ""
    needed: frozenset[Any] | None = field(default=None, repr=False)

    @classmethod
    def leave_open(cls, reason: str) -> Self:
        """The verdict on a question that cannot be asked."""
        return cls("undecided", BY_BRANCHING, reason=reason)

    @property
    def is_vacuous(self) -> bool:
        """Whether it was proved because there is no input in question."""
        return self.status == "proved" and self.by == BY_VACUITY

    @property
    def guarantee(self) -> Proved | None:
        """The guarantee of a proof; None if nothing was proved."""
        return Proved(self.by, -self.bound) if self.status == "proved" else None

    def __str__(self) -> str:
        if self.status == "proved":
            return str(self.guarantee)
        if self.status == "refuted":
            return f"refuted by {self.by}"
        return f"undecided: {self.reason}"


TOTAL_TIME_SPENT = "the time for all proofs was spent"
"""The reason of the verdict on a question for which no time was left."""


def prove_in_time(
    prove: Callable[..., Verdict[Witness_co]], seconds: float, deadline: Deadline
) -> Verdict[Witness_co]:
    """Ask a question that may take some seconds, but no longer than all questions together may."""
    left = min(seconds, deadline.left)
    if left <= 0:
        return Verdict("undecided", "nobody", reason=TOTAL_TIME_SPENT)
    verdict = prove(seconds=left)
    if verdict.status == "undecided" and left < seconds:
        return replace(verdict, reason=TOTAL_TIME_SPENT)
    return verdict


def decide_region(
    side: Side,
    region: Bools,
    deadline: Deadline,
    confirm: Callable[[States, Vector | None], Witness_co | None],
) -> Verdict[Witness_co]:
    """Decide whether a side is negative on a whole region, by a SAT solver or by branch and bound.

    Parameters
    ----------
    side
        The function that is positive at a witness.
    region
        The inputs in question.
    deadline
        The time that the question may take.
    confirm
        Asks the model about an input, given by its states and shares, and returns the witness, if it is one.

    """
    if isinstance(side, VotingForest):
        solved = side.solve(region, deadline)
        if solved is not None and solved.states is not None:
            return conclude(confirm(solved.states, None), BY_SOLVER, deadline, np.inf)
        if solved is not None:
            return Verdict("proved", BY_SOLVER, deadline.elapsed, solved.upper, needed=solved.needed)
    return _decide_by_branching(side, region, deadline, confirm)


def _decide_by_branching(
    side: Side,
    region: Bools,
    deadline: Deadline,
    confirm: Callable[[States, Vector | None], Witness_co | None],
) -> Verdict[Witness_co]:
    free = region.sum(axis=1) > 1

    def ask(values: States, shares: Vector | None = None) -> Witness_co | None:
        complete: States = region.argmax(axis=1)
        complete[free] = values
        spread = None
        if shares is not None:
            spread = np.zeros(len(region))
            spread[free] = shares
        return confirm(complete, spread)

    def accepts(inputs: States) -> Bools:
        return np.array([ask(values) is not None for values in inputs], np.bool_)

    bounds = side.restrict_to(region)
    states, output = climb_region(bounds, region[free])
    if output > 0:
        return conclude(ask(states), BY_LOCAL_SEARCH, deadline, np.inf)
    found = search(bounds, deadline, accepts=accepts)
    if found.best > 0 and found.states is not None:
        return conclude(ask(found.states, found.shares), BY_BRANCHING, deadline, found.upper)
    seconds = deadline.elapsed
    if found.upper < 0:
        return Verdict("proved", BY_BRANCHING, seconds, found.upper)
    # the bound that was reached when time was up depends on the machine, so it is not among the words
    reason = f"not decided in {deadline.limit:g} s"
    if found.ended:
        reason = f"no output is above {found.upper:.3g}, closer to 0 than rounding allows to tell"
    elif isinstance(side, VotingForest) and side.refusal:
        reason = f"{reason}; {side.refusal}"
    return Verdict("undecided", BY_BRANCHING, seconds, found.upper, reason=reason)


def climb_region(side: Side, region: Bools, near: States | None = None) -> tuple[States, float]:
    """Search locally for the highest output in a region; the input found, (base variables,), and its output.

    The search starts from random inputs, and from those nearest to given ones, (inputs, base variables).
    """
    starts = random_states(side.space, region, CLIMB_STARTS, generator(0, Purpose.PROOF_STARTS))
    if near is not None:
        allowed = np.take_along_axis(region, near.T, axis=1).T
        starts = np.concatenate([starts, np.where(allowed, near, region.argmax(axis=1))])
    states, outputs = climb(side, region, starts)
    best = int(outputs.argmax())
    return states[best], float(outputs[best])


def conclude(witness: Witness_co | None, by: Engine, clock: Stopwatch, bound: float) -> Verdict[Witness_co]:
    """The verdict on a question with an output above 0: refuted if the model confirms the witness."""
    seconds = clock.elapsed
    if witness is not None:
        return Verdict("refuted", by, seconds, bound, witness)
    return Verdict("undecided", by, seconds, bound, reason="an output within rounding of 0 was found")


class Prover:
    """Proves or refutes rules about one model, each for all its inputs.

    Parameters
    ----------
    predictor
        The model, a feed-forward ReLU network or an ensemble of trees.
    vocabulary
        The variables of the rules.
    groups
        Sets of variables of which at most one is true.
    values
        Whether inputs may have unknown values; by default, if the model encodes them by a number.
    label, features
        For a classifier: the name of its label, and its input variables; see `Classifier`.
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
    >>> prover = Prover(as_predictor(module, encoding="half"), theory.vocabulary)
    >>> prover.prove_rule(*theory).status  # accepts 0.5 + 2·happy - 2·sunny > 0
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
        seconds: float = PROOF_SECONDS,
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
        self.accepting, self.rejecting = read_sides(predictor, self.space)

    def prove_rule(self, rule: Rule, seconds: float | None = None) -> Verdict[Interpretation]:
        """Prove that the model rejects every input that violates a rule, or refute it."""
        item = self.violate(rule)
        return self.prove_rejection(item.true, item.false, seconds)

    def prove_rejection(
        self, true: Iterable[int], false: Iterable[int], seconds: float | None = None
    ) -> Verdict[Interpretation]:
        """Prove or refute that the model rejects every input with these variables true and those false."""
        deadline = Deadline.after(self.seconds if seconds is None else seconds)
        item = interpretation(self.vocabulary, true, false)
        region = self.region(item)
        if region is None:
            return Verdict("proved", BY_VACUITY, 0.0, -np.inf)
        side, confirm = self.side(item), partial(self._confirm, item)
        if side is not None:
            verdict = decide_region(side, region, deadline, confirm)
            return replace(verdict, needed=self._list_needed(item, verdict.needed))
        # a label that is free is never contradicted
        states = random_states(self.space, region, CLIMB_STARTS, generator(0, Purpose.PROOF_STARTS))
        return conclude(confirm(states[0], None), BY_LOCAL_SEARCH, deadline, np.inf)

    def prove_at_once(self, rule: Rule) -> Verdict[Interpretation] | None:
        """Prove a rule by a single bound of a network; None if that does not suffice or it is no network."""
        clock = Stopwatch()
        region, side = self._question(rule)
        if region is None or not isinstance(side, Bounds):
            return None
        bound = bound_at_once(side.restrict_to(region))
        return Verdict("proved", BY_BRANCHING, clock.elapsed, bound) if bound < 0 else None

    def find_witness(self, rule: Rule, near: Collection[Interpretation] = ()) -> Interpretation | None:
        """Search locally for an input that violates a rule and that the model accepts.

        The search starts from random inputs, and from those nearest to given ones.
        """
        item, (region, side) = self.violate(rule), self._question(rule)
        if region is None or side is None:
            return None
        free = region.sum(axis=1) > 1
        starts = np.array([self.states(each) for each in near], np.intp).reshape(-1, len(region))
        complete: States = region.argmax(axis=1)
        complete[free], output = climb_region(side.restrict_to(region), region[free], starts[:, free])
        return self._confirm(item, complete, None) if output > 0 else None

    def rank_literals(self, rule: Rule, literals: Sequence[int]) -> Vector:
        """Estimate the bound of the output over a rule's violations without each literal of its body.

        It measures how difficult the questions are; all literals are looked at side by side.
        """
        region, side = self._question(rule)
        freed = [self._question(Rule(rule.body - {literal}, rule.head))[0] for literal in literals]
        if region is None or side is None or not freed:
            return np.zeros(len(literals))
        regions = np.stack([region if own is None else own for own in freed])
        if isinstance(side, Forest):
            return side.bound_regions(regions)[0]
        base = side.effects[np.arange(len(region)), region.argmax(axis=1)]  # (base variables, units)
        changed = [np.flatnonzero((own != region).any(axis=1)) for own in regions]
        steps = np.zeros((len(literals), max(map(len, changed)), *side.effects.shape[1:]))
        for number, (own, places) in enumerate(zip(regions, changed, strict=True)):
            rise = side.effects[places] - base[places, None]
            steps[number, : len(places)] = np.where(own[places][:, :, None], rise, 0)
        return side.restrict_to(region).estimate_extensions(steps)

    def _question(self, rule: Rule) -> tuple[Bools | None, Side | None]:
        """The region of the inputs that violate a rule, None if there are none, and the side to bound."""
        item = self.violate(rule)
        return self.region(item), self.side(item)

    def violate(self, rule: Rule) -> Interpretation:
        """The values of an input that violates a rule, those of duals included."""
        item = violation(rule)
        return interpretation(self.vocabulary, item.true, item.false)

    def base_variable(self, variable: int) -> int:
        """The base variable that decides a variable which the model reads."""
        (literal,) = self.space.literals.true([self.places[variable]])
        return literal % self.space.count

    def _list_needed(self, item: Interpretation, variables: frozenset[int] | None) -> frozenset[int] | None:
        """List the facts of a question that restrict some base variables, perhaps by way of a group."""
        if variables is None:
            return None
        for members in self.space.groups:
            if not variables.isdisjoint(members.tolist()):
                variables |= {*members.tolist()}
        facts = (v for v in item.true | item.false if v in self.places)
        return frozenset(v for v in facts if self.base_variable(v) in variables)

    def _confirm(self, item: Interpretation, states: States, shares: Vector | None) -> Interpretation | None:
        """Return an input as an interpretation if the model itself accepts it."""
        witness = self.interpretation(item, states)
        accepted = self.member(Batch.from_interpretations([witness], self.vocabulary))[0]
        return witness if accepted else None

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

    def states(self, item: Interpretation) -> States:
        """Convert an interpretation of the whole vocabulary to the states of the base variables."""
        own = self._allowed_states(item)
        certain = own.sum(axis=1) == 1
        states: States = np.where(certain, own.argmax(axis=1), UNKNOWN)
        return states

    def literal(self, base: int, true: bool) -> int | None:
        """Return the variable that is true if a base variable is true (or false); None if there is none."""
        own = next(v for v, place in self.places.items() if place == self.space.literals.drawn[base])
        return own if true else self.vocabulary.dual(own)

    def is_witness(self, rule: Rule, witness: Interpretation) -> bool:
        """Whether a witness is an input in question, violates a rule, and is accepted by the model."""
        if self.region(witness) is None:
            return False
        states = self.states(witness)
        if self.values == "complete" and (states == UNKNOWN).any():
            return False
        if self.interpretation(self.violate(rule), states) != witness:
            return False
        return bool(self.member(Batch.from_interpretations([witness], self.vocabulary))[0])

    @property
    def checksum(self) -> str:
        """The SHA-256 of the model's parameters as they were read, threshold included."""
        sha = hashlib.sha256()
        for part in self.accepting.parameters:
            sha.update(repr(part.shape).encode())
            sha.update(part.astype("<f8").tobytes())
        return sha.hexdigest()
