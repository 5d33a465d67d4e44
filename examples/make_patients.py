"""Make the files that the README's commands read: a table of 800 synthetic patients, two models, a claim.

python examples/make_patients.py
"""

from pathlib import Path

import numpy as np
import pandas as pd
import skops.io
from sklearn.ensemble import HistGradientBoostingClassifier

rng = np.random.default_rng(0)
patients = pd.DataFrame(
    {
        "age": rng.integers(30, 90, 800),
        "bilirubin": rng.gamma(2, 1, 800).round(1),
        "albumin": rng.normal(3.5, 0.5, 800).round(1),
        "ascites": rng.integers(0, 2, 800),
    }
)
alive = ~(
    (patients["bilirubin"] > 2.5) & (patients["age"] > 60)
    | (patients["albumin"] < 3) & (patients["ascites"] == 1)
)
mistaken = alive & ~((patients["age"] > 75) & (patients["ascites"] == 1))  # February's labels have a mistake
for name, labels in (("january", alive), ("february", mistaken)):
    model = HistGradientBoostingClassifier(max_iter=30, random_state=0).fit(patients, labels.astype(int))
    skops.io.dump(model, f"{name}.skops")
patients.assign(survives=alive.astype(int)).to_csv("patients.csv", index=False)
Path("claims.txt").write_text("more bilirubin never raises survives\n", "utf-8")
print("patients.csv, january.skops, february.skops and claims.txt are written")
