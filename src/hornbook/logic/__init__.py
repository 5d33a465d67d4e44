"""Horn logic over partial interpretations: vocabularies, rules, theories, batches."""

from hornbook.logic.batch import Batch, Interpretation
from hornbook.logic.bits import Bools, Words
from hornbook.logic.rule import BOTTOM, Bottom, Head, Rule
from hornbook.logic.theory import Derivation, HornTheory, random_theory
from hornbook.logic.vocabulary import Vocabulary

__all__ = [
    "BOTTOM",
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
    "random_theory",
]
