"""Proves reasons: a body grows until a prover confirms it, and shrinks until no literal can go.

Rows that meet a body and get another class are its counterexamples. They come from samples, from random
rows of the domain, and from the prover; each gets as many of the row's own values as leave it one, and the
columns in which it still differs are those of which the reason has to speak. A body that excludes all
that were found is put to the prover, which confirms it or finds another one. A literal without which some
counterexample would meet the body cannot go; of the others the prover says whether they can.

References
----------
A. Ignatiev, N. Narodytska, J. Marques-Silva. Abduction-based explanations for machine learning models.
AAAI 2019.
M. Wu, H. Wu, C. Barrett. VeriX: towards verified explainability of deep neural networks. NeurIPS 2023.

"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from hornbook.deadline import Deadline
from hornbook.delta import Provability, drop_provable, minimise
from hornbook.logic import Bools
from hornbook.proof import ColumnProver, Verdict
from hornbook.reasons.row_conditions import Body, Codes
from hornbook.reasons.search import ReasonTask

ReasonLevel: TypeAlias = Literal["sampled", "proved", "minimal"]
"""How sure a reason is: by samples, for every row of a domain, or that and with no condition to spare."""

DRAWN_ROWS = 512
"""Rows of each kind that are drawn in search of counterexamples: samples, random ones, and corners."""

MAX_COUNTEREXAMPLES = 48
"""Counterexamples of one draw that are brought close to the row."""

MAX_REFUTATIONS = 6
"""The number of refutations by the prover after which literals on many columns are added at once."""

QUESTION_SHARE = 0.25
"""The share of the time left that one question may take."""

MIN_QUESTION_SECONDS = 0.05
"""The least time that a question gets."""


@dataclass(frozen=True)
class ProvedBody:
    """A body, its level, and why it reached no higher one."""

    body: Body
    level: ReasonLevel
    note: str = ""


@dataclass(eq=False)
class ReasonProver:
    """Turns a body that samples suggest into one that a prover confirms.

    Parameters
    ----------
    task
        What is searched.
    prover
        Proves or refutes questions about the model.
    deadline
        When to stop.

    """

    task: ReasonTask
    prover: ColumnProver
    deadline: Deadline

    def __post_init__(self) -> None:
        self.conditions, self.sampler = self.task.conditions, self.task.sampler
        self.counterexamples: Codes = self.sampler.codes[:, :0]
        """Rows that get another class, as bins, (columns, rows)."""

    @cached_property
    def refused(self) -> Body:
        """The literals `is missing` of columns in which the model takes no missing value."""
        ranges = self.prover.domain.ranges
        return frozenset(
            number
            for number, literal in enumerate(self.conditions.literals)
            if literal.condition.accepts_missing and not ranges[literal.condition.column].missing
        )

    @cached_property
    def usable(self) -> Bools:
        """Which literals a proved reason may have."""
        return self.task.usable & ~np.isin(np.arange(len(self.conditions.literals)), list(self.refused))

    def find_body(self, body: Body) -> ProvedBody:
        """Find a proved body, in time also minimal and as loose as can be."""
        tight = {self.conditions.tighten(number) for number in body if self.usable[number]}
        grown, reason = self._grow(self.conditions.remove_implied(frozenset(tight)))
        if reason:
            return ProvedBody(body, "sampled", reason)
        shrunk, reason = self._shrink(grown)
        loose = self._loosen(self._allow_categories(shrunk))
        if not self.prover.confirm([self.conditions.describe(loose)], self.sampler.outcome):
            return ProvedBody(body, "sampled", self.prover.wall.refusal)
        return ProvedBody(loose, "proved" if reason else "minimal", reason)

    def _grow(self, body: Body) -> tuple[Body, str]:
        """Add literals until a body is proved; if none is, say why."""
        refuted = 0
        while not self.deadline.passed:
            counterexamples = self.draw_counterexamples(body)
            if not counterexamples.size:
                verdict = self._ask(body)
                if verdict.status == "proved":
                    return self._keep_needed(body, verdict), ""
                if verdict.witness is None:
                    if (tighter := self._tighten(body)) == body:
                        return body, verdict.reason
                    body = tighter
                    continue
                counterexamples = self.bring_close(self.complete(verdict.witness))
                refuted += 1
            if (tighter := self._exclude(body, counterexamples)) == body:
                return body, self._describe_open()
            body = self._tighten(tighter) if refuted >= MAX_REFUTATIONS else tighter
            refuted %= MAX_REFUTATIONS
        return body, "there was no proof in time"

    def draw_counterexamples(self, body: Body) -> Codes:
        """Draw rows that meet a body, and return those with another class, brought close, as bins."""
        rows = [self.sampler.build_rows(self.sampler.draw(body, DRAWN_ROWS, self.task.rng))]
        conditions = self.conditions.describe(body)
        boxes = self.prover.domain.widen(conditions).list_boxes(conditions)
        if boxes:
            box = boxes[int(self.task.rng.integers(len(boxes)))]
            rows.append(
                self.complete(self.prover.domain.draw([box], list(box), 2 * DRAWN_ROWS, self.task.rng))
            )
        drawn = pd.concat(rows, ignore_index=True)
        wrong = np.flatnonzero(self.sampler.teacher.labels(drawn) != self.sampler.outcome)
        chosen = self.task.rng.permutation(wrong)[:MAX_COUNTEREXAMPLES]
        return self.bring_close(drawn.iloc[chosen].reset_index(drop=True))

    def complete(self, rows: pd.DataFrame) -> pd.DataFrame:
        """Add the columns that the model does not read, with the row's own values."""
        own = self.conditions.row
        if len(rows.columns) == len(own.columns):
            return rows[list(own.columns)]
        return pd.DataFrame(
            {
                name: rows[name] if name in rows else own[name].iloc[[0] * len(rows)].set_axis(rows.index)
                for name in own.columns
            }
        )

    @cached_property
    def own_states(self) -> NDArray[np.intp] | None:
        """The cells of the row, (columns that the prover reads,); None where it knows none."""
        states = self.prover.locate(self.conditions.row)
        return None if states is None else states[0]

    def bring_close(self, rows: pd.DataFrame) -> Codes:
        """Give counterexamples as many of the row's own values as leave them counterexamples, as bins.

        For each the columns are tried in another order.
        """
        count, columns = len(rows), list(self.conditions.columns)
        read = [columns.index(name) for name in self.prover.columns]
        orders = np.argsort(self.task.rng.random((count, len(columns))), axis=1)  # (rows, columns)
        states, own_states = self.prover.locate(rows), self.own_states
        is_read = states is not None and own_states is not None
        values = rows if is_read else pd.concat([rows, self.conditions.row], ignore_index=True)

        def mark_own(lists: Sequence[list[int]]) -> Bools:
            """Mark the columns with the row's own values: all but the listed ones, (lists, columns)."""
            own = np.ones((len(lists), len(columns)), np.bool_)
            for number, places in enumerate(lists):
                own[number, places] = False
            return own

        def stay_wrong(lists: list[tuple[int, list[int]]]) -> Bools:
            numbers = np.array([number for number, _ in lists])
            own = mark_own([places for _, places in lists])
            if states is not None and own_states is not None:  # what was read of trees answers sooner
                mixed = np.where(own[:, read], own_states, states[numbers])
                return self.prover.decides_otherwise(mixed, self.sampler.outcome)
            wrong: Bools = (
                self.sampler.teacher.labels(self._mix(values, numbers, own)) != self.sampler.outcome
            )
            return wrong

        left = minimise(orders.tolist(), stay_wrong, self.deadline)
        own_codes = self.sampler.codes[:, -1:]
        close: Codes = np.where(mark_own(left).T, own_codes, self.conditions.encode(rows))
        return close

    def _mix(self, values: pd.DataFrame, numbers: NDArray[np.intp], own: Bools) -> pd.DataFrame:
        """Take some of the rows, with the last one's values where `own`, (rows, columns), is true."""
        mixed = {}
        for name in values.columns:
            source = numbers
            if name in self.conditions.columns:
                source = np.where(own[:, self.conditions.columns.index(name)], len(values) - 1, numbers)
            mixed[name] = pd.Series(values[name].array.take(source), dtype=values[name].dtype)
        return pd.DataFrame(mixed)

    def _describe_open(self) -> str:
        if self.refused:
            columns = sorted({self.conditions.literals[number].condition.column for number in self.refused})
            return f"the model takes no missing values, and the answer depends on {', '.join(columns)}"
        return "other values of the columns that it may speak of do not keep the model's answer"

    def _exclude(self, body: Body, counterexamples: Codes) -> Body:
        """Add literals to a body until it excludes counterexamples, if literals can.

        The literals are the tightest of their columns, so that few are needed; exact ones only where those
        are not enough.
        """
        self._remember(counterexamples)
        table = self.sampler.codes
        while (left := self.conditions.meets(body, counterexamples)).any():
            excluded = left.sum() - self.conditions.count_met(counterexamples[:, left])  # (literals,)
            kept = self.conditions.count_met(table[:, self.conditions.meets(body, table)])
            scores = np.where(self.usable, excluded * np.sqrt(kept) * self.task.weights, 0.0)
            best = np.where(self._is_tightest, scores, 0.0)
            best = best if best.any() else scores
            if not best.any():
                return body
            body = self.conditions.remove_implied(body | {int(best.argmax())})
        return body

    @cached_property
    def _is_tightest(self) -> Bools:
        return np.isin(np.arange(len(self.conditions.literals)), list(self.conditions.tightest))

    def _tighten(self, body: Body) -> Body:
        """Add the tightest literals of half of the columns that have tighter ones left.

        These are the columns in which most counterexamples differ from the row.
        """
        left = [number for number in sorted(self.conditions.tightest - body) if self.usable[number]]
        own = self.sampler.codes[:, -1:]  # (columns, 1)
        differences = (self.counterexamples != own).sum(axis=1)
        places = {self.conditions.literals[number].place for number in left}
        chosen = sorted(places, key=lambda place: -int(differences[place]))[: (len(places) + 1) // 2]
        added = frozenset(number for number in left if self.conditions.literals[number].place in chosen)
        return self.conditions.remove_implied(body | added)

    def _shrink(self, body: Body) -> tuple[Body, str]:
        """Drop the literals that can go; if one stays undecided, say so."""
        searched: set[int] = set()

        def list_spare(body: Body, undecided: list[int]) -> list[int]:
            return self._list_spare(body, undecided, searched)

        body, undecided = drop_provable(body, list_spare, self._try_body, self.deadline)
        for number in undecided:
            if not self._has_counterexample(body - {number}):
                described = self.conditions.literals[number].condition
                return body, f"whether {described} can go was not decided in time"
        return body, ""

    def _list_spare(self, body: Body, undecided: list[int], searched: set[int]) -> list[int]:
        """List literals that can go together as far as counterexamples tell, in order.

        For a literal that is not among the searched ones, local search looks for a counterexample first.
        """
        spare = []
        for number in sorted(body - {*undecided}, key=self._rank_literal):
            without = body - {number}
            if self._has_counterexample(without):
                continue
            if number not in searched and not self.deadline.passed:
                searched.add(number)
                if self._ask(without, seconds=0.0).witness is not None:
                    continue
            body = without
            spare.append(number)
        return spare

    def _try_body(self, body: Body) -> tuple[Provability, Body]:
        """Whether a body is proved, and if so those of its literals that the proof needs."""
        verdict = self._ask(body)
        if verdict.status == "proved":
            return "proved", self._keep_needed(body, verdict)
        return "refuted" if self._has_counterexample(body) else "undecided", body

    def _keep_needed(self, body: Body, verdict: Verdict[pd.DataFrame]) -> Body:
        """Keep the literals on which a proof rests, if the prover knows them."""
        if verdict.needed is None:
            return body
        columns = {condition.column for condition in verdict.needed}
        return frozenset(
            number for number in body if self.conditions.literals[number].condition.column in columns
        )

    def _rank_literal(self, number: int) -> tuple[float, int]:
        """Sort key for dropping: columns that are not preferred first, then literals that few rows meet."""
        literal = self.conditions.literals[number]
        met = int(literal.bins[self.sampler.codes[literal.place]].sum())
        return self.task.weights[number], met

    def _allow_categories(self, body: Body) -> Body:
        """Allow further categories, one after the other, in columns whose value the body fixes."""
        for number in sorted(body):
            if self.deadline.passed:
                break
            others = frozenset(self.conditions.list_other_categories(number))
            if not others or self._ask(expanded := body - {number} | others).status != "proved":
                continue
            for other in sorted(others):
                without = expanded - {other}
                if not self._has_counterexample(without) and self._ask(without).status == "proved":
                    expanded = without
            body = body if others <= expanded else expanded
        return body

    def _loosen(self, body: Body) -> Body:
        """Move thresholds outwards as far as proofs allow, by bisections side by side."""
        ladders = {number: self.conditions.list_looser(number) for number in sorted(body)}
        while ladders and not self.deadline.passed:
            for number in list(ladders):
                looser = [
                    other
                    for other in ladders.pop(number)
                    if not self._has_counterexample(body - {number} | {other})
                ]
                if not looser or self.deadline.passed:
                    continue
                middle = len(looser) // 2
                candidate = body - {number} | {looser[middle]}
                if self._ask(candidate).status == "proved":
                    body = candidate
                    ladders[looser[middle]] = looser[:middle]
                else:
                    ladders[number] = looser[middle + 1 :]
        return body

    def _ask(self, body: Body, seconds: float | None = None) -> Verdict[pd.DataFrame]:
        """Ask the prover about a body; a witness against it becomes a counterexample.

        Without time, local search alone is asked.
        """
        if seconds is None:
            seconds = max(QUESTION_SHARE * self.deadline.left, MIN_QUESTION_SECONDS)
        verdict = self.prover.try_to_prove(
            self.conditions.describe(body), self.sampler.outcome, seconds=seconds
        )
        if verdict.witness is not None:
            rows = self.complete(verdict.witness)
            is_read = self.own_states is not None  # then it takes no questions to bring them close
            self._remember(self.bring_close(rows) if is_read else self.conditions.encode(rows))
        return verdict

    def _remember(self, codes: Codes) -> None:
        self.counterexamples = np.concatenate([self.counterexamples, codes], axis=1)

    def _has_counterexample(self, body: Body) -> bool:
        """Whether a known counterexample meets a body."""
        return bool(self.conditions.meets(body, self.counterexamples).any())
