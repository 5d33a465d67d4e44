"""Explain a gradient-boosted classifier, and write a page about it.

python examples/read_a_classifier.py [report.html]
"""

import sys

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import HistGradientBoostingClassifier

from hornbook import Explainer

X, benign = load_breast_cancer(return_X_y=True, as_frame=True)
y = np.where(benign, "benign", "malignant")
model = HistGradientBoostingClassifier(max_iter=30, random_state=0).fit(X, y)

explainer = Explainer(model, X, y, target="the diagnosis")
print(f"the model is right about {explainer.accuracy} of the rows")
extraction = explainer.extract(n_samples=4000)

print(extraction.explanation)
for figure in extraction.fidelity.describe():
    print(f"explanation and model say the same {figure}")
print(extraction.explain(X.iloc[0]))

page = sys.argv[1] if len(sys.argv) > 1 else "report.html"
extraction.report(page)
print(f"open {page} in a browser")
