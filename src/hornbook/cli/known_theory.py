"""Learning of a known theory, by `hornbook learn`: a demonstration of the algorithms."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

from hornbook.cli.inputs import read_theory
from hornbook.cli.output import emit_json, emit_lines, progress
from hornbook.errors import HornbookError

if TYPE_CHECKING:
    from hornbook.logic import HornTheory
    from hornbook.queries import Membership, PerfectTeacher, Step


class Learner(StrEnum):
    """Learners of theories."""

    PRIME = "prime"
    LRN_STAR = "lrn_star"
    HORN1 = "horn1"
    ENVELOPE = "envelope"


class Policy(StrEnum):
    """How the perfect teacher chooses counterexamples."""

    VIOLATED = "violated"
    INFLATED = "inflated"
    ADVERSARIAL = "adversarial"


def learn_known(
    source: str | None,
    learner: Learner,
    counterexamples: Policy,
    shrink: bool,
    background: Path | None,
    seed: int,
    as_json: bool,
) -> None:
    """Learn a known theory exactly, by queries to a perfect teacher, and print it.

    Without a source it is an example; the other parameters are options of the command.
    """
    if learner in (Learner.PRIME, Learner.ENVELOPE):
        raise HornbookError(
            f"{learner} learns about models; a known theory is learned by --learner lrn_star or horn1"
        )
    from hornbook.queries import Counted, PerfectTeacher, Trace
    from hornbook.randomness import Purpose, generator

    theory = _read_known(source) if source else _example()
    known = None if background is None else _read_background(background, theory)
    policy = "total" if learner is Learner.HORN1 else counterexamples.value
    teacher = PerfectTeacher(theory, policy, generator(seed, Purpose.TEACHER_COUNTEREXAMPLES))
    counted = Counted(teacher.member)
    trace = Trace()
    with progress("asking the teacher") as show:
        for step in _run_learner(learner, teacher, counted, known, shrink):
            trace.record(step, counted.questions)
            show(f"{len(step.hypothesis)} rules, {counted.questions:,} questions")
    learned = step.hypothesis.minimise()
    result = {
        "learned": learned.to_text().splitlines(),
        "equivalent": learned.equivalent(theory),
        "guarantee": trace.entries[-1]["guarantee"],
        "equivalence_queries": len(trace.entries),
        "membership_queries": counted.questions,
        "seconds": trace.seconds,
    }
    if as_json:
        emit_json(result)
        return
    emit_lines(
        [
            str(learned),
            f"# {len(learned)} rules, {len(trace.entries)} equivalence and {counted.questions} membership "
            f"queries, {trace.seconds:.3f} s",
            f"# {step.answer}",
            f"# equivalent to the target: {'yes' if result['equivalent'] else 'no'}",
        ]
    )


def _read_known(source: str) -> HornTheory:
    """Read the theory of a file; refuse a table."""
    from hornbook.tables import names_table

    try:
        return read_theory(Path(source))
    except HornbookError:
        if not names_table(source):
            raise
        raise HornbookError(
            f"{source} is a table, and a known theory is a file of rules; learn about a model with --model "
            "FILE, or with --train, and name the column that it predicts with --target"
        ) from None


def _run_learner(
    learner: Learner, teacher: PerfectTeacher, member: Membership, known: HornTheory | None, shrink: bool
) -> Iterator[Step]:
    """The steps of the learner with this teacher, whose answers are cached."""
    from hornbook.queries import Cached, by_groups, horn1, lrn_star, shrink_by_halves

    vocabulary, cached = teacher.theory.vocabulary, Cached(member)
    if learner is Learner.HORN1:
        return horn1(vocabulary, cached, teacher.equivalent, background=known)
    shorten = shrink_by_halves if shrink else None
    return lrn_star(vocabulary, cached, teacher.equivalent, background=known, rhs=by_groups, shrink=shorten)


def _read_background(path: Path, target: HornTheory) -> HornTheory:
    """Read rules that are known from the start; refuse what does not follow from the target."""
    from hornbook.logic import UNICODE, rule_text

    known = read_theory(path, like=target)
    for rule in target.unentailed(known):
        text = rule_text(target.vocabulary, rule, UNICODE)
        raise HornbookError(f"{path}: {text} does not follow from the target")
    return known


def _example() -> HornTheory:
    from hornbook.logic import HornTheory

    return HornTheory.parse(resources.files("hornbook").joinpath("theories/animals.horn").read_text("utf-8"))
