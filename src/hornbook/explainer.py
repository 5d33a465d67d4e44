"""`hornbook.Explainer`: a classifier bound to rows once, and every question about it; `hornbook.learn`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from functools import cached_property, wraps
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, TypedDict, TypeVar, Unpack

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from sklearn.utils.multiclass import type_of_target

from hornbook.checks import Claim, ClaimCheck, check
from hornbook.code_book import UNNAMED_TARGET, CodeBookSource
from hornbook.deadline import Stopwatch
from hornbook.diff import ModelDiff, diff
from hornbook.display import Displayed, Listing
from hornbook.errors import HornbookError
from hornbook.extraction import (
    Extraction,
    describe_learning,
    explain,
)
from hornbook.models import Predictor, Subject
from hornbook.models.answers import limit_answers
from hornbook.proof import PROOF_SECONDS
from hornbook.queries import Binariser, Learner, QuerySubject
from hornbook.reasons import (
    ChangeFinder,
    ChangeLimits,
    Changes,
    ChangesTable,
    Radius,
    Reasoner,
    TableReasons,
    Why,
    cover_table,
    find_actions,
)
from hornbook.runs import (
    ProofLimits,
    explain_by_settings,
    learn_by_settings,
    library_versions,
    make_prover,
    prove_lines,
    refuse_unprovable_form,
    save_run,
    start_run,
)
from hornbook.runs.folder import TRACE_FILE
from hornbook.runs.making import read_learning
from hornbook.storage import lock_folder
from hornbook.surrogates import Form, SearchSettings
from hornbook.tables import as_frame

Parameters = ParamSpec("Parameters")
Answer = TypeVar("Answer")


class LearnOptions(TypedDict, total=False):
    """The limits of a learner, and how sure it has to be.

    Parameters
    ----------
    max_queries
        The most equivalence queries; 100 by default.
    max_rules
        The most rules besides those that always hold (`prime` only); 100 by default.
    max_literals
        The most conditions to read: the most useful rules are chosen, and the frontier has them all. By
        default 20 of what `prime` learns about a classifier, elsewhere no limit.
    max_answers, max_seconds
        Limits on the answers of the model and on the time, a fifth of which is kept for measuring fidelity;
        None, the default, is no limit.
    epsilon, delta
        The tolerated disagreement, and the tolerated probability that it is exceeded; 0.05 by default.
    sample_size
        How many samples an equivalence query draws: `angluin`, the default, `paper` or a number.
    min_precision
        The share of what a rule newly rejects that the model must reject too (`prime` only); 0.9 by default.
    margin
        A class is possible too if its score is at most so much below the largest (`envelope` of a classifier
        only); 0 by default.

    """

    max_queries: int
    max_rules: int
    max_literals: int | None
    max_answers: int | None
    max_seconds: float | None
    epsilon: float
    delta: float
    sample_size: str | int
    min_precision: float
    margin: float


LEARNING: LearnOptions = {
    "max_queries": 100,
    "max_rules": 100,
    "max_literals": None,
    "max_answers": None,
    "max_seconds": None,
    "epsilon": 0.05,
    "delta": 0.05,
    "sample_size": "angluin",
    "min_precision": 0.9,
    "margin": 0.0,
}
"""The options of a learner where none are given."""


def _as_question(
    verb: Callable[Concatenate[Explainer, Parameters], Answer],
) -> Callable[Concatenate[Explainer, Parameters], Answer]:
    """A verb that asks the model for no more answers than the explainer allows, and once about equal rows."""

    @wraps(verb)
    def ask(self: Explainer, /, *args: Parameters.args, **options: Parameters.kwargs) -> Answer:
        with limit_answers(self.max_answers):
            return verb(self, *args, **options)

    return ask


class Explainer(Displayed):
    """A fitted classifier bound to rows: explains it, gives reasons, checks claims, compares, learns rules.

    Parameters
    ----------
    model
        The classifier, already fitted: of scikit-learn, torch, Keras, ONNX, XGBoost or LightGBM, the
        path of a model file, the URL of a model that is deployed, a function of rows, or what
        `as_predictor` made of one. It is never refitted, copied or changed.
    X
        Rows as the model reads them, missing values as NaN.
    y
        The true labels of the rows: they only say how often the model agrees with them.
    target
        What the model predicts, in a word: with `late` the classes 1 and 0 are `late` and `not late`,
        without a target `class 1` and `class 0`.
    positive
        The class that questions are about, as the model or in words; of several classes the others are then
        one, `not …`.
    code_book
        The user's words for columns, units, levels and classes: a TOML file, a mapping of its shape,
        or a `CodeBook`.
    groups
        The group of each row, such as its patient: rows of a group are all held out, or none. Without groups
        equal rows are kept together.
    sample_weight
        How many cases of the population each row stands for, such as a survey's weights; by default all
        rows count alike. Samples are drawn in proportion to it, and figures about rows are weighted; a row
        of weight 0 is left out.
    max_answers
        How many answers of the model each question may take, for a model that is slow; None is no limit.
    seed
        Makes everything repeatable.

    Attributes
    ----------
    subject
        The model, bound to all the rows, with the user's words.
    accuracy
        The share of the labelled rows to which the model gives their label; None without `y`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> model = DecisionTreeClassifier(max_depth=1, random_state=0).fit(X[["petal width (cm)"]], y == 2)
    >>> explainer = Explainer(model, X, target="virginica")
    >>> extraction = explainer.extract()
    >>> print(extraction.explanation)
    if petal width (cm) > 1.7: virginica
    otherwise: not virginica
    >>> print(extraction.fidelity)
    on 30 held-out rows 100.00 % (95 % interval 88.43 % to 100.00 %), κ 1.000; always "not virginica": 83.33 %
    >>> print(extraction.explain({"petal width (cm)": 2.3}))
    virginica, because
      petal width (cm) > 1.7
    with petal width (cm) ≤ 1.7 it would be not virginica

    """

    def __init__(
        self,
        model: Any,
        X: Any,
        y: ArrayLike | None = None,
        *,
        target: str = UNNAMED_TARGET,
        positive: Any = None,
        code_book: CodeBookSource = None,
        groups: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        max_answers: int | None = None,
        seed: int = 0,
    ) -> None:
        _refuse_exchanged(model, X)
        is_number = y is not None and type_of_target(y).startswith("continuous")
        if is_number and not getattr(model, "bands", ()):
            middle = np.median(np.asarray(y))
            raise HornbookError(
                f"{target!r} is a number, and an explanation needs classes: e.g. y > {middle:g}"
            )
        self.model = model
        self.rows = X
        self.code_book = code_book
        self.max_answers = max_answers
        with limit_answers(max_answers):
            self.subject = Subject.bind(
                model,
                X,
                target=target,
                positive=positive,
                code_book=code_book,
                groups=groups,
                weights=sample_weight,
                hold_out=False,
                seed=seed,
            )
            self.accuracy = None if y is None else self.subject.measure_accuracy(y)

    def __str__(self) -> str:
        accuracy = "" if self.accuracy is None else f", right on {self.accuracy}"
        return f"Explainer of {self.subject}{accuracy}"

    @_as_question
    def extract(
        self,
        *,
        form: Form = "auto",
        max_literals: int = 20,
        test: Any = None,
        test_weight: ArrayLike | None = None,
        n_samples: int | None = None,
        balance: float = 0.0,
        certify: bool = False,
        proof: bool = False,
        proof_seconds: float = PROOF_SECONDS,
    ) -> Extraction:
        """Explain what the model does, by rules, a score card or a tree.

        Parameters
        ----------
        form
            `tree`, `card`, `rules`, or `auto` for the best of them.
        max_literals
            The most conditions that there may be to read.
        test
            Test rows with the same columns: fidelity is measured on them. Without them a fifth of at least
            100 rows is held out, and fidelity is measured on those.
        test_weight
            How many cases each test row stands for; by default they count alike, whatever `sample_weight` is.
        n_samples
            How many samples the explanation is fitted to; half as many choose among candidates. By default
            16,000, or up to 24,000 for a large table.
        balance
            How much classes weigh: 0, the default, as often as the model decides for them, 1 all the same.
        certify
            Whether to seek the best tree of three questions on the samples, for about two minutes.
            `missed` of a point of the frontier says how far it may be from the best.
        proof, proof_seconds
            Whether to prove or refute each line of rules or a tree for every row, and for how long.

        """
        if proof:
            form = "rules" if form == "auto" else form
            refuse_unprovable_form(form)
        prover = make_prover(self.subject) if proof else None
        if test is None and test_weight is not None:
            raise HornbookError("test_weight is about test rows; give them as test=")
        subject = self.subject.hold_out() if test is None else self.subject.with_test_rows(test, test_weight)
        extraction = explain(subject, SearchSettings(form, max_literals, n_samples, balance, certify))
        return extraction if prover is None else prove_lines(extraction, prover, ProofLimits(proof_seconds))

    @_as_question
    def why(
        self,
        row: Any,
        *,
        share: float = 0.95,
        reasons: int = 1,
        prefer: Sequence[str] = (),
        proof: bool = True,
        seconds: float = 10.0,
        changes: int = 1,
        limits: ChangeLimits = ChangeLimits(),  # noqa: B008 (frozen)
        wished: Any = None,
    ) -> Why:
        """Why the model itself decides as it does about one row, with a guarantee, and what would change it.

        Parameters
        ----------
        row
            A series, a list, a frame of one row, or a mapping of some columns to values: the others are
            missing, and stay so.
        share
            The share of the rows that meet a reason on which the model has to keep its answer.
        reasons
            How many different reasons to look for.
        prefer
            Columns that reasons should speak of where they can.
        proof
            Whether to go on until a reason is proved, if the prover supports the model. It then holds for
            every row of the domain; it has more conditions than one that holds for a share. If it has more
            than six, or covers no other row, the sampled one comes before it.
        seconds
            Time limit of each reason, a fifth of it for its proof; of the search for changes; and, a fifth
            of it, of proofs about them.
        changes
            How many changes of the row to look for with which the model decides otherwise.
        limits
            Columns that may not change, or may go only up or only down.
        wished
            The class that changes should lead to, as the model or in words; any other by default.

        """
        return self._reasoner.explain(
            row,
            share=share,
            reasons=reasons,
            prefer=prefer,
            proof=proof,
            seconds=seconds,
            changes=changes,
            limits=limits,
            wished=wished,
        )

    @_as_question
    def radius(self, row: Any, *, proof: bool = True, seconds: float = 10.0) -> Radius:
        """How far the numbers of a row may move before the model's answer changes: alone, and all together.

        Parameters
        ----------
        row
            As for `why`.
        proof
            Whether to prove it, if the prover supports the model; else it is sampled.
        seconds
            Time limit of the proofs.

        """
        return self._reasoner.measure_radius(row, proof, seconds)

    @_as_question
    def why_table(
        self,
        *,
        max_reasons: int = 10,
        share: float = 0.95,
        prefer: Sequence[str] = (),
        proof: bool = False,
        seconds: float = 60.0,
    ) -> TableReasons:
        """Why the model decides the rows so: the few reasons that cover most of them.

        Parameters
        ----------
        max_reasons
            The most reasons that are named.
        share, prefer, proof
            As for `why`.
        seconds
            Time limit of the search; rows that it is not enough for remain.

        """
        return cover_table(
            self._reasoner, max_reasons, share=share, prefer=prefer, proof=proof, seconds=seconds
        )

    @_as_question
    def changes(
        self,
        row: Any,
        *,
        wished: Any = None,
        count: int = 1,
        limits: ChangeLimits = ChangeLimits(),  # noqa: B008 (frozen)
        max_rows: int = 50_000,
        proof_seconds: float = 10.0,
    ) -> Changes:
        """The fewest columns of a row, and their smallest change, with which the model decides otherwise.

        Parameters
        ----------
        row
            As for `why`.
        wished
            The class that the model should decide for, as the model or in words; any other by default.
        count
            How many changes of different columns are wanted.
        limits
            Columns that may not change, or only in one direction.
        max_rows
            The most rows that the model is asked about.
        proof_seconds
            Time limit of the proofs that no change of fewer columns does; 0 for none.

        """
        finder = ChangeFinder(self.subject)
        return finder.find(row, limits, wished, count=count, max_rows=max_rows, proof_seconds=proof_seconds)

    @_as_question
    def changes_table(
        self,
        *,
        wished: Any = None,
        count: int = 3,
        max_columns: int = 3,
        limits: ChangeLimits = ChangeLimits(),  # noqa: B008 (frozen)
        max_rows: int = 200_000,
    ) -> ChangesTable:
        """A few actions, the same for every row, that turn most of the rows that are refused a class.

        An action sets few columns to a value, or raises or lowers them to one. A fifth of at least 100 rows
        is held out, and says which share of the refused rows each action turns.

        Parameters
        ----------
        wished
            The class that rows are refused, as the model or in words; of two classes the second by default.
        count
            The most actions.
        max_columns
            The most columns of an action.
        limits
            Columns that may not change, or only in one direction.
        max_rows
            About how many rows the model is asked about.

        """
        return find_actions(
            self.subject.hold_out(),
            wished,
            limits,
            count=count,
            max_columns=max_columns,
            max_rows=max_rows,
        )

    @_as_question
    def check(
        self,
        claims: str | Path | Sequence[Claim | str],
        *,
        samples: int = 10_000,
        proof: bool = False,
        proof_seconds: float = PROOF_SECONDS,
    ) -> Listing[ClaimCheck]:
        """For each claim look for rows that break it.

        Parameters
        ----------
        claims
            Claims as text, one a line, such as `age > 40 & sex = f -> survives` or `more income never lowers
            good`; a list of such texts; or the path of a file of them.
        samples
            How many rows, or pairs of rows, are drawn for each claim.
        proof, proof_seconds
            Whether to prove or refute each rule for every row of the table's domain, and for how long.

        """
        return check(
            claims,
            self.subject,
            samples=samples,
            proof=proof,
            proof_seconds=proof_seconds,
        )

    @_as_question
    def diff(self, other: Any, *, max_literals: int = 12, n_samples: int = 16_000) -> ModelDiff:
        """Say where another model disagrees with this one, or the truth: how often, and for whom.

        Parameters
        ----------
        other
            The new model, which may read other columns of the rows; or the labels of the rows.
        max_literals
            The most conditions that there may be to read.
        n_samples
            How many samples rules are fitted to.

        """
        return diff(self.subject, other, max_literals=max_literals, n_samples=n_samples)

    @_as_question
    def learn(
        self,
        *,
        learner: Learner = "prime",
        proof: bool = False,
        folder: str | Path | None = None,
        **options: Unpack[LearnOptions],
    ) -> Extraction:
        """Learn a Horn theory about the model by membership and equivalence queries; see `hornbook.learn`."""
        self.subject.refuse_weights("learn")
        clock, settings = Stopwatch(), _read_options(learner, self.subject.seed, proof, options)
        if learner == "envelope":
            return _keep(explain_by_settings(self.subject, settings), folder)
        model, target, words = self.model, self.subject.target, self.code_book
        if self.subject.positive:  # a question about one class
            model, target, words = self.subject.teacher.predictor, self.subject.classes[1], self.subject.words
        bound = QuerySubject.bind(
            model,
            self.rows,
            target=target,
            code_book=words,
            groups=self.subject.groups,
            seed=self.subject.seed,
        )
        return _learn(bound, settings, clock, proof, folder)

    @cached_property
    def _reasoner(self) -> Reasoner:
        return Reasoner(self.subject)


def learn(
    judge: Any,
    rows: Any,
    *,
    target: str | None = None,
    learner: Learner = "prime",
    binariser: Binariser | None = None,
    code_book: CodeBookSource = None,
    seed: int = 0,
    proof: bool = False,
    folder: str | Path | None = None,
    **options: Unpack[LearnOptions],
) -> Extraction:
    """Learn a Horn theory by membership and equivalence queries: which cases a judge accepts.

    A model that fails, an interrupt, and a limit end the run; `stop_reason` says which, and the rules are
    those that were learned so far.

    Parameters
    ----------
    judge
        A model that accepts or rejects partial interpretations, as the paper's network does: the path of a
        model file, what `as_predictor` made of one with an encoding of unknown values, or a plain function
        of an array. A function is asked about complete rows; a question that leaves values open is accepted
        if one of several completions is. With a `target` it is a classifier of two classes instead.
    rows
        Rows of 1, 0 and NaN like those that it will see, or columns that variables are made of; or the
        `Vocabulary` of its variables: then samples are drawn at random.
    target
        What a classifier predicts: the label of the rules. A fifth of its rows is held out.
    learner
        `prime` learns about any model. `lrn_star` is the algorithm of the paper as it is printed, which takes
        the model for a Horn teacher. `horn1` learns from complete interpretations, and stops where the
        judge's answers fit no Horn theory. `envelope` asks about every case, where these can be counted, and
        learns the strongest Horn theory that accepts all that the model accepts, exactly; `beyond_horn` of
        the result says what no Horn theory can. The columns of a classifier then have few values: a case is
        a level of each, or none, with a class, or none.
    binariser
        What makes variables of the columns; by default one is fitted to them.
    code_book
        The user's words for columns, values and classes.
    seed
        Makes the run repeatable.
    proof
        Whether to prove or refute each rule for every input, if the prover supports the model.
    folder
        A run folder: it keeps the trace, from which a run that was killed goes on, and the result.
    options
        Limits, and how sure the learner has to be: see `LearnOptions`.

    Examples
    --------
    >>> def judge(array):
    ...     return ~((array[:, 0] == 1) & (array[:, 1] == 1) & (array[:, 2] == 0))
    >>> from hornbook.logic import Vocabulary
    >>> extraction = learn(judge, Vocabulary(["horse", "wings", "pegasus"]), learner="lrn_star")
    >>> print(extraction.theory)
    horse ∧ wings → pegasus

    """
    if learner == "envelope" and target is not None:
        explainer = Explainer(judge, rows, target=target, code_book=code_book, seed=seed)
        return explainer.learn(learner="envelope", proof=proof, folder=folder, **options)
    clock, settings = Stopwatch(), _read_options(learner, seed, proof, options)
    subject = QuerySubject.bind(
        judge, rows, target=target, binariser=binariser, code_book=code_book, seed=seed
    )
    if learner == "envelope":
        return _keep(learn_by_settings(subject, settings), folder)
    return _learn(subject, settings, clock, proof, folder)


def _read_options(learner: Learner, seed: int, proof: bool, options: LearnOptions) -> dict[str, Any]:
    """The settings of a run, as its configuration has them; refuse options that there are not."""
    if unknown := options.keys() - LEARNING.keys():
        raise HornbookError(f"there is no option {min(unknown)!r}; there are {', '.join(LEARNING)}")
    if proof and learner == "envelope":
        raise HornbookError("an envelope is exact by every case that there is; leave out proof=True")
    return {**LEARNING, **options, "learner": learner, "seed": seed}


def _keep(extraction: Extraction, folder: str | Path | None) -> Extraction:
    """Save an extraction, if there is a folder for it."""
    if folder is not None:
        extraction.save(folder)
    return extraction


def _learn(
    subject: QuerySubject,
    settings: dict[str, Any],
    clock: Stopwatch,
    proof: bool,
    folder: str | Path | None,
) -> Extraction:
    """Learn a theory, prove its rules if that is wanted, and keep all in a folder if there is one."""
    path = None if folder is None else Path(folder)
    prover = make_prover(subject) if proof else None  # first: perhaps nothing can be proved
    with nullcontext() if path is None else lock_folder(path):
        if path is not None:
            described = describe_learning(subject, read_learning(settings))
            start_run(path, {"versions": library_versions(), **described})
        extraction = learn_by_settings(subject, settings, trace=path and path / TRACE_FILE, clock=clock)
        if prover is not None:
            extraction = prove_lines(extraction, prover, ProofLimits())
        if path is not None:
            save_run(path, extraction)
    return extraction


def _refuse_exchanged(model: Any, X: Any) -> None:
    """Refuse arguments in another order: rows where the model belongs, or labels where rows do."""
    is_table = as_frame(model) is not None or isinstance(model, np.ndarray | pd.Series | list | tuple)
    if is_table or isinstance(X, Predictor) or hasattr(X, "predict"):
        raise HornbookError("the model comes first, and then the rows: Explainer(model, X)")
    if isinstance(X, pd.Series) or (as_frame(X) is None and np.ndim(X) != 2):
        raise HornbookError(
            "rows are a table, shape (rows, columns), and labels come after them: Explainer(model, X, y)"
        )
