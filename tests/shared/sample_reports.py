"""Reports to look at: an ordinary one, one of any size, one with hostile names."""

import numpy as np

from hornbook.cards import Card, Item
from hornbook.classify import Point as Weighed
from hornbook.evaluate import Fidelity
from hornbook.learners import DisagreementPoint
from hornbook.logic import HornTheory, Rule, Vocabulary
from hornbook.queries import Budget, Exact, Pac, interpretation
from hornbook.report.content import Caveats, ConvergencePoint, Cost, DisagreeingRow, Report, ReportedRule
from hornbook.statistics import Share
from hornbook.trees import Split, Tree

FACTS = ("ascites", "albumin=low", "albumin=middle", "albumin=high", "smoker")

WORDS = {
    "albumin=low": "albumin ≤ 2.9 g/dL",
    "albumin=middle": "2.9 g/dL < albumin ≤ 4.1 g/dL",
    "albumin=high": "albumin > 4.1 g/dL",
    "not_albumin=low": "albumin > 2.9 g/dL",
    "not_albumin=middle": "albumin ≤ 2.9 or > 4.1 g/dL",
    "not_albumin=high": "albumin ≤ 4.1 g/dL",
    "not_ascites": "no ascites",
    "not_smoker": "no smoker",
    "not_survives": "does not survive",
}

RULES = """
"albumin=high" & not_ascites -> survives
ascites & "albumin=low" -> not_survives
"albumin=low" & smoker -> not_survives
"""


def clinic(**changes) -> Report:
    """Three rules about survival."""
    vocabulary = Vocabulary.with_duals([*FACTS, "survives"])
    theory = HornTheory.parse(RULES, vocabulary)
    shares = [(400, 390), (200, 200), (20, 13)]
    curve = tuple(
        DisagreementPoint(n, 3 * n, Share.of(hits, 1000)) for n, hits in enumerate((300, 120, 60, 40))
    )
    parts = {
        "title": "What the network says about survival",
        "labels": ("survives",),
        "background": HornTheory.background(vocabulary),
        "rules": tuple(
            ReportedRule(rule, Share.of(support, 1000), Share.of(right, support), guarantee)
            for rule, (support, right), guarantee in zip(theory, shares, (Exact(), None, None), strict=True)
        ),
        "words": WORDS,
        "groups": ((1, 2, 3),),
        "guarantee": Pac(0.05, 0.1, "165 patients"),
        "fidelity": Fidelity(samples=Share.of(960, 1000), unseen_rows=Share.of(95, 100)),
        "undetermined": Share.of(100, 1000),
        "default": "does not survive",
        "stop_reason": "equivalent",
        "cost": Cost(4, 1_250_000, 75.0, Budget(equivalence_queries=100)),
        "caveats": Caveats("165 patients", Share.of(3, 1000), Share.of(1, 165), ("Few patients smoke.",)),
        "model": (("file", "model.onnx"),),
        "data": (("table", "patients.csv"),),
        "settings": (("seed", "0"),),
        "curve": curve,
        "convergence": tuple(ConvergencePoint(n, 1000 * n, n / 2, point) for n, point in enumerate(curve, 1)),
        "disagreements": (
            DisagreeingRow(
                "row 7",
                interpretation(vocabulary, {0, 1}, {4}),
                model="survives",
                rules="does not survive",
            ),
        ),
    }
    return Report(**{**parts, **changes})


def scored() -> Report:
    """A card in place of the rules."""
    features = Vocabulary.with_duals(FACTS)
    lines = (Item(frozenset({3}), 3, 1), Item(frozenset({0}), -2, -1), Item(frozenset({1, 4}), -1))
    weighed = [(2, 0.8), (3, 0.95)]
    return clinic(
        rules=(),
        decider=Card(features, "survives", lines, 1),
        undetermined=None,
        default=None,
        curve=tuple(
            Weighed("card", size, size, Share.of(round(1000 * agreed), 1000), agreed, Share.of(0, 1000))
            for size, agreed in weighed
        ),
        convergence=(),
    )


def asked() -> Report:
    """A tree in place of the rules."""
    features = Vocabulary.with_duals(FACTS)
    root = Split(3, Split(0, False, True), Split(4, False, True))
    return clinic(
        rules=(),
        decider=Tree(features, "survives", root),
        undetermined=None,
        default=None,
        curve=(Weighed("tree", 4, 3, Share.of(950, 1000), 0.95, Share.of(0, 1000)),),
        convergence=(),
    )


def renamed(names: list[str]) -> Report:
    """The rules of the clinic under other names, and those names wherever text is shown."""
    vocabulary = Vocabulary([*names, *(f"not {name}" for name in names)], {n: f"not {n}" for n in names})
    original = clinic()
    pairs = tuple((name, name) for name in names)
    return clinic(
        title=names[0],
        labels=(names[-1],),
        background=HornTheory.background(vocabulary),
        words={name: name for name in vocabulary.names},
        default=names[1],
        stop_reason=names[2],
        model=pairs,
        data=pairs,
        settings=pairs,
        caveats=Caveats(names[3], notes=tuple(names)),
        disagreements=tuple(
            DisagreeingRow(names[0], case.facts, names[1], names[2]) for case in original.disagreements
        ),
    )


def large(rules: int, body: int, variables: int = 102) -> Report:
    """So many rules with bodies of this length."""
    rng = np.random.default_rng(0)
    names = [
        f"laboratory_value_{number // 3}={('low', 'middle', 'high')[number % 3]}"
        for number in range(variables)
    ]
    vocabulary = Vocabulary.with_duals([*names, "survives"])
    words = {name: f"laboratory value {number} > 12.345 g/dL" for number, name in enumerate(vocabulary)}
    share = Share.of(17, 1000)
    found = []
    for number in range(rules):
        chosen = rng.choice(variables, body, replace=False)
        negated = rng.random(body) < 0.8
        literals = [int(v) + (variables + 1) * bool(n) for v, n in zip(chosen, negated, strict=True)]
        found.append(Rule(literals, variables if number % 2 else 2 * variables + 1))
    return clinic(
        background=HornTheory.background(vocabulary),
        rules=tuple(ReportedRule(rule, share, share) for rule in found),
        words=words,
        groups=tuple((v, v + 1, v + 2) for v in range(0, variables - 2, 3)),
        disagreements=(),
    )
