"""The Horn envelope of a model as an extraction: by every case where there is time, by samples elsewhere."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from hornbook.deadline import Deadline, Stopwatch
from hornbook.errors import BudgetExhausted, HornbookError
from hornbook.extraction.columns import ColumnSummary
from hornbook.extraction.fidelity import AnswerTable, Fidelity
from hornbook.extraction.result import BeyondHorn, Extraction, LineStatistics
from hornbook.logic import Batch, Bools, Bottom, HornTheory
from hornbook.models import RemoteModel, Subject
from hornbook.queries import (
    Binariser,
    Budget,
    Counterexample,
    Envelope,
    Estimated,
    Guarantee,
    HornRules,
    KnownCases,
    Pac,
    QuerySubject,
    Sampling,
    Settings,
    Unknown,
    World,
    find_envelope,
    learn_by_samples,
)
from hornbook.randomness import Purpose, generator
from hornbook.statistics import Share

MAX_CASES = 200_000
"""The most cases that are all asked about, unless the caller allows more."""

MAX_LEVELS = 100
"""The most values of a column whose values are levels."""

ENVELOPE_SETTINGS = Settings(Budget(100), "envelope", size="angluin", epsilon=0.05, delta=0.05)
"""The limits of a run, and how sure it has to be, unless the caller says so."""

MAX_NOTED_CLAUSES = 3
"""How many clauses beyond Horn rules a note names."""

MEASURING_SHARE = 0.2
"""Share of the answers and the time that is kept for finding rules in all answers, or measuring them."""

FIRST_BLOCK = 4
"""Questions of the first block; later ones double, and the time they take says how long all will."""

SAMPLED_CASES = 32
"""Cases that a model is asked about at a time in search of a counterexample."""

MEASURED_CASES = 1000
"""The most fresh cases that such rules are measured on."""

Tell: TypeAlias = Callable[[str], None]
"""Is called with what the run is about to do, in words."""

Propose: TypeAlias = Callable[[list[str]], Batch]
"""Cases that a model expects to break rules in words; perhaps none."""


@dataclass(eq=False)
class AskedCases:
    """A model that is asked about cases, within limits on answers and time, and about none twice.

    Parameters
    ----------
    world
        All cases.
    width
        How many digits of a case make a question; cases that differ in the others share an answer.
    ask
        The model's answers to questions.
    accept
        Which cases are accepted, given their digits and the answers to their questions.
    budget
        The limits; its seconds count from now.
    tell
        Is called with what the run is about to do.

    Attributes
    ----------
    answers
        How many answers the model gave.

    """

    world: World
    width: int
    ask: Callable[[NDArray[np.intp]], Bools]
    accept: Callable[[NDArray[np.intp], Bools], Bools]
    budget: Budget
    tell: Tell | None = None
    answers: int = 0

    def __post_init__(self) -> None:
        self.deadline = Deadline.after(self.budget.seconds)
        self.share = 1.0  # of the limits, that may be used
        self._answers: dict[bytes, Bools] = {}
        self._block = FIRST_BLOCK

    def __call__(self, batch: Batch) -> Bools:
        """Whether the model accepts each case; raises `BudgetExhausted` at a limit."""
        return self._decide(self.world.read_digits(batch))

    def ask_all(self, max_cases: int) -> Bools:
        """Whether the model accepts each case; raises `BudgetExhausted` if asking takes too long."""
        if len(self.world) > max_cases:
            raise BudgetExhausted(f"{len(self.world):,} cases are more than {max_cases:,}")
        self._refuse_beyond(math.prod(self.world.shape[: self.width]))
        return self._decide(self.world.list_digits())

    def _decide(self, digits: NDArray[np.intp]) -> Bools:
        """Whether cases are accepted; questions whose answers are known are not asked again."""
        questions = digits[:, : self.width]
        keys = [question.tobytes() for question in questions]
        new = {key: place for place, key in enumerate(keys) if key not in self._answers}
        for part in self._cut_blocks(list(new)):
            answers = self.ask(questions[[new[key] for key in part]])
            self.answers += len(part)
            self._answers.update(zip(part, answers, strict=True))
        return self.accept(digits, np.stack([self._answers[key] for key in keys]))

    def _cut_blocks(self, keys: list[bytes]) -> Iterator[list[bytes]]:
        """Blocks of questions, each twice as long as the one before where there is time for all of them."""
        start = 0
        while start < len(keys):
            part = keys[start : start + self._block]
            self._refuse_beyond(len(part))
            clock = Stopwatch()
            yield part
            start, left = start + len(part), len(keys) - start - len(part)
            needed = clock.elapsed / len(part) * left
            if start > FIRST_BLOCK and needed > self.deadline.left:  # the first answers take longer
                raise BudgetExhausted(f"{left:,} answers take about {needed:,.0f} s more")
            if self.tell is not None and left:
                self.tell(f"{start:,} of {len(keys):,} answers, about {needed:,.0f} s more")
            is_quick = clock.elapsed < 0.1 * self.deadline.left
            self._block = 2 * self._block if is_quick else max(1, self._block // 2)

    def _refuse_beyond(self, answers: int) -> None:
        """Refuse more answers than are left, and any once the time is up."""
        most, seconds = self.budget.membership_queries, self.budget.seconds
        if most is not None and self.answers + answers > self.share * most:
            raise BudgetExhausted(f"budget of {most:,} answers of the model")
        if seconds is not None and self.deadline.left <= (1 - self.share) * seconds:
            raise BudgetExhausted(f"budget of {seconds:g} seconds")


def learn_levels(
    subject: Subject,
    margin: float = 0.0,
    settings: Settings = ENVELOPE_SETTINGS,
    tell: Tell | None = None,
    max_cases: int = MAX_CASES,
) -> Extraction:
    """Learn which levels of its columns go with which classes of a classifier.

    A case says a level of each column, or none for an unknown one, and a class, or none. The rules are the
    Horn envelope of the cases that the classifier accepts: those without a class, and those with a class
    that it decides for. Every case is asked about if there are few, and answers and time allow it;
    elsewhere the rules are learned from samples.

    Parameters
    ----------
    subject
        The classifier, bound to rows whose every column has few values.
    margin
        A class is possible too if its score is at most so much below the largest one.
    settings
        The limits: equivalence queries (of samples only), answers of the model, and seconds; and how sure
        the rules have to be where they are learned from samples.
    tell
        Is called with what the run is about to do.
    max_cases
        The most cases that are all asked about.

    Examples
    --------
    >>> import pandas as pd
    >>> rows = pd.DataFrame({"job": ["nurse", "boxer", "clerk"] * 9, "place": ["here", "there", "away"] * 9})
    >>> def guess(frame):
    ...     return np.where(frame.job == "nurse", "she", "he")
    >>> extraction = learn_levels(Subject.bind(guess, rows, target="pronoun"))
    >>> print(extraction.explanation)
    if pronoun = she: job = nurse
    if job = nurse and pronoun = he: impossible
    >>> print(extraction.guarantee)
    exact: rules and teacher agree on every interpretation

    """
    teacher = subject.teacher
    names = [name for name in teacher.frame.columns if name in teacher.columns]
    binariser = name_levels(subject.frame[names], subject.target, subject.classes)
    levels = {name: _list_levels(binariser, name) for name in binariser.columns}
    classes = levels[subject.target]
    order = [subject.classes.index(str(name)) for name in classes]

    def ask(digits: NDArray[np.intp]) -> Bools:
        return find_possible(subject, make_rows(digits, levels, subject.frame), margin)[:, order]

    def accept(digits: NDArray[np.intp], possible: Bools) -> Bools:
        decided = digits[:, -1]
        accepted: Bools = (decided == 0) | possible[np.arange(len(digits)), decided - 1]
        return accepted

    world = World(binariser.vocabulary, binariser.groups)
    cases = AskedCases(world, len(world.axes) - 1, ask, accept, settings.budget, tell)
    source = subject.predictor.source

    def propose(rules: list[str]) -> Batch:
        proposed = source.propose(rules) if isinstance(source, RemoteModel) else []
        return binariser.batch(pd.DataFrame(proposed, columns=list(binariser.columns), dtype=object))

    extraction = _learn(cases, binariser, settings, max_cases, propose)
    summaries = tuple(ColumnSummary.of(subject.frame[name], subject.words) for name in names)
    rule = "" if margin == 0 else f"; classes within {margin:g} of the likeliest are possible too"
    return replace(
        extraction,
        target=subject.target,
        columns=(*summaries, ColumnSummary(subject.target, 0.0, categories=tuple(classes))),
        missing_values=f"{teacher.describe()}{rule}",
        provenance={
            **extraction.provenance,
            "model": {"name": subject.predictor.name},
            "settings": {"target": subject.target, "learner": "envelope", "margin": margin},
        },
    )


def name_levels(frame: pd.DataFrame, target: str, classes: Sequence[str]) -> Binariser:
    """A variable for each value that occurs in each column of a frame, and last for each class.

    Examples
    --------
    >>> name_levels(pd.DataFrame({"job": ["nurse", "boxer"]}), "pronoun", ("she", "he")).names
    ('job=boxer', 'job=nurse', 'pronoun=he', 'pronoun=she')

    """
    if target in frame:
        raise HornbookError(f"{target!r} is predicted, and is a column of the rows too; name it otherwise")
    columns = {str(name): pd.Series(values.dropna().unique()) for name, values in frame.items()}
    for name, distinct in columns.items():
        if len(distinct) > MAX_LEVELS:
            raise HornbookError(
                f"column {name!r} has {len(distinct):,} values, and levels are at most "
                f"{MAX_LEVELS}: leave it out or merge some"
            )
    columns[target] = pd.Series(list(classes))
    values = pd.DataFrame(columns)  # shorter columns are filled with missing values
    return Binariser.fit(
        values, kinds=dict.fromkeys(columns, "categorical"), closed=True, max_levels=len(values)
    )


def _list_levels(binariser: Binariser, column: str) -> tuple[Any, ...]:
    """The levels of a column, in the order of its variables."""
    own = (condition.named_values for condition in binariser.conditions if condition.column == column)
    return tuple(level for (level,) in own)


def make_rows(
    digits: NDArray[np.intp], levels: dict[str, tuple[Any, ...]], frame: pd.DataFrame
) -> pd.DataFrame:
    """Rows with the levels of cases, None for an unknown one, and all columns of the table in its types.

    `digits` have one for each column that the model reads; the others have no value.
    """
    columns = {}
    for (name, own), values in zip(levels.items(), digits.T, strict=False):
        by_digit = np.empty(len(own) + 1, object)
        by_digit[1:] = own
        columns[name] = by_digit[values]
    rows = pd.DataFrame(columns, index=range(len(digits)), dtype=object).reindex(columns=frame.columns)
    return pd.DataFrame({name: _cast(rows[name], frame[name]) for name in frame.columns})


def _cast(levels: pd.Series[Any], column: pd.Series[Any]) -> pd.Series[Any]:
    """Levels in the type of a column; of whole numbers, which have no missing ones, as floats."""
    plain = not pd.api.types.is_extension_array_dtype(column.dtype)
    if plain and pd.api.types.is_integer_dtype(column.dtype):
        return levels.astype(np.float64)
    return levels.astype(column.dtype)


def find_possible(subject: Subject, rows: pd.DataFrame, margin: float) -> Bools:
    """Which classes are possible for each row: the one that the model decides for, and those close to it."""
    teacher = subject.teacher
    possible = np.eye(len(subject.classes), dtype=np.bool_)[teacher.labels(rows)]
    if margin > 0:
        scores = np.stack(
            [teacher.measure_support(rows, number) for number in range(len(subject.classes))], 1
        )
        if len(subject.classes) == 2:  # the score of the second class, and of the first its negation
            scores = np.stack([1 - scores[:, 1], scores[:, 1]], 1)
        possible |= scores >= scores.max(axis=1, keepdims=True) - margin
    return possible


def learn_judged_cases(subject: QuerySubject, settings: Settings = ENVELOPE_SETTINGS) -> Extraction:
    """Learn the Horn envelope of a judge of complete interpretations; parameters as for `learn_levels`."""
    teacher, binariser = subject.teacher, subject.teacher.binariser
    if teacher.label is not None or binariser.dual:
        raise HornbookError("the envelope of a judge is about variables without duals, and has no target")
    world = World(binariser.vocabulary, binariser.groups)
    cases = AskedCases(
        world,
        len(world.axes),
        lambda digits: teacher(world.make_batch(digits)),
        lambda digits, accepted: accepted,
        settings.budget,
    )
    columns = tuple(ColumnSummary.of(subject.frame[name], subject.words) for name in binariser.columns)
    return replace(
        _learn(cases, binariser, settings),
        target=subject.target,
        columns=columns,
        missing_values=teacher.describe(),
        provenance={"model": {"name": teacher.predictor.name}, "settings": {"learner": "envelope"}},
    )


def _learn(
    cases: AskedCases,
    binariser: Binariser,
    settings: Settings,
    max_cases: int = MAX_CASES,
    propose: Propose | None = None,
) -> Extraction:
    """Learn from every case if that can be done within the limits, otherwise from samples."""
    try:
        accepted = cases.ask_all(max_cases)
    except BudgetExhausted as reason:
        extraction = _learn_from_samples(cases, binariser, settings, propose)
        note = f"samples were asked about, and not every case: {reason}"
        return replace(extraction, notes=(note, *extraction.notes))
    seconds = settings.budget.seconds  # a part of them is left for rules, however long the answers took
    left = None if seconds is None else max(cases.deadline.left, MEASURING_SHARE * seconds)
    envelope = find_envelope(cases.world, accepted, Deadline.after(left))
    return _measure_envelope(envelope, binariser, cases.answers)


def _measure_envelope(envelope: Envelope, binariser: Binariser, answers: int) -> Extraction:
    """An envelope by every case as the result of a run: its shares are of all cases, without intervals."""
    world, accepted = envelope.world, envelope.accepted
    rules = make_rules(envelope.shorten(), binariser)
    decided = rules.decide_items(world.batch)
    beyond = BeyondHorn(len(envelope.beyond_horn), tuple(_say_clauses(envelope, rules)))
    return _make_extraction(
        rules,
        fidelity=Fidelity(
            samples=Share.of(0, 0),
            rows=Share.where(decided == accepted).at_confidence(1),
            row_population="cases",
            tables={"cases": AnswerTable.of(accepted, decided, rules.classes)},
        ),
        lines=tuple(
            LineStatistics(None, support.at_confidence(1), precision.at_confidence(1))
            for support, precision in _measure_rules(rules, world.batch, accepted)
        ),
        guarantee=envelope.guarantee,
        answers=answers,
        stop_reason="every case was asked about",
        distribution=f"all {len(world):,} cases",
        notes=tuple(_note_beyond(beyond, len(world))) if envelope.is_complete else (),
        beyond_horn=beyond,
    )


def _make_extraction(rules: HornRules, **parts: Any) -> Extraction:
    """Rules about what a model accepts as the result of a run; what is about the model is added later."""
    named = {"target": "", "classes": (False, True), "columns": (), "missing_values": ""}
    return Extraction(explanation=rules, frontier=(), differences=(), **{**named, **parts})


def _measure_rules(rules: HornRules, items: Batch, accepted: Bools) -> Iterator[tuple[Share, Share]]:
    """For each rule the cases in which its body holds, and of those that break it, the rejected ones."""
    values = items.to_array()
    for rule in rules.rules:
        holds = (values[:, sorted(rule.body)] == 1).all(axis=1)
        broken = holds if isinstance(rule.head, Bottom) else holds & (values[:, rule.head] == 0)
        yield Share.where(holds), Share.where(~accepted[broken])


def make_rules(theory: HornTheory, binariser: Binariser) -> HornRules:
    """The rules of a theory about what a model accepts, without those that always hold."""
    known = set(binariser.background())
    return HornRules(binariser, tuple(rule for rule in theory if rule not in known))


def _say_clauses(envelope: Envelope, rules: HornRules) -> Iterator[str]:
    """The clauses beyond Horn rules in words."""
    names = envelope.world.vocabulary
    for true, false in envelope.list_clauses():
        body = " and ".join(rules.describe(name) for name in names.named(true)) or "always"
        yield f"{body} → {' or '.join(rules.describe(name) for name in names.named(false))}"


def _note_beyond(beyond: BeyondHorn, size: int) -> Iterator[str]:
    """Say how much no Horn theory can exclude."""
    if not beyond.cases:
        yield "the model is Horn: the rules accept exactly what it accepts"
        return
    shown = "; ".join(beyond.clauses[:MAX_NOTED_CLAUSES])
    more = len(beyond.clauses) - MAX_NOTED_CLAUSES
    others = f"; and {more} more" if more > 0 else ""
    yield (
        f"{beyond.cases:,} of the {size:,} cases lie beyond Horn rules: the model rejects them, and every "
        f"Horn theory that accepts what it accepts has to accept them; {shown}{others}"
    )


def _learn_from_samples(
    cases: AskedCases, binariser: Binariser, settings: Settings, propose: Propose | None
) -> Extraction:
    """Rules that samples, and what the model proposes, could not tell from the envelope."""
    world = cases.world
    known, theory, queries = KnownCases(cases, world), world.background, 0
    proposals = _Proposals(known, binariser, propose)
    sampling = Sampling(
        known,
        world,
        settings.size,
        epsilon=settings.epsilon,
        delta=settings.delta,
        seed=settings.seed,
        chunk=SAMPLED_CASES,
    )

    def equivalent(hypothesis: HornTheory) -> Counterexample | Guarantee:
        nonlocal theory, queries
        theory, queries = hypothesis, queries + 1
        if reason := settings.budget.exhausted_by(queries - 1):
            raise BudgetExhausted(reason)
        return proposals.find_counterexample(hypothesis) or sampling(hypothesis)

    guarantee: Guarantee = Unknown("no query found the rules right")
    cases.share, cases.tell = 1 - MEASURING_SHARE, None
    try:
        *_, last = learn_by_samples(known, equivalent)
        assert not isinstance(last.answer, Counterexample)
        guarantee, stop_reason = last.answer, f"equivalence query {queries} found no counterexample"
    except BudgetExhausted as limit:
        stop_reason = str(limit)
    cases.share = 1.0
    rules = make_rules(theory.minimise() | world.background, binariser)
    items, accepted = _draw_labelled(cases, settings.seed)
    decided = rules.decide_items(items)
    samples = Share.where(decided == accepted)
    if isinstance(guarantee, Pac):
        words = f"{world.describe()}; what was found to lie beyond Horn rules is set aside"
        guarantee = replace(guarantee, distribution=words)
    elif len(items):
        guarantee = Estimated(samples.complement(), world.describe())
    return _make_extraction(
        rules,
        fidelity=Fidelity(
            samples,
            tables={"samples": AnswerTable.of(accepted, decided, rules.classes)} if len(items) else {},
        ),
        lines=tuple(
            LineStatistics(None, support, precision)
            for support, precision in _measure_rules(rules, items, accepted)
        ),
        guarantee=guarantee,
        answers=cases.answers,
        stop_reason=stop_reason,
        distribution=world.describe(),
        provenance={"queries": queries},
        notes=(*proposals.list_notes(), *_note_set_aside(known, rules)),
    )


@dataclass
class _Proposals:
    """Cases that a model itself proposes against rules: each is a counterexample only if it answers so."""

    known: KnownCases
    binariser: Binariser
    propose: Propose | None
    proposed: int = 0
    true: int = 0

    def find_counterexample(self, hypothesis: HornTheory) -> Counterexample | None:
        """The first proposal about which the model answers otherwise than the rules."""
        if self.propose is None:
            return None
        lines = make_rules(hypothesis.minimise(), self.binariser).lines()
        batch = self.propose([f"{line.text}: {line.outcome}" for line in lines])
        if not len(batch):
            return None
        accepted = self.known(batch)
        differs = accepted != hypothesis.satisfied_by(batch)
        self.proposed, self.true = self.proposed + len(batch), self.true + int(differs.sum())
        if not differs.any():
            return None
        first = int(differs.argmax())
        return Counterexample(batch[first], bool(accepted[first]), "proposals")

    def list_notes(self) -> Iterator[str]:
        """How many proposals were true, if there were any."""
        if self.proposed:
            yield f"of {self.proposed:,} cases that the model proposed, {self.true:,} were counterexamples"


def _draw_labelled(cases: AskedCases, seed: int) -> tuple[Batch, Bools]:
    """Fresh cases and whether the model accepts each, as many as the limits allow."""
    drawn = cases.world.draw(MEASURED_CASES, generator(seed, Purpose.EVALUATION))
    accepted: list[bool] = []
    size = SAMPLED_CASES
    while size and len(accepted) < MEASURED_CASES:
        try:
            accepted += cases(drawn[len(accepted) : len(accepted) + size]).tolist()
        except BudgetExhausted:
            size //= 2
    return drawn[: len(accepted)], np.array(accepted, np.bool_)


def _note_set_aside(known: KnownCases, rules: HornRules) -> Iterator[str]:
    """Say how many cases were found that no Horn theory can exclude, with the smallest."""
    if known.beyond_horn:
        names = known.world.vocabulary
        least = min(known.beyond_horn, key=lambda true: (len(true), sorted(true)))
        words = " and ".join(rules.describe(name) for name in names.named(least)) or "nothing known"
        yield (
            f"{len(known.beyond_horn):,} cases that the model rejects were found to lie beyond Horn rules, "
            f"such as: {words}"
        )
