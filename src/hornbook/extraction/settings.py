"""How an extraction is run, and what ties its trace to it."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from hornbook.distributions import Distribution
from hornbook.logic.errors import HornbookError
from hornbook.logic.formats import to_json
from hornbook.logic.rule import Bottom, Head
from hornbook.logic.theory import HornTheory
from hornbook.logic.vocabulary import Vocabulary
from hornbook.queries import Budget

SHARES = {"stored": 0.5, "rules": 0.0, "sampling": 0.25, "guided": 0.25}
"""Half of the queries are answered from the pool; fresh samples keep it from being learned by heart.

Rule by rule is asked only when the pool has nothing: its question is decisive late in a run.
"""


@dataclass(frozen=True)
class Settings:
    """How an extraction is run.

    Parameters
    ----------
    budget
        What the run may spend.
    size, epsilon, delta
        How many samples an equivalence query draws, see `hornbook.intervals.sample_size`.
    min_precision
        The share of what a rule newly rejects that the model must reject too. It trades the
        number and the length of rules for fidelity.
    shares
        By name, the share of the equivalence queries that an oracle may answer before the others
        are asked; see `hornbook.oracles.chain`.
    pool
        How many labelled samples rules are weighed by from the start.
    tries
        How many rules are tried for each counterexample.
    max_rules
        How many rules there may be, the background aside; past that the least useful ones go.
    evaluation
        How many labelled samples are held out: every hypothesis and every rule is measured on
        them, and no rule is ever weighed by them.
    coherence
        On how many samples the teacher's answers are held against its answers about completions
        of them; 0 for none.
    seed
        Makes the run repeatable.

    """

    budget: Budget = Budget(equivalence_queries=100)  # noqa: RUF009 (frozen)
    size: str | int = "paper"
    epsilon: float = 0.1
    delta: float = 0.1
    min_precision: float = 0.9
    shares: Mapping[str, float] = field(default_factory=lambda: dict(SHARES))
    pool: int = 1 << 17
    tries: int = 4
    max_rules: int = 100
    evaluation: int = 1 << 16
    coherence: int = 512
    seed: int = 0

    def __post_init__(self) -> None:
        if not 0 < self.min_precision <= 1:
            raise HornbookError(f"min_precision is above 0 and at most 1; got {self.min_precision}")
        for name, least in (
            ("pool", 1),
            ("tries", 1),
            ("max_rules", 1),
            ("evaluation", 1),
            ("coherence", 0),
            ("seed", 0),
        ):
            if getattr(self, name) < least:
                raise HornbookError(f"{name} is at least {least}; got {getattr(self, name)}")


def identity(
    settings: Settings,
    distribution: Distribution,
    background: HornTheory | None,
    heads: Sequence[Head] | None,
    guided: object,
) -> dict[str, Any]:
    """What a trace is tied to: everything that decides the steps of a run, but for the teacher.

    How long a run may be is no part of it: a run may go on with a larger budget.
    """
    vocabulary = distribution.vocabulary
    said = {name: value for name, value in asdict(settings).items() if name != "budget"}
    return said | {
        "distribution": distribution.settings(),
        "vocabulary": _digest(to_json(vocabulary, ())),
        "background": _digest(to_json(vocabulary, background or ())),
        "heads": None if heads is None else [_head_name(vocabulary, head) for head in heads],
        "guided": guided is not None,
    }


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _head_name(vocabulary: Vocabulary, head: Head) -> str | None:
    return None if isinstance(head, Bottom) else vocabulary.name(head)
