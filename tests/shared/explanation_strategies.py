"""Random trees, cards and rules over given conditions and names of classes."""

from hypothesis import strategies as st

from hornbook.explanations import CardLine, ConditionRule, DecisionTree, RuleSet, ScoreCard, Split


@st.composite
def explanations(draw, conditions, names):
    """An explanation of any form; `conditions` is a strategy, `names` has two classes or more."""
    count = draw(st.integers(2, len(names)))
    classes = tuple(names[:count])
    outcomes = st.integers(0, count - 1)
    bodies = st.lists(conditions, min_size=1, max_size=3).map(tuple)
    form = draw(st.sampled_from(["tree", "rules", "card"]))
    if form == "tree":
        nodes = st.recursive(outcomes, lambda below: st.builds(Split, conditions, below, below), max_leaves=8)
        return DecisionTree(classes, draw(nodes))
    if form == "rules":
        rules = st.lists(st.builds(ConditionRule, bodies, outcomes), max_size=4).map(tuple)
        return RuleSet(classes, draw(rules), draw(outcomes))
    points = st.tuples(*[st.integers(-4, 4)] * (1 if count == 2 else count))
    lines = st.lists(
        st.builds(CardLine, bodies, points, points),
        max_size=4,
        unique_by=lambda line: (line.body[:-1], frozenset({line.body[-1], line.body[-1].negate()})),
    ).map(tuple)
    return ScoreCard(classes, draw(lines), draw(points))
