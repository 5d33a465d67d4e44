"""The HCC survival dataset: its 49 features, its file, and a synthetic cohort of the same shape.

References
----------
M. S. Santos, P. H. Abreu, P. J. García-Laencina, A. Simão, A. Carvalho. A new cluster-based
oversampling method for improving survival prediction of hepatocellular carcinoma patients.
Journal of Biomedical Informatics 58, 2015.

"""

from __future__ import annotations

import csv
import io
import re
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from statistics import NormalDist

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from hornbook.errors import HornbookError
from hornbook.storage import read_text
from hornbook.tables import Kind, Table, read_table
from hornbook.tables.sources import shorten


@dataclass(frozen=True)
class Feature:
    """A column of the dataset: its heading and summary figures.

    Parameters
    ----------
    heading
        The name in the published file, with single spaces.
    missing
        The number of missing values, of 165.
    figures
        For a qualitative feature, the share of ones; for a quantitative one, minimum, quartiles
        and maximum.
    severity
        Our choice for synthetic data: correlation with the severity of the disease, -1 to 1.
    decimals
        The number of decimals of the values.

    """

    heading: str
    missing: int
    figures: tuple[float, ...]
    severity: float = 0.0
    decimals: int = 0

    @property
    def name(self) -> str:
        """The heading in lower case, without its unit, words joined by underscores."""
        return re.sub(r"\W+", "_", self.heading.split("(")[0].strip()).lower()

    @property
    def kind(self) -> Kind:
        """Qualitative features are binary in this dataset."""
        return "binary" if len(self.figures) == 1 else "quantitative"


FEATURES = (
    Feature("Gender", 0, (0.81,)),
    Feature("Symptoms", 18, (0.64,), 0.4),
    Feature("Alcohol", 0, (0.74,)),
    Feature("Hepatitis B Surface Antigen", 17, (0.11,)),
    Feature("Hepatitis B e Antigen", 39, (0.01,)),
    Feature("Hepatitis B Core Antibody", 24, (0.27,)),
    Feature("Hepatitis C Virus Antibody", 9, (0.22,), 0.15),
    Feature("Cirrhosis", 0, (0.90,)),
    Feature("Endemic Countries", 39, (0.08,)),
    Feature("Smoking", 41, (0.51,)),
    Feature("Diabetes", 3, (0.35,), 0.1),
    Feature("Obesity", 10, (0.13,)),
    Feature("Hemochromatosis", 23, (0.05,)),
    Feature("Arterial Hypertension", 3, (0.36,)),
    Feature("Chronic Renal Insufficiency", 2, (0.12,), 0.1),
    Feature("Human Immunodeficiency Virus", 14, (0.02,)),
    Feature("Nonalcoholic Steatohepatitis", 22, (0.06,)),
    Feature("Esophageal Varices", 52, (0.61,)),
    Feature("Splenomegaly", 15, (0.56,)),
    Feature("Portal Hypertension", 11, (0.71,)),
    Feature("Portal Vein Thrombosis", 3, (0.22,), 0.3),
    Feature("Liver Metastasis", 4, (0.22,), 0.35),
    Feature("Radiological Hallmark", 2, (0.68,)),
    Feature("Age at diagnosis", 0, (20, 57, 66, 74, 93), 0.2),
    Feature("Grams of Alcohol per day", 48, (0, 0, 75, 100, 500), 0.1),
    Feature("Packs of cigarets per year", 53, (0, 0, 0, 30.5, 510)),
    Feature("Performance Status", 0, (0, 0, 1, 2, 4), 0.5),
    Feature("Encefalopathy degree", 1, (1, 1, 1, 1, 3), 0.15),
    Feature("Ascites degree", 2, (1, 1, 1, 2, 3), 0.35),
    Feature("International Normalised Ratio", 4, (0.84, 1.17, 1.3, 1.53, 4.82), 0.25, 2),
    Feature("Alpha-Fetoprotein (ng/mL)", 8, (1.2, 5.2, 33, 615, 1810346), 0.5, 1),
    Feature("Haemoglobin (g/dL)", 3, (5, 11.4, 13.05, 14.6, 18.7), -0.45, 1),
    Feature("Mean Corpuscular Volume (fl)", 3, (69.5, 89.8, 94.95, 100.7, 119.6), 0, 1),
    Feature("Leukocytes(G/L)", 3, (2.2, 5.1, 7.2, 19.5, 13000), 0.15, 1),
    Feature("Platelets (G/L)", 3, (1.71, 256, 93000, 171500, 459000), 0.15),
    Feature("Albumin (mg/dL)", 6, (1.9, 3, 3.4, 4.05, 4.9), -0.45, 1),
    Feature("Total Bilirubin(mg/dL)", 5, (0.3, 0.8, 1.4, 2.9, 40.5), 0.25, 1),
    Feature("Alanine transaminase (U/L)", 4, (11, 31, 50, 78, 420)),
    Feature("Aspartate transaminase (U/L)", 3, (17, 46, 71, 110, 553), 0.35),
    Feature("Gamma glutamyl transferase (U/L)", 3, (23, 91, 180, 345, 1575), 0.25),
    Feature("Alkaline phosphatase (U/L)", 3, (1.28, 108, 162, 262, 980), 0.5),
    Feature("Total Proteins (g/dL)", 11, (3.9, 6.3, 7.05, 7.6, 102), -0.15, 1),
    Feature("Creatinine (mg/dL)", 7, (0.2, 0.7, 0.85, 1.1, 7.6), 0.2, 2),
    Feature("Number of Nodules", 2, (0, 1, 2, 5, 5), 0.15),
    Feature("Major dimension of nodule (cm)", 20, (1.5, 3, 5, 9, 22), 0.25, 1),
    Feature("Direct Bilirubin (mg/dL)", 44, (0.1, 0.37, 0.7, 1.4, 29.3), 0.35, 2),
    Feature("Iron (mcg/dL)", 79, (0, 40.5, 83, 118, 224), -0.35),
    Feature("Oxygen Saturation (%)", 80, (0, 16, 27, 56, 126), -0.1),
    Feature("Ferritin (ng/mL)", 80, (0, 84, 295, 706, 2230), 0.4),
)
PATIENTS, SURVIVORS, COMPLETE = 165, 102, 8
LABEL = "survives"


