"""Horn logic over partial interpretations: vocabularies, rules, theories, batches."""

from hornbook.logic.batch import Batch, Interpretation
from hornbook.logic.bits import Bools, Words
from hornbook.logic.formats import (
    UNICODE,
    head_text,
    quote,
    read_rule,
    rule_object,
    rule_text,
    vocabulary_forms,
)
from hornbook.logic.rule import BOTTOM, NEGATION_PREFIX, Bottom, Head, Rule, Vocabulary, fresh_name
from hornbook.logic.theory import Derivation, HornTheory, random_theory, violation

__all__ = [
    "BOTTOM",
    "NEGATION_PREFIX",
    "UNICODE",
    "Batch",
    "Bools",
    "Bottom",
    "Derivation",
    "Head",
    "HornTheory",
    "Interpretation",
    "Rule",
    "Vocabulary",
    "Words",
    "fresh_name",
    "head_text",
    "quote",
    "random_theory",
    "read_rule",
    "rule_object",
    "rule_text",
    "violation",
    "vocabulary_forms",
]
