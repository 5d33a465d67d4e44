"""LRN* and HORN1 learn exactly, within the bounds of the theorem."""

from functools import cache
from itertools import pairwise, permutations, product

import numpy as np
import pytest

from hornbook.logic import BOTTOM, Batch, HornTheory, Interpretation, Rule, Vocabulary, random_theory
from hornbook.queries import (
    Counted,
    Counterexample,
    Exact,
    PerfectTeacher,
    Unknown,
    by_groups,
    horn1,
    lrn_star,
    shrink_by_halves,
)
from hornbook.queries.protocol import IncoherentTeacher, NotHorn

POLICIES = ["violated", "inflated", "adversarial", "total"]
VARIANTS = {
    "printed": {},
    "groups": {"rhs": by_groups},
    "shrunk": {"rhs": by_groups, "shrink": shrink_by_halves},
}


def closure_in(models: frozenset[int], body: int) -> int | None:
    """The intersection of the models above `body`, all bit masks; None if there is none."""
    above = [model for model in models if model & body == body]
    return None if not above else int(np.bitwise_and.reduce(above))


@cache
def theory_of(models: frozenset[int], width: int) -> HornTheory:
    """The Horn theory whose models are the intersection closure of `models`."""
    vocabulary = Vocabulary(f"v{i}" for i in range(width))
    bits = lambda mask: [v for v in range(width) if mask >> v & 1]  # noqa: E731
    rules = []
    for body in range(1 << width):
        closed = closure_in(models, body)
        rules += (
            [Rule(bits(body), BOTTOM)]
            if closed is None
            else [Rule(bits(body), u) for u in bits(closed & ~body)]
        )
    return HornTheory(vocabulary, rules).minimise()


@cache
def all_horn_functions(width: int) -> list[frozenset[int]]:
    """Every family of sets that is closed under intersection."""
    families: list[frozenset[int]] = [frozenset()]
    for model in range(1 << width):  # a meet is a smaller number, so it is decided before
        families += [
            family | {model} for family in families if all(model & other in family for other in family)
        ]
    return families


def rename(models: frozenset[int], order: tuple[int, ...]) -> frozenset[int]:
    """The family in which variable v is called `order[v]`."""
    return frozenset(sum((model >> v & 1) << name for v, name in enumerate(order)) for model in models)


@cache
def horn_functions_apart_from_names(width: int) -> list[frozenset[int]]:
    """One of all Horn functions that differ in the names of their variables only."""
    functions, models = all_horn_functions(width), range(1 << width)
    table = np.array([[model in function for model in models] for function in functions])
    numbers = []  # of every function under every order of names
    for order in permutations(range(width)):
        renamed = [next(iter(rename(frozenset({model}), order))) for model in models]
        numbers.append(table @ (1 << np.array(renamed)))
    _, first = np.unique(np.min(numbers, axis=0), return_index=True)
    return [functions[at] for at in first.tolist()]


def run(learner, theory, policy, seed=0, **options):
    """The steps of a learner against a perfect teacher, and the number of questions."""
    teacher = PerfectTeacher(theory, policy, np.random.default_rng(seed))
    counted = Counted(teacher.member)
    return list(learner(theory.vocabulary, counted, teacher.equivalent, **options)), counted.questions


def bodies(theory: HornTheory) -> set[frozenset[int]]:
    return {rule.body for rule in theory}


@cache
def canonical_bodies(theory: HornTheory) -> set[frozenset[int]]:
    return bodies(theory.canonical())


def assert_exact(steps, theory):
    assert isinstance(steps[-1].answer, Exact)
    assert steps[-1].hypothesis.equivalent(theory)
    assert not any(step.answer.positive for step in steps[:-1])


def assert_bounds(steps, questions, theory):
    """Hold queries against the theorem."""
    canonical, n = len(canonical_bodies(theory)), len(theory.vocabulary)
    assert len(steps) <= canonical * (n + 1) + 1
    assert questions <= len(steps) * (canonical + n + 1)


