"""Explain a gradient-boosted classifier, and write a page about it.

python examples/read_a_classifier.py [report.html]
"""

import sys

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import HistGradientBoostingClassifier

from hornbook import HornExtractor

X, benign = load_breast_cancer(return_X_y=True, as_frame=True)
y = np.where(benign, "benign", "malignant")
model = HistGradientBoostingClassifier(max_iter=30, random_state=0).fit(X, y)

extractor = HornExtractor(model, target="the diagnosis", n_samples=4000, random_state=0).fit(X)

print(extractor.explanation_)
for figure in extractor.fidelity_.describe():
    print(f"explanation and model say the same {figure}")
print(extractor.explain(X.iloc[0]))

page = sys.argv[1] if len(sys.argv) > 1 else "report.html"
extractor.report(page)
print(f"open {page} in a browser")