HCC_URL = "https://archive.ics.uci.edu/dataset/423/hcc+survival"
"""Where the patients are published."""

LABEL_HEADINGS = ("1survives0dies", "class", "classattribute", LABEL)


def load_hcc(path: str | PathLike[str] | None) -> Table:
    """Load the patients, with short column names and the class `survives`.

    Parameters
    ----------
    path
        A copy of the data: the published text, or a CSV file with a header.

    """
    if path is None:
        raise HornbookError(f"download the patients from {HCC_URL}, and give the path of hcc-data.txt")
    source = Path(path)
    try:
        frame = _read(read_text(source))
    except HornbookError as error:
        raise HornbookError(f"{shorten(source.name)} is not the HCC dataset: {error}") from None
    kinds = {feature.name: feature.kind for feature in FEATURES}
    return read_table(frame, label=LABEL, kinds=kinds, name="hcc")


def _read(text: str) -> pd.DataFrame:
    """Parse the values, with or without a header; a header is checked."""
    try:
        rows = [row for row in csv.reader(io.StringIO(text, newline=""), strict=True) if row]
    except csv.Error as error:
        raise HornbookError(shorten(str(error))) from None
    if not rows:
        raise HornbookError("it is empty")
    expected = [*([_letters(feature.heading)] for feature in FEATURES), list(LABEL_HEADINGS)]
    for number, row in enumerate(rows, 1):
        if len(row) != len(expected):
            raise HornbookError(f"row {number} has {len(row)} values, not {len(expected)}")
    if re.search(r"[A-Za-z]{3}", ",".join(rows[0])):
        for number, (name, allowed) in enumerate(zip(rows.pop(0), expected, strict=True), 1):
            if _letters(name) not in allowed:
                raise HornbookError(f"column {number} is called {name!r}, not {allowed[0]!r}")
    return pd.DataFrame(rows, columns=[*(feature.name for feature in FEATURES), LABEL], dtype=object)


def _letters(name: str) -> str:
    """Reduce a heading to lower-case letters and digits, to compare it."""
    return re.sub(r"[^a-z0-9]", "", name.lower())


SYNTHETIC_SEED = 165


def make_synthetic_hcc(seed: int = SYNTHETIC_SEED) -> Table:
    """Make a synthetic table with the features, kinds, ranges, missing values and class balance of `hcc`.

    Every patient has a hidden severity that influences some of the values and, with noise,
    determines who survives. Each column has as many missing values as the published one, eight
    rows are complete, and patients differ in how many values they lack.

    Examples
    --------
    >>> table = make_synthetic_hcc()
    >>> table.name, table.frame.shape, table.complete, round(table.missing, 4)
    ('hcc-synthetic', (165, 50), 8, 0.1022)

    """
    rng = np.random.default_rng(seed)
    severity = rng.standard_normal(PATIENTS)
    columns = {feature.name: _draw_values(feature, severity, rng) for feature in FEATURES}
    frame = pd.DataFrame(columns)
    fate = severity + 0.5 * rng.standard_normal(PATIENTS)
    frame[LABEL] = (fate.argsort().argsort() < SURVIVORS).astype(float)
    frame[list(columns)] = frame[list(columns)].mask(_draw_holes(rng))
    kinds = {feature.name: feature.kind for feature in FEATURES}
    return Table(frame, {**kinds, LABEL: "binary"}, "hcc-synthetic", LABEL)


def _draw_values(
    feature: Feature, severity: NDArray[np.float64], rng: np.random.Generator
) -> NDArray[np.float64]:
    """Draw one value per patient: a rank correlated with severity, mapped to the feature's quartiles."""
    own = rng.standard_normal(PATIENTS)
    follows = feature.severity * severity + np.sqrt(1 - feature.severity**2) * own
    rank = np.array([NormalDist().cdf(value) for value in follows])
    if feature.kind == "binary":
        return (rank > 1 - feature.figures[0]).astype(np.float64)
    # between two quartiles evenly on a logarithmic scale: most of these figures have long tails
    scaled = np.interp(rank, np.linspace(0, 1, len(feature.figures)), np.log1p(feature.figures))
    rounded: NDArray[np.float64] = np.expm1(scaled).round(feature.decimals)
    return rounded.clip(feature.figures[0], feature.figures[-1])


def _draw_holes(rng: np.random.Generator) -> NDArray[np.bool_]:
    """Draw the missing values, (patients, features): as many per column as published, unevenly over rows."""
    carelessness = rng.gamma(4.0, size=PATIENTS)
    whole = rng.permutation(PATIENTS)[:COMPLETE]
    carelessness[whole] = 0
    holes = np.zeros((PATIENTS, len(FEATURES)), np.bool_)
    for column, feature in enumerate(FEATURES):
        chosen = rng.choice(PATIENTS, feature.missing, replace=False, p=carelessness / carelessness.sum())
        holes[chosen, column] = True
    for row in np.setdiff1d(np.flatnonzero(~holes.any(axis=1)), whole):
        # complete by chance: move a missing value here from the row that has most
        giver = holes.sum(axis=1).argmax()
        column = rng.choice(np.flatnonzero(holes[giver]))
        holes[[giver, row], column] = False, True
    return holes
