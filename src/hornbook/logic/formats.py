"""Theories as data that other programs read back: JSON and DIMACS CNF."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache, partial
from typing import Any

from hornbook.errors import HornbookError
from hornbook.logic.batch import Interpretation
from hornbook.logic.rule import BOTTOM, Bottom, Rule, Vocabulary, fresh_name
from hornbook.schema import Forms


def rule_object(vocabulary: Vocabulary, rule: Rule) -> dict[str, Any]:
    """A rule as a JSON object: names, with null for ⊥."""
    head = None if isinstance(rule.head, Bottom) else vocabulary.name(rule.head)
    return {"body": list(vocabulary.named(rule.body)), "head": head}


def read_rule(vocabulary: Vocabulary, entry: Mapping[str, Any]) -> Rule:
    """The rule that `rule_object` wrote down."""
    return Rule.of(vocabulary, list(entry["body"]), BOTTOM if entry["head"] is None else entry["head"])


@lru_cache(maxsize=8)
def vocabulary_forms(vocabulary: Vocabulary) -> Forms:
    """How rules and interpretations over a vocabulary are written as JSON: by the names of variables."""

    def write_item(item: Interpretation) -> dict[str, Any]:
        return {"true": list(vocabulary.named(item.true)), "false": list(vocabulary.named(item.false))}

    def read_item(entry: Mapping[str, Any]) -> Interpretation:
        return Interpretation(vocabulary.variables(entry["true"]), vocabulary.variables(entry["false"]))

    rules = partial(rule_object, vocabulary), partial(read_rule, vocabulary)
    return Forms({Rule: rules, Interpretation: (write_item, read_item)})


def to_json(vocabulary: Vocabulary, rules: Iterable[Rule]) -> str:
    """The vocabulary, its dual pairs, and the rules."""
    document = {
        "vocabulary": list(vocabulary.names),
        "duals": vocabulary.dual_names,
        "rules": [rule_object(vocabulary, rule) for rule in rules],
        "background": [],
    }
    return json.dumps(document, ensure_ascii=False, indent=1) + "\n"


def from_json(text: str) -> tuple[Vocabulary, list[Rule]]:
    """The vocabulary and the rules, the background first."""
    try:
        document = json.loads(text)
        vocabulary = Vocabulary(document["vocabulary"], document.get("duals"))
        entries = [*document.get("background", ()), *document["rules"]]
        return vocabulary, [read_rule(vocabulary, entry) for entry in entries]
    except HornbookError:
        raise
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise HornbookError(f"not a theory in JSON: {type(error).__name__} {error}") from None


def to_dimacs(vocabulary: Vocabulary, rules: Sequence[Rule]) -> str:
    """One clause a rule; variable v is number v + 1."""
    lines = [f"c var {v + 1} {json.dumps(name)}" for v, name in enumerate(vocabulary)]
    lines += [f"c dual {v + 1} {w + 1}" for v, w in vocabulary.pairs]
    lines.append(f"p cnf {len(vocabulary)} {len(rules)}")
    for rule in rules:
        head = [] if isinstance(rule.head, Bottom) else [rule.head + 1]
        lines.append(" ".join(map(str, [*(-v - 1 for v in sorted(rule.body)), *head, 0])))
    return "\n".join(lines) + "\n"


def from_dimacs(text: str) -> tuple[Vocabulary, list[Rule]]:
    """Read Horn clauses; variables without a name comment are called x1, x2, ..."""
    names: dict[int, str] = {}
    pairs: list[tuple[int, int]] = []
    numbers: list[int] = []
    width = -1
    for number, line in enumerate(text.splitlines(), 1):
        try:
            match line.split(maxsplit=3):
                case ["c", "var", variable, name]:
                    names[int(variable)] = json.loads(name)
                case ["c", "dual", left, right] if left.isdigit():
                    pairs.append((int(left), int(right)))
                case ["p", "cnf", variables, _]:
                    width = int(variables)
                case [first, *_] if first != "c":
                    numbers += map(int, line.split())
        except ValueError as error:
            raise HornbookError(f"line {number}: not DIMACS CNF: {error}") from None
    if width < 0:
        raise HornbookError("not DIMACS CNF: no line 'p cnf VARIABLES CLAUSES'")
    taken = set(names.values())
    called = [names[v] if v in names else fresh_name(f"x{v}", taken) for v in range(1, width + 1)]
    if any(not 1 <= v <= width for pair in pairs for v in pair):
        raise HornbookError(f"a dual outside 1 to {width}")
    duals = {called[v - 1]: called[w - 1] for v, w in pairs}
    return Vocabulary(called, duals), list(_clauses(numbers, width))


def _clauses(numbers: list[int], width: int) -> Iterable[Rule]:
    literals: list[int] = []
    for number in numbers:
        if abs(number) > width:
            raise HornbookError(f"literal {number} is outside the {width} variables declared")
        if number:
            literals.append(number)
            continue
        heads = sorted({v - 1 for v in literals if v > 0})
        if len(heads) > 1:
            raise HornbookError(f"the clause {literals} is not Horn: it has {len(heads)} positive literals")
        yield Rule((-v - 1 for v in literals if v < 0), heads[0] if heads else BOTTOM)
        literals = []
    if literals:
        raise HornbookError("the last clause is not ended by 0")