def test_there_are_as_many_horn_functions_as_known():
    assert [len(all_horn_functions(width)) for width in range(4)] == [2, 4, 14, 122]


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("policy", POLICIES)
def test_every_theory_over_three_variables_in_every_variant(policy, variant):
    for width in (1, 2, 3):
        for models in all_horn_functions(width):
            theory = theory_of(models, width)
            steps, _ = run(lrn_star, theory, policy, **VARIANTS[variant])
            assert_exact(steps, theory)
            assert bodies(steps[-1].hypothesis) == canonical_bodies(theory)


@pytest.mark.parametrize("policy", POLICIES)
def test_every_theory_over_four_variables_apart_from_names(policy):
    functions, rng = horn_functions_apart_from_names(4), np.random.default_rng(POLICIES.index(policy))
    assert len(functions) == 368
    for models in functions:
        theory = theory_of(rename(models, tuple(rng.permutation(4).tolist())), 4)
        steps, questions = run(lrn_star, theory, policy)
        assert_exact(steps, theory)
        assert bodies(steps[-1].hypothesis) == canonical_bodies(theory)
        assert_bounds(steps, questions, theory)


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("seed", range(4))
def test_random_theories_within_the_bounds(policy, seed):
    rng = np.random.default_rng(seed)
    theory = random_theory(int(rng.integers(8, 40)), int(rng.integers(3, 20)), (1, 4), rng)
    steps, questions = run(lrn_star, theory, policy, seed)
    assert_exact(steps, theory)
    assert bodies(steps[-1].hypothesis) == canonical_bodies(theory)
    assert_bounds(steps, questions, theory)
    for before, after in pairwise(step.hypothesis for step in steps):
        assert len(bodies(after)) <= len(canonical_bodies(theory))
        assert theory.entails(after) and not before.equivalent(after)


@pytest.mark.parametrize(("variables", "rules", "body"), [(100, 50, (2, 4)), (200, 60, (2, 20))])
def test_large_random_theories(variables, rules, body):
    theory = random_theory(variables, rules, body, np.random.default_rng(variables))
    steps, _ = run(lrn_star, theory, "inflated", rhs=by_groups, shrink=shrink_by_halves)
    assert_exact(steps, theory)
    assert bodies(steps[-1].hypothesis) == canonical_bodies(theory)


def test_plain_counterexamples_at_the_size_of_the_benchmark():
    theory = random_theory(100, 50, (2, 4), np.random.default_rng(0))
    steps, questions = run(lrn_star, theory, "violated", rhs=by_groups)
    assert_exact(steps, theory)
    assert len(steps) <= 52 and questions <= 1900


@pytest.mark.parametrize("policy", POLICIES)
def test_background_is_kept_and_not_learned_again(policy):
    theory = random_theory(20, 12, (1, 3), np.random.default_rng(1))
    background = HornTheory(theory.vocabulary, theory.rules[:6])
    steps, _ = run(lrn_star, theory, policy, background=background)
    without, _ = run(lrn_star, theory, policy)
    assert_exact(steps, theory)
    assert all(set(background) <= set(step.hypothesis) for step in steps)
    assert len(steps) < len(without)


@pytest.mark.parametrize("seed", range(6))
def test_horn1_learns_the_same(seed):
    rng = np.random.default_rng(seed)
    theory = random_theory(15, 8, (1, 3), rng)
    steps, _ = run(horn1, theory, "total")
    assert isinstance(steps[-1].answer, Exact) and steps[-1].hypothesis.equivalent(theory)


class TableTeacher:
    """A teacher for any set of total interpretations, as bit masks, which draws counterexamples at random.

    Each answer of `member` is wrong with probability `noise`; `answers` are all that were given.
    """

    def __init__(self, models: frozenset[int], width: int, seed: int, noise: float = 0.0) -> None:
        self.vocabulary = Vocabulary(f"v{i}" for i in range(width))
        self.rng, self.noise = np.random.default_rng(seed), noise
        values = np.arange(1 << width)[:, None] >> np.arange(width) & 1
        self.everything = Batch.from_array(values, self.vocabulary)
        self.truth = np.isin(np.arange(1 << width), list(models))
        self.answers: set[tuple[frozenset[int], bool]] = set()
        self.questions = 0

    def member(self, batch):
        numbers = [sum(1 << v for v in item.true) for item in batch]
        answers = self.truth[numbers] ^ (self.rng.random(len(numbers)) < self.noise)
        self.answers |= {(item.true, yes) for item, yes in zip(batch, answers.tolist(), strict=True)}
        self.questions += len(numbers)
        return answers

    def equivalent(self, hypothesis):
        wrong = np.flatnonzero(hypothesis.satisfied_by(self.everything) != self.truth)
        if not len(wrong):
            return Exact()
        chosen = int(self.rng.choice(wrong))
        item, positive = self.everything[chosen], bool(self.truth[chosen])
        self.answers.add((item.true, positive))
        return Counterexample(item, positive=positive)


