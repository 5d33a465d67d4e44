"""`Predictor`: a model as a function of batches, its decisions, and whether it takes missing values."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from hornbook.display import Displayed
from hornbook.errors import HornbookError, ModelError
from hornbook.logic import Batch, Bools, Vocabulary, bits
from hornbook.models.answers import OutOfAnswersError, spend
from hornbook.models.inputs import (
    COMPLETE,
    ENCODINGS,
    Encoding,
    list_trained_columns,
    match_columns,
    read_numbers,
)
from hornbook.models.outputs import (
    SCORE_ROUNDING,
    Floats,
    Output,
    agree_in_sign,
    as_floats,
    choose_classes,
    class_scores,
    flatten_column,
    positive_leads,
    positive_scores,
)

PREDICTOR_BLOCK = 63 * bits.WORD
"""Number of interpretations given to a model at a time: few enough to stay in the cache."""


@dataclass(frozen=True)
class Predictor(Displayed):
    """A model that scores partial interpretations and decides about them.

    **The decision is the model's own.** A model with `predict` is asked by that, ties included. Of
    several outputs the largest decides, the first of equal ones. A single output of at least ½ (a
    logit of at least 0) decides for class 1, which is a convention. Only if a threshold is given
    does the score decide: at least the threshold is positive.

    Parameters
    ----------
    outputs
        The model as a function of a (k, inputs) array; returns one number or row of numbers each.
    name
        The model's name in messages.
    encoding
        The input encoding of 1, 0 and ?.
    threshold
        The lowest score that counts as a decision for the positive class; None leaves the
        decision to the model.
    positive
        The class that is scored: one of the model's labels, or a column of its output. None is
        the second of two.
    column
        The column of the output that belongs to the positive class.
    output
        The kind of the outputs: probabilities, logits, or scores that are used unchanged.
    inputs, names
        The number of inputs, and their names in training; None if not known.
    dtype, order
        The data type and memory order of arrays that the model reads fastest.
    source
        The original model, for proofs.
    classes
        What the model calls its classes; None where it does not say. What it decides for is then the
        positive class or not.
    labels
        For models whose `predict` gives classes: the number of the class of each row of an array. None
        where the outputs tell: the largest of several decides, the first of equal ones.
    form
        How rows of a table are given to a model that does not say which columns it reads; None as numbers.
    convert
        How the columns of a table get the types that the model was trained with; None as they are.
    takes_any_form
        Whether nothing says what the model reads, so that it may be given rows as the user gave them.
    bands
        The numbers that cut predictions into classes; none where the model has classes.
    times
        The types of the columns of a table that hold days for dates, times or durations.
    asks_another
        Whether its functions ask another predictor, whose answers are counted.

    Examples
    --------
    >>> mean = Predictor(lambda array: array.mean(axis=1), "mean", Encoding(unknown=0.5))
    >>> batch = Batch.from_array([[1, np.nan], [0, np.nan]], Vocabulary(["sunny", "happy"]))
    >>> mean(batch)
    array([0.75, 0.25], dtype=float32)
    >>> mean.decide(batch), mean.margin(batch)
    (array([ True, False]), array([ 0.25, -0.25], dtype=float32))

    """

    outputs: Callable[[Any], Any]
    name: str
    encoding: Encoding = COMPLETE
    threshold: float | None = None
    positive: Any = None
    column: int | None = None
    output: Output = "score"
    inputs: int | None = None
    names: tuple[str, ...] | None = None
    dtype: DTypeLike = np.float32
    order: bits.Order = "C"
    source: Any = None
    classes: tuple[Any, ...] | None = None
    labels: Callable[[Any], Any] | None = None
    form: Callable[[Any], Any] | None = None
    convert: Callable[[Any], Any] | None = None
    takes_any_form: bool = False
    bands: tuple[float, ...] = ()
    times: Mapping[str, Any] = field(default_factory=dict)
    asks_another: bool = False

    def __str__(self) -> str:
        classes = f": {', '.join(map(str, self.classes))}" if self.classes else ""
        return f"{self.name} as a predictor{classes}"

    def __call__(self, batch: Batch) -> Floats:
        """The score of the positive class for each interpretation, about 0 to 1."""
        return self._answer_in_blocks(Predictor.score_rows, batch, np.float32)

    def decide(self, batch: Batch) -> Bools:
        """For each interpretation, whether the model decides for the positive class."""
        return self._answer_in_blocks(Predictor.decide_rows, batch, np.bool_)

    def margin(self, batch: Batch) -> Floats:
        """How clearly the model decides for the positive class: negative exactly where it does not."""
        return self._answer_in_blocks(Predictor.margin_rows, batch, np.float32)

    def score_rows(self, rows: Any) -> Floats:
        """The score of the positive class for each row in the model's own format."""
        return self._read_positive(self.output_rows(rows))

    def decide_rows(self, rows: Any) -> Bools:
        """Whether the model decides for the positive class, for each row in the model's own format."""
        if self.labels is None or self.threshold is not None:
            return self.margin_rows(rows) >= 0
        if self.column is None and len(self.classes or ()) > 2:
            raise HornbookError(
                f"{self.name} knows the classes {list(self.classes or ())}; say which is positive"
            )
        decided: Bools = self._ask_labels(rows) == (1 if self.column is None else self.column)
        return decided

    def margin_rows(self, rows: Any) -> Floats:
        """How clearly the model decides for the positive class, for each row in the model's own format."""
        raw = self.output_rows(rows)
        scores = self._read_positive(raw)
        if self.threshold is not None:
            leads: Floats = scores - self.threshold
            return leads
        leads = positive_leads(raw, self.column, self.output, scores)
        return leads if self.labels is None else agree_in_sign(leads, self.decide_rows(rows))

    def classify_rows(self, rows: Any) -> NDArray[np.intp]:
        """The number of the class of each row in the model's own format, by one call of the model.

        Where the model does not say its classes, 1 stands for the positive class and 0 for others.
        """
        if self.classes is None or self.threshold is not None:
            return self.decide_rows(rows).astype(np.intp)
        if self.labels is not None:
            return self._ask_labels(rows)
        raw = self.output_rows(rows)
        self._read_classes(raw)
        return choose_classes(raw, self.output)

    def score_classes(self, rows: Any) -> Floats:
        """The score of every class for each row in the model's own format, by one call: (rows, classes)."""
        return self._read_classes(self.output_rows(rows))

    def lead_rows(self, rows: Any) -> Floats:
        """How far each row is from another decision; 0 where the outputs contradict the decision."""
        if self.classes is None or self.threshold is not None:
            return abs(self.margin_rows(rows))
        raw = self.output_rows(rows)
        scores = self._read_classes(raw).copy()
        numbers = choose_classes(raw, self.output) if self.labels is None else self._ask_labels(rows)
        own = np.take_along_axis(scores, numbers[:, None], axis=1)[:, 0]
        np.put_along_axis(scores, numbers[:, None], -np.inf, axis=1)
        return as_floats(((own - scores.max(axis=1)) / 2).clip(0))

    def output_rows(self, rows: Any) -> NDArray[Any]:
        """The model's outputs as they are, one or several numbers for each row in the model's own format."""
        return self._ask(self.outputs, rows)

    def raw_answers(self, rows: Any) -> NDArray[Any]:
        """What the model answers about each row in its own format: labels, words too, or numbers."""
        return self._ask(self.outputs, rows, flatten_column)

    def check(self, vocabulary: Vocabulary) -> None:
        """Raise unless the model's inputs are the variables of the vocabulary."""
        given = self.encoding.inputs(len(vocabulary))
        if self.inputs not in (None, given):
            raise HornbookError(
                f"{self.name} takes {self.inputs} inputs, but {len(vocabulary)} variables in "
                f"{self.encoding.channels} channel(s) give {given}; check the vocabulary and the encoding"
            )
        if self.names is None or len(self.names) != len(vocabulary):
            return
        for position, (theirs, ours) in enumerate(zip(self.names, vocabulary, strict=True)):
            if theirs != ours:
                raise HornbookError(
                    f"input {position} of {self.name} was called {theirs!r} in training, but variable "
                    f"{position} is {ours!r}; give the variables in the model's order"
                )

    def list_columns(self, columns: Sequence[Any]) -> list[Any] | None:
        """The columns of a table that the model was trained on, in its order; None if it does not say."""
        trained_on = self.names or list_trained_columns(self.source)
        if not trained_on:
            return None
        matches = match_columns(trained_on, columns)
        if matches == list(trained_on) or (None not in matches and len({*matches}) == len(matches)):
            return matches
        numbered = [f"Column_{number}" for number in range(len(trained_on))]  # by LightGBM, of an array
        if self.names is None and (None not in matches or list(trained_on) == numbered):
            return None
        known = zip(trained_on, matches, strict=True)
        lost = next(name for name, own in known if name != own and name not in columns)
        close = get_close_matches(str(lost).casefold(), {str(each).casefold(): each for each in columns}, n=1)
        hint = "".join(f"; it has {str(each)!r}" for each in columns if str(each).casefold() in close)
        raise HornbookError(f"{self.name} reads a column {str(lost)!r}, which the table does not have{hint}")

    def read(self, rows: Any) -> Any:
        """Convert a table to what the model reads; keep arrays.

        That is the columns that it was trained on, in their form or as numbers; or 0, 1 and missing by its
        encoding, if it has one of its own.
        """
        if not hasattr(rows, "iloc"):
            return rows
        if not self.encodes_as_tables:
            return self._encode_table(rows)
        if self.times:
            from hornbook.tables import restore_times  # with pandas, without which files of models are tried

            rows = restore_times(rows, self.times)
        if self.names is not None and tuple(rows.columns) == self.names:
            own = rows.copy()  # many times faster than to select all of them
            return own if self.convert is None else self.convert(own)
        columns = self.list_columns(list(rows.columns))
        if columns is not None:
            own = rows[columns].set_axis(list(self.names or list_trained_columns(self.source)), axis=1)
            return own if self.convert is None else self.convert(own)
        if self.inputs is not None and self.inputs != rows.shape[1]:
            raise HornbookError(
                f"{self.name} takes {self.inputs} columns, and the table has {rows.shape[1]} besides the "
                "target; give it those that the model was trained on"
            )
        return read_numbers(rows, self.dtype, self.name) if self.form is None else self.form(rows)

    @property
    def encodes_as_tables(self) -> bool:
        """Whether the model reads 0, 1 and missing values as a table has them."""
        return self.encoding in (COMPLETE, ENCODINGS["nan"])

    def _encode_table(self, rows: Any) -> NDArray[Any]:
        """A table of 0, 1 and missing values by the model's own encoding."""
        columns = Vocabulary(map(str, self.names or rows.columns))
        given = rows.set_axis(list(map(str, rows.columns)), axis=1)
        if lost := [name for name in columns if name not in given]:
            raise HornbookError(
                f"{self.name} reads variables such as {lost[0]!r}, which the table does not have as columns"
            )
        values = given[list(columns.names)]
        self.check(columns)
        batch = Batch.from_array(values.to_numpy(np.float64), columns)
        return self.encoding.encode(batch, self.dtype, self.order)

    def _answer_in_blocks(
        self, answer: Callable[[Predictor, Any], Any], batch: Batch, kind: type[np.generic]
    ) -> NDArray[Any]:
        """What a method answers about interpretations, encoded block by block, shape (items,)."""
        self.check(batch.vocabulary)
        self.encoding.refuse_unknown(batch)
        answers = np.empty(len(batch), kind)
        for start in range(0, len(batch), PREDICTOR_BLOCK):
            rows = self.encoding.encode(batch[start : start + PREDICTOR_BLOCK], self.dtype, self.order)
            answers[start : start + PREDICTOR_BLOCK] = answer(self, rows)
        return answers

    def _ask_labels(self, rows: Any) -> NDArray[np.intp]:
        """The number of the class that the model's `predict` gives each row."""
        assert self.labels is not None
        answers = self._ask(self.labels, rows)
        if answers.ndim != 1:
            raise HornbookError(f"{self.name} predicts several labels a row; explain one of them at a time")
        return answers.astype(np.intp)

    def _read_classes(self, raw: NDArray[Any]) -> Floats:
        """The score of every class, from outputs."""
        scores = class_scores(raw, self.output, self.name)
        self._refuse_other_than_scores(scores)
        return scores

    def _read_positive(self, raw: NDArray[Any]) -> Floats:
        """The score of the positive class, from outputs."""
        scores = positive_scores(raw, self.column, self.output, self.name)
        self._refuse_other_than_scores(scores)
        return scores

    def _ask(
        self, ask: Callable[[Any], Any], rows: Any, convert: Callable[[Any], NDArray[Any]] | None = None
    ) -> NDArray[Any]:
        """Call one of the model's functions, and check that it gives an answer a row, numbers by default."""

        def answer(rows: Any) -> NDArray[Any]:
            return (convert or _as_answers)(ask(rows))

        size = "a row" if len(rows) == 1 else f"{len(rows):,} rows"
        try:
            raw = spend(0 if self.asks_another else len(rows), lambda: answer(rows))
        except (ModelError, OutOfAnswersError):
            raise
        except (Exception, SystemExit) as error:
            reason = f"{type(error).__name__}: {error}{_name_words(rows)}"
            raise ModelError(f"{self.name} failed on {size}: {reason}") from error
        if raw.ndim == 0 or len(raw) != len(rows):
            count = len(raw) if raw.ndim else "a single number"
            raise ModelError(f"{self.name} answered {size} with {count} instead of {len(rows)} scores")
        return raw

    def _refuse_other_than_scores(self, scores: Floats) -> None:
        wrong = ~np.isfinite(scores)
        if self.output == "probability":
            wrong |= np.abs(scores - 0.5) > 0.5 + SCORE_ROUNDING
        if wrong.any():
            score = scores[wrong][0]
            kind = "finite score" if self.output == "score" else "probability"
            hint = "; if it gives logits, pass output='logit'" if np.isfinite(score) else ""
            raise ModelError(f"{self.name} gave a row the score {score}, which is not a {kind}{hint}")


