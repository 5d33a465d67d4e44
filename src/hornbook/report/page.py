"""The reports of an extraction and of a comparison as one HTML page each, and as a fragment for notebooks."""

from __future__ import annotations

import base64
import hashlib
import json
import math
import re
from collections.abc import Iterator, Sequence
from functools import cache
from importlib import resources
from itertools import groupby, zip_longest
from typing import TYPE_CHECKING, Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from hornbook.code_book import ColumnWords
from hornbook.display import count_things
from hornbook.explanations import Line
from hornbook.extraction import ColumnSummary, Extraction, FrontierPoint, LineStatistics
from hornbook.report.content import (
    GRADES,
    POPULATIONS,
    Trust,
    describe_diff_making,
    describe_making,
    describe_provenance,
    explain_guarantee,
    format_interval,
    format_percent,
    list_diff_limits,
    list_limits,
    name_models,
    summarise_diff,
    summarise_extraction,
    title_diff,
    title_report,
)
from hornbook.report.drawings import COLOURS, N_COLOURS, FrontierChart, draw_boxes
from hornbook.schema import write_object

if TYPE_CHECKING:
    from hornbook.diff import ModelDiff

MAX_SHOWN_CATEGORIES = 32
"""Categories of a column that a reader can choose from, the commonest first."""


def to_html(extraction: Extraction) -> str:
    """Render an extraction as one self-contained HTML page.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from hornbook import Explainer
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> model = DecisionTreeClassifier(max_depth=1).fit(X, y == 2)
    >>> to_html(Explainer(model, X, target="virginica").extract()).splitlines()[0]
    '<!DOCTYPE html>'

    """
    points = readable_points(extraction)
    chosen = next(k for k, point in enumerate(points) if point.explanation == extraction.explanation)
    chart = FrontierChart.of(extraction.frontier)
    return render_page(
        "extraction.html",
        title=title_report(extraction),
        scripts=("decide.js", "case.js") if extraction.explanation.is_ordered else ("table.js",),
        extraction=extraction,
        case=case_data(extraction, points),
        points=points,
        drawn=any(point.explanation.list_boxes() for point in points if point.explanation),
        chosen=chosen,
        marks=[chart.x(point.literals) for point in points],
        chart=chart,
        lead=summarise_extraction(extraction),
        grade=GRADES[extraction.guarantee.kind],
        meaning=explain_guarantee(extraction.guarantee),
        trust=Trust.of(extraction.fidelity),
        populations=POPULATIONS,
        limits=list_limits(extraction),
        making=describe_making(extraction),
        provenance=describe_provenance(extraction.provenance),
    )


def readable_points(extraction: Extraction) -> list[FrontierPoint]:
    """The points that a reader can move along, the chosen one among them; of theories it is alone."""
    chosen = extraction.explanation
    points = [point for point in extraction.frontier if chosen.is_ordered and point.explanation is not None]
    if all(point.explanation != chosen for point in points):
        points.append(FrontierPoint(chosen.literals, extraction.fidelity, chosen))
    return sorted(points, key=lambda point: point.literals)


def case_data(extraction: Extraction, points: Sequence[FrontierPoint]) -> dict[str, Any]:
    """What `templates/case.js` reads: explanations of every size, their columns, and rows to start from."""
    explanations = [point.explanation for point in points if point.explanation is not None]
    known, book = {summary.name: summary for summary in extraction.columns}, extraction.code_book
    names = dict.fromkeys(name for each in explanations for name in each.columns)
    return {
        "explanations": [each.to_object() for each in explanations],
        "columns": [
            _column_object(known.get(name, ColumnSummary(name, 0.0)), book.words(name)) for name in names
        ],
        "rows": [
            [_finite(difference.row.get(name)) for name in names] for difference in extraction.differences
        ],
    }


def _column_object(summary: ColumnSummary, words: ColumnWords) -> dict[str, Any]:
    numbers = [number for number in summary.numbers if math.isfinite(number)]
    parts = {
        "missing": summary.missing,
        "numbers": numbers if len(numbers) == 3 else [],
        "whole": summary.whole,
        "categories": list(words.order or summary.categories[:MAX_SHOWN_CATEGORIES]),
        "words": write_object(words),
    }
    return {"name": summary.name, **{part: value for part, value in parts.items() if value}}


def _finite(value: Any) -> Any:
    return None if isinstance(value, float) and not math.isfinite(value) else value


