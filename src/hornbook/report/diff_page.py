"""The page that shows what changed between two models, side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hornbook.report.content import POPULATIONS, Details, format_interval, format_percent, list_details
from hornbook.report.page import render_page

if TYPE_CHECKING:
    from hornbook.diff import ModelDiff

SHOWN_GROUPS = 12
"""Groups that are shown besides those with more disagreement."""


def to_diff_html(diff: ModelDiff) -> str:
    """Render a comparison as one self-contained HTML page."""
    against_truth = len(diff.models) == 1
    discoveries = [group for group in diff.groups if group.is_discovery]
    read = [set(model.columns) for model in diff.models]
    own = [
        [name for name in model.columns if any(name not in other for other in read)] for model in diff.models
    ]
    return render_page(
        "diff.html",
        title=title_diff(diff),
        lead=summarise_diff(diff),
        diff=diff,
        names=name_models(diff),
        book=diff.explanation.code_book,
        against_truth=against_truth,
        first=f"The {diff.sides[0]} says" if against_truth else f"{diff.sides[0].capitalize()} says",
        second="It is" if against_truth else f"{diff.sides[1].capitalize()} says",
        populations=POPULATIONS,
        discoveries=discoveries,
        shown_groups=diff.groups[: len(discoveries) + SHOWN_GROUPS],
        own_columns=own,
        making=describe_diff_making(diff),
        provenance=[
            (str(subject), tuple(list_details(content))) for subject, content in diff.provenance.items()
        ],
        limits=list_diff_limits(diff),
    )


def title_diff(diff: ModelDiff) -> str:
    """The title of the page."""
    names = name_models(diff)
    if len(names) == 1:
        return f"Where {names[0]} errs about {diff.target}"
    same = names[0] == names[1]
    return f"What changed about {diff.target}" + ("" if same else f": {names[0]} and {names[1]}")


def name_models(diff: ModelDiff) -> list[str]:
    """What the models are called: by their files, if these are known."""
    files = diff.provenance.get("model", {})
    sides = zip(("old", "new"), diff.models, strict=False)
    return [str(files.get(side, {}).get("name", model.name)) for side, model in sides]


def summarise_diff(diff: ModelDiff) -> str:
    """The headline in a sentence."""
    share = diff.share
    verb = diff.verb[0].upper() + diff.verb[1:]
    return (
        f"{verb} on {format_percent(share.estimate)} of {diff.population} (95 % interval "
        f"{format_interval(share)})."
    )


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
        "Groups that are not reported may still have more disagreement: there were too few rows to say so.",
        *diff.notes,
    ]
    if len(diff.models) == 2:
        limits.insert(0, "It does not say which of the models is right.")
    return limits
