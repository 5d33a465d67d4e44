"""The trace of a run: one line for each equivalence query, from which a killed run resumes.

The first line of a trace file holds the settings that determine the run, so that no run is
resumed with others. Each further line is one step: the answer to the equivalence
query and what the learner made of it. Every line ends with a digest of itself and of all lines before
it, so that a line that was changed, lost, doubled or exchanged is noticed. The times of the queries
are in a file of their own, so that the same run always leaves the same trace.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hornbook.deadline import Stopwatch
from hornbook.errors import HornbookError
from hornbook.logic import HornTheory, vocabulary_forms
from hornbook.queries.protocol import Change, Counterexample, Step
from hornbook.schema import read_object, write_object
from hornbook.storage import append_line, parse_json, read_text, write_file

Entry = dict[str, Any]

TIMES_SUFFIX = ".seconds"
"""The end of the name of the file beside a trace that holds the seconds spent after each query."""


@dataclass
class Trace:
    """The entries of a run, one for each equivalence query, written to `path` as they happen.

    `earlier` are the entries of the resumed run, which the file already holds, and `seconds_before`
    the seconds that it took, which count as spent.
    """

    path: Path | None = None
    earlier: Sequence[Entry] = ()
    seconds_before: float = 0.0
    chain: str = ""
    entries: list[Entry] = field(default_factory=list)
    membership_queries: int = 0
    clock: Stopwatch = field(default_factory=Stopwatch)

    @classmethod
    def resume(cls, path: Path | None, settings: Mapping[str, Any]) -> Trace:
        """Resume the trace in a file; refuse one with other settings, or one that was changed."""
        if path is None:
            return cls()
        entries = _resumable_entries(path, settings)
        lines, chain = _chain_lines([{"settings": settings}, *entries])
        write_file(path, "".join(f"{line}\n" for line in lines))  # at once: a run killed here loses nothing
        return cls(path, entries, _read_seconds(path, len(entries)), chain)

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
            **step_object(step),
        }
        self.entries.append(entry)
        if self.path is not None:
            (line,), self.chain = _chain_lines([entry], self.chain)
            append_line(self.path, line)
            append_line(_times_path(self.path), f"{len(self.entries)} {self.seconds:.6f}")

    @property
    def seconds(self) -> float:
        """Seconds of the run, including those before it was resumed."""
        return self.seconds_before + self.clock.elapsed


def read_trace(path: Path) -> tuple[dict[str, Any], list[Entry]]:
    """The settings and the steps in a trace file; a last line that was cut off is left out.

    A file whose lines are not as they were written is refused, with the number of the first such line.
    """
    *lines, _cut_off = read_text(path).split("\n")
    entries: list[Entry] = []
    chain = ""
    for number, line in enumerate(lines):
        try:
            entry = parse_json(line)
            stated = entry.pop("chain")
            _, chain = _chain_lines([entry], chain)
        except (HornbookError, AttributeError, LookupError, TypeError):
            raise _not_a_trace(path, number + 1) from None
        if number:
            is_sound = entry.get("query") == number and type(entry.get("membership_queries")) is int
        else:
            is_sound = isinstance(entry.get("settings"), dict)
        if stated != chain or not is_sound:
            raise _not_a_trace(path, number + 1)
        entries.append(entry)
    return (entries[0]["settings"] if entries else {}), entries[1:]


def _resumable_entries(path: Path, settings: Mapping[str, Any]) -> list[Entry]:
    """The entries of a trace file that have counterexamples; refuse a file with other settings."""
    wanted = json.loads(json.dumps(settings))
    before, entries = read_trace(path) if path.exists() else ({}, [])
    for name in wanted if before else ():
        if before.get(name) != wanted[name]:
            raise HornbookError(
                f"{path} is the trace of a run with {name}={before.get(name)}, not {wanted[name]}; "
                "give the same settings to go on with it, or another file to begin anew"
            )
    return [entry for entry in entries if "change" in entry]


def _chain_lines(entries: Iterable[Mapping[str, Any]], chain: str = "") -> tuple[list[str], str]:
    """Entries as lines that continue a chain of digests, and the digest of the last line."""
    lines = []
    for entry in entries:
        chain = hashlib.sha256((chain + json.dumps(entry, ensure_ascii=False)).encode()).hexdigest()[:16]
        lines.append(json.dumps({**entry, "chain": chain}, ensure_ascii=False))
    return lines, chain


def _times_path(path: Path) -> Path:
    return path.with_suffix(TIMES_SUFFIX)


def _read_seconds(path: Path, queries: int) -> float:
    """The seconds that a run had spent after a number of queries; 0 where they are not known."""
    try:
        pairs = map(str.split, _times_path(path).read_text("utf-8").splitlines())
        times = {int(query): float(seconds) for query, seconds in pairs}
    except (OSError, ValueError):
        return 0.0
    return times.get(queries, 0.0)


def step_object(step: Step) -> Entry:
    """The answer of a step and the change it led to, ready for JSON."""
    if not isinstance(step.answer, Counterexample):
        return {"guarantee": step.answer.kind}
    content: Entry = {"counterexample": step.answer}
    if step.change is not None:
        content["change"] = step.change
    written: Entry = write_object(content, vocabulary_forms(step.hypothesis.vocabulary))
    return written


def read_step(hypothesis: HornTheory, entry: Mapping[str, Any]) -> Step:
    """The step that `step_object` wrote down; its answer must be a counterexample."""
    forms = vocabulary_forms(hypothesis.vocabulary)
    try:
        answer = read_object(Counterexample, entry.get("counterexample"), "counterexample", forms)
        change = read_object(Change, entry.get("change"), "change", forms)
    except HornbookError as error:
        raise HornbookError(
            f"query {entry['query']} of the trace is not as a run wrote it ({error}); "
            "remove the trace to begin anew"
        ) from None
    return Step(hypothesis, answer, change)


def _not_a_trace(path: Path, number: int) -> HornbookError:
    return HornbookError(f"{path}, line {number} is not as a run wrote it; remove the file to begin anew")