def to_diff_html(diff: ModelDiff) -> str:
    """Render a comparison as one self-contained HTML page."""
    against_truth = len(diff.models) == 1
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
        own_columns=own,
        making=describe_diff_making(diff),
        provenance=describe_provenance(diff.provenance),
        limits=list_diff_limits(diff),
    )


def to_notebook(extraction: Extraction) -> str:
    """Render an extraction as an HTML fragment: the explanation, its fidelity and the frontier."""
    chart = FrontierChart.of(extraction.frontier)
    return (
        _environment()
        .get_template("notebook.html")
        .render(
            title=title_report(extraction),
            lead=summarise_extraction(extraction),
            extraction=extraction,
            chart=chart,
            grade=GRADES[extraction.guarantee.kind],
        )
    )


TEMPLATES = resources.files("hornbook.report") / "templates"


def render_page(template: str, /, *, title: str, scripts: Sequence[str] = (), **content: Any) -> str:
    """Render a page from a template that extends `base.html`.

    All content is escaped. A page runs only the scripts named here: its security policy lists
    their hashes and forbids every connection.

    Parameters
    ----------
    template
        The name of a file in the folder of `base.html`.
    title
        The title of the page.
    scripts
        The names of script files in that folder, in the order in which they run.
    content
        Further variables of the template.

    Examples
    --------
    >>> page = render_page("base.html", title="<b>Rules</b>")
    >>> "<title>&lt;b&gt;Rules&lt;/b&gt;</title>" in page
    True

    """
    program = "\n".join(map(read_script, scripts))
    digest = base64.b64encode(hashlib.sha256(program.encode()).digest()).decode()
    return (
        _environment()
        .get_template(template)
        .render(
            title=title,
            program=Markup(program),
            policy=f"'sha256-{digest}'" if program else "'none'",
            **content,
        )
        + "\n"
    )


@cache
def read_asset(name: str) -> str:
    """Read a file of the templates folder; `@colours .box .s --edge;` becomes a rule for each colour."""
    text = (TEMPLATES / name).read_text("utf-8")
    return re.sub(r"^@colours (.+) (--\w+)( both)?;$", _write_colours, text, flags=re.MULTILINE)


def _write_colours(marker: re.Match[str]) -> str:
    """Rules that set a property to the colour of each class, on light and on dark pages."""

    def rules(palette: str) -> str:
        return " ".join(
            f"{marker[1]}{number} {{ {marker[2]}: {colour}; }}"
            for number, colour in enumerate(COLOURS[palette])
        )

    if marker[3]:
        return rules("both")
    return f"{rules('light')}\n@media screen and (prefers-color-scheme: dark) {{ {rules('dark')} }}"


def read_script(name: str) -> str:
    """Read a script without the comments and the indentation that only its authors need."""
    plain = re.sub(r"^\s*/\*.*?\*/\n", "", read_asset(name), flags=re.DOTALL | re.MULTILINE)
    return "\n".join(line.lstrip() for line in plain.splitlines() if line.strip())


def to_script_json(value: Any) -> Markup:
    r"""Convert a value to JSON that is safe inside a script element.

    Examples
    --------
    >>> print(to_script_json({"name": "</script><b>"}))
    {"name":"\u003c/script>\u003cb>"}

    """
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return Markup(text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029"))


def keep_units(text: str) -> str:
    """Prevent line breaks between a number and its unit."""
    return re.sub(" (%|s|min|h)(?![a-z])", "\N{NO-BREAK SPACE}\\1", text)


def group_lines(
    lines: Sequence[Line], statistics: Sequence[LineStatistics]
) -> Iterator[tuple[str, list[tuple[Line, LineStatistics | None]]]]:
    """The lines with points of each column, with their statistics if there are any; others have no name."""
    pairs = (pair for pair in zip_longest(lines, statistics) if pair[0].cells)
    yield from ((name, list(own)) for name, own in groupby(pairs, lambda pair: pair[0].group))


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("hornbook.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(
        percent=lambda share: keep_units(format_percent(share)),
        interval=lambda share: keep_units(format_interval(share)),
        count="{:,}".format,
        things=count_things,
        data=to_script_json,
        unbroken=keep_units,
        zip=zip_longest,
        together=group_lines,
    )
    environment.globals.update(
        n_colours=N_COLOURS,
        boxes=draw_boxes,
        style=lambda name: Markup(read_asset(name)),
    )
    return environment
