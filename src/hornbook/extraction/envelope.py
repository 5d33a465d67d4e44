"""The Horn envelope of a model as an extraction: by every case where there is time, by samples elsewhere."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from hornbook.deadline import Deadline, Stopwatch
from hornbook.errors import BudgetExhausted, HornbookError
from hornbook.extraction.fidelity import AnswerTable, Fidelity
from hornbook.extraction.result import BeyondHorn, ColumnSummary, Extraction, LineStatistics
from hornbook.logic import Batch, Bools, HornTheory
from hornbook.models import RemoteModel, Subject
from hornbook.queries import (
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
from hornbook.queries.envelope import MAX_CASES
from hornbook.queries.oracles import Chain, ProposedCases
from hornbook.queries.reader import Reader
from hornbook.randomness import Purpose, generator
from hornbook.statistics import Share

if TYPE_CHECKING:
    from hornbook.queries import Binariser


MAX_LEVELS = 100
"""The most values of a column whose values are levels."""

FIRST_BLOCK = 4
"""Questions of the first block; the time of later ones, which double, says how long all of them take."""

Tell: TypeAlias = Callable[[str], None]
"""Is called with what the run is about to do, in words."""

Propose: TypeAlias = Callable[[list[str]], Batch]
"""Gives cases that may break rules in words."""


@dataclass(frozen=True, eq=False)
class LevelWorld:
    """The columns of a classifier whose every value is a level, and its classes, as a world of cases.

    A case says a level of each column, or none for an unknown one, and a class, or none. The classifier
    accepts a case without a class, and one with the class that it decides for.

    Parameters
    ----------
    binariser
        Makes a variable of each level and of each class; the classes come last.
    target
        What the classifier predicts.

    Examples
    --------
    >>> rows = pd.DataFrame({"job": ["nurse", "boxer"]})
    >>> levels = LevelWorld.of(rows, "pronoun", ("she", "he"))
    >>> levels.world.vocabulary.names
    ('job=boxer', 'job=nurse', 'pronoun=he', 'pronoun=she')
    >>> levels.make_rows(np.array([[0], [1], [2]]))["job"].tolist()
    [None, 'boxer', 'nurse']

    """

    binariser: Binariser
    target: str

    @classmethod
    def of(cls, frame: pd.DataFrame, target: str, classes: Sequence[str]) -> LevelWorld:
        """The values that occur in each column of a frame, and the classes in words."""
        if target in frame:
            raise HornbookError(
                f"{target!r} is predicted, and is a column of the rows too; name it otherwise"
            )
        columns = {str(name): pd.Series(values.dropna().unique()) for name, values in frame.items()}
        for name, distinct in columns.items():
            if len(distinct) > MAX_LEVELS:
                raise HornbookError(
                    f"column {name!r} has {len(distinct):,} values, and levels are at most "
                    f"{MAX_LEVELS}: leave it out or merge some"
                )
        columns[target] = pd.Series(list(classes))
        values = pd.DataFrame(columns)  # shorter columns are filled with missing values
        kinds = dict.fromkeys(columns, "categorical")
        widest = max(map(len, columns.values()))
        from hornbook.queries import Binariser  # needs scikit-learn, which takes a second to import

        return cls(Binariser(kinds=kinds, max_levels=max(widest, 1)).fit(values), target)  # type: ignore[arg-type]

    @cached_property
    def world(self) -> World:
        """All cases; those of a row stand side by side."""
        return World(self.binariser.vocabulary_, self.binariser.groups_)

    @cached_property
    def _levels(self) -> dict[str, tuple[Any, ...]]:
        """The levels of each column, in the order of the variables."""
        levels: dict[str, tuple[Any, ...]] = {}
        for condition in self.binariser.conditions_:
            levels[condition.column] = (*levels.get(condition.column, ()), *condition.named_values)
        return levels

    @property
    def classes(self) -> tuple[Any, ...]:
        """The classes in the order of their variables."""
        return self._levels[self.target]

    def find_proposals(self, model: Any, reader: Reader) -> Propose | None:
        """How a model that speaks proposes cases; None of others."""
        if not isinstance(model, RemoteModel):
            return None
        columns = list(self._levels)
        return lambda rules: reader.batch(pd.DataFrame(model.propose(rules), columns=columns, dtype=object))

    def make_rows(self, digits: NDArray[np.intp]) -> pd.DataFrame:
        """Rows with the levels of cases, None for an unknown one; `digits` have one for each column."""
        columns = {}
        for (name, levels), values in zip(self._levels.items(), digits.T, strict=False):
            by_digit = np.empty(len(levels) + 1, object)
            by_digit[1:] = levels
            columns[name] = by_digit[values]
        return pd.DataFrame(columns, index=range(len(digits)), dtype=object)


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
    max_cases
        The most cases that are all asked about.

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
    max_cases: int = MAX_CASES
    answers: int = 0

    def __post_init__(self) -> None:
        self.deadline = Deadline.after(self.budget.seconds)
        self.share = 1.0  # of the limits, that may be used
        self._answers: dict[bytes, Bools] = {}
        self._seconds = 0.0  # that an answer took, at the last block

    def __call__(self, batch: Batch) -> Bools:
        """Whether the model accepts each case; raises `BudgetExhausted` at a limit."""
        digits = self.world.read_digits(batch)
        return self.accept(digits, self._answer(digits[:, : self.width]))

    @property
    def size(self) -> int:
        """The number of questions that there are."""
        return math.prod(self.world.shape[: self.width])

    def ask_all(self, seed: int, tell: Tell | None) -> Bools:
        """Whether the model accepts each case; raises `BudgetExhausted` if asking takes too long."""
        if len(self.world) > self.max_cases:
            raise BudgetExhausted(f"{len(self.world):,} cases are more than {self.max_cases:,}")
        self._refuse_beyond(self.size)
        digits = self.world.list_digits()
        questions = digits[:: len(digits) // self.size, : self.width]
        order = generator(seed, Purpose.EVALUATION_ORDER).permutation(self.size)
        start, block = 0, FIRST_BLOCK
        while start < self.size:
            self._answer(questions[order[start : start + block]])
            start, block = start + block, 2 * block
            needed = self._seconds * max(0, self.size - start)
            if block > 2 * FIRST_BLOCK and needed > self.deadline.left:  # the first answers take longer
                raise BudgetExhausted(f"{self.size:,} answers take about {needed:,.0f} s more")
            if tell is not None:
                tell(f"{min(start, self.size):,} of {self.size:,} answers, about {needed:,.0f} s more")
        answers = np.repeat(self._answer(questions), len(digits) // self.size, axis=0)
        return self.accept(digits, answers)

    def _answer(self, questions: NDArray[np.intp]) -> Bools:
        """The answers to questions; those that are known are not asked again."""
        keys = [question.tobytes() for question in questions]
        new = {key: place for place, key in enumerate(keys) if key not in self._answers}
        left = list(new.items())
        while left:
            size = len(left)
            if self.budget.seconds is not None:  # so that the limit is noticed
                size = int(0.1 * self.deadline.left / self._seconds) if self._seconds else FIRST_BLOCK
            part, left = left[: max(1, size)], left[max(1, size) :]
            self._refuse_beyond(len(part))
            clock = Stopwatch()
            answers = self.ask(questions[[place for _, place in part]])
            self._seconds = clock.elapsed / len(part)
            self.answers += len(part)
            self._answers.update(zip((key for key, _ in part), answers, strict=True))
        return np.stack([self._answers[key] for key in keys])

    def _refuse_beyond(self, answers: int) -> None:
        """Refuse more answers than are left, and any once the time is up."""
        most, seconds = self.budget.membership_queries, self.budget.seconds
        if most is not None and self.answers + answers > self.share * most:
            raise BudgetExhausted(f"budget of {most:,} answers of the model")
        if seconds is not None and self.deadline.left <= (1 - self.share) * seconds:
            raise BudgetExhausted(f"budget of {seconds:g} seconds")


def complete_columns(rows: pd.DataFrame, frame: pd.DataFrame) -> pd.DataFrame:
    """Rows with all columns of the table in its types; columns that the model does not read have no value."""
    complete = rows.reindex(columns=frame.columns)
    return pd.DataFrame({name: _cast(complete[name], frame[name]) for name in frame.columns})


def _cast(levels: pd.Series[Any], column: pd.Series[Any]) -> pd.Series[Any]:
    """Levels in the type of a column; of whole numbers, which have no missing ones, as floats."""
    if pd.api.types.is_integer_dtype(column.dtype) and not pd.api.types.is_extension_array_dtype(
        column.dtype
    ):
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


ENVELOPE_SETTINGS = Settings(Budget(100), "envelope", size="angluin", epsilon=0.05, delta=0.05)
"""The limits of a run, and how sure it has to be, unless the caller says so."""

MAX_NOTED_CLAUSES = 3
"""How many clauses beyond Horn rules a note names."""

MEASURING_SHARE = 0.2
"""Share of the answers and the time that is kept for finding rules in all answers, or measuring them."""

SAMPLED_CASES = 32
"""Cases that a model is asked about at a time in search of a counterexample."""

MEASURED_CASES = 1000
"""The most fresh cases that such rules are measured on."""


def learn_levels(
    subject: Subject,
    margin: float = 0.0,
    settings: Settings = ENVELOPE_SETTINGS,
    tell: Tell | None = None,
    max_cases: int = MAX_CASES,
) -> Extraction:
    """Learn which levels of its columns go with which classes of a classifier.

    The rules are the Horn envelope of the cases that the classifier accepts: those without a class, and those
    with a class that it decides for. Every case is asked about if there are few, and answers and time allow
    it; elsewhere the rules are learned from samples.

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
    levels = LevelWorld.of(subject.frame[names], subject.target, subject.classes)
    order = [subject.classes.index(str(name)) for name in levels.classes]

    def ask(digits: NDArray[np.intp]) -> Bools:
        rows = complete_columns(levels.make_rows(digits), subject.frame)
        return find_possible(subject, rows, margin)[:, order]

    def accept(digits: NDArray[np.intp], possible: Bools) -> Bools:
        classes = digits[:, -1]
        accepted: Bools = (classes == 0) | possible[np.arange(len(digits)), classes - 1]
        return accepted

    world = levels.world
    cases = AskedCases(world, len(world.axes) - 1, ask, accept, settings.budget, max_cases)
    reader = Reader.by_binariser(levels.binariser, closed=True)
    extraction = _learn(
        cases, reader, settings, tell, levels.find_proposals(subject.predictor.source, reader)
    )
    summaries = tuple(ColumnSummary.of(subject.frame[name], subject.words) for name in names)
    rule = "" if margin == 0 else f"; classes within {margin:g} of the likeliest are possible too"
    return replace(
        extraction,
        target=subject.target,
        columns=(*summaries, ColumnSummary(subject.target, 0.0, categories=tuple(levels.classes))),
        missing_values=f"{teacher.describe()}{rule}",
        provenance={
            **extraction.provenance,
            "model": {"name": subject.predictor.name},
            "settings": {"target": subject.target, "learner": "envelope", "margin": margin},
        },
    )


