"""Laws of the target theory, of training sets and of their splits."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from laws import draw_examples

from hornbook.errors import HornbookError
from hornbook.logic import BOTTOM, Batch, Rule, Vocabulary
from hornbook.paper.networks import Examples, assign_parts, split_examples
from hornbook.paper.task import (
    HARD_PROTOCOL,
    PAPER_PROTOCOL,
    Protocol,
    Recipe,
    draw_training_set,
    quotas,
    violating_body,
)
from hornbook.queries import Mixture, Random, Rows, Violations, target_theory

VOCABULARY = Vocabulary.with_duals([*(f"x{i}" for i in range(30)), "label"])
LABEL, NOT_LABEL = VOCABULARY.index("label"), VOCABULARY.index("not_label")


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def some_rows(size: int = 40, seed: int = 1) -> Batch:
    dense = Random(VOCABULARY, 0.1).draw(size, rng(seed)).to_array()
    dense[:, LABEL] = rng(seed).integers(0, 2, size)
    dense[:, NOT_LABEL] = 1 - dense[:, LABEL]
    return Batch.from_array(dense, VOCABULARY)


def with_other_class(rows: Batch) -> Batch:
    dense = rows.to_array()
    dense[:, [LABEL, NOT_LABEL]] = dense[:, [NOT_LABEL, LABEL]]
    return Batch.from_array(dense, VOCABULARY)


ROWS = some_rows()
THEORY = target_theory(ROWS, "label")
RECIPE = HARD_PROTOCOL.recipe(THEORY, ROWS)
EXAMPLES = draw_training_set(THEORY, RECIPE, rng())


def same(left: Examples, right: Examples) -> bool:
    return (
        left.batch == right.batch
        and np.array_equal(left.accepted, right.accepted)
        and np.array_equal(left.kinds, right.kinds)
    )


@given(st.integers(1, 60), st.integers(0, 10**6))
@draw_examples(0.75)
def test_rows_satisfy_their_theory_and_violate_it_with_the_other_class(size: int, seed: int) -> None:
    rows = some_rows(size, seed)
    theory = target_theory(rows, "label")
    assert len(theory) == size + 31
    assert theory.satisfied_by(rows).all()
    assert not theory.satisfied_by(with_other_class(rows)).any()


def test_rows_in_conflict_are_refused_or_dropped() -> None:
    rows = Batch.concatenate([ROWS, with_other_class(ROWS)[:3]])
    with pytest.raises(HornbookError, match=r"6 rows \(1, 2, 3, 41, 42 …\) contradict"):
        target_theory(rows, "label")
    theory = target_theory(rows, "label", conflicts="drop")
    assert len(theory) == 37 + 31
    assert theory.satisfied_by(ROWS).all()


def test_bad_rows_are_refused() -> None:
    dense = ROWS.to_array()
    dense[3, [LABEL, NOT_LABEL]] = np.nan
    with pytest.raises(HornbookError, match="row 4 has no value for the label 'label'"):
        target_theory(Batch.from_array(dense, VOCABULARY), "label")
    with pytest.raises(HornbookError, match="unknown name 'labels'; did you mean 'label'"):
        target_theory(ROWS, "labels")
    plain = Vocabulary(["a", "label"])
    with pytest.raises(HornbookError, match=r"needs the dual of every variable: Binariser"):
        target_theory(Batch.from_array([[1, 1]], plain), "label")


def test_draw_training_set_is_balanced_distinct_and_labelled_by_the_theory() -> None:
    assert len(EXAMPLES) == 400
    assert EXAMPLES.accepted.sum() == 200
    assert np.array_equal(EXAMPLES.accepted, THEORY.satisfied_by(EXAMPLES.batch))
    assert len(set(EXAMPLES.batch)) == 400
    counted = {kind: int((EXAMPLES.kinds == kind).sum()) for kind in set(EXAMPLES.kinds.tolist())}
    assert counted == {"random": 180, "row": 10, "near miss": 10, "violation": 200}
    assert set(EXAMPLES[EXAMPLES.kinds == "row"].batch) <= set(ROWS)
    assert same(draw_training_set(THEORY, RECIPE, rng(4)), draw_training_set(THEORY, RECIPE, rng(4)))


def test_the_recipe_is_a_parameter_that_states_itself() -> None:
    recipe = Protocol("half", hard_share=0.5, sizes=(30, 10)).recipe(THEORY)
    examples = draw_training_set(THEORY, recipe, rng())
    assert int((examples.kinds == "near miss").sum()) == 15
    assert len(examples) == 40


def test_an_impossible_recipe_ends_with_a_reason() -> None:
    recipe = Recipe(Rows(ROWS), Violations(THEORY), (41, 10))
    with pytest.raises(
        HornbookError, match="found 40 distinct accepted examples of 41 wanted in 40 real rows"
    ):
        draw_training_set(THEORY, recipe, rng())
    never = Recipe(Rows(ROWS), Rows(ROWS), (1, 1))
    with pytest.raises(HornbookError, match="found 0 distinct rejected"):
        draw_training_set(THEORY, never, rng())


def test_the_paper_protocol_has_no_examples_of_ours() -> None:
    """Accepted examples are random, and a rejected one knows little beside the rule that it violates."""
    examples = draw_training_set(THEORY, PAPER_PROTOCOL.recipe(THEORY, ROWS), rng())
    assert set(examples.kinds[examples.accepted].tolist()) == {"random"}
    assert set(examples.kinds[~examples.accepted].tolist()) == {"violation"}
    bodies = [violating_body(rule, VOCABULARY) for rule in THEORY]
    beside = [
        min(len(item.true - body) for body in bodies if body <= item.true)
        for item in examples[~examples.accepted].batch
    ]
    assert 0 < np.mean(beside) < 1, "of three or so open values one in twenty is known"


@given(st.floats(0, 1))
@draw_examples(0.5)
def test_protocol_mixed_is_half_violations_and_half_as_the_accepted_examples(hard: float) -> None:
    mixed = Protocol("any", hard_share=hard).mixed(THEORY, ROWS)
    shares = dict.fromkeys(("violation", "random", "row", "near miss"), 0.0)
    for component, share in zip(mixed.components, mixed.shares, strict=True):
        shares[component.kind] += share
    expected = (0.5, (1 - hard) / 2, hard / 4, hard / 4)
    np.testing.assert_allclose(list(shares.values()), expected, atol=1e-9)


def test_violating_body_is_the_same_on_either_side_of_the_class() -> None:
    body = frozenset({0, 5})
    assert violating_body(Rule(body, LABEL), VOCABULARY) == body | {NOT_LABEL}
    assert violating_body(Rule(body, LABEL), VOCABULARY) == violating_body(
        Rule(body | {NOT_LABEL}, BOTTOM), VOCABULARY
    )


@given(st.lists(st.floats(0.01, 10), min_size=1, max_size=5), st.integers(0, 300))
def test_quotas_sum_to_the_size_and_are_the_shares_rounded(weights: list[float], size: int) -> None:
    component = Random(VOCABULARY)
    mixture = Mixture((component,) * len(weights), tuple(weights))
    counts = [count for _, count in quotas(Mixture((mixture,), (1,)), size)]
    assert sum(counts) == size
    assert all(abs(count - size * share) < 1 for count, share in zip(counts, mixture.shares, strict=True))


@pytest.mark.parametrize("shares", [(0.8, 0.2), (1, 1, 1), (1, 1, 1, 1, 1)])
def test_assign_parts_gives_each_part_its_share_of_every_kind(shares: tuple[float, ...]) -> None:
    part = assign_parts(EXAMPLES, shares, rng())
    assert set(part.tolist()) == set(range(len(shares)))
    for kind in set(EXAMPLES.kinds.tolist()):
        of_kind = part[EXAMPLES.kinds == kind]
        for number, share in enumerate(np.array(shares) / sum(shares)):
            assert abs((of_kind == number).sum() - share * len(of_kind)) <= 2


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: split_examples(EXAMPLES, rng(), test=1.0), "strictly between 0 and 1; got 1.0"),
        (lambda: Examples(ROWS, np.ones(3, np.bool_), np.full(40, "row")), "as many labels and kinds"),
    ],
)
def test_examples_that_cannot_be_are_refused_with_a_reason(call: object, message: str) -> None:
    with pytest.raises(HornbookError, match=message):
        call()  # type: ignore[operator]


def test_the_rules_of_rows_have_class_heads_and_pairs_have_none() -> None:
    heads = {rule.head for rule in THEORY}
    assert heads == {LABEL, NOT_LABEL, BOTTOM}
