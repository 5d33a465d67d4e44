"""What a report says in words: figures, guarantees and where they come from."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from hornbook.code_book import UNNAMED_TARGET
from hornbook.display import count_things
from hornbook.extraction import Extraction, Fidelity
from hornbook.queries import Estimated, Exact, Guarantee, Pac, Proved, Unknown
from hornbook.statistics import Share, StratifiedShare

if TYPE_CHECKING:
    from hornbook.diff import ModelDiff

Details: TypeAlias = tuple[tuple[str, str], ...]
"""Names and values in reading order: `(("file", "model.onnx"), …)`."""


def format_percent(share: float) -> str:
    """Format a share in percent, with a useful number of digits.

    Examples
    --------
    >>> [format_percent(share) for share in (0.98765, 0.0042, 1.0, 0.99996, float("nan"))]
    ['98.8 %', '0.42 %', '100 %', '99.996 %', '–']

    """
    if share != share:
        return "–"
    nearest = min(share, 1 - share)
    if nearest <= 0:
        return f"{100 * share:.0f} %"
    digits = 1 if nearest >= 0.01 else 2 if nearest >= 0.0001 else 3
    return f"{100 * share:.{digits}f} %"


def format_interval(share: Share | StratifiedShare) -> str:
    """Format the confidence interval of a share: a wide one with one digit, a narrow one with two.

    Examples
    --------
    >>> format_interval(Share.of(980, 1000)), format_interval(Share.of(110, 114))
    ('96.9 to 98.8 %', '91.3 to 99.0 %')
    >>> format_interval(Share.of(999, 1000)), format_interval(Share.of(0, 0))
    ('99.44 to 99.997 %', 'not measured')

    """
    if not share.size:
        return "not measured"
    digits = 1 if share.high - share.low >= 0.01 else 2

    def write(end: float) -> str:
        text = f"{100 * end:.{digits}f}"
        return format_percent(end).removesuffix(" %") if float(text) in (0, 100) else text

    return f"{write(share.low)} to {write(share.high)} %"


GRADES = {
    "exact": "proved",
    "proved": "proved",
    "pac": "sampled, with a bound",
    "estimated": "sampled, with an interval",
    "none": "observed only",
    "undecided": "observed only",
    "refuted": "refuted",
}
"""How sure each kind of guarantee makes a statement."""


def explain_guarantee(guarantee: Guarantee) -> str:
    """Explain a guarantee to a reader without training in logic or statistics.

    Examples
    --------
    >>> from textwrap import fill
    >>> print(fill(explain_guarantee(Pac(0.05, 0.1, "rows like yours")), 105))
    If the whole run were repeated many times, in at least 90 % of the repetitions explanation and model
    would give different answers in no more than 5 of 100 such cases: rows like yours. It says nothing about
    other cases.

    """
    match guarantee:
        case Exact(claim):
            return f"Every possible case was looked at: {claim}."
        case Proved():
            return "It was proved, not sampled: explanation and model give the same answer for every input."
        case Pac(epsilon, delta, distribution):
            return (
                f"If the whole run were repeated many times, in at least {100 * (1 - delta):g} % of the "
                "repetitions explanation and model would give different answers in no more than "
                f"{100 * epsilon:g} of 100 such cases: {distribution}. It says nothing about other cases."
            )
        case Estimated(disagreement, distribution):
            return (
                f"On {disagreement.describe_size('cases')} that the explanation was not made from "
                f"({distribution}), it and the model gave different answers in "
                f"{format_percent(disagreement.estimate)}. "
                f"The true share lies, with {100 * disagreement.confidence:g} % confidence, between "
                f"{format_percent(disagreement.low)} and {format_percent(disagreement.high)}, for such cases "
                "and for no others."
            )
        case Unknown(reason):
            return f"There is no guarantee: {reason}. Treat the explanation as a suggestion."


POPULATIONS = {
    "held-out rows": "rows of the table, set aside before the explanation was made; a model that was trained "
    "on them may differ on new rows",
    "test rows": "rows that you gave for measuring, apart from the table",
    "cases": "every case that there is",
    "samples": "fresh samples near the rows of the table, from which they stray on purpose",
}
"""What the cases are on which fidelity is measured."""


def title_report(extraction: Extraction) -> str:
    """The title of a report.

    The name of the model is that of the provenance, if there is one.
    """
    model = extraction.provenance.get("model")
    name = model.get("name") if isinstance(model, Mapping) else None
    if extraction.target == UNNAMED_TARGET:
        return f"What {name or 'the model'} says"
    return f"What {name or 'the model'} says about {extraction.target}"


def summarise_extraction(extraction: Extraction) -> str:
    """What the explanation is and how faithful it is, in a sentence."""
    explanation, fidelity = extraction.explanation, extraction.fidelity
    share = fidelity.share
    article = "An" if explanation.noun[0] in "aeiou" else "A"
    size = count_things(explanation.literals, "condition")
    if not share.size:
        return f"{article} {explanation.noun} with {size}."
    words = (
        f"{article} {explanation.noun} with {size} that decides as the model does on "
        f"{format_percent(share.estimate)} of {share.describe_size(fidelity.population)}"
    )
    if fidelity.table is None:
        return f"{words}."
    commonest = fidelity.table.commonest
    return f"{words}; always “{commonest.name}” would on {format_percent(commonest.share)}."


@dataclass(frozen=True)
class Trust:
    """The large figure of a page, which an explanation that always names one class cannot have.

    It is the share of the errors of always naming the commonest class that are not made, or, where there
    are none or they are not known, the fidelity.
    """

    value: str
    before: str
    after: str

    @classmethod
    def of(cls, fidelity: Fidelity) -> Trust:
        """The figure of a fidelity."""
        population, table = fidelity.share.describe_size(fidelity.population), fidelity.table
        if table is None:
            return cls(
                format_percent(fidelity.estimate), "Explanation and model say the same on", f"of {population}"
            )
        always = f"always answering “{table.commonest.name}”"
        if math.isnan(table.gap_closed):
            return cls(
                format_percent(fidelity.estimate),
                "Explanation and model say the same on",
                f"of {population}; so would {always}",
            )
        return cls(
            format_percent(max(table.gap_closed, 0.0)),
            "The explanation makes",
            f"fewer errors than {always} would, on {population}",
        )


def list_limits(extraction: Extraction) -> list[str]:
    """What an explanation does not say, a sentence each."""
    return [
        "It does not say whether the model is right. It describes what the model does; where the model errs, "
        "so does the explanation.",
        "It says nothing about causes: a condition that decides in the model need not matter in the world.",
        "It is not the model. Where the two differ, the model is what decides in practice.",
        f"It says nothing about cases unlike those that it was measured on: {extraction.distribution}.",
    ]


def describe_making(extraction: Extraction) -> Details:
    """How an explanation was made."""
    return (
        ("samples", extraction.distribution),
        ("missing values", extraction.missing_values),
        ("answers of the model", f"{extraction.answers:,}"),
        ("the run ended because", extraction.stop_reason),
    )


def describe_provenance(provenance: Mapping[str, Any]) -> list[tuple[str, Details]]:
    """What a result was made from, by subject."""
    return [(str(subject), tuple(list_details(content))) for subject, content in provenance.items()]


def list_details(content: Any) -> Iterator[tuple[str, str]]:
    """The names and values of a part of a provenance."""
    if isinstance(content, Mapping):
        yield from ((str(name), str(value)) for name, value in content.items())
    else:
        yield "", str(content)


def title_diff(diff: ModelDiff) -> str:
    """The title of the page."""
    names, about = name_models(diff), "" if diff.target == UNNAMED_TARGET else f" about {diff.target}"
    if len(names) == 1:
        return f"Where {names[0]} errs{about}"
    same = names[0] == names[1]
    return f"What changed{about}" + ("" if same else f": {names[0]} and {names[1]}")


def name_models(diff: ModelDiff) -> list[str]:
    """What the models are called: by their files, if these are known."""
    files = diff.provenance.get("model", {})
    sides = zip(("old", "new"), diff.models, strict=False)
    return [str(files.get(side, {}).get("name", model.name)) for side, model in sides]


def summarise_diff(diff: ModelDiff) -> str:
    """The headline in a sentence."""
    share = diff.share
    verb = diff.verb[0].upper() + diff.verb[1:]
    return f"{verb} on {format_percent(share.estimate)} of the rows (95 % interval {format_interval(share)})."


def describe_diff_making(diff: ModelDiff) -> Details:
    """How the comparison was made."""
    return (
        ("samples", diff.distribution),
        ("missing values", diff.missing_values),
        ("answers of the models", f"{diff.answers:,}"),
    )


def list_diff_limits(diff: ModelDiff) -> list[str]:
    """What a comparison does not say, a sentence each."""
    limits = [
        "It says nothing about causes: a condition that tells where answers differ need not be why they do.",
        f"It says nothing about cases unlike those that it was measured on: {diff.distribution}.",
        *diff.notes,
    ]
    if len(diff.models) == 2:
        limits.insert(0, "It does not say which of the models is right.")
    return limits
