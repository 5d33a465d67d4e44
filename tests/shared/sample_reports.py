"""Extractions to look at: of every form, of any size, with hostile names."""

import numpy as np
import pandas as pd

from hornbook.conditions import Category, IsTrue, Threshold
from hornbook.explanations import (
    CardLine,
    ConditionRule,
    DecisionTree,
    RuleSet,
    ScoreCard,
    Split,
)
from hornbook.extraction import (
    AnswerTable,
    ColumnSummary,
    Difference,
    Extraction,
    Fidelity,
    FrontierPoint,
    LineStatistics,
)
from hornbook.logic import HornTheory, Rule
from hornbook.queries import Estimated, HornRules, Pac
from hornbook.queries.variables import Binariser, make_bins
from hornbook.statistics import Share

CLASSES = ("does not survive", "survives")

ALBUMIN, OLD, STAGE = Threshold("albumin (g/dL)", 3.5), Threshold("age", 60), Category("stage", "IV")

COLUMNS = (
    ColumnSummary("albumin (g/dL)", 0.1, (1.9, 3.8, 6.2)),
    ColumnSummary("age", 0.0, (18.0, 54.0, 89.0), whole=True),
    ColumnSummary("stage", 0.2, categories=("I", "II", "III", "IV")),
)

PROVENANCE = {
    "model": {"name": "the ward's network", "file": "model.onnx"},
    "data": {"table": "patients.csv", "rows": 600},
    "settings": {"seed": 0},
    "versions": {"hornbook": "0.1.0"},
}


def make_extraction(explanation, **changes) -> Extraction:
    """An extraction of this explanation, with the same figures for all."""
    rows, samples = Share.of(114, 120), Share.of(7800, 8192)
    answers = AnswerTable(explanation.classes[:2], ((70, 4), (2, 44)))
    tables = {"held-out rows": answers} if len(explanation.classes) == 2 else {}
    parts = {
        "target": "survival",
        "classes": explanation.classes,
        "explanation": explanation,
        "fidelity": Fidelity(samples, rows, tables=tables),
        "guarantee": Estimated(Share.of(6, 120), "held-out rows of the table"),
        "frontier": (FrontierPoint(explanation.literals, Fidelity(samples, rows), explanation),),
        "lines": measure_lines(explanation),
        "columns": COLUMNS,
        "differences": (
            Difference({"albumin (g/dL)": 3.4, "age": 71.0, "stage": None}, *CLASSES, ("age > 60: −2",), 17),
        ),
        "answers": 33_000,
        "stop_reason": "every form and size was tried",
        "distribution": "480 rows of the table, with 10 to 50 % of the columns exchanged between rows",
        "missing_values": "the model's own answer",
        "provenance": PROVENANCE,
    }
    return Extraction(**{**parts, **changes})


def measure_lines(explanation) -> tuple[LineStatistics, ...]:
    """Figures for each line."""
    return tuple(
        LineStatistics(
            40 + number,
            Share.of(900 - number, 8192),
            Share.of(max(800 - 7 * number, 0), 900) if line.outcome else None,
            row_precision=Share.of(30 + number, 40 + number) if line.outcome else None,
        )
        for number, line in enumerate(explanation.lines())
    )


def make_card() -> ScoreCard:
    """Points for three columns, and for two together."""
    lines = (
        CardLine((ALBUMIN,), (3,), (1,)),
        CardLine((OLD,), (-2,), (-1,)),
        CardLine((OLD, STAGE), (-1,), (0,)),
    )
    return ScoreCard(CLASSES, lines, (-1,))


def make_tree() -> DecisionTree:
    """Three questions."""
    return DecisionTree(CLASSES, Split(ALBUMIN, Split(STAGE, 0, 1), Split(OLD, 0, 1)))


def make_rules() -> RuleSet:
    """Two rules and a default."""
    return RuleSet(CLASSES, (ConditionRule((STAGE,), 0), ConditionRule((ALBUMIN, OLD.negate()), 1)), 0)


def make_classes() -> ScoreCard:
    """A card of three classes."""
    lines = (CardLine((ALBUMIN,), (2, 0, -1), (0, 1, 0)), CardLine((STAGE,), (-2, 1, 3), (0, 0, 0)))
    return ScoreCard(("home", "ward", "intensive care"), lines, (0, 1, 0))


def card_along_frontier() -> Extraction:
    """A card with a shorter one and a tree beside it."""
    card = make_card()
    sizes = ScoreCard(CLASSES, card.lines_of_points[:1], (-1,)), card, make_wide_tree(6)
    frontier = tuple(
        FrontierPoint(
            each.literals,
            Fidelity(Share.of(7000 + 100 * k, 8192), Share.of(hits, 120)),
            each,
            measure_lines(each) if k < 2 else (),
        )
        for k, (each, hits) in enumerate(zip(sizes, (100, 114, 118), strict=True))
    )
    return make_extraction(card, frontier=frontier)


def make_wide_tree(questions: int) -> DecisionTree:
    """A chain of questions about as many columns."""
    root = 0
    for number in range(questions):
        root = Split(Threshold(f"laboratory value {number} (mmol/L)", 12.345 + number), number % 2, root)
    return DecisionTree(CLASSES, root)


