"""An extraction: one run and its whole result, which estimators, reports, run folders and commands read."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from hornbook.data.examples import split_rows
from hornbook.data.table import as_frame, refuse_infinity
from hornbook.errors import HornbookError
from hornbook.evaluate import Fidelity
from hornbook.explanations import CompiledExplanation, Explanation, read_explanation
from hornbook.logic import HornTheory
from hornbook.randomness import Purpose, generator
from hornbook.statistics import Share
from hornbook.surrogates import Candidate, Form, search_explanations
from hornbook.teacher import ClassifierTeacher, bind_classifier

FORMAT = 1
"""The version of the JSON form."""

PARTS = {
    "target": str,
    "classes": list,
    "frontier": list,
    "distribution": str,
    "missing_values": str,
    "provenance": dict,
}
"""The type of each part of the JSON form that is no value of its own."""

EVALUATION_SAMPLES = 1 << 13
"""Fresh samples that fidelity is measured on."""


@dataclass(frozen=True)
class Extraction:
    """The explanation of a model, how faithful it is, and what it took.

    Parameters
    ----------
    target
        What the model predicts.
    classes
        What the model calls its classes, in the order of the explanation's.
    explanation
        What a person reads.
    fidelity
        How often explanation and model say the same, on each population.
    frontier
        The best explanation of every size, the shortest first.
    distribution, missing_values
        Where samples came from, and how the model was asked about missing values, in words.
    provenance
        What it was made from: model, data, settings, versions.

    """

    target: str
    classes: tuple[Any, ...]
    explanation: Explanation
    fidelity: Fidelity
    frontier: tuple[Candidate, ...]
    distribution: str
    missing_values: str
    provenance: Mapping[str, Any] = field(default_factory=dict)

    @cached_property
    def compiled(self) -> CompiledExplanation:
        """The explanation as a Horn theory."""
        return self.explanation.compile()

    @property
    def theory(self) -> HornTheory:
        """The rules that derive what the explanation decides, without the background."""
        known = set(self.compiled.background)
        rules = (rule for rule in self.compiled.theory if rule not in known)
        return HornTheory(self.compiled.theory.vocabulary, rules)

    @property
    def background(self) -> HornTheory:
        """What always holds."""
        return self.compiled.background

    def to_object(self) -> dict[str, Any]:
        """Everything, ready for JSON."""
        return {
            "format": FORMAT,
            "target": self.target,
            "classes": [_plain(name) for name in self.classes],
            "explanation": self.explanation.to_object(),
            "fidelity": fidelity_object(self.fidelity),
            "frontier": [
                {"explanation": point.explanation.to_object(), "fidelity": share_object(point.fidelity)}
                for point in self.frontier
            ],
            "distribution": self.distribution,
            "missing_values": self.missing_values,
            "provenance": dict(self.provenance),
        }

    def to_json(self) -> str:
        """The JSON form."""
        return json.dumps(self.to_object(), ensure_ascii=False, indent=1) + "\n"

    @classmethod
    def from_json(cls, text: str, source: str = "the extraction") -> Extraction:
        """Read what `to_json` wrote; a message says what is wrong with anything else."""
        try:
            content = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise HornbookError(f"{source} is no JSON: {error}") from None
        try:
            if content["format"] != FORMAT:
                raise HornbookError(f"format {content['format']!r} is not {FORMAT}")
            return cls._read(content)
        except (AttributeError, IndexError, KeyError, RecursionError, TypeError, ValueError) as error:
            raise HornbookError(f"{source} is not what an extraction leaves there: {error!r}") from None
        except HornbookError as error:
            raise HornbookError(f"{source} is not what an extraction leaves there: {error}") from None

    @classmethod
    def _read(cls, content: Mapping[str, Any]) -> Extraction:
        explanation = read_explanation(content["explanation"])
        if len(content["classes"]) != len(explanation.classes):
            raise HornbookError("there are not as many classes as the explanation has")
        for name, kind in PARTS.items():
            if not isinstance(content[name], kind):
                raise HornbookError(f"{name!r} is {content[name]!r}")
        return cls(
            content["target"],
            tuple(content["classes"]),
            explanation,
            read_fidelity(content["fidelity"]),
            tuple(
                Candidate(read_explanation(point["explanation"]), read_share(point["fidelity"]))
                for point in content["frontier"]
            ),
            content["distribution"],
            content["missing_values"],
            content["provenance"],
        )


def explain_model(
    model: Any,
    X: Any,
    target: str = "label",
    *,
    form: Form = "auto",
    max_literals: int = 20,
    n_samples: int | None = None,
    seed: int = 0,
    watch: Callable[[Candidate], None] | None = None,
) -> Extraction:
    """Explain what a fitted classifier does, in the columns of a table.

    Parameters
    ----------
    model
        The classifier, already fitted: of scikit-learn, torch, Keras, ONNX, XGBoost or LightGBM, the
        path of a model file, a function of an array, or what `as_predictor` made of one.
    X
        Rows as the model reads them, a frame of pandas or polars, or an array; missing values as
        NaN. A fifth of at least 100 rows is held out: fidelity is measured on it.
    target
        What the model predicts: what its classes are called in words.
    form
        `tree`, `card`, `rules`, or `auto` for the best of them.
    max_literals
        The most conditions that there may be to read.
    n_samples
        How many samples the explanation is fitted to; by default 16,000 to 24,000.
    seed
        Makes the run repeatable.
    watch
        Is called with every candidate.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> model = DecisionTreeClassifier(max_depth=1).fit(X[["petal width (cm)"]], y == 2)
    >>> extraction = explain_model(model, X[["petal width (cm)"]], "virginica", form="tree")
    >>> print(extraction.explanation)
    if petal width (cm) > 1.7: virginica
    otherwise: not virginica
    >>> print(extraction.fidelity)
    on 30 unseen rows 100.00 % (95 % interval 88.43 % to 100.00 %)

    """
    frame = read_frame(X)
    used, held_out = split_rows(frame, seed)
    teacher = bind_classifier(model, frame.iloc[used], seed)
    names = name_classes(target, teacher.classes)
    result = search_explanations(
        teacher.labels,
        teacher.sampler,
        names,
        seed=seed,
        max_literals=max_literals,
        form=form,
        n_samples=n_samples,
        watch=watch,
    )
    fresh = teacher.sample(EVALUATION_SAMPLES, generator(seed, Purpose.EVALUATION))
    return Extraction(
        target,
        teacher.classes,
        result.chosen.explanation,
        measure_fidelity(result.chosen.explanation, teacher, frame.iloc[held_out], fresh),
        result.frontier(),
        teacher.sampler.describe(),
        teacher.describe(),
    )


def read_frame(X: Any) -> pd.DataFrame:
    """Rows as a frame whose columns have names: x0, x1, … where they have none."""
    frame = as_frame(X)
    if frame is None:
        frame = pd.DataFrame(np.asarray(X)).infer_objects()
    refuse_infinity(frame)
    if not len(frame):
        raise HornbookError("there are no rows to explain the model on; pass some rows that it decides")
    if not all(isinstance(name, str) for name in frame.columns):
        return frame.set_axis([f"x{number}" for number in range(frame.shape[1])], axis=1)
    return frame


def name_classes(target: str, classes: tuple[Any, ...]) -> tuple[str, ...]:
    """Classes in words: `dead` and `not dead` for 1 and 0, else what the model calls them.

    Examples
    --------
    >>> name_classes("dead", (0, 1)), name_classes("iris", ("setosa", "virginica"))
    (('not dead', 'dead'), ('setosa', 'virginica'))
    >>> name_classes("grade", (1, 2, 3))
    ('grade 1', 'grade 2', 'grade 3')

    """
    if len(classes) == 2 and not isinstance(classes[0], str) and tuple(classes) == (0, 1):
        return f"not {target}", target
    return tuple(name if isinstance(name, str) else f"{target} {name}" for name in classes)


def measure_fidelity(
    explanation: Explanation, teacher: ClassifierTeacher, unseen: pd.DataFrame, fresh: pd.DataFrame
) -> Fidelity:
    """The fidelity on unseen rows, if there are any, on fresh samples, and on the rows that were used."""

    def share(rows: pd.DataFrame) -> Share:
        return Share.of(int((explanation.decide(rows) == teacher.labels(rows)).sum()), len(rows))

    return Fidelity(
        samples=share(fresh),
        unseen_rows=share(unseen) if len(unseen) else None,
        used_rows=share(teacher.frame).estimate,
    )


def share_object(share: Share) -> dict[str, Any]:
    """A share with its interval, ready for JSON."""
    estimate = share.estimate if share.size else None
    return {"share": estimate, "interval": [share.low, share.high], "hits": share.hits, "of": share.size}


def read_share(content: Mapping[str, Any]) -> Share:
    """The share that `share_object` wrote; its interval is computed anew."""
    hits, size = content["hits"], content["of"]
    if type(hits) is not int or type(size) is not int or not 0 <= hits <= size:
        raise HornbookError(f"{hits!r} of {size!r} is no share")
    return Share.of(hits, size)


def fidelity_object(fidelity: Fidelity) -> dict[str, Any]:
    """The fidelity on each population, ready for JSON: the headline first."""
    unseen = fidelity.unseen_rows
    return {
        "unseen_rows": None if unseen is None else share_object(unseen),
        "samples": share_object(fidelity.samples),
        "used_rows": None if np.isnan(fidelity.used_rows) else fidelity.used_rows,
    }


def read_fidelity(content: Mapping[str, Any]) -> Fidelity:
    """The fidelity that `fidelity_object` wrote."""
    unseen, used = content["unseen_rows"], content["used_rows"]
    return Fidelity(
        read_share(content["samples"]),
        None if unseen is None else read_share(unseen),
        float("nan") if used is None else float(used),
    )


def _plain(value: Any) -> Any:
    return value.item() if hasattr(value, "item") else value
