"""Train a classifier, explain it, say why it decides a row as it does, and write a page about it.

python examples/read_a_classifier.py [report.html]
"""

import sys
from pathlib import Path
from textwrap import fill

from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.model_selection import train_test_split

import hornbook as hb

data = load_breast_cancer(as_frame=True)
X, X_test, y, y_test = train_test_split(data.data, data.target_names[data.target], random_state=0)
model = HistGradientBoostingClassifier(max_iter=20, random_state=0).fit(X, y)
accuracy = model.score(X_test, y_test)

explainer = hb.Explainer(model, X, target="diagnosis")
extraction = explainer.extract(form="rules", max_literals=3, test=X_test)
page = Path(sys.argv[1] if len(sys.argv) > 1 else "report.html")
page.parent.mkdir(parents=True, exist_ok=True)
extraction.report(page)

text = f"""\
The model is right about {accuracy:.1%} of {len(X_test)} test rows. It does this:
{extraction.explanation}
Explanation and model say the same {extraction.fidelity}.
Why of one row: {explainer.why(X_test.iloc[1], changes=0)}
Open {page} in a browser."""
for line in text.splitlines():
    print(fill(line, 79, subsequent_indent="    "))
