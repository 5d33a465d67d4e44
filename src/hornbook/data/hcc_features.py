"""The 49 features of the HCC survival dataset, with summary figures of the published table.

References
----------
M. S. Santos, P. H. Abreu, P. J. García-Laencina, A. Simão, A. Carvalho. A new cluster-based
oversampling method for improving survival prediction of hepatocellular carcinoma patients.
Journal of Biomedical Informatics 58, 2015.

"""

from __future__ import annotations

import re
from dataclasses import dataclass

from hornbook.data.kinds import Kind


@dataclass(frozen=True)
class Feature:
    """A column: its heading, and figures that sum it up.

    Parameters
    ----------
    heading
        The name in the published file, with single spaces.
    missing
        How many of the 165 values are missing.
    figures
        The share of ones of a qualitative feature; or the least value, the quartiles and the
        greatest value of a quantitative one.
    severity
        Ours, for synthetic data: how the value moves with the severity of the disease, -1 to 1.
    decimals
        How many decimals the values have.

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
