"""Train a classifier, explain it, say why it decides a row as it does, and write a page about it.

python examples/read_a_classifier.py [report.html]
"""

import sys
from pathlib import Path

from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.model_selection import train_test_split

import hornbook as hb

data = load_breast_cancer(as_frame=True)
X, X_test, y, y_test = train_test_split(data.data, data.target_names[data.target], random_state=0)
model = HistGradientBoostingClassifier(max_iter=20, random_state=0).fit(X, y)
print(f"Gradient boosting is right about {model.score(X_test, y_test):.1%} of the test rows. It does this:")

explainer = hb.Explainer(model, X, target="diagnosis")
extraction = explainer.extract(max_literals=4, test=X_test)
print(extraction.explanation)
print(f"Explanation and model say the same {extraction.fidelity}.")

print("Why of the second test row:")
print(explainer.why(X_test.iloc[1], changes=0))

page = Path(sys.argv[1] if len(sys.argv) > 1 else "report.html")
page.parent.mkdir(parents=True, exist_ok=True)
extraction.report(page)
print(f"Open {page} in a browser.")
