"""`hornbook compare`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from hornbook.cli import options
from hornbook.cli.app import USE, HelpfulCommand, app
from hornbook.cli.inputs import describe_text
from hornbook.cli.output import emit_json, emit_lines, print_remark, progress
from hornbook.errors import HornbookError

if TYPE_CHECKING:
    import pandas as pd

    from hornbook.models import Subject
    from hornbook.queries import QuerySubject
    from hornbook.runs import ComparisonRow, Run


@app.command(cls=HelpfulCommand, rich_help_panel=USE)
def compare(
    run: options.RunFolder,
    samples: Annotated[int, options.how_long(min=1, help="Samples that each tree learns from.")] = 20_000,
    test: options.Test = None,
    seed: options.Seed = 0,
    as_json: options.Json = False,
    model: options.MovedModel = None,
    data: options.MovedData = None,
    csv: options.Csv = None,
    missing: options.Missing = None,
    unknown_levels: options.UnknownLevels = options.LevelsPolicy.REFUSE,
    trust_pickle: options.TrustPickle = False,
) -> None:
    """Compare the explanation of a run with trees fitted to the model.

    All are measured on the rows that the run held out, or on its test rows, and on the same fresh
    samples. With --test they are measured on rows of your own, such as those of the last month: is the
    explanation still faithful?

    Examples:
      hornbook compare run/

      hornbook compare run/ --samples 50000 --json

      hornbook compare run/ --test last-month.csv

    """
    from hornbook.models import AnswerCheck
    from hornbook.runs import Run, compare_with_trees
    from hornbook.runs.comparison import TREE_SIZES

    kept = Run.load(run)
    with progress("fitting trees", len(TREE_SIZES) + 2) as show:
        own = None
        if kept.is_by_queries:
            if test is not None:
                raise HornbookError(
                    "rules by queries are compared on interpretations, and not on rows: no --test"
                )
            subject: Subject | QuerySubject = kept.restore_queries(model, trust_pickle, data)
        else:
            subject = kept.restore(model, trust_pickle, data)
            own = _read_test_rows(kept, subject, test, describe_text(csv, missing), unknown_levels)
        check = AnswerCheck.start(subject.teacher.labels, subject.teacher.frame)
        rows = []
        for row in compare_with_trees(kept.extraction.explanation, subject, samples, seed, own):
            rows.append(row)
            show(row.method)
        notes = list(check.describe_changes())
    if as_json:
        emit_json({"rows": rows, "notes": notes})
        return
    is_test = test is not None or kept.extraction.fidelity.population == "test rows"
    name = "test rows" if is_test else "held-out rows"
    emit_lines(_format_rows(rows, name))
    on_rows = rows[0].rows
    population = "" if on_rows is None else f"{on_rows.describe_size(name)} and "
    measured = (
        f"fidelity to the model on {population}{samples:,} fresh samples; literals are conditions to read"
    )
    emit_lines(f"# {note}" for note in (measured, *notes))


def _read_test_rows(
    run: Run, subject: Subject, test: Path | None, csv: str | None, unknown_levels: options.LevelsPolicy
) -> pd.DataFrame | None:
    """The given test rows, or those of the run; None if it held rows out."""
    from hornbook.runs import read_test_rows

    policy = unknown_levels.value
    if test is None:
        if (test := run.find_test_file()) is None:
            return None
        csv, policy = run.config["data"]["csv"], run.config["data"]["test"]["unknown_levels"]
    return read_test_rows(test, subject.frame, subject.words, csv, policy, print_remark)


def _format_rows(rows: list[ComparisonRow], population: str) -> Iterator[str]:
    width = max(len(row.method) for row in rows)
    yield f"{'':<{width}}  literals  {population:>13}  samples"
    for row in rows:
        on_rows = "–" if row.rows is None else f"{100 * row.rows.estimate:.2f} %"
        samples = f"{100 * row.samples.estimate:.2f} %"
        yield f"{row.method:<{width}}  {row.literals:>8,}  {on_rows:>13}  {samples:>7}"
