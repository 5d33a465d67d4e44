"""HornExtractor: the explanation of a classifier, by the conventions of scikit-learn."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from hornbook.code_book_source import CodeBookSource
from hornbook.explanations import Decision, explain_row
from hornbook.extraction import explain, name_values, read_values
from hornbook.extractor.base import Extractor, describe_run, draw_seed, refuse_numbers
from hornbook.models import Subject
from hornbook.reasons import Reasoner, TableReasons, Why, cover_table
from hornbook.storage import write_file
from hornbook.surrogates import Candidate, Form


class HornExtractor(Extractor):
    """Explains what a fitted classifier does, in the columns of a table.

    Parameters
    ----------
    model
        The classifier, already fitted: of scikit-learn, torch, Keras, ONNX, XGBoost or LightGBM, the
        path of a model file, the URL of a model that is deployed, a function of an array, or what
        `as_predictor` made of one. It is never refitted, copied or changed; clones share it.
    target
        What the model predicts: what its classes are called in words.
    form
        `tree`, `card`, `rules`, or `auto` for the best of them.
    max_literals
        The most conditions that there may be to read.
    n_samples
        How many samples the explanation is fitted to; half as many choose among candidates. By
        default 16,000, or up to 24,000 for a large table.
    random_state
        Makes the run repeatable.
    code_book
        The user's words for columns, units, levels and classes: a TOML file, a mapping of its shape,
        or a `CodeBook`.
    verbose
        1 prints every candidate to stderr.

    Attributes
    ----------
    explanation_
        What a person reads: a `DecisionTree`, a `ScoreCard` or a `RuleSet`.
    fidelity_
        How often explanation and model say the same: on unseen rows, with an interval; `samples`
        has the figure for fresh samples of the neighbourhood.
    theory_, background_
        The explanation as Horn rules, and what always holds beside them.
    frontier_
        The best explanation of every size, the shortest first.
    extraction_
        The whole result, as one value.
    classes_
        The model's classes.
    feature_names_in_, n_features_in_
        The columns that were given to `fit`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> model = DecisionTreeClassifier(max_depth=1, random_state=0).fit(X[["petal width (cm)"]], y == 2)
    >>> extractor = HornExtractor(model, "virginica", random_state=0).fit(X)
    >>> print(extractor.explanation_)
    if petal width (cm) > 1.7: virginica
    otherwise: not virginica
    >>> print(extractor.fidelity_)
    on 30 unseen rows 100.00 % (95 % interval 88.43 % to 100.00 %); always "not virginica": 83.33 %
    >>> print(extractor.explain({"petal width (cm)": 2.3}))
    virginica, because
      petal width (cm) > 1.7
    with petal width (cm) ≤ 1.7 it would be not virginica

    """

    def __init__(
        self,
        model: Any,
        target: str = "label",
        *,
        form: Form = "auto",
        max_literals: int = 20,
        n_samples: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        code_book: CodeBookSource = None,
        verbose: int = 0,
    ) -> None:
        self.model = model
        self.target = target
        self.form = form
        self.max_literals = max_literals
        self.n_samples = n_samples
        self.random_state = random_state
        self.code_book = code_book
        self.verbose = verbose

    def fit(
        self,
        X: Any,
        y: ArrayLike | None = None,
        *,
        groups: ArrayLike | None = None,
        unseen: Any = None,
        watch: Callable[[Candidate], None] | None = None,
    ) -> Self:
        """Ask the model about samples of rows like these, and explain its answers.

        Parameters
        ----------
        X
            Rows as the model reads them, missing values as NaN. A fifth of at least 100 rows is
            held out: the fidelity on unseen rows is measured on it.
        y
            Not used: the explanation is about what the model says.
        groups
            The group of each row, such as its patient, as for scikit-learn's `GroupShuffleSplit`: the rows
            of a group are all held out, or none. Without groups equal rows are kept together.
        unseen
            Test rows with the same columns. Fidelity is measured on them, and no rows of X are held
            out; rows that X has too are counted in the notes of the extraction.
        watch
            Is called with every candidate.

        """
        refuse_numbers(y, self.target)
        self._read_frame(X, reset=True)
        subject = Subject.bind(
            self.model,
            X,
            target=self.target,
            code_book=self.code_book,
            groups=groups,
            hold_out=unseen is None,
            seed=draw_seed(self.random_state),
        )
        subject = subject if unseen is None else subject.with_test_rows(unseen)
        self.teacher_ = subject.teacher
        self.classes_ = np.array(self.teacher_.classes)
        extraction = explain(
            subject,
            form=self.form,
            max_literals=self.max_literals,
            n_samples=self.n_samples,
            watch=watch or (_print_candidate if self.verbose else None),
        )
        self.extraction_ = replace(extraction, provenance=describe_run(self.model, self.get_params()))
        self._reasoner = Reasoner(self.model, self.teacher_, subject.classes, subject.words, subject.seed)
        return self

    def explain(self, row: Any) -> Decision:
        """Why the explanation decides as it does about one row, and the smallest change that would change it.

        Parameters
        ----------
        row
            A series, a list, a frame of one row, or a mapping of some columns to values: the others
            are missing. Values are the table's own, as text too, or names of the code book; None
            and `?` stand for a missing one.

        """
        check_is_fitted(self)
        values = read_values(self.extraction_, name_values(row, self._columns))
        return explain_row(self.explanation_, dict.fromkeys(self._columns) | values)

    def why(self, row: Any, **asked: Any) -> Why:
        """Why the model itself decides as it does about one row, with a guarantee, and what would change it.

        Parameters
        ----------
        row
            As for `explain`.
        asked
            How reasons and changes are looked for: the keywords of `hornbook.why`, but for `seed` and
            `code_book`, which are those of the run.

        """
        check_is_fitted(self)
        return self._reasoner.explain(name_values(row, self._columns), **asked)

    def why_table(self, **asked: Any) -> TableReasons:
        """Why the model decides the rows of the table so: the few reasons that cover most of them.

        Parameters
        ----------
        asked
            The keywords of `hornbook.why_table`, but for `seed` and `code_book`, which are those of the run.

        """
        check_is_fitted(self)
        return cover_table(self._reasoner, **asked)

    def report(self, path: str | Path, *, why: int = 0) -> None:
        """Write the report, one HTML page.

        Parameters
        ----------
        path
            The file.
        why
            For how many rows to say why the model itself decides so, and what would change that; half of
            them are rows that the explanation decides otherwise, if there are.

        """
        from hornbook.report import to_html

        check_is_fitted(self)
        write_file(Path(path), to_html(self.extraction_, self.explain_cases(why)))

    def explain_cases(self, count: int) -> list[Why]:
        """Why the model decides so many rows so: some that the explanation decides otherwise, and others."""
        check_is_fitted(self)
        frame, labels = self.teacher_.frame, self.teacher_.labels(self.teacher_.frame)
        different = np.flatnonzero(self.explanation_.decide(frame) != labels).tolist()
        by_class = [np.flatnonzero(labels == number).tolist() for number in range(len(self.classes_))]
        others = [own[turn] for turn in range(count) for own in by_class if turn < len(own)]
        rows = list(dict.fromkeys([*different[: count // 2], *others]))[:count]
        return [self.why(frame.iloc[[row]], ask_again=False) for row in rows]

    def _model_labels(self, frame: pd.DataFrame) -> NDArray[np.intp]:
        return self.teacher_.labels(frame)


def describe_candidate(candidate: Candidate) -> str:
    """The form, size and fidelity of a candidate, as progress."""
    fidelity = f"{100 * candidate.fidelity.estimate:.1f} % of samples"
    return f"{candidate.form} with {candidate.literals} literals: {fidelity}"


def _print_candidate(candidate: Candidate) -> None:
    print(describe_candidate(candidate), file=sys.stderr)
