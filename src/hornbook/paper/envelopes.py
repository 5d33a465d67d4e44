"""The study of language models: what one takes for granted about pronouns, as an exact Horn envelope.

The sentences are like those of S. Blum, R. Koudijs, A. Ozaki, S. Touileb. Learning Horn envelopes via queries
from language models. IJAR 171, 2024: who was born when and where, and does what. The model is asked about
every case. Several wordings of the sentence say how much of the rules is the wording's doing.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from hornbook.errors import HornbookError
from hornbook.extraction import Extraction, learn_levels
from hornbook.models import Subject, is_url
from hornbook.remote import Endpoint, LocalLanguageModel, Sentence, open_model
from hornbook.report import format_percent, render_page
from hornbook.schema import write_json
from hornbook.storage import read_json, write_file

ASKED = "pronoun"
PRONOUNS = {"she": "She", "he": "He"}
OCCUPATIONS = (
    *("nurse", "boxer", "dancer", "footballer", "industrialist", "priest"),
    *("singer", "lawyer", "teacher", "engineer", "mathematician", "novelist"),
)
PERIODS = {"before 1875": "before 1875", "1875 to 1950": "between 1875 and 1950", "after 1950": "after 1950"}
CONTINENTS = ("Africa", "the Americas", "Asia", "Europe", "Oceania")
UNKNOWN = {
    "period": "at an unknown time",
    "continent": "an unknown place",
    "occupation": "a person of unknown work",
}
TEMPLATES = (
    "This person was born {period} in {continent} and is {occupation}. {pronoun}",
    "Born {period} in {continent}, this person worked as {occupation}. {pronoun}",
    "Somebody from {continent}, {occupation}, was born {period}. {pronoun}",
    "I read about {occupation} who was born in {continent} {period}. {pronoun}",
    "The biography of {occupation}, born {period} in {continent}, begins like this: {pronoun}",
)
"""The wordings of the sentence."""

MARGINS = (0.1, 0.2)
"""How much less probable than the likeliest pronoun another one may be that is possible too."""

PUBLISHED = (
    ("roberta-base", 231, 42, 2852),
    ("roberta-large", 194, 29, 3394),
    ("bert-base", 202, 36, 2539),
    ("bert-large", 164, 17, 1742),
)
"""What is published of other models: their names, equivalence queries, rules and seconds."""

CAUTION = "the rules say what this model prefers to write, and nothing about people"


def make_sentence(template: str) -> Sentence:
    """The sentence of a template."""
    article = {name: f"an {name}" if name[0] in "aeiou" else f"a {name}" for name in OCCUPATIONS}
    words = {
        ASKED: PRONOUNS,
        "period": PERIODS,
        "continent": dict(zip(CONTINENTS, CONTINENTS, strict=True)),
        "occupation": article,
    }
    return Sentence(template, ASKED, words, UNKNOWN)


def list_rows() -> pd.DataFrame:
    """Every combination of levels, None for an unknown one."""
    levels = {"occupation": OCCUPATIONS, "period": tuple(PERIODS), "continent": CONTINENTS}
    index = pd.MultiIndex.from_product([[None, *each] for each in levels.values()], names=list(levels))
    frame = index.to_frame(index=False).astype(object)
    return frame.where(frame.notna(), None)


@dataclass(frozen=True)
class RecordedModel:
    """A model by its answers: rows, and a column for each pronoun with how likely it is."""

    shares: pd.DataFrame

    @property
    def classes_(self) -> NDArray[Any]:
        """The pronouns."""
        return np.array(list(PRONOUNS))

    def predict_proba(self, rows: pd.DataFrame) -> NDArray[np.float64]:
        """The share of each pronoun for each row, shape (rows, pronouns)."""
        asked = rows[list(UNKNOWN)].astype(object).fillna("?")
        answers = asked.merge(self.shares.fillna("?"), how="left", on=list(UNKNOWN))
        shares: NDArray[np.float64] = answers[list(PRONOUNS)].to_numpy()
        return shares

    def predict(self, rows: pd.DataFrame) -> NDArray[Any]:
        """The pronoun that is likelier for each row."""
        preferred: NDArray[Any] = self.classes_[self.predict_proba(rows).argmax(axis=1)]
        return preferred

    def bind(self) -> Subject:
        """The model, bound to rows in which every level occurs."""
        return Subject.bind(self, self.shares[list(UNKNOWN)], target=ASKED, hold_out=False)


def study_model(source: str | Path, folder: Path, tell: Callable[[str], None]) -> dict[str, Any]:
    """Ask a model about every case in every wording, learn the envelopes, and write the page.

    Parameters
    ----------
    source
        A GGUF file, a folder with a model, or the URL or TOML file of an endpoint.
    folder
        The run folder, which keeps the answers of each wording: a run that was killed goes on.
    tell
        Is called with what the study is about to do.

    """
    recorded = _ask_wordings(str(source), folder, tell)
    tell("learning the envelopes")
    wordings, exact = [], []
    for model, cost in recorded:
        subject, start = model.bind(), time.process_time()
        extraction = learn_levels(subject)
        spent = {"learner_seconds": time.process_time() - start}
        assert extraction.beyond_horn is not None
        rules = {
            "rules": [f"{line.text}: {line.outcome}" for line in extraction.explanation.lines()],
            "guarantee": str(extraction.guarantee),
            "beyond": extraction.beyond_horn.cases,
            "clauses": list(extraction.beyond_horn.clauses),
        }
        exact.append(extraction)
        margins = {str(margin): _count(learn_levels(subject, margin)) for margin in MARGINS}
        wordings.append({**cost, **rules, **spent, "margins": margins})
    result = {
        "model": Path(str(source)).name,
        "cases": (len(PRONOUNS) + 1) * len(recorded[0][0].shares),
        "wordings": wordings,
        "pairs": [_compare(exact, one, other) for one, other in combinations(range(len(exact)), 2)],
        "pictures": [_average(recorded[:1]), _average(recorded)],
    }
    write_file(folder / "study.json", write_json(result))
    write_file(folder / "report.html", to_html(result))
    return result


def _count(extraction: Extraction) -> dict[str, int]:
    """The number of rules of an envelope, and of refused cases beyond Horn rules."""
    assert extraction.beyond_horn is not None
    return {"rules": len(extraction.explanation.lines()), "beyond": extraction.beyond_horn.cases}


def _ask_wordings(
    source: str, folder: Path, tell: Callable[[str], None]
) -> list[tuple[RecordedModel, Mapping[str, Any]]]:
    """The recorded answers to each wording, and what asking cost."""
    place = source if is_url(source) else str(Path(source).resolve())
    recorded: list[tuple[RecordedModel, Mapping[str, Any]]] = []
    model: Endpoint | LocalLanguageModel | None = None
    for number, template in enumerate(TEMPLATES, 1):
        answers, cost = folder / f"answers-{number}.csv", folder / f"answers-{number}.json"
        if not cost.exists():
            tell(f"wording {number} of {len(TEMPLATES)}: {template}")
            sentence = make_sentence(template)
            if isinstance(model, LocalLanguageModel):
                model = model.reword(sentence)
            else:
                model = open_model(source, folder, sentence)
            rows, start = list_rows(), time.process_time()
            teacher = Subject.bind(model, rows, target=ASKED, hold_out=False).teacher
            second = teacher.measure_support(rows, 1)
            seconds = time.process_time() - start
            shares = rows.assign(**dict(zip(teacher.classes, (1 - second, second), strict=True)))
            write_file(answers, shares.round(6).to_csv(index=False))
            about = {"model": place, "template": template, "answers": len(rows), "cpu_seconds": seconds}
            write_file(cost, write_json(about))
        recorded.append((RecordedModel(pd.read_csv(answers)), read_json(cost)))
        if (other := recorded[-1][1]["model"]) != place:
            raise HornbookError(f"{folder} holds the answers of {other}; give another folder with -o")
    return recorded


def _decide_cases(extraction: Extraction) -> NDArray[np.intp]:
    """What the rules decide of every case."""
    rows = list_rows()
    cases = [rows.assign(**{ASKED: level}) for level in (None, *PRONOUNS)]
    decided: NDArray[np.intp] = extraction.explanation.decide(pd.concat(cases, ignore_index=True))
    return decided


def _compare(exact: Sequence[Extraction], one: int, other: int) -> dict[str, Any]:
    """How two envelopes differ: on which share of the cases, and which rules of each hold in the other."""
    first, second = exact[one], exact[other]
    same = _decide_cases(first) == _decide_cases(second)
    theories = [each.theory | each.background for each in (first, second)]
    return {
        "wordings": [one + 1, other + 1],
        "agreement": float(same.mean()),
        "rules": [len(each.theory) for each in (first, second)],
        "shared": [
            sum(map(theory.entails, each.theory))
            for each, theory in zip((first, second), reversed(theories), strict=True)
        ],
    }


def _average(recorded: Sequence[tuple[RecordedModel, Mapping[str, Any]]]) -> list[dict[str, Any]]:
    """For each occupation and period the mean share of the first pronoun, over continents and wordings."""
    shares = pd.concat([model.shares for model, _ in recorded]).fillna({"occupation": "?", "period": "?"})
    means = shares.groupby(["occupation", "period"])[next(iter(PRONOUNS))].mean()
    occupations = sorted(OCCUPATIONS, key=lambda name: -means[name].mean())
    return [
        {"occupation": name, "shares": [float(means[name, period]) for period in (*PERIODS, "?")]}
        for name in (*occupations, "?")
    ]


def study_lines(result: Mapping[str, Any]) -> list[str]:
    """The outcome in a few lines for a terminal."""
    lines = [f"{result['model']}: all {result['cases']:,} cases of each wording were asked about"]
    lines += [
        f"wording {number}: rules {len(each['rules'])}, beyond {each['beyond']}; "
        f"{each['cpu_seconds']:.1f} CPU-s of the model, {each['learner_seconds']:.2f} of the learner"
        for number, each in enumerate(result["wordings"], 1)
    ]
    return [*lines, f"{_say_agreement(result)}; {CAUTION}"]


def _say_agreement(result: Mapping[str, Any]) -> str:
    """On how many cases envelopes of two wordings agree, in words."""
    agreement = [pair["agreement"] for pair in result["pairs"]]
    least, most = format_percent(min(agreement)), format_percent(max(agreement))
    return f"the envelopes of two wordings agree on {least} to {most} of the cases"


def to_html(result: Mapping[str, Any]) -> str:
    """The page of a study."""
    return render_page(
        "envelopes.html",
        title=f"What {result['model']} takes for granted about “She” and “He”",
        agreement=_say_agreement(result),
        caution=CAUTION,
        periods=[*PERIODS, "unknown"],
        published=PUBLISHED,
        result=result,
    )