def learn_judged_cases(
    subject: QuerySubject, settings: Settings = ENVELOPE_SETTINGS, tell: Tell | None = None
) -> Extraction:
    """Learn the Horn envelope of a judge of complete interpretations; parameters as for `learn_levels`."""
    teacher = subject.teacher
    if teacher.label is not None or teacher.reader.vocabulary.has_duals:
        raise HornbookError("the envelope of a judge is about variables without duals, and has no target")
    world = World(teacher.reader.vocabulary, teacher.reader.groups)
    cases = AskedCases(
        world,
        len(world.axes),
        lambda digits: teacher.decide_items(world.make_batch(digits)),
        lambda digits, accepted: accepted,
        settings.budget,
    )
    columns = tuple(ColumnSummary.of(subject.frame[name], subject.words) for name in teacher.reader.columns)
    return replace(
        _learn(cases, teacher.reader, settings, tell),
        target=subject.target,
        columns=columns,
        missing_values=teacher.queries.describe(),
        provenance={"model": {"name": teacher.predictor.name}, "settings": {"learner": "envelope"}},
    )


def _learn(
    cases: AskedCases, reader: Reader, settings: Settings, tell: Tell | None, propose: Propose | None = None
) -> Extraction:
    """Learn from every case if that can be done within the limits, otherwise from samples."""
    try:
        accepted = cases.ask_all(settings.seed, tell)
    except BudgetExhausted as reason:
        if tell is not None:
            tell(f"{reason}: samples are asked about")
        extraction = _learn_from_samples(cases, reader, settings, propose)
        note = f"samples were asked about, and not every case: {reason}"
        return replace(extraction, notes=(note, *extraction.notes))
    seconds = settings.budget.seconds  # a part of them is left for rules, however long the answers took
    left = None if seconds is None else max(cases.deadline.left, MEASURING_SHARE * seconds)
    envelope = find_envelope(cases.world, accepted, Deadline.after(left))
    return _measure_envelope(envelope, reader, cases.answers)


