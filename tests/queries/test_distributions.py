"""Laws of the distributions: consistency, the rates they promise, and independence of layout."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hornbook.errors import HornbookError
from hornbook.logic import BOTTOM, Batch, HornTheory, Rule, Vocabulary, bits
from hornbook.paper import NearMisses
from hornbook.queries import Distribution, Literals, Mixture, Random, Rows, Violations
from hornbook.queries.distributions import draw_bits, draw_one_hot

PAIRED = Vocabulary.with_duals([f"x{i}" for i in range(9)])
PLAIN = Vocabulary([f"x{i}" for i in range(9)])
MIXED = Vocabulary(["not_a", "b", "a", "c", "not_c", "d", "e", "f"], {"a": "not_a", "c": "not_c"})
GROUPS = ((0, 1, 2), (4, 5), (8,))
MANY = 60_000


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def within(share: float, expected: float, size: int = MANY) -> bool:
    """Six standard deviations: one false alarm in half a billion."""
    return abs(share - expected) <= 6 * np.sqrt(expected * (1 - expected) / size) + 1e-4


def rules_over(vocabulary: Vocabulary) -> HornTheory:
    generator = rng(7)
    rules = []
    for item in Random(vocabulary, 0.4).draw(12, generator):
        head = int(generator.integers(len(vocabulary)))
        rules.append(Rule(item.true - {head, vocabulary.dual(head)}, head))
    return HornTheory(vocabulary, [*rules, Rule({1, 3}, BOTTOM)]) | HornTheory.background(vocabulary)


def every_kind(vocabulary: Vocabulary) -> list[Distribution]:
    theory = rules_over(vocabulary)
    rows = Random(vocabulary, 0.2).draw(20, rng(3))
    kinds: list[Distribution] = [
        Random(vocabulary),
        Random(vocabulary, 0.0),
        Random(vocabulary, 1.0),
        Violations(theory, 0.3),
        NearMisses(theory, 0.3),
        Rows(rows),
        Rows(rows, missing=0.3, flips=0.2),
    ]
    return [*kinds, Mixture(tuple(kinds), tuple(range(1, 8)))]


ALL = [
    pytest.param(distribution, id=f"{name}-{number}-{distribution.kind}")
    for name, vocabulary in (("paired", PAIRED), ("plain", PLAIN), ("mixed", MIXED))
    for number, distribution in enumerate(every_kind(vocabulary))
]
GROUPED = [
    Random(PAIRED, 0.2, GROUPS),
    Random(PLAIN, 0.2, GROUPS),
    Random(MIXED, 0.2, ((2, 3, 1), (5, 6))),
    Violations(rules_over(PAIRED), 0.1, GROUPS),
    Violations(rules_over(PLAIN), 0.1, GROUPS),
    NearMisses(rules_over(PAIRED), 0.1, GROUPS),
    NearMisses(rules_over(PLAIN), 0.1, GROUPS),
]


@given(st.integers(0, 200), st.integers(0, 300), st.integers(0, 2**32))
def test_transposed_turns_the_bit_matrix_over(rows: int, size: int, seed: int) -> None:
    dense = rng(seed).random((rows, size)) < 0.5
    words = bits.pack_rows(dense)
    turned = bits.transpose(words, size)
    assert np.array_equal(bits.unpack_rows(turned, rows), dense.T)
    assert np.array_equal(bits.transpose(turned, rows), words)


@pytest.mark.parametrize("probability", [0, 1, 0.5, 1 / 3, 0.9, 2**-16, 0.001, 1 - 2**-16])
def test_biased_bits_are_set_as_often_as_they_should(probability: float) -> None:
    words = draw_bits((50, 400), probability, rng())
    thrown = bits.unpack_rows(words, 400 * 64)
    assert within(thrown.mean(), probability, thrown.size)
    if probability in (0, 1):
        assert thrown.all() == bool(probability)
    else:
        both = thrown[:, 1:] & thrown[:, :-1]
        assert within(both.mean(), probability**2, both.size)


@pytest.mark.parametrize("size", [1, 2, 3, 7])
def test_one_of_several_bits_is_set_each_as_likely(size: int) -> None:
    members = np.stack([bits.unpack_rows(words, 400 * 64) for words in draw_one_hot(size, (50, 400), rng())])
    assert (members.sum(axis=0) == 1).all()
    for share in members.mean(axis=(1, 2)):
        assert within(share, 1 / size, 50 * 400 * 64)


@pytest.mark.parametrize("distribution", ALL)
def test_draws_are_well_formed_batches(distribution: Distribution) -> None:
    assert isinstance(distribution, Distribution)
    for size in (0, 1, 63, 64, 65, 1000, 70_000):
        batch = distribution.draw(size, rng())
        assert len(batch) == size
        assert batch.true.shape == (len(distribution.vocabulary), bits.words_for(size))
        assert not (batch.true & batch.false).any()
        for rows in (batch.true, batch.false):
            cleared = rows.copy()
            bits.clear_spare(cleared, size)
            assert np.array_equal(rows, cleared)
        for v, w in distribution.vocabulary.pairs:
            assert np.array_equal(batch.true[v], batch.false[w])
            assert np.array_equal(batch.false[v], batch.true[w])


@pytest.mark.parametrize("distribution", ALL)
@pytest.mark.parametrize("kind", [np.int64, np.uint8])
def test_a_size_may_be_any_integer(distribution: Distribution, kind: type[np.integer]) -> None:
    assert distribution.draw(kind(70), rng()) == distribution.draw(70, rng())


@pytest.mark.parametrize("distribution", ALL)
def test_distributions_draws_are_decided_by_the_seed_and_stated_in_words(distribution: Distribution) -> None:
    assert distribution.draw(300, rng(5)) == distribution.draw(300, rng(5))
    assert str(distribution) == distribution.describe()


@pytest.mark.parametrize("vocabulary", [PAIRED, PLAIN, MIXED])
@pytest.mark.parametrize("missing", [0.0, 0.25, 1 / 3, 0.9])
def test_random_values_have_the_promised_rates(vocabulary: Vocabulary, missing: float) -> None:
    batch = Random(vocabulary, missing).draw(MANY, rng())
    true, false = (bits.unpack_rows(rows, MANY).mean(axis=1) for rows in (batch.true, batch.false))
    for share in (*true, *false):
        assert within(share, (1 - missing) / 2)


@pytest.mark.parametrize("distribution", GROUPED, ids=lambda d: d.kind)
def test_distributions_make_at_most_one_of_a_group_true(
    distribution: Random | Violations | NearMisses,
) -> None:
    batch = distribution.draw(5000, rng())
    for group in distribution.groups:
        assert (bits.unpack_rows(batch.true[list(group)], 5000).sum(axis=0) <= 1).all()
    for v, w in distribution.vocabulary.pairs:
        assert np.array_equal(batch.true[v], batch.false[w])


def test_a_complete_row_has_exactly_one_true_of_a_group_each_as_likely() -> None:
    batch = Random(PAIRED, 0.0, GROUPS).draw(MANY, rng())
    for group in GROUPS:
        members = bits.unpack_rows(batch.true[list(group)], MANY)
        assert (members.sum(axis=0) == 1).all()
        for share in members.mean(axis=1):
            assert within(share, 1 / len(group))


@pytest.mark.parametrize("vocabulary", [PAIRED, PLAIN, MIXED])
def test_violations_violate_a_rule_and_every_rule_equally(vocabulary: Vocabulary) -> None:
    distribution = Violations(rules_over(vocabulary), 0.3)
    batch = distribution.draw(4000, rng())
    assert not distribution.theory.satisfied_by(batch).any()
    violated = [
        np.bitwise_and.reduce(
            [*batch.true[list(rule.body)], *([] if rule.head is BOTTOM else [batch.false[rule.head]])]
        )
        for rule in distribution.rules
    ]
    assert bits.flat(np.bitwise_or.reduce(violated), 4000).all()
    single = Violations(HornTheory(vocabulary, distribution.rules[:1]), 0.3)
    rule = single.rules[0]
    drawn = single.draw(MANY, rng())
    touched = {*rule.body, rule.head}
    touched |= {vocabulary.dual(v) for v in touched if v is not BOTTOM} - {None}
    for v in set(range(len(vocabulary))) - touched:
        assert within(bits.flat(drawn.true[v] | drawn.false[v], MANY).mean(), 0.7)


def test_each_rule_is_violated_as_often_as_another() -> None:
    theory = HornTheory(PAIRED, [Rule({0, 1}, 2), Rule({9, 1}, 2)])
    batch = Violations(theory).draw(MANY, rng())
    assert within(bits.flat(batch.true[0], MANY).mean(), 1 / 2)


@pytest.mark.parametrize("vocabulary", [PAIRED, PLAIN])
def test_near_misses_change_one_literal_each_as_often(vocabulary: Vocabulary) -> None:
    distribution = NearMisses(HornTheory(vocabulary, [Rule(range(4), 8)]), 0.5)
    batch = distribution.draw(MANY, rng())
    true, false = (bits.unpack_rows(rows, MANY)[:4] for rows in (batch.true, batch.false))
    assert (true.sum(axis=0) == 3).all()
    assert (false.sum(axis=0) == 1).all()
    for share in true.mean(axis=1):
        assert within(share, 3 / 4)
    assert bits.flat(batch.false[8], MANY).all()
    assert distribution.theory.satisfied_by(batch).all()


def test_near_misses_keep_the_head_false_even_if_its_dual_is_in_the_body() -> None:
    theory = HornTheory(PAIRED, [Rule({0, PAIRED.dual(8) or 0}, 8)])
    batch = NearMisses(theory).draw(500, rng())
    assert bits.flat(batch.false[8] & batch.false[0], 500).all()


def test_rows_are_drawn_as_they_are_and_all_alike() -> None:
    rows = Random(MIXED, 0.3).draw(5, rng(2))
    drawn = list(Rows(rows).draw(5_000, rng()))
    for row in rows:
        assert within(drawn.count(row) / 5_000, list(rows).count(row) / 5, 5_000)
    assert set(drawn) == set(rows)


def test_rows_are_spoiled_at_the_promised_rates() -> None:
    rows = Batch.from_array([[1, 1, 0, np.nan]], Vocabulary(["a", "b", "c", "d"]))
    batch = Rows(rows, missing=0.2, flips=0.1).draw(MANY, rng())
    true, false = (bits.unpack_rows(words, MANY).mean(axis=1) for words in (batch.true, batch.false))
    assert within(true[0], 0.8 * 0.9)
    assert within(false[0], 0.8 * 0.1)
    assert within(true[2], 0.8 * 0.1)
    assert true[3] == false[3] == 0


def test_a_mixture_knows_where_each_item_came_from() -> None:
    known, unknown = Random(PAIRED, 0.0), Random(PAIRED, 1.0)
    batch, component = Mixture((known, unknown), (1, 3)).draw_labelled(MANY, rng())
    assert np.array_equal(bits.flat(batch.true[0] | batch.false[0], MANY), component == 0)
    assert within((component == 1).mean(), 0.75)
    assert within((component[1:] == component[:-1]).mean(), 0.75**2 + 0.25**2)


@pytest.mark.parametrize("groups", [(), ((2, 3, 4),)])
def test_an_item_of_a_mixture_is_as_its_own_component_draws_it(groups: tuple[tuple[int, ...], ...]) -> None:
    """Two literals are as often true together."""
    theory = rules_over(PAIRED)
    components = (
        Violations(theory, 0.3, groups),
        Random(PAIRED, 0.3, groups),
        Rows(Random(PAIRED, 0.2, groups).draw(20, rng(3))),
        NearMisses(theory, 0.3, groups),
        Violations(theory, 0.8, groups),
        Rows(Random(PAIRED).draw(5, rng(4)), missing=0.1),
    )
    mixture = Mixture(components, (3, 3, 1, 1, 2, 1))
    batch, origin = mixture.draw_labelled(2 * MANY, rng())
    for number, component in enumerate(components):
        size = int((origin == number).sum())
        ours, alone = (
            together(batch[np.flatnonzero(origin == number)]),
            together(component.draw(size, rng(1))),
        )
        assert (abs(ours - alone) <= 6 * np.sqrt(2 * alone * (1 - alone) / size) + 20 / size).all()


def together(batch: Batch) -> np.ndarray:
    """For each two literals, the share of items in which both are true."""
    known = np.hstack([bits.unpack(words, len(batch)) for words in (batch.true, batch.false)]).astype(
        np.float64
    )
    return known.T @ known / len(batch)


def test_the_readable_literals_are_the_rows_of_the_batch() -> None:
    literals = Literals.of(MIXED, ((2, 3),))
    batch = Random(MIXED, 0.3).draw(100, rng())
    true, false = literals.halves(bits.transpose(literals.table_of(batch), 2 * literals.count))
    whole = literals.mirror(true, false)
    assert np.array_equal(whole[0][:, : batch.true.shape[1]], batch.true)
    assert np.array_equal(whole[1][:, : batch.true.shape[1]], batch.false)


THEORY = HornTheory(PAIRED, [Rule({0, 1}, 2)])


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Random(PAIRED, 1.5), "missing is a share between 0 and 1; got 1.5"),
        (lambda: Random(PAIRED, 0.5, ((0, 99),)), "outside the 18"),
        (lambda: Random(PAIRED, 0.5, ((0, 1), (1, 2))), "'x1', or its dual, is in a group already"),
        (lambda: Random(PAIRED, 0.5, ((0, 9),)), "'not_x0', or its dual"),
        (lambda: Random(PAIRED).draw(-1, rng()), "cannot draw -1"),
        (lambda: Violations(HornTheory.background(PAIRED)), "none of the 9 rules can serve"),
        (lambda: Violations(THEORY, groups=((0, 1),)), "none of the 1 rules"),
        (lambda: NearMisses(HornTheory(PAIRED, [Rule((), 2)])), "no body literal to change"),
        (lambda: Rows(Random(PAIRED).draw(0, rng())), "no rows"),
        (lambda: Rows(Random(PAIRED).draw(3, rng()), flips=-1), "flips is a share"),
        (lambda: Rows(Batch.from_array(np.ones((2, 18)), PAIRED)), "row 0 does not give 'x0' and 'not_x0'"),
        (lambda: Mixture((), ()), "one weight a component"),
        (lambda: Mixture((Random(PAIRED),), (-1,)), "not negative"),
        (lambda: Mixture((Random(PAIRED),), (0,)), "not all zero"),
        (lambda: Mixture((Random(PAIRED), Random(PLAIN)), (1, 1)), "over one vocabulary"),
    ],
)
def test_mixture_bad_input_is_refused_with_a_reason(make: object, message: str) -> None:
    with pytest.raises(HornbookError, match=message.replace("(", r"\(")):
        make()  # type: ignore[operator]
