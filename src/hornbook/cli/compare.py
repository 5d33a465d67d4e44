"""`hornbook compare`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from hornbook.cli.app import app
from hornbook.cli.options import (
    MODEL_SECONDS,
    JsonOption,
    LevelsOption,
    ModelSecondsOption,
    RunArgument,
    SeedOption,
    TestOption,
    TrustOption,
    UnknownLevelsOption,
)
from hornbook.cli.output import emit, emit_json, print_remark, progress
from hornbook.errors import HornbookError

if TYPE_CHECKING:
    from hornbook.models import AnswerCheck
    from hornbook.runs import ComparisonRow, Run


@app.command()
def compare(
    context: typer.Context,
    run: RunArgument,
    samples: Annotated[int, typer.Option(min=1, help="Number of training samples of each tree.")] = 20_000,
    seconds: Annotated[
        float, typer.Option(help="Time limit of the Hoeffding tree in seconds (runs by queries).")
    ] = 20.0,
    test: TestOption = None,
    unknown_levels: LevelsOption = UnknownLevelsOption.REFUSE,
    trust_pickle: TrustOption = False,
    model_seconds: ModelSecondsOption = MODEL_SECONDS,
    seed: SeedOption = 0,
    as_json: JsonOption = False,
) -> None:
    """Compare the explanation of a run with decision trees fitted to the same model.

    All are measured on the rows that the run held out, or on its test rows, and on the same fresh
    samples. The model and the data must still be in place and unchanged. With --test they are measured
    on rows of your own, such as those of the last month: is the explanation still faithful?

    Examples:
      hornbook compare run/

      hornbook compare run/ --samples 50000 --json

      hornbook compare run/ --test last-month.csv

    """
    from hornbook.models import limit_model_seconds
    from hornbook.runs import Run

    context.with_resource(limit_model_seconds(model_seconds))
    kept = Run.load(run)
    with progress("fitting trees") as show:
        check, found = _compare(kept, test, unknown_levels, samples, seconds, trust_pickle, seed)
        rows = []
        for row in found:
            rows.append(row)
            show(row.method)
        notes = list(check.describe_changes())
    if as_json:
        emit_json({"rows": rows, "notes": notes})
        return
    own = test is not None or kept.extraction.fidelity.population == "test rows"
    name = "test rows" if own else "unseen rows"
    emit("\n".join(_format_rows(rows, name)))
    unseen = rows[0].rows
    population = "" if unseen is None else f"{unseen.describe_size(name)} and "
    emit(f"# fidelity to the model on {population}{samples:,} fresh samples; literals are conditions to read")
    for note in notes:
        emit(f"# {note}")


def _compare(
    run: Run,
    test: Path | None,
    unknown_levels: UnknownLevelsOption,
    samples: int,
    seconds: float,
    trust_pickle: bool,
    seed: int,
) -> tuple[AnswerCheck, Iterator[ComparisonRow]]:
    """Restore the model and the table of a run: a check of its answers, and its explanation beside trees."""
    from hornbook.models import AnswerCheck
    from hornbook.randomness import Purpose, generator
    from hornbook.runs import compare_rules_with_trees, compare_with_trees, read_test_rows

    if run.is_by_queries:
        if test is not None:
            raise HornbookError(
                "rules by queries are compared on interpretations, and not on rows: no --test"
            )
        bound = run.restore_queries(trust_pickle=trust_pickle).teacher
        questions = bound.feature_distribution.draw(samples, generator(seed, Purpose.PEER_EVALUATION))
        check = AnswerCheck.start(bound.decide_items, questions)
        return check, compare_rules_with_trees(run.extraction.explanation, bound, samples, seed, seconds)
    subject = run.restore(trust_pickle=trust_pickle)
    original = run.find_test_file() if test is None else None
    rows = None
    if test is not None:
        rows = read_test_rows(test, subject.frame, subject.words, None, unknown_levels.value, print_remark)
    elif original is not None:
        data = run.config["data"]
        policy = data["test"]["unknown_levels"]
        rows = read_test_rows(original, subject.frame, subject.words, data["csv"], policy, print_remark)
    check = AnswerCheck.start(subject.teacher.labels, subject.teacher.frame)
    return check, compare_with_trees(run.extraction.explanation, subject, samples, seed, rows)


def _format_rows(rows: list[ComparisonRow], population: str) -> Iterator[str]:
    width = max(len(row.method) for row in rows)
    yield f"{'':<{width}}  literals  {population:>11}  samples"
    for row in rows:
        unseen = "–" if row.rows is None else f"{100 * row.rows.estimate:.2f} %"
        samples = f"{100 * row.samples.estimate:.2f} %"
        yield f"{row.method:<{width}}  {row.literals:>8,}  {unseen:>11}  {samples:>7}"