def _as_answers(raw: Any) -> NDArray[Any]:
    """Convert a model's result to a `float64` or `float32` array."""
    answers = np.asarray(raw)
    return answers if answers.dtype == np.float64 else answers.astype(np.float32, copy=False)


def _name_words(rows: Any) -> str:
    """Which columns of words a model was given, which may have wanted numbers."""
    columns = rows.items() if hasattr(rows, "iloc") else ()
    words = [f"{name} ({values.iloc[0]!r})" for name, values in columns if values.dtype.kind not in "biufcmM"]
    return (
        f"; columns of words are {', '.join(words)}: if the model was trained on numbers there, say how they "
        "are written (--csv decimal=,), leave out signs such as % and $, or name the words for missing "
        "values (--missing)"
        if words
        else ""
    )


class RemoteModel(ABC):
    """A model that keeps its answers, such as one behind an endpoint.

    Attributes
    ----------
    name
        Its name in messages.
    classes_
        Its classes; None until they are given or found.

    """

    name: str
    classes_: tuple[Any, ...] | None

    @abstractmethod
    def find_classes(self, rows: Any) -> None:
        """Learn the classes from the answers about rows, unless they are known."""

    @abstractmethod
    def adapt(self, name: str, positive: Any, output: Output | None) -> Predictor:
        """The model as a predictor."""

    @abstractmethod
    def describe(self) -> dict[str, Any]:
        """What decisions depend on besides rows, ready for JSON."""

    def read_numbers(self, rows: Any) -> NDArray[Any] | None:
        """The one number for each row that a class is made of from ½ on; None if it answers otherwise."""
        return None

    def propose(self, rules: Sequence[str]) -> list[Mapping[str, Any]]:
        """Rows that the model expects to break rules about it; none from one that does not speak."""
        return []

    @abstractmethod
    def describe_requests(self) -> str:
        """What it was asked so far, in a line."""