def assert_horn1_learns(models, width, seed):
    teacher, theory = TableTeacher(models, width, seed), theory_of(models, width)
    *steps, last = horn1(teacher.vocabulary, teacher.member, teacher.equivalent)
    assert isinstance(last.answer, Exact) and last.hypothesis.equivalent(theory)
    bodies_of_theory, negative = len(canonical_bodies(theory)), [not step.answer.positive for step in steps]
    assert sum(negative) <= bodies_of_theory * (width + 1)
    assert teacher.questions <= bodies_of_theory * sum(negative)
    assert len(steps) <= bodies_of_theory * (width + 1) * (width + 2)


def test_horn1_learns_every_theory_over_three_variables_within_its_bound():
    for width in (1, 2, 3):
        for seed, models in enumerate(all_horn_functions(width)):
            assert_horn1_learns(models, width, seed)


def test_horn1_learns_every_theory_over_four_variables_apart_from_names_within_its_bound():
    for seed, models in enumerate(horn_functions_apart_from_names(4)):
        assert_horn1_learns(models, 4, seed)


def teachers_that_are_not_horn(count):
    """Teachers of random Boolean functions that are not Horn, and of any whose answers are noisy."""
    rng = np.random.default_rng(0)
    while count:
        width, noise = int(rng.integers(2, 6)), float(rng.choice([0, 0, 0.3]))
        models = frozenset(np.flatnonzero(rng.random(1 << width) < rng.choice([0.3, 0.6, 0.9])).tolist())
        horn = all(one & other in models for one in models for other in models)
        if noise or not horn:
            yield TableTeacher(models, width, count, noise), horn
            count -= 1


def ask_horn1(teacher):
    """The last step of HORN1, or why it refuses the teacher."""
    try:
        *_, last = horn1(teacher.vocabulary, teacher.member, teacher.equivalent)
    except NotHorn as refusal:
        return refusal
    return last


def test_horn1_ends_with_answers_that_no_horn_theory_gives_if_the_teacher_is_not_horn():
    of_two = of_one = 0
    for teacher, horn in teachers_that_are_not_horn(200):
        end = ask_horn1(teacher)
        if not isinstance(end, NotHorn):
            assert horn and isinstance(end.answer, Exact)
            continue
        assert {*((true, True) for true in end.accepted), (end.rejected, False)} <= teacher.answers
        assert frozenset.intersection(*end.accepted) == end.rejected
        assert str(end).startswith("the teacher is not Horn: it accepts {")
        of_one, of_two = of_one + (len(end.accepted) == 1), of_two + (len(end.accepted) == 2)
    assert of_two > 120 and of_one > 5


def test_horn1_refuses_what_is_no_counterexample():
    vocabulary = Vocabulary(["a", "b"])
    background = HornTheory.parse("a -> b", vocabulary)
    only_a = Interpretation(frozenset({0}), frozenset({1}))
    for positive, reason in [(True, "accepts {a}, which the background rejects"), (False, "agree on {a}")]:
        with pytest.raises(IncoherentTeacher, match=reason):
            list(horn1(vocabulary, background.satisfied_by, lambda hypothesis, positive=positive:
                       Counterexample(only_a, positive=positive), background=background))  # fmt: skip


