"""What decides every case, in place of rules that leave some open: a card, or a tree."""

from __future__ import annotations

from typing import TypeAlias

from hornbook import cards, trees
from hornbook.cards.card import Card
from hornbook.logic import HornTheory
from hornbook.logic.exports import renamed_columns, sql_columns, sql_name
from hornbook.trees.tree import Node, Split, Tree

Decider: TypeAlias = Card | Tree
"""Both say how many `lines` and `literals` there are to read, `decide`, and give `reasons`."""


def compiled(decider: Decider) -> HornTheory:
    """The Horn rules that decide the same, over features, label, its dual, and concepts in between."""
    return cards.compiled(decider) if isinstance(decider, Card) else trees.compiled(decider)


def to_sql(decider: Decider) -> str:
    """A query over a table `facts` with a column of 1, 0 and NULL for each feature: all of it, and the label.

    A card is added up and a tree is asked in one expression, so neither needs the concepts of its
    theory. The columns are those of `hornbook.logic.exports.sql_columns`.

    Examples
    --------
    >>> from hornbook.cards.card import Item
    >>> from hornbook.logic import Vocabulary
    >>> features = Vocabulary(["ascites", "obese"])
    >>> print(to_sql(Card(features, "dies", (Item(frozenset({0}), 2, 1), Item(frozenset({1}), -1)), 1)))
    SELECT facts.*, CASE WHEN 0
      + CASE WHEN facts."ascites" = 1 THEN 2 WHEN facts."ascites" = 0 THEN 0 ELSE 1 END
      + CASE WHEN facts."obese" = 1 THEN -1 WHEN facts."obese" = 0 THEN 0 ELSE 0 END
      >= 1 THEN 1 ELSE 0 END AS "dies" FROM facts;
    <BLANKLINE>
    >>> print(to_sql(Tree(features, "dies", Split(0, Split(1, True, False), False))))
    SELECT facts.*,
      CASE WHEN facts."ascites" = 1 THEN CASE WHEN facts."obese" = 1 THEN 1 ELSE 0 END ELSE 0 END
      AS "dies" FROM facts;
    <BLANKLINE>

    """
    *columns, label = map(sql_name, sql_columns(decider.vocabulary, decider.label))
    literals = [f"facts.{column}" for column in columns]
    if isinstance(decider, Card):
        lines = ["SELECT facts.*, CASE WHEN 0"]
        for item in decider.items:
            true, false = ([f"{literals[v]} = {value}" for v in sorted(item.body)] for value in (1, 0))
            lines.append(
                f"  + CASE WHEN {' AND '.join(true)} THEN {item.points} "
                f"WHEN {' OR '.join(false)} THEN 0 ELSE {item.if_unknown} END"
            )
        lines.append(f"  >= {decider.threshold} THEN 1 ELSE 0 END AS {label} FROM facts;")
    else:
        lines = ["SELECT facts.*,", f"  {_asked(decider.root, literals)}", f"  AS {label} FROM facts;"]
    return "\n".join([*renamed_columns(decider.vocabulary), *lines, ""])


def _asked(node: Node, literals: list[str]) -> str:
    """What a tree answers from a question on, as an expression of SQL."""
    if not isinstance(node, Split):
        return str(int(node))
    yes, no = (_asked(next_node, literals) for next_node in (node.yes, node.no))
    return f"CASE WHEN {literals[node.literal]} = 1 THEN {yes} ELSE {no} END"
