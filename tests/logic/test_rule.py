"""Vocabularies and rules: lookups, duals, and what is refused."""

import pytest

import hornbook
from hornbook.errors import HornbookError
from hornbook.logic import BOTTOM, HornTheory, Rule, Vocabulary


def test_vocabulary_lookups():
    vocabulary = Vocabulary(["horse", "wings"])
    assert vocabulary.variables(["wings"]) == {1}
    assert vocabulary.named({1, 0}) == ("horse", "wings")
    assert "horse" in vocabulary and "cow" not in vocabulary and list(vocabulary) == ["horse", "wings"]
    assert not vocabulary.has_duals and vocabulary.dual(0) is None


def test_vocabulary_duals_are_mutual():
    vocabulary = Vocabulary(["a", "not_a", "b"], {"a": "not_a"})
    assert vocabulary.duals == (1, 0, None)
    assert vocabulary.pairs == ((0, 1),)
    assert Vocabulary(["a", "not_a"], {"a": "not_a", "not_a": "a"}).pairs == ((0, 1),)


@pytest.mark.parametrize(
    ("names", "duals", "message"),
    [
        (["a", "b", "a"], None, "'a' appears twice, at 0 and 2"),
        (["a", ""], None, "name 1 is ''"),
        (["a", 3], None, "name 1 is 3"),
        ("abc", None, "not the string 'abc'"),
        (["a", "b", "c"], {"a": "b", "c": "b"}, "contradictory duals: 'b' is paired with 'a' and with 'c'"),
        (["a", "b", "c"], {"a": "b", "b": "c"}, "contradictory duals: 'b' is paired with 'a' and with 'c'"),
        (["a"], {"a": "a"}, "cannot be its own dual"),
        (["alpha"], {"alpah": "alpha"}, "unknown name 'alpah'; did you mean 'alpha'"),
    ],
)
def test_vocabulary_bad_vocabularies_are_refused(names, duals, message):
    with pytest.raises(HornbookError, match=message):
        Vocabulary(names, duals)


def test_vocabulary_unknown_names_come_with_a_suggestion():
    theory = HornTheory.parse("horse & wings -> pegasus")
    with pytest.raises(HornbookError, match="unknown name 'hrose'; did you mean 'horse'"):
        theory.closure(["hrose"])
    with pytest.raises(HornbookError, match="line 1: unknown name 'zebra'"):
        theory.entails("zebra -> horse")


def test_rules_are_made_of_variables_in_the_vocabulary():
    with pytest.raises(HornbookError, match=r"Rule.of\(vocabulary, body, head\)"):
        Rule({"horse"}, "pegasus")
    with pytest.raises(HornbookError, match="variable 5 is outside the vocabulary of 2 names"):
        HornTheory(Vocabulary(["a", "b"]), [Rule({0}, 5)])
    with pytest.raises(HornbookError, match="facts are a set of names"):
        HornTheory.parse("a -> b").closure("a")


def test_a_theory_is_a_set_of_rules():
    vocabulary = Vocabulary(["a", "b"])
    assert len(HornTheory(vocabulary, [Rule({0}, 1), Rule([0, 0], 1), Rule({0}, BOTTOM)])) == 2


def test_logic_every_exported_name_exists():
    assert all(hasattr(hornbook, name) for name in hornbook.__all__)
    assert {"Vocabulary", "Rule", "HornTheory", "Batch", "BOTTOM"} <= set(hornbook.__all__)
