"""Learn a Horn theory from a teacher by queries: one run, and its trace, from which a killed one resumes."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeAlias, get_args

import numpy as np

from hornbook.deadline import Stopwatch
from hornbook.errors import BudgetExhausted, HornbookError, ModelError
from hornbook.logic import Batch, Bools, Head, HornTheory, Rule, vocabulary_forms
from hornbook.queries.distributions import Complete, Distribution
from hornbook.queries.horn1 import horn1
from hornbook.queries.literals import Groups
from hornbook.queries.lrn_star import lrn_star
from hornbook.queries.membership import Budgeted, Checked
from hornbook.queries.oracles import SAMPLING_CHUNK, NegativeSampling, Sampling
from hornbook.queries.prime import Pool, prime
from hornbook.queries.protocol import (
    Budget,
    Counterexample,
    Equivalence,
    Guarantee,
    IncoherentTeacher,
    Membership,
    Step,
    Unknown,
)
from hornbook.randomness import Purpose, generator
from hornbook.schema import write_object
from hornbook.storage import append_line, lock_folder, read_text, write_errors, write_file

MAX_IDLE_COUNTEREXAMPLES = 30
"""Number of successive counterexamples without effect after which a run counts as stalled."""

MODEL_FAILED = "the model failed"
"""The beginning of the stop reason of a run whose model failed."""

INTERRUPTED = "interrupted"

Learner: TypeAlias = Literal["prime", "lrn_star", "horn1", "envelope"]
"""Our own learner for any model; LRN* as the paper prints it; HORN1, from complete interpretations; and the
Horn envelope, exactly, where every case can be asked about."""


Entry: TypeAlias = dict[str, Any]

ANSWERS_SUFFIX = ".answers"
"""The end of the name of the file beside a trace that keeps the teacher's answers, a byte each."""

COMPARED_ANSWERS = 256
"""How many of the kept answers a teacher is asked for again, to tell whether it is the same one."""


@dataclass(frozen=True)
class Settings:
    """Settings of a run of a query learner.

    Parameters
    ----------
    budget
        Limits on queries and time.
    learner
        `prime`, `lrn_star`, `horn1` or `envelope`. Only the first has a pool, and limits on the number and
        precision of rules.
    size, epsilon, delta
        How many samples an equivalence query draws, see `hornbook.statistics.sample_size`.
    min_precision
        The share of what a rule newly rejects that the model must reject too. It trades the
        number and the length of rules for fidelity.
    pool
        Number of labelled samples in the initial pool, on which rules are evaluated.
    max_rules
        Maximum number of rules besides the background; the least useful ones are dropped.
    max_literals
        Maximum number of literals of the chosen rules; the most useful rules come first. None
        stands for 20 of what `prime` learned about a classifier, and for no limit elsewhere.
    seed
        Makes the run repeatable.

    """

    budget: Budget = Budget(equivalence_queries=100)  # noqa: RUF009 (frozen)
    learner: Learner = "prime"
    size: str | int = "paper"
    epsilon: float = 0.1
    delta: float = 0.1
    min_precision: float = 0.9
    pool: int = 1 << 17
    max_rules: int = 100
    max_literals: int | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        if self.learner not in get_args(Learner):
            raise HornbookError(f"a learner is one of {', '.join(get_args(Learner))}; got {self.learner!r}")
        if not 0 < self.min_precision <= 1:
            raise HornbookError(f"min_precision is above 0 and at most 1; got {self.min_precision}")
        for name, least in (("pool", 1), ("max_rules", 1), ("seed", 0)):
            if getattr(self, name) < least:
                raise HornbookError(f"{name} is at least {least}; got {getattr(self, name)}")


@dataclass(frozen=True)
class QueryResult:
    """What a query learner learned about a model.

    Attributes
    ----------
    theory, background
        The rules found with the background, and the background alone.
    guarantee
        What the last equivalence query says of the theory; `Unknown` where something else ended the run.
    stop_reason
        What ended the run.
    membership_queries
        How many questions the model was asked.
    entries
        What happened, an entry for each equivalence query.

    """

    theory: HornTheory
    background: HornTheory
    guarantee: Guarantee
    stop_reason: str
    membership_queries: int
    entries: tuple[Entry, ...]

    @property
    def rules(self) -> tuple[Rule, ...]:
        """The rules found, without the background."""
        known = set(self.background)
        return tuple(rule for rule in self.theory if rule not in known)