def _measure_envelope(envelope: Envelope, reader: Reader, answers: int) -> Extraction:
    """An envelope by every case as the result of a run."""
    world = envelope.world
    rules = HornRules(envelope.shorten(), envelope.background, reader)
    beyond = BeyondHorn(len(envelope.beyond_horn), tuple(_say_clauses(envelope, rules)))
    extraction = make_extraction(rules, (world.batch, envelope.accepted), envelope.guarantee, answers)
    share = extraction.fidelity.samples.at_confidence(1)
    return replace(
        extraction,
        fidelity=Fidelity(
            samples=Share.of(0, 0),
            rows=share,
            row_population="cases",
            tables={"cases": extraction.fidelity.tables["samples"]},
        ),
        lines=tuple(
            LineStatistics(
                None, line.support.at_confidence(1), line.precision and line.precision.at_confidence(1)
            )
            for line in extraction.lines
        ),
        stop_reason="every case was asked about",
        distribution=f"all {len(world):,} cases",
        notes=tuple(_note_beyond(beyond, len(world))) if envelope.is_complete else (),
        beyond_horn=beyond,
    )


def make_extraction(
    rules: HornRules, measured: tuple[Batch, Bools], guarantee: Guarantee, answers: int
) -> Extraction:
    """Rules about what a model accepts as the result of a run, measured on samples."""
    items, accepted = measured
    array, decided = items.to_array() == 1, rules.decide_items(items)
    tables = {"samples": AnswerTable.of(accepted, decided, rules.classes)} if len(items) else {}
    return Extraction(
        target="what it accepts",
        classes=(False, True),
        explanation=rules,
        fidelity=Fidelity(Share.where(decided == accepted), tables=tables),
        guarantee=guarantee,
        frontier=(),
        lines=tuple(_count_lines(rules, array, accepted)),
        columns=(),
        differences=(),
        answers=answers,
        stop_reason="",
        distribution="",
        missing_values="",
    )


