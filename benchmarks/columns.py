"""What is lost by speaking of bins to a model that reads numbers: the paper's cuts against the model's own.

For forests on scikit-learn's tables and at most so many rules: the share of unseen rows, as they are,
on which rules and forest agree, with columns cut at means and cut where the forest's answers change.
"""

from __future__ import annotations

import argparse

from sklearn.ensemble import RandomForestClassifier

from hornbook.data import Binariser, load_dataset
from hornbook.extractor import HornExtractor


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--max-rules", type=int, default=4)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    print("table          cuts at means  cuts of the model")
    for name in ("breast-cancer", "wine", "iris"):
        table = load_dataset(name)
        features, classes = table.features, table.frame[table.label]
        model = RandomForestClassifier(random_state=arguments.seed).fit(features, classes)
        scores = [
            HornExtractor(
                model,
                table.label,
                binariser=binariser,
                form="rules",
                max_rules=arguments.max_rules,
                random_state=arguments.seed,
            )
            .fit(features)
            .fidelity_.unseen_rows
            for binariser in (Binariser(dual=True).fit(features), None)
        ]
        means, own = (100 * share.estimate for share in scores)
        print(f"{name:<13}  {means:>11.1f} %  {own:>15.1f} %", flush=True)


if __name__ == "__main__":
    main()
