"""`hornbook explain`."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from hornbook.cli.app import JsonOption, RunArgument, app, emit, emit_json
from hornbook.errors import HornbookError


@app.command()
def explain(
    run: RunArgument,
    given: Annotated[
        list[str] | None,
        typer.Option("--set", help="A known value, column=value: a number or a word."),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Explain what a run's explanation decides for known values, and which change would change it.

    Columns that are not set count as missing.

    Examples:
      hornbook explain run/ --set ascites=0 --set age=61

      hornbook explain run/ --set "petal length (cm)=5.1" --json

    """
    from hornbook.explain import Decision, explain_row
    from hornbook.explanations import Conclusion, HornRules
    from hornbook.runs import Run

    kept = Run.load(run)
    explanation = kept.extraction.explanation
    values = dict(map(_read_pair, given or []))
    conclusion: Conclusion | Decision
    if isinstance(explanation, HornRules):
        conclusion = explanation.conclude(explanation.reader.facts(values))
    else:
        for name in values:
            if name not in explanation.columns:
                raise HornbookError(
                    f"--set {name}: the explanation speaks of {', '.join(explanation.columns) or 'no column'}"
                )
        row = {name: _read_value(values.get(name, "?")) for name in explanation.columns}
        conclusion = explain_row(explanation, row)
    if as_json:
        emit_json(conclusion.to_object())
    else:
        emit(str(conclusion))


def _read_pair(pair: str) -> tuple[str, str]:
    name, sign, value = pair.rpartition("=")
    if not sign or not name or not value:
        raise HornbookError(f"--set {pair!r}: expected column=value, such as --set age=61")
    return name, value


def _read_value(text: str) -> Any:
    """A number where the text is one, None for `?`, else the text."""
    if text.strip() == "?":
        return None
    try:
        return float(text)
    except ValueError:
        return text
