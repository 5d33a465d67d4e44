"""Blame finds a guilty rule."""

from hypothesis import given
from hypothesis import strategies as st
from laws import draw_examples
from logic_strategies import theories
from pools import PAIRED

from hornbook.logic import BOTTOM, Batch, HornTheory, Interpretation, Rule, Vocabulary
from hornbook.queries import Counted, interpretation
from hornbook.queries.prime import blame


@given(st.data())
@draw_examples(1.5)
def test_blame_falls_on_a_rule_of_the_derivation(data):
    hypothesis = data.draw(theories(6, 8))
    width = len(hypothesis.vocabulary)
    values = data.draw(st.lists(st.sampled_from([0, 1, None]), min_size=width, max_size=width))
    witness = Interpretation(
        frozenset(v for v, value in enumerate(values) if value == 1),
        frozenset(v for v, value in enumerate(values) if value == 0),
    )
    batch = Batch.from_interpretations([witness], hypothesis.vocabulary)
    if hypothesis.satisfied_by(batch)[0]:
        return
    true_rules = data.draw(theories(width, 4)).rules
    truth = HornTheory(
        hypothesis.vocabulary,
        [r for r in true_rules if max([*r.body, 0]) < width and (r.head is BOTTOM or r.head < width)],
    )
    if not truth.satisfied_by(batch)[0]:
        return
    rule = blame(truth.satisfied_by, hypothesis, witness)
    # the rule is wrong: the truth, which accepts the witness, does not entail it
    assert rule in hypothesis.rules and not truth.entails(rule)
    fires_on = hypothesis.closure(witness.true)
    assert rule.body <= fires_on and rule.head in fires_on


def test_blame_walks_a_chain():
    names = Vocabulary(list("abcdef"))
    chain = [Rule({v}, v + 1) for v in range(5)]
    for wrong in range(5):
        truth = HornTheory(names, [rule for rule in chain if rule.head != wrong + 1])
        counted = Counted(truth.satisfied_by)
        witness = Interpretation(frozenset({0}), frozenset({5}))
        assert blame(counted, HornTheory(names, chain), witness) == chain[wrong]
        assert counted.questions == 4 and counted.batches == 1


def test_blame_in_a_paired_vocabulary():
    truth = HornTheory.parse("x0 -> x1", PAIRED) | HornTheory.background(PAIRED)
    wrong = HornTheory.background(PAIRED) | HornTheory.parse("x0 -> x1\nx1 -> x2\nx1 -> not_x2", PAIRED)
    witness = interpretation(PAIRED, {0}, {3})
    assert truth.satisfied_by(Batch.from_interpretations([witness], PAIRED))[0]
    rule = blame(truth.satisfied_by, wrong, witness)
    assert rule in wrong.rules and rule not in truth.rules
