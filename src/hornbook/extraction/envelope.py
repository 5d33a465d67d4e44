"""The Horn envelope of a model as an extraction: by every case where there is time, by samples elsewhere."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from hornbook.deadline import Deadline
from hornbook.errors import BudgetExhausted, HornbookError
from hornbook.extraction.cases import AskedCases, LevelWorld, Propose, Tell, complete_columns, find_possible
from hornbook.extraction.fidelity import AnswerTable, Fidelity
from hornbook.extraction.result import BeyondHorn, ColumnSummary, Extraction, LineStatistics
from hornbook.logic import Batch, Bools, HornTheory
from hornbook.models import Subject
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
    return _measure_envelope(envelope, reader, cases.asked)


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
    extraction = make_extraction(rules, _draw_labelled(cases, settings.seed), guarantee, cases.asked)
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