def make_large(columns: int, literals: int) -> Extraction:
    """Cards of every size up to so many literals, over so many columns in all."""
    rng = np.random.default_rng(0)
    names = [f"laboratory value number {k} (mmol/L)" for k in range(columns)]
    frontier = []
    for size in range(1, literals + 1):
        chosen = rng.choice(columns, size, replace=False)
        lines = tuple(CardLine((Threshold(names[k], 12.345 + k),), (3,), (1,)) for k in chosen)
        card = ScoreCard(CLASSES, lines, (-size,))
        fidelity = Fidelity(Share.of(5000 + size, 8192), Share.of(90 + size, 120))
        frontier.append(FrontierPoint(size, fidelity, card, measure_lines(card)))
    difference = Difference(
        dict.fromkeys(names, 12.5),
        *CLASSES,
        frontier[-1].explanation.explain(pd.DataFrame({name: [99.5] for name in names})).facts,
    )
    return make_extraction(
        frontier[-1].explanation,
        frontier=tuple(frontier),
        columns=tuple(ColumnSummary(name, 0.1, (1.5, 12.5, 99.5)) for name in names),
        differences=(difference,) * 20,
    )


CLINIC = Binariser(
    ("ascites", "albumin", "smoker"),
    (
        ("ascites", IsTrue("ascites")),
        *make_bins("albumin", (2.9, 4.1)),
        ("smoker", IsTrue("smoker")),
    ),
    dual=True,
)

RULES = """
"albumin=high" & not_ascites -> survives
ascites & "albumin=low" -> not_survives
"albumin=low" & smoker -> not_survives
"""


def make_clinic() -> Extraction:
    """Three Horn rules about survival, by queries."""
    theory = HornTheory.parse(RULES, CLINIC.vocabulary.with_label("survives"))
    rules = HornRules(CLINIC, theory.rules, "survives")
    precisions = (390, 400), (200, 200), (13, 20), (70, 100)
    frontier = [
        FrontierPoint(3 * n, Fidelity(Share.of(1000 - wrong, 1000)))
        for n, wrong in enumerate((300, 120, 60, 40))
    ]
    return make_extraction(
        rules,
        fidelity=Fidelity(Share.of(960, 1000)),
        guarantee=Pac(0.05, 0.1, "165 patients"),
        frontier=tuple(frontier),
        lines=tuple(
            LineStatistics(None, Share.of(size, 1000), Share.of(hits, size))
            for (hits, size), _ in zip(precisions, rules.lines(), strict=False)
        ),
        columns=(),
        differences=(Difference({"ascites": 1, "albumin": 1.0, "smoker": 0}, *rules.classes, ("ascites",)),),
        notes=("Few patients smoke.",),
    )


def rename_columns(names: list[str]) -> Extraction:
    """A card and a tree over columns with these names, and those names wherever text is shown."""
    first, second, third, *_ = names
    lines = (
        CardLine((Threshold(first, 3.5),), (3,), (1,)),
        CardLine((Category(second, third),), (-2,), (0,)),
        CardLine((Threshold(first, 3.5), Category(third, second)), (1,), (0,)),
    )
    card = ScoreCard((names[-1], names[-2]), lines, (-1,))
    tree = DecisionTree((names[-1], names[-2]), Split(Category(names[3], names[4]), 0, 1))
    fidelity = Fidelity(Share.of(7000, 8192), Share.of(100, 120))
    return make_extraction(
        card,
        target=first,
        frontier=tuple(FrontierPoint(each.literals, fidelity, each) for each in (tree, card)),
        columns=(
            ColumnSummary(first, 0.1, (1.0, 3.0, 9.0)),
            *(ColumnSummary(name, 0.1, categories=tuple(names)) for name in names[1:]),
        ),
        differences=(Difference(dict.fromkeys(names, second), names[-1], names[-2], tuple(names)),),
        stop_reason=names[2],
        distribution=names[3],
        missing_values=names[4],
        provenance={name: dict(zip(names, names, strict=True)) for name in names}
        | {"model": {"name": names[0]}},
    )


def make_large_theory(rules: int, body: int, variables: int = 102) -> Extraction:
    """So many rules with bodies of this length."""
    rng = np.random.default_rng(0)
    columns = tuple(f"laboratory value {k}" for k in range(variables))
    binariser = Binariser(columns, tuple((name, IsTrue(name)) for name in columns), dual=True)
    learned = []
    for number in range(rules):
        chosen = rng.choice(variables, body, replace=False)
        negated = rng.random(body) < 0.8
        literals = [int(v) + variables * bool(n) for v, n in zip(chosen, negated, strict=True)]
        learned.append(Rule(literals, 2 * variables + number % 2))
    share = Share.of(17, 1000)
    return make_extraction(
        HornRules(binariser, tuple(learned), "survives"),
        lines=(LineStatistics(17, share, share),) * (rules + 1),
        columns=(),
        differences=(),
    )


def rename_variables(names: list[str]) -> Extraction:
    """The rules of the clinic over variables with these names, the last one the label."""
    *facts, label = names
    binariser = Binariser(tuple(facts), tuple((name, IsTrue(name)) for name in facts), dual=True)
    rules = HornTheory.parse(RULES, CLINIC.vocabulary.with_label("survives")).rules
    explanation = HornRules(binariser, rules, label)
    return make_extraction(explanation, target=names[0], columns=(), differences=(), provenance={})