def _count_lines(rules: HornRules, cases: Bools, accepted: Bools) -> Iterator[LineStatistics]:
    """For each rule the cases in which its body holds, and those of them that it is right about."""
    for rule in rules.rules:
        holds = np.asarray(cases[:, sorted(rule.body)].all(axis=1), np.bool_)
        broken = holds if not isinstance(rule.head, int) else holds & ~cases[:, rule.head]
        yield LineStatistics(None, Share.where(holds), Share.where(~accepted[broken]))


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
    cases: AskedCases, reader: Reader, settings: Settings, propose: Propose | None
) -> Extraction:
    """Rules that samples, and what the model proposes, could not tell from the envelope."""
    world = cases.world
    known, theory, queries = KnownCases(cases, world), world.background, 0

    def say_rules(hypothesis: HornTheory) -> list[str]:
        lines = HornRules(hypothesis.minimise(), world.background, reader).lines()
        return [f"{line.text}: {line.outcome}" for line in lines]

    proposals = ProposedCases(known, lambda hypothesis: propose(say_rules(hypothesis)) if propose else None)
    sampling = Sampling(
        known,
        world,
        settings.size,
        epsilon=settings.epsilon,
        delta=settings.delta,
        seed=settings.seed,
        chunk=SAMPLED_CASES,
    )
    search = Chain([proposals, sampling])

    def equivalent(hypothesis: HornTheory) -> Counterexample | Guarantee:
        nonlocal theory, queries
        theory, queries = hypothesis, queries + 1
        if reason := settings.budget.exhausted_by(queries - 1):
            raise BudgetExhausted(reason)
        return search(hypothesis)

    guarantee: Guarantee = Unknown("no query found the rules right")
    stop_reason = ""
    cases.share = 1 - MEASURING_SHARE
    try:
        *_, last = learn_by_samples(known, equivalent)
        assert not isinstance(last.answer, Counterexample)
        guarantee, stop_reason = last.answer, f"equivalence query {queries} found no counterexample"
    except BudgetExhausted as limit:
        stop_reason = str(limit)
    cases.share = 1.0
    rules = HornRules(theory.minimise() | world.background, world.background, reader)
    extraction = make_extraction(rules, _draw_labelled(cases, settings.seed), guarantee, cases.answers)
    words = f"{world.describe()}; what was found to lie beyond Horn rules is set aside"
    samples = extraction.fidelity.samples
    if isinstance(guarantee, Pac):
        guarantee = replace(guarantee, distribution=words)
    elif samples.size:
        guarantee = Estimated(samples.complement(), world.describe())
    return replace(
        extraction,
        guarantee=guarantee,
        stop_reason=stop_reason,
        distribution=world.describe(),
        provenance={"queries": queries},
        notes=(*proposals.list_notes(), *_note_set_aside(known, rules)),
    )


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
