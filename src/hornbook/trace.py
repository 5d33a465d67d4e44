"""The trace of a run: one line for each equivalence query, from which a killed run resumes.

The first line of a trace file holds the settings that determine the run, so that no run is
resumed with others. Each further line is one step: the answer to the equivalence
query and what the learner made of it.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hornbook.errors import HornbookError
from hornbook.logic import HornTheory, Interpretation, Rule, Vocabulary, read_rule, rule_object
from hornbook.queries import Change, Counterexample, Step

Entry = dict[str, Any]


@dataclass
class Trace:
    """The entries of a run, one for each equivalence query, written to `path` as they happen.

    `earlier` are the entries of the resumed run, which the file already holds; their time
    counts as spent.
    """

    path: Path | None = None
    earlier: Sequence[Entry] = ()
    entries: list[Entry] = field(default_factory=list)
    membership_queries: int = 0
    started: float = field(default_factory=time.perf_counter)

    @classmethod
    def resume(cls, path: Path | None, settings: Mapping[str, Any]) -> Trace:
        """Resume the trace in a file; refuse one with other settings."""
        return cls() if path is None else cls(path, _resume_entries(path, settings))

    def record(self, step: Step, membership_queries: int) -> None:
        """Add the entry of a step, with the number of membership queries asked so far."""
        self.membership_queries = membership_queries
        if len(self.entries) < len(self.earlier):
            self.entries.append(self.earlier[len(self.entries)])
            return
        entry = {
            "query": len(self.entries) + 1,
            "rules": len(step.hypothesis),
            "membership_queries": membership_queries,
            "seconds": round(self.seconds, 6),
            **step_object(step),
        }
        self.entries.append(entry)
        if self.path is not None:
            with self.path.open("a", encoding="utf-8") as file:
                file.write(_line(entry))

    @property
    def seconds_before(self) -> float:
        """Seconds of the run before it was resumed."""
        return float(self.earlier[-1]["seconds"]) if self.earlier else 0.0

    @property
    def seconds(self) -> float:
        """Seconds of the run, including those before it was resumed."""
        return self.seconds_before + time.perf_counter() - self.started


def read_trace(path: Path) -> tuple[dict[str, Any], list[Entry]]:
    """The settings and the steps in a trace file; a last line that was cut off is left out."""
    lines = path.read_text("utf-8", errors="replace").split("\n")
    entries: list[Entry] = []
    for number, line in enumerate(lines, 1):
        try:
            entries.append(json.loads(line))
        except json.JSONDecodeError:
            if number < len(lines):
                raise _not_a_trace(path, number) from None
    if entries and "settings" not in entries[0]:
        raise _not_a_trace(path, 1)
    return (entries[0]["settings"] if entries else {}), entries[1:]


def _resume_entries(path: Path, settings: Mapping[str, Any]) -> list[Entry]:
    """Read the entries with counterexamples, and truncate the file after them."""
    wanted = json.loads(json.dumps(settings))
    before, entries = read_trace(path) if path.exists() else ({}, [])
    for name in wanted if before else ():
        if before.get(name) != wanted[name]:
            raise HornbookError(
                f"{path} is the trace of a run with {name}={before.get(name)}, not {wanted[name]}; "
                "give the same settings to go on with it, or another file to begin anew"
            )
    entries = [entry for entry in entries if "change" in entry]
    fresh = path.with_name(f"{path.name}.new")
    fresh.write_text("".join(map(_line, [{"settings": wanted}, *entries])), "utf-8")
    fresh.replace(path)  # at once: a run that is killed here loses nothing
    return entries


def step_object(step: Step) -> Entry:
    """The answer of a step and the change it led to, ready for JSON."""
    vocabulary, answer, change = step.hypothesis.vocabulary, step.answer, step.change
    if not isinstance(answer, Counterexample):
        return {"guarantee": answer.kind}
    found = {
        **_item_object(vocabulary, answer.interpretation),
        "positive": answer.positive,
        "found_by": answer.found_by,
        "at": list(answer.at),
    }
    if change is None:
        return {"counterexample": found}
    parts: dict[str, Any] = {}
    for name, rules in (("added", change.added), ("removed", change.removed)):
        if rules:
            parts[name] = [rule_object(vocabulary, rule) for rule in rules]
    if change.refined:
        parts["refined"] = [[rule_object(vocabulary, rule) for rule in pair] for pair in change.refined]
    for name, item in (("witness", change.witness), ("given_up", change.given_up)):
        if item is not None:
            parts[name] = _item_object(vocabulary, item)
    if change.failed:
        parts["failed"] = [
            [_item_object(vocabulary, term) for term in together] for together in change.failed
        ]
    return {"counterexample": found, "change": parts}


def read_step(hypothesis: HornTheory, entry: Mapping[str, Any]) -> Step:
    """The step that `step_object` wrote down; its answer must be a counterexample."""
    vocabulary = hypothesis.vocabulary
    found, parts = entry["counterexample"], entry["change"]
    answer = Counterexample(
        _read_item(vocabulary, found), found["positive"], found["found_by"], tuple(found["at"])
    )
    added, removed = (_read_rules(vocabulary, parts.get(name, ())) for name in ("added", "removed"))
    pairs = (_read_rules(vocabulary, pair) for pair in parts.get("refined", ()))
    refined = tuple((before, after) for before, after in pairs)
    witness, given_up = (
        _read_item(vocabulary, parts[n]) if n in parts else None for n in ("witness", "given_up")
    )
    failed = tuple(
        tuple(_read_item(vocabulary, term) for term in together) for together in parts.get("failed", ())
    )
    return Step(hypothesis, answer, Change(added, removed, refined, witness, given_up, failed))


def _item_object(vocabulary: Vocabulary, item: Interpretation) -> dict[str, Any]:
    return {"true": list(vocabulary.named(item.true)), "false": list(vocabulary.named(item.false))}


def _read_item(vocabulary: Vocabulary, entry: Mapping[str, Any]) -> Interpretation:
    return Interpretation(vocabulary.variables(entry["true"]), vocabulary.variables(entry["false"]))


def _read_rules(vocabulary: Vocabulary, entries: Iterable[Mapping[str, Any]]) -> tuple[Rule, ...]:
    return tuple(read_rule(vocabulary, entry) for entry in entries)


def _line(entry: Mapping[str, Any]) -> str:
    return json.dumps(entry, ensure_ascii=False) + "\n"


def _not_a_trace(path: Path, number: int) -> HornbookError:
    return HornbookError(f"{path}, line {number}: not a trace; remove the file to begin anew")
