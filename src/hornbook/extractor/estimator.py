"""HornExtractor: rules out of a fitted model, by the conventions of scikit-learn."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal, Self, TypeAlias, get_args

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils import Tags, check_random_state, estimator_html_repr
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import check_is_fitted, validate_data

from hornbook.classify.reading import Reading, Wanted
from hornbook.data.binarise import Binariser
from hornbook.data.reader import Reader, is_binary, to_frame
from hornbook.data.table import as_frame, infer_kind, refuse_infinity, split_rows
from hornbook.errors import HornbookError
from hornbook.explain.answers import FREE
from hornbook.explain.explanation import Explanation
from hornbook.extractor.display import html, table
from hornbook.extractor.labels import Labels, as_classifier, judged, labels_of
from hornbook.extractor.reading import Found, measure_rows, put_together
from hornbook.extractor.reading import Reading as ModelReading
from hornbook.extractor.steps import Steps, Watch
from hornbook.extractor.subject import Judged, Subject
from hornbook.learners import Settings
from hornbook.learners.extract import INTERRUPTED
from hornbook.logic import Batch, HornTheory, Rule
from hornbook.logic.syntax import UNICODE, rule_text
from hornbook.models import Encoding, Output, Predictor
from hornbook.oracles.columns import fit_binariser
from hornbook.queries import Budget
from hornbook.statistics import check_tolerances
from hornbook.teachers import DRAWS, Unknowns

Method: TypeAlias = Literal["reader", "queries"]


class HornExtractor(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Reads Horn rules about a label out of a fitted model.

    Parameters
    ----------
    model
        The black box, already fitted: a classifier of scikit-learn, torch, Keras, ONNX, XGBoost
        or LightGBM, the path of a model file, or a function of an array. It is never refitted,
        copied or changed; clones share it.
    target
        What the label is called in the rules. With more than two classes there is one label a
        class, `target=class`.
    judge
        Whether the model judges whole interpretations instead, as the paper's does: rules then
        say which it accepts, and `target` is not used.
    positive
        The class that makes the label true; by default the second of two. With more than two
        and none given, every class is read against the rest.
    classes
        The names of a network's outputs, in order, where there are more than two.
    encoding, threshold, output
        How the model is asked and understood, see `hornbook.models.as_predictor`. A
        regressor needs a threshold.
    unknown, draws
        How the model answers about unknown values: `native`, or by so many `completions`.
    binariser
        The fitted binariser that made the columns, or that is to make variables of them: its
        groups and the conditions behind names. Without one, columns of 1, 0 and NaN are taken
        as variables, and others are binarised here.
    method
        `reader`: the most faithful explanation that a reader is willing to read, found on
        labelled samples. `queries`: rules by equivalence queries; the only way for a judge.
    max_rules
        How many rules there may be; by default 20 for a reader, 100 by queries.
    max_literals, form
        How many literals a reader is willing to read, and in which form: `rules`, a `card` with
        points, a `tree` of questions, or `auto`, a card or a tree where it is clearly more
        faithful. A model of several classes gets rules.
    samples
        How many labelled samples are learned from.
    epsilon, delta
        With probability 1 - delta the fidelity on fresh samples is known up to epsilon. For
        queries: the tolerated disagreement, and the tolerated probability that it is exceeded.
    sample_size, min_precision, max_equivalence_queries
        For queries: how many samples each draws, see `hornbook.statistics.sample_size`; how
        precise a rule has to be; and how many there are at most.
    max_membership_queries, max_seconds
        What the extraction may spend; None is no limit.
    device
        For queries to a torch model: where samples are drawn, asked and judged, such as `cuda`.
    evaluation
        How many fresh samples everything is measured on at least.
    random_state
        Makes the run repeatable.

    Attributes
    ----------
    theory_, background_
        The rules found, and what always holds beside them: a variable excludes its dual, and
        the bins of a column each other.
    decider_
        The `Card` with points or the `Tree` of questions that the rules decide by, or None.
    rules_
        What each rule is worth: `RuleStatistics`, in order; none for a card or tree.
    fidelity_
        How often the rules, with their default, say what the model says: on the rows that were held
        out, with an interval; `.samples` is the share of fresh samples, `.used_rows` that of the
        rows used, see `hornbook.evaluate.fidelity.Fidelity`.
    held_out_
        The numbers of the rows that nothing was made from: a fifth, at random, of at least 100. Of
        fewer rows, and of those that a judge is asked about, none are held out, and the headline
        of `fidelity_` is about samples.
    undetermined_
        The share of fresh samples on which the rules say nothing, and the default does.
    default_
        The class assumed there; None for a judge, and for a card or tree, which always decide.
    conflicts_
        The share for which two classes follow; part of what is undetermined.
    guarantee_
        Under what the rules are held to be faithful; with several classes, those of the class
        that did worst. The same holds for the next three.
    frontier_
        Fidelity against what there is to read.
    trace_
        What happened, an entry for each equivalence query or candidate.
    incoherence_
        How often the model contradicts itself about unknown values (`queries` only).
    stop_reason_, membership_queries_
        Why it ended, and how many answers the model gave.
    labels_, classes_
        The labels that rules are about, and the model's classes.
    feature_names_in_, n_features_in_
        The columns that were given to `fit`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> model = DecisionTreeClassifier(max_depth=2, random_state=0).fit(X, y == 2)
    >>> extractor = HornExtractor(model, "virginica", max_rules=2, form="rules", random_state=0).fit(X)
    >>> for rule in sorted(str(extractor.theory_).splitlines()):
    ...     print(rule)
    "petal length (cm)=high" → virginica
    "petal width (cm)=high" → virginica
    >>> print(extractor.fidelity_)
    on 30 unseen rows 100.00 % (95 % interval 88.43 % to 100.00 %)
    >>> print(extractor.explain({"petal width (cm)": 2.3}))
    virginica
      "petal width (cm)=high" (given)
    it would not follow without "petal width (cm)=high", or with "petal width (cm)=low"

    """

    def __init__(
        self,
        model: Any,
        target: str = "label",
        *,
        judge: bool = False,
        positive: Any = None,
        classes: Sequence[Any] | None = None,
        encoding: Encoding | str | None = None,
        threshold: float | None = None,
        output: Output | None = None,
        unknown: Unknowns | None = None,
        draws: int = DRAWS,
        binariser: Binariser | None = None,
        method: Method = "reader",
        max_rules: int | None = None,
        max_literals: int = 60,
        form: Wanted = "auto",
        samples: int = 1 << 14,
        epsilon: float = 0.05,
        delta: float = 0.05,
        sample_size: str | int = "angluin",
        min_precision: float = 0.9,
        max_equivalence_queries: int | None = 100,
        max_membership_queries: int | None = None,
        max_seconds: float | None = None,
        device: str | None = None,
        evaluation: int = 1 << 13,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.model = model
        self.target = target
        self.judge = judge
        self.positive = positive
        self.classes = classes
        self.encoding = encoding
        self.threshold = threshold
        self.output = output
        self.unknown = unknown
        self.draws = draws
        self.binariser = binariser
        self.method = method
        self.max_rules = max_rules
        self.max_literals = max_literals
        self.form = form
        self.samples = samples
        self.epsilon = epsilon
        self.delta = delta
        self.sample_size = sample_size
        self.min_precision = min_precision
        self.max_equivalence_queries = max_equivalence_queries
        self.max_membership_queries = max_membership_queries
        self.max_seconds = max_seconds
        self.device = device
        self.evaluation = evaluation
        self.random_state = random_state

    def fit(
        self,
        X: Any,
        y: ArrayLike | None = None,
        *,
        trace: Path | None = None,
        watch: Watch | None = None,
    ) -> Self:
        """Ask the model until the rules say what it says.

        Parameters
        ----------
        X
            Rows like those that the model will see, missing values as NaN: what it was trained
            with, or the columns that a binariser made that from.
        y
            Not used: the rules are about what the model says. Numbers are refused, though, for
            rules need classes.
        trace
            A file that gets a line for each equivalence query, from which a killed run goes on,
            or for each candidate. With several classes it is numbered.
        watch
            Is called with every such entry.

        """
        self._check_parameters(y)
        started = time.perf_counter()
        self.subjects_ = self.subjects(X)
        seed = self.subjects_[0].seed
        found: list[Found] = []
        for number, subject in enumerate(self.subjects_):
            if found and found[-1].stop_reason == INTERRUPTED:
                raise KeyboardInterrupt
            found.append(self._found(subject, seed, _own(trace, number, len(self.subjects_)), watch))
        unseen = self._frame(X, reset=False).iloc[self.held_out_]
        self._remember(put_together(self.subjects_, found, unseen, self._fresh, started))
        return self

    def subjects(self, X: Any) -> list[Subject | Judged]:
        """The model as it is asked about these rows: about its only label, or about each of several."""
        frame = self._frame(X, reset=True)
        state = self.random_state
        seed = state if isinstance(state, int) else int(check_random_state(state).randint(2**31))
        used, self.held_out_ = split_rows(frame, seed, hold_out=not self.judge)
        predictors, self.classes_ = self._labels()
        self.reader_ = self._reader(frame, used, list(predictors.values()))
        asked = (self.reader_, frame.iloc[used], self.unknown, self.draws, seed)
        if self.judge:
            return [Judged(predictor, *asked) for predictor in predictors.values()]
        return [Subject(label, predictor, *asked) for label, predictor in predictors.items()]

    def predict(self, X: Any) -> NDArray[Any]:
        """The class of each row by the rules, the default class where they say nothing.

        For a judge, whether the rules accept the row.
        """
        answers = self._filled(X)
        predicted: NDArray[Any] = self.classes_[answers]
        return predicted

    def undetermined(self, X: Any) -> NDArray[np.bool_]:
        """Whether the rules leave the class of each row open, so that `predict` says the default."""
        left: NDArray[np.bool_] = self._answers(X) == FREE
        return left

    def transform(self, X: Any) -> NDArray[np.float64]:
        """Which rules apply to each row: 1 where the whole body follows from what is known, else 0."""
        check_is_fitted(self)
        return self.reading_.answers.fired(self._batch(X)).astype(np.float64)

    def get_feature_names_out(self, input_features: object = None) -> NDArray[np.object_]:
        """The rules as text: the columns of `transform`."""
        check_is_fitted(self)
        return np.array([self.say(rule) for rule in self.reading_.answers.rules], dtype=object)

    def score(self, X: Any, y: ArrayLike | None = None) -> float:
        """The share of these rows on which `predict` says what the model says; `y` is not looked at.

        What `predict` says of each row is compared with what the model's own `predict` says of
        it, as it is. Only rows with missing values that the model cannot read, for it raises,
        are answered by most of their completions. How sure the share is depends on the rows:
        see `fidelity_` for a figure with an interval.
        """
        check_is_fitted(self)
        rows = self._frame(X, reset=False)
        return measure_rows(self.reading_.answers, self.subjects_, rows).plain.estimate

    def explain(self, row: Any) -> Explanation:
        """Why the rules say what they say of one row, and the smallest change that would undo it.

        Parameters
        ----------
        row
            A series, a list, a frame of one row, or a mapping of some columns to values: the
            others are unknown.

        """
        check_is_fitted(self)
        return self.reading_.answers.explain(self.reader_.interpretation(row), self.reader_.groups)

    def say(self, rule: Rule) -> str:
        """A rule as text."""
        return rule_text(self.theory_.vocabulary, rule, UNICODE)

    def __rich__(self) -> Any:
        """The rules as a table, in a terminal."""
        if not hasattr(self, "reading_"):
            return repr(self)
        return table(self.reading_.answers, self.rules_, self._title, self.reader_.describe)

    def _repr_html_(self) -> str:
        """The rules as a table, in a notebook."""
        if not hasattr(self, "reading_"):
            return str(estimator_html_repr(self))
        return html(self.reading_.answers, self.rules_, self._title, self.reader_.describe)

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        return {"text/plain": repr(self), "text/html": self._repr_html_()}

    @property
    def _title(self) -> str:
        what = " and ".join(self.labels_) or "what it accepts"
        return f"What the model says about {what}: fidelity {self.fidelity_}"

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters; those of the model are its own, for it stays as it was fitted."""
        parameters: dict[str, Any] = super().get_params(deep=False)
        return parameters

    def __sklearn_clone__(self) -> HornExtractor:
        return type(self)(**self.get_params())

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        return tags

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "reading_")

    def _remember(self, reading: ModelReading) -> None:
        """Everything that was read, under the names that scikit-learn's users expect."""
        answers, worst = reading.answers, reading.worst
        self.reading_ = reading
        self.background_, self.labels_, self.decider_ = answers.background, answers.labels, answers.decider
        self.theory_ = HornTheory(answers.theory.vocabulary, answers.rules)
        self.rules_ = reading.rules
        self.default_ = None if answers.default == FREE else self.classes_[answers.default]
        self.fidelity_, self.undetermined_ = reading.fidelity, reading.undetermined
        self.conflicts_ = reading.conflicts
        self.guarantee_, self.frontier_, self.trace_ = worst.guarantee, worst.frontier, worst.steps
        self.incoherence_ = worst.coherence
        self.stop_reason_, self.membership_queries_ = reading.stop_reason, reading.queries

    def _answers(self, X: Any) -> NDArray[np.int8]:
        check_is_fitted(self)
        return self.reading_.answers.of(self._batch(X))

    def _filled(self, X: Any) -> NDArray[np.int8]:
        check_is_fitted(self)
        return self.reading_.answers.filled(self._batch(X))

    def _batch(self, X: Any) -> Batch:
        return self.reader_.batch(self._frame(X, reset=False))

    def _frame(self, X: Any, reset: bool) -> pd.DataFrame:
        frame = as_frame(X)
        if frame is None:
            frame = to_frame(validate_data(self, X, reset=reset, dtype=None, ensure_all_finite="allow-nan"))
        else:
            validate_data(self, frame, reset=reset, skip_check_array=True)
            refuse_infinity(frame)
        return frame if reset else frame.set_axis(list(self.reader_.columns), axis=1)

    @property
    def _fresh(self) -> int:
        """So many fresh samples that a share is known up to epsilon with probability 1 - delta."""
        return max(self.evaluation, math.ceil(math.log(2 / self.delta) / (2 * self.epsilon**2)))

    def _found(self, subject: Subject | Judged, seed: int, trace: Path | None, watch: Watch | None) -> Found:
        budget = Budget(self.max_equivalence_queries, self.max_membership_queries, self.max_seconds)
        if isinstance(subject, Judged) or self.method == "queries":
            settings = Settings(
                budget,
                size=self.sample_size,
                epsilon=self.epsilon,
                delta=self.delta,
                min_precision=self.min_precision,
                max_rules=Settings.max_rules if self.max_rules is None else self.max_rules,
                pool=self.samples,
                evaluation=self._fresh,
                seed=seed,
            )
            found = subject.extract(
                settings, trace, watch and (lambda _, trace: watch(trace.entries[-1])), self.device
            )
            return Found.extracted(found, subject)
        reading = Reading(
            max_rules=Reading.max_rules if self.max_rules is None else self.max_rules,
            max_literals=self.max_literals,
            form=self.form if len(self.classes_) < 3 else "rules",
            samples=self.samples,
            evaluation=self._fresh,
            budget=budget,
            seed=seed,
        )
        steps = Steps(trace, watch)
        return Found.explained(subject.explain(reading, steps), subject, steps.entries)

    def _reader(self, frame: pd.DataFrame, used: NDArray[np.intp], predictors: Sequence[Predictor]) -> Reader:
        """How rows are read: the kinds of columns are told by all rows, all else by those used."""
        if self.binariser is not None:
            return Reader.of(frame, self.binariser, duals=not self.judge)
        if is_binary(frame):
            return Reader.of_variables(frame.iloc[used], duals=not self.judge)
        kinds = {str(column): infer_kind(values) for column, values in frame.items()}
        return Reader.of(frame, fit_binariser(predictors, frame.iloc[used], kinds))

    def _labels(self) -> Labels:
        """The model as a function, for each label, and its classes."""

        def predictor(positive: Any) -> Predictor:
            read_as = self.encoding, self.threshold, self.output
            return as_classifier(self.model, self.target, positive, *read_as)

        if self.judge:
            return judged(self.target, predictor(self.positive))
        return labels_of(self.target, self.model, self.classes, self.positive, self.threshold, predictor)

    def _check_parameters(self, y: ArrayLike | None) -> None:
        check_tolerances(self.epsilon, self.delta)
        if self.method not in get_args(Method):
            raise HornbookError(f"method is 'reader' or 'queries', not {self.method!r}")
        if self.device is not None and self.method == "reader" and not self.judge:
            raise HornbookError(
                f"device={self.device!r} is for equivalence queries, which draw samples by the million: "
                "say method='queries', or leave it out"
            )
        if y is not None and type_of_target(y).startswith("continuous"):
            middle = np.median(np.asarray(y))
            raise HornbookError(
                f"{self.target!r} is a number, and rules need classes: make it one, e.g. y > {middle:g}"
            )


def _own(trace: Path | None, number: int, count: int) -> Path | None:
    return trace if trace is None or count == 1 else trace.with_stem(f"{trace.stem}-{number}")