@pytest.mark.parametrize("seed", range(6))
def test_horn1_takes_variables_with_duals_for_any_others(seed):
    vocabulary, rng = Vocabulary.with_duals(["a", "b", "c"]), np.random.default_rng(seed)
    theory = HornTheory.background(vocabulary) | HornTheory(
        vocabulary, random_theory(6, 5, (1, 2), rng).rules
    )
    steps, _ = run(horn1, theory, "total")
    assert isinstance(steps[-1].answer, Exact) and steps[-1].hypothesis.equivalent(theory)


def test_a_teacher_that_contradicts_itself_is_refused():
    vocabulary = Vocabulary(["a", "b"])
    everything = Interpretation(frozenset({0, 1}))

    def positive(hypothesis):
        return Counterexample(everything, positive=True)

    with pytest.raises(IncoherentTeacher, match="not Horn"):
        list(lrn_star(vocabulary, lambda batch: np.ones(len(batch), bool), positive))

    def negative(hypothesis):
        return Counterexample(everything)

    with pytest.raises(IncoherentTeacher, match="has no head"):
        list(lrn_star(vocabulary, lambda batch: np.ones(len(batch), bool), negative))


class AnyAnswers:
    """A teacher whose answers come from no formula; counterexamples are drawn at random."""

    def __init__(self, vocabulary: Vocabulary, seed: int) -> None:
        self.vocabulary, self.seed = vocabulary, seed
        self.questions: list[Interpretation] = []

    def accepts(self, item: Interpretation) -> bool:
        return np.random.default_rng([self.seed, *map(int, self.row(item))]).random() < 0.6

    def row(self, item: Interpretation):
        return [1 + (v in item.true) - (v in item.false) for v in range(len(self.vocabulary))]

    def member(self, batch: Batch):
        self.questions += batch
        return np.array([self.accepts(item) for item in batch], bool)

    def counterexamples(self, limit: int):
        """An equivalence oracle that gives negative counterexamples alone, and at most so many."""
        rng, given = np.random.default_rng(self.seed), iter(range(limit))

        def equivalent(hypothesis: HornTheory):
            values = rng.choice([0, 1, np.nan], (200, len(self.vocabulary)))
            for v, w in self.vocabulary.pairs:
                values[:, w] = 1 - values[:, v]
            batch = Batch.from_array(values, self.vocabulary)
            open_items = batch[np.flatnonzero(hypothesis.satisfied_by(batch))]
            wrong = (item for item in open_items if not self.accepts(item))
            found = next(wrong, None) if next(given, None) is not None else None
            return Unknown("enough") if found is None else Counterexample(found)

        return equivalent


def as_printed(teacher: AnyAnswers, limit: int) -> HornTheory:
    """Algorithms 1 and 2, one question at a time; what is asked again is answered from memory."""
    vocabulary, equivalent = teacher.vocabulary, teacher.counterexamples(limit)
    V, known = frozenset(range(len(vocabulary))), {}

    def MQ(P, N):
        pairs = [*vocabulary.pairs, *((w, v) for v, w in vocabulary.pairs)]
        P, N = P | {w for v, w in pairs if v in N}, N | {w for v, w in pairs if v in P}
        if (P, N) not in known:
            known[P, N] = teacher.member(Batch.from_interpretations([Interpretation(P, N)], vocabulary))[0]
        return known[P, N]

    def RHS(A):
        heads = {BOTTOM} if not MQ(A, frozenset()) else set()
        return heads or {v for v in V - A if not MQ(A, frozenset({v}))}

    S: list[frozenset[int]] = []
    h = background = HornTheory.background(vocabulary)
    while isinstance(answer := equivalent(h), Counterexample):
        A = V & h.closure(answer.interpretation.true)
        for i, A_i in enumerate(S):
            meet = A_i & A
            zeros = frozenset(v for v in V - meet if vocabulary.dual(v) is None)
            if meet < A_i and not MQ(meet, zeros):
                S[i] = meet
                break
        else:
            S.append(A)
        h = background | HornTheory(vocabulary, (Rule(A, u) for A in S for u in RHS(A)))
    return h


