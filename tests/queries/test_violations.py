"""Imposed violations: violated indeed, consistent, and otherwise as the distribution drew it."""

import numpy as np
import pytest

from hornbook.errors import HornbookError
from hornbook.logic import BOTTOM, HornTheory, Rule, Vocabulary
from hornbook.queries import Distribution, Random, Rows, Violations, smallest_violations

PAIRED = Vocabulary.with_duals([f"x{i}" for i in range(9)])
PLAIN = Vocabulary([f"x{i}" for i in range(9)])
GROUPS = ((0, 1, 2), (4, 5))


def rng(seed=0):
    return np.random.default_rng(seed)


def theory(vocabulary):
    return HornTheory(vocabulary, [Rule({0, 3}, 4), Rule({5, 7}, BOTTOM), Rule({1}, 8), Rule({2}, 2)])


@pytest.mark.parametrize("vocabulary", [PLAIN, PAIRED])
@pytest.mark.parametrize("groups", [(), GROUPS])
def test_a_rule_is_violated_and_all_else_consistent(vocabulary, groups):
    source = Violations(theory(vocabulary), groups=groups, rest=Random(vocabulary, groups=groups))
    batch = source.draw(1000, rng())
    assert not theory(vocabulary).satisfied_by(batch).any()
    values = batch.to_array()
    for v, w in vocabulary.pairs:
        np.testing.assert_array_equal(values[:, v], 1 - values[:, w])
    for group in groups:
        assert ((values[:, list(group)] == 1).sum(axis=1) <= 1).all()


@pytest.mark.parametrize("vocabulary", [PLAIN, PAIRED])
def test_what_the_rule_does_not_demand_is_as_it_was(vocabulary):
    row = Random(vocabulary, 0.3).draw(1, rng(1))
    alone = HornTheory(vocabulary, [Rule({0, 3}, 4)])
    (needed,) = smallest_violations(alone)
    (drawn,) = Violations(alone, rest=Rows(row)).draw(1, rng())
    touched = needed.true | needed.false
    assert drawn.true == needed.true | (row[0].true - touched)
    assert drawn.false == needed.false | (row[0].false - touched)


def test_rules_without_a_violation_are_passed_over():
    claims = HornTheory(PAIRED, [Rule({0}, 0), Rule({0, 9}, BOTTOM), Rule({0, 1}, BOTTOM), Rule({3}, 12)])
    assert len(smallest_violations(claims)) == 2 and len(smallest_violations(claims, GROUPS)) == 1
    with pytest.raises(HornbookError, match="none of the 2 rules can serve"):
        Violations(HornTheory(PAIRED, claims.rules[:2]), rest=Random(PAIRED))


def test_it_is_a_distribution_that_says_what_it_is():
    source = Violations(theory(PLAIN), groups=GROUPS, rest=Random(PLAIN))
    assert isinstance(source, Distribution)
    assert source.describe() == str(source)
    assert str(source).splitlines() == [
        "violations of one of 3 rules, "
        "imposed on: random interpretations of 9 variables, each value unknown with probability 33.3 %"
    ]
    assert len(source.draw(0, rng())) == 0


def test_imposed_violations_bad_settings_are_refused():
    with pytest.raises(HornbookError, match="different vocabularies"):
        Violations(theory(PLAIN), rest=Random(PAIRED))