def run_learner(
    member: Membership,
    distribution: Distribution,
    settings: Settings = Settings(),  # noqa: B008 (frozen)
    *,
    background: HornTheory | None = None,
    heads: Sequence[Head] | None = None,
    groups: Groups = (),
    trace: Path | None = None,
    watch: Callable[[Entry], None] | None = None,
) -> QueryResult:
    """Learn a Horn theory from a teacher, which need be neither Horn nor coherent.

    The run stops when no counterexample is found (or only some that no sufficiently precise rule
    covers), when the budget is spent, after `MAX_IDLE_COUNTEREXAMPLES` idle counterexamples, on
    interrupt, or when the teacher fails; `stop_reason` says which, and what was learned is kept.

    Parameters
    ----------
    member
        The teacher.
    distribution
        The distribution of samples.
    settings
        Budget, sample sizes, precision and seed.
    background
        Rules that always hold: the first hypothesis, never contradicted.
    heads
        The heads that rules may have, the preferred first; None for ⊥ and every variable
        without a dual.
    groups
        Sets of variables that exclude each other.
    trace
        A file that gets a line for each equivalence query. Beside it the teacher's answers are kept: a run
        with the same teacher and settings takes them from there, so that a killed run goes on where it
        stopped, with the same result.
    watch
        Is called with the entry of each equivalence query.

    Examples
    --------
    >>> from hornbook.queries.distributions import Random
    >>> truth = HornTheory.parse("horse & wings -> pegasus")
    >>> found = run_learner(truth.satisfied_by, Random(truth.vocabulary), Settings(pool=1000, size=5000))
    >>> print(found.theory)
    horse ∧ wings → pegasus
    >>> found.stop_reason, found.guarantee.disagreement.hits
    ('equivalent', 0)

    """
    if settings.learner == "horn1":
        if distribution.vocabulary.has_duals:
            raise HornbookError(
                "HORN1 learns from complete interpretations of variables without duals: give it a judge, and "
                "no columns of negations"
            )
        distribution = Complete(distribution, groups)
    known = HornTheory.background(distribution.vocabulary)
    known = known | background if background else known
    with nullcontext() if trace is None else lock_folder(trace.parent):
        kept = Trace.start(trace, describe_settings(settings, distribution, known, heads))
        return QueryRun(member, distribution, settings, known, heads, kept).learn(watch)


def describe_settings(
    settings: Settings, distribution: Distribution, background: HornTheory, heads: Sequence[Head] | None
) -> dict[str, Any]:
    """What determines the steps of a run, given the teacher; the budget and what is to be read do not."""
    given = asdict(settings)
    named = None if heads is None else [str(head) for head in heads]
    return {name: given[name] for name in given if name not in ("budget", "max_literals")} | {
        "distribution": distribution.describe(),
        "variables": list(distribution.vocabulary.names),
        "background": background.to_text().splitlines(),
        "heads": named,
    }


@dataclass
class Trace:
    """The entries of a run, one for each equivalence query, written to `path` as they happen."""

    path: Path | None = None
    entries: list[Entry] = field(default_factory=list)

    @classmethod
    def start(cls, path: Path | None, settings: Mapping[str, Any]) -> Trace:
        """Begin a trace with the settings of its run; refuse a file of another run."""
        if path is None:
            return cls()
        header = json.dumps({"settings": settings}, ensure_ascii=False)
        if not path.exists():  # answers that are left are those of another run
            path.with_suffix(ANSWERS_SUFFIX).unlink(missing_ok=True)
        elif not header.startswith(read_text(path).partition("\n")[0]):
            raise HornbookError(
                f"{path} is not the trace of a run with these settings; give the settings with which it was "
                "made, or remove it to begin anew"
            )
        write_file(path, f"{header}\n")
        return cls(path)

    def record(
        self, hypothesis: HornTheory, answer: Counterexample | Guarantee, membership_queries: int
    ) -> Entry:
        """Add and return the entry of an equivalence query."""
        if isinstance(answer, Counterexample):
            about: dict[str, Any] = write_object(
                {"counterexample": answer}, vocabulary_forms(hypothesis.vocabulary)
            )
        else:
            about = {"guarantee": answer.kind}
        entry = {
            "query": len(self.entries) + 1,
            "rules": len(hypothesis),
            "membership_queries": membership_queries,
            **about,
        }
        self.entries.append(entry)
        if self.path is not None:
            append_line(self.path, json.dumps(entry, ensure_ascii=False))
        return entry

    def keep_answers(self, member: Membership) -> Membership:
        """A teacher whose answers are kept beside the trace, if that is in a file."""
        return member if self.path is None else KeptAnswers(member, self.path.with_suffix(ANSWERS_SUFFIX))


class KeptAnswers:
    """A teacher whose answers are kept in a file; those that are there already are not asked for again.

    The same run asks the same questions, so answers are known by their places alone. The teacher is asked
    again about some of the first; if it answers otherwise now, it is another one, and all are asked for.

    Parameters
    ----------
    member
        The teacher.
    path
        The file.

    """

    def __init__(self, member: Membership, path: Path) -> None:
        self.member, self.path = member, path
        self.earlier: Bools = np.fromfile(path, np.uint8) == 1 if path.exists() else np.zeros(0, np.bool_)
        self.is_compared = False

    def __call__(self, batch: Batch) -> Bools:
        """Answer from the file as far as it goes, and ask for the rest."""
        if not self.is_compared:
            self.is_compared = True
            first = self.earlier[: min(len(batch), COMPARED_ANSWERS)]
            if len(first) and (self.member(batch[: len(first)]) != first).any():
                self.earlier = self.earlier[:0]
                write_file(self.path, "")
        known, self.earlier = self.earlier[: len(batch)], self.earlier[len(batch) :]
        if len(known) == len(batch):
            return known
        answers = self.member(batch[len(known) :])
        with write_errors(self.path), self.path.open("ab") as file:
            file.write(answers.tobytes())
        return np.concatenate([known, answers])


