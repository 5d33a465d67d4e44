"""The gallery of the documentation: six explanations of models of six kinds, a picture each.

    python benchmarks/gallery.py                # rewrites docs/gallery.md and docs/gallery/*.svg
    python benchmarks/gallery.py --output out/  # writes them elsewhere

Needs the extras lightgbm and xgboost.
"""

import argparse
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd
from lightgbm import LGBMClassifier
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, load_iris, load_wine
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from xgboost import XGBClassifier

from hornbook import Explainer
from hornbook.report import write_svg
from hornbook.tables import load_dataset

DOCUMENTS = Path(__file__).parent.parent / "docs"

OPENING = (
    "# Gallery\n\n"
    "What six models do, and how often explanation and model agree on held-out rows. "
    "`python benchmarks/gallery.py` writes this page.\n"
)


@dataclass(frozen=True)
class Exhibit:
    """A model, the table that it was fitted to, and how it is to be explained."""

    name: str
    title: str
    about: str
    target: str
    load: Callable[[], tuple[pd.DataFrame, pd.Series]]
    model: Any
    form: str
    max_literals: int
    code_book: dict[str, Any] = field(default_factory=dict)


def load_tumours() -> tuple[pd.DataFrame, pd.Series]:
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    return X, 1 - y


def load_flowers() -> tuple[pd.DataFrame, pd.Series]:
    X, y = load_iris(return_X_y=True, as_frame=True)
    X.columns = [name.removesuffix(" (cm)") for name in X.columns]
    return X, y.map(dict(enumerate(load_iris().target_names)))


def load_wines() -> tuple[pd.DataFrame, pd.Series]:
    X, y = load_wine(return_X_y=True, as_frame=True)
    return X, y.map({0: "first grower", 1: "second grower", 2: "third grower"})


def load_progression() -> tuple[pd.DataFrame, pd.Series]:
    X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
    return X, (y > 150).astype(int)


def load_ones_and_sevens() -> tuple[pd.DataFrame, pd.Series]:
    X, y = load_digits(return_X_y=True, as_frame=True)
    chosen = y.isin([1, 7])
    X.columns = [f"row {1 + k // 8} column {1 + k % 8}" for k in range(64)]
    return X[chosen].reset_index(drop=True), (y[chosen] == 7).astype(int).reset_index(drop=True)


def load_cohort() -> tuple[pd.DataFrame, pd.Series]:
    table = load_dataset("hcc-synthetic")
    return table.frame.drop(columns=table.label), table.frame[table.label].astype(int)


EXHIBITS = (
    Exhibit(
        "tumours",
        "Tumours: a network, as a score card",
        "A network with 30 hidden units judges thirty measures.",
        "malignant",
        load_tumours,
        make_pipeline(StandardScaler(), MLPClassifier((30,), max_iter=500, random_state=0)),
        "card",
        6,
        {"classes": {"0": "benign", "1": "malignant"}},
    ),
    Exhibit(
        "flowers",
        "Flowers: a forest, as a tree with three classes",
        "A hundred trees tell species of iris apart.",
        "species",
        load_flowers,
        RandomForestClassifier(100, random_state=0),
        "tree",
        4,
        {"columns": {name: {"unit": "cm"} for name in ("petal length", "petal width")}},
    ),
    Exhibit(
        "wines",
        "Wines: LightGBM, as rules for three growers",
        "LightGBM tells growers apart by thirteen measures.",
        "grower",
        load_wines,
        LGBMClassifier(n_estimators=50, verbose=-1, random_state=0),
        "rules",
        6,
    ),
    Exhibit(
        "progression",
        "Diabetes: gradient boosting, as a score card",
        "Gradient boosting predicts whether the disease progresses beyond 150 within a year.",
        "progresses",
        load_progression,
        HistGradientBoostingClassifier(max_iter=60, random_state=0),
        "card",
        4,
        {
            "columns": {
                "age": {"unit": "years"},
                "sex": {"codes": True},
                "bmi": {"label": "body mass index", "unit": "kg/m²"},
                "bp": {"label": "blood pressure", "unit": "mmHg"},
                "s5": {"label": "log of triglycerides"},
                "s4": {"label": "cholesterol / HDL"},
                "s2": {"label": "LDL", "unit": "mg/dL"},
                "s3": {"label": "HDL", "unit": "mg/dL"},
                "s6": {"label": "blood sugar", "unit": "mg/dL"},
            },
            "classes": {"0": "stays", "1": "progresses"},
        },
    ),
    Exhibit(
        "digits",
        "Digits: support vectors, as a tree",
        "Support vectors tell ones from sevens by the ink of sixty-four pixels.",
        "seven",
        load_ones_and_sevens,
        SVC(random_state=0),
        "tree",
        4,
        {"classes": {"0": "one", "1": "seven"}},
    ),
    Exhibit(
        "cohort",
        "A cohort with holes: XGBoost, as a tree",
        "XGBoost predicts survival from forty-nine columns; a tenth of the values is missing.",
        "survives",
        load_cohort,
        XGBClassifier(n_estimators=40, max_depth=3, random_state=0),
        "tree",
        8,
        {"classes": {"0": "dies", "1": "survives"}},
    ),
)


def show(exhibit: Exhibit, folder: Path) -> str:
    """Explain the model, draw the explanation, and return its part of the page."""
    X, y = exhibit.load()
    model = exhibit.model.fit(X, y)
    explainer = Explainer(model, X, target=exhibit.target, code_book=exhibit.code_book or None)
    extraction = explainer.extract(form=exhibit.form, max_literals=exhibit.max_literals)
    drawn = bool(extraction.explanation.list_boxes())
    if drawn:
        (folder / f"{exhibit.name}.svg").write_text(write_svg(extraction.explanation), "utf-8")
    return "\n".join(
        [
            f"## {exhibit.title}",
            "",
            f"{exhibit.about} Agreement: {extraction.fidelity.rows}.",
            "",
            *(
                [f"![{exhibit.title}](gallery/{exhibit.name}.svg)"]
                if drawn
                else ["```text", str(extraction.explanation), "```"]
            ),
            "",
        ]
    )


def main() -> None:
    """Write the gallery."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--output", type=Path, default=DOCUMENTS)
    folder = parser.parse_args().output
    (folder / "gallery").mkdir(parents=True, exist_ok=True)
    parts = [show(exhibit, folder / "gallery") for exhibit in EXHIBITS]
    (folder / "gallery.md").write_text("\n".join([OPENING, *parts]), "utf-8")


if __name__ == "__main__":
    main()