@pytest.mark.parametrize(
    "vocabulary", [Vocabulary(list("abcdef")), Vocabulary.with_duals("abcd")], ids=["plain", "duals"]
)
def test_lrn_star_asks_what_the_paper_prints_whatever_the_teacher(vocabulary):
    for seed in range(6):
        ours, theirs = AnyAnswers(vocabulary, seed), AnyAnswers(vocabulary, seed)
        background = HornTheory.background(vocabulary)
        *_, last = lrn_star(
            vocabulary, ours.member, ours.counterexamples(12), background=background, strict=False
        )
        assert set(last.hypothesis) == set(as_printed(theirs, 12))
        assert set(theirs.questions) <= set(ours.questions)  # ours asks for all heads, ⊥ or not


def pair_consistent(vocabulary: Vocabulary, values) -> Batch:
    totals = np.array(list(product(values, repeat=len(vocabulary) // 2)), float)
    return Batch.from_array(np.hstack([totals, 1 - totals]), vocabulary)


def test_theories_over_duals_are_learned_or_refused_for_what_they_are():
    vocabulary = Vocabulary.with_duals(["a", "b", "c"])
    everything, totals = (pair_consistent(vocabulary, values) for values in ([0, 1, np.nan], [0, 1]))
    rng = np.random.default_rng(0)
    for _ in range(60):
        drawn = random_theory(6, int(rng.integers(2, 9)), (1, 2), rng)
        constraints = (Rule(rng.choice(6, 2, replace=False).tolist(), BOTTOM) for _ in range(rng.integers(6)))
        theory = HornTheory.background(vocabulary) | HornTheory(vocabulary, (*drawn, *constraints))
        truth = theory.satisfied_by(everything)

        def equivalent(hypothesis, truth=truth):
            wrong = np.flatnonzero(hypothesis.satisfied_by(everything) != truth)
            if not len(wrong):
                return Exact()
            return Counterexample(everything[int(wrong[0])], positive=bool(truth[wrong[0]]))

        background = HornTheory.background(vocabulary)
        steps = lrn_star(vocabulary, theory.satisfied_by, equivalent, background=background)
        models, accepted = (
            [item.true for item, yes in zip(batch, theory.satisfied_by(batch), strict=True) if yes]
            for batch in (totals, everything)
        )
        incoherent = any(all(not true <= model for model in models) for true in accepted)
        try:
            *_, last = steps
        except IncoherentTeacher as error:
            reason = str(error)
        else:
            assert isinstance(last.answer, Exact)
            continue
        assert incoherent and "makes one of each pair of duals true" in reason


def test_a_theory_that_no_pair_consistent_interpretation_satisfies_is_learned():
    vocabulary = Vocabulary.with_duals(["a"])
    background = HornTheory.background(vocabulary)
    theory = background | HornTheory.parse("a -> false\nnot_a -> false", vocabulary)
    teacher = PerfectTeacher(theory)
    *_, last = lrn_star(vocabulary, teacher.member, teacher.equivalent, background=background)
    assert isinstance(last.answer, Exact)


def test_questions_over_a_paired_vocabulary_are_pair_consistent():
    vocabulary = Vocabulary.with_duals(["sunny", "warm", "jogging"])
    background = HornTheory.background(vocabulary)
    theory = background | HornTheory.parse("sunny & warm -> jogging\nnot_warm -> not_jogging", vocabulary)
    seen = []

    def member(batch):
        seen.extend(batch)
        return theory.satisfied_by(batch)

    def equivalent(hypothesis):
        totals = np.array(list(product([0.0, 1.0, np.nan], repeat=3)))
        batch = Batch.from_array(np.hstack([totals, 1 - totals]), vocabulary)
        wrong = np.flatnonzero(hypothesis.satisfied_by(batch) != theory.satisfied_by(batch))
        if not len(wrong):
            return Exact()
        return Counterexample(batch[int(wrong[0])], positive=bool(theory.satisfied_by(batch)[wrong[0]]))

    *_, last = lrn_star(vocabulary, member, equivalent, background=background, shrink=shrink_by_halves)
    assert isinstance(last.answer, Exact)
    for item in seen:
        for v, w in vocabulary.pairs:
            assert (v in item.true) == (w in item.false) and (v in item.false) == (w in item.true)