class QueryRun:
    """A learner with its oracles, and the hypothesis so far; see `run_learner` for the parameters."""

    def __init__(
        self,
        member: Membership,
        distribution: Distribution,
        settings: Settings,
        background: HornTheory,
        heads: Sequence[Head] | None,
        trace: Trace,
    ) -> None:
        budget = settings.budget
        self.settings, self.distribution, self.trace = settings, distribution, trace
        self.background, self.heads = background, heads
        self.member = Budgeted(
            trace.keep_answers(Checked(member)), budget.membership_queries, budget.seconds, budget.reserve
        )
        self.clock = Stopwatch()
        self.theory = background
        self.last: Counterexample | Guarantee = Unknown("no query was asked")
        self.idle: list[Counterexample] = []

    def learn(self, watch: Callable[[Entry], None] | None) -> QueryResult:
        """Learn until something ends the run."""
        try:
            if limit := self._find_limit():
                raise BudgetExhausted(limit)
            for step in self._choose_learner(watch or (lambda entry: None)):
                self.theory = step.hypothesis
            reason = self._describe_end()
        except BudgetExhausted as error:
            reason = str(error)
        except IncoherentTeacher as contradiction:
            reason = f"stopped: {contradiction}"
        except KeyboardInterrupt:
            reason = INTERRUPTED
        except ModelError as failure:
            reason = f"{MODEL_FAILED}: {failure}"
        return QueryResult(
            self.theory.minimise(self.background),
            self.background,
            Unknown(reason) if isinstance(self.last, Counterexample | Unknown) else self.last,
            reason,
            self.member.questions_asked,
            tuple(self.trace.entries),
        )

    def _choose_learner(self, watch: Callable[[Entry], None]) -> Iterator[Step]:
        """The steps of the learner of the settings, with its oracles."""
        settings, member, vocabulary = self.settings, self.member, self.distribution.vocabulary
        pool = Pool(vocabulary)
        sampling = Sampling(
            member,
            self.distribution,
            settings.size,
            epsilon=settings.epsilon,
            delta=settings.delta,
            seed=settings.seed,
            remember=pool.add if settings.learner == "prime" else None,
        )
        if settings.learner == "horn1":
            equivalent = self._record(sampling, watch)
            return horn1(vocabulary, member, equivalent, background=self.background)
        if settings.learner == "lrn_star":
            rng = generator(settings.seed, Purpose.EQUIVALENCE)
            negative = NegativeSampling(member, self.distribution, sampling.size_of_query, rng)
            equivalent = self._record(negative, watch)
            return lrn_star(vocabulary, member, equivalent, background=self.background, strict=False)
        first = self.distribution.draw(settings.pool, generator(settings.seed, Purpose.POOL))
        for block in first.blocks(SAMPLING_CHUNK):
            pool.add(block, member(block))
        return prime(
            member,
            self._record(lambda h: pool.find_counterexample(h) or sampling(h), watch),
            pool,
            background=self.background,
            heads=self.heads,
            min_precision=settings.min_precision,
            max_rules=settings.max_rules,
            seed=settings.seed,
        )

    def _record(self, search: Equivalence, watch: Callable[[Entry], None]) -> Equivalence:
        """An oracle that keeps the hypothesis, ends the run at a limit, and tells of each answer."""

        def equivalent(hypothesis: HornTheory) -> Counterexample | Guarantee:
            if isinstance(self.last, Counterexample):
                self.idle = [*self.idle, self.last] if hypothesis == self.theory else []
            self.theory = hypothesis
            if reason := self._find_limit():
                self.last = Unknown(reason)
                return self.last
            self.last = search(hypothesis)
            watch(self.trace.record(hypothesis, self.last, self.member.questions_asked))
            return self.last

        return equivalent

    def _find_limit(self) -> str | None:
        """What ends the run before another equivalence query."""
        if len(self.idle) == MAX_IDLE_COUNTEREXAMPLES:
            return f"stalled: the last {len(self.idle)} counterexamples gave no rule that is precise enough"
        spent = len(self.trace.entries), self.member.questions_asked, self.clock.elapsed
        return self.settings.budget.exhausted_by(*spent)

    def _describe_end(self) -> str:
        """The stop reason of a run without further counterexamples; some may have been given up."""
        if isinstance(self.last, Unknown):
            return self.last.reason
        items = Batch.from_interpretations(
            [counterexample.interpretation for counterexample in self.idle], self.theory.vocabulary
        )
        positive = np.array([counterexample.positive for counterexample in self.idle], np.bool_)
        left = int((self.theory.satisfied_by(items) != positive).sum())
        return f"equivalent but for {left} counterexamples given up" if left else "equivalent"
