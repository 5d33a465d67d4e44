"""Read a gradient-boosted classifier, and write a page about it.

python examples/read_a_classifier.py [report.html]
"""

import sys
from pathlib import Path

from sklearn.ensemble import HistGradientBoostingClassifier

from hornbook.data import load_dataset
from hornbook.extractor import HornExtractor
from hornbook.report.page import to_html
from hornbook.runs import make_report

table = load_dataset("wine")
X, y = table.features, table.frame[table.label]
model = HistGradientBoostingClassifier(random_state=0).fit(X, y)

extractor = HornExtractor(model, target=table.label, form="rules", max_rules=5, random_state=0).fit(X)

print(extractor.theory_)
for figure in extractor.fidelity_.describe():
    print(f"rules and model say the same {figure}")
print(extractor.explain(X.iloc[0]))

page = Path(sys.argv[1] if len(sys.argv) > 1 else "report.html")
report = make_report(
    extractor, X, model=(("kind", "100 boosted trees"),), data=(("table", table.describe()),)
)
page.write_text(to_html(report), "utf-8")
print(f"open {page} in a browser")
