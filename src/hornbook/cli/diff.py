"""`hornbook diff`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hornbook.cli import options
from hornbook.cli.app import ASK, HelpfulCommand, app
from hornbook.cli.inputs import ModelOptions, TableOptions, read_cuts
from hornbook.cli.output import emit_json, emit_lines, progress
from hornbook.errors import HornbookError
from hornbook.storage import lock_folder

if TYPE_CHECKING:
    from hornbook.diff import ModelDiff
    from hornbook.models import Subject
    from hornbook.runs import NewRun, TargetTable


@app.command(cls=HelpfulCommand, rich_help_panel=ASK)
def diff(
    context: typer.Context,
    run: Annotated[Path | None, typer.Argument(help="A run folder: its model, and its table.")] = None,
    other: Annotated[
        str | None, options.what("--with", help="The model that a run's is compared with.")
    ] = None,
    old: Annotated[str | None, options.what(help="Without a run: the old model's file, or its URL.")] = None,
    new: Annotated[str | None, options.what(help="The new model's file, or its URL.")] = None,
    target: options.Target = None,
    columns: options.Columns = None,
    drop: options.Drop = None,
    max_literals: Annotated[int, options.how_long(min=1, max=1000, help="Most conditions to read.")] = 12,
    samples: Annotated[int, options.how_long(min=1, help="Samples to learn from.")] = 16_000,
    max_answers: options.MaxAnswers = None,
    tolerance: options.Tolerance = None,
    strict: options.Strict = False,
    seed: options.Seed = 0,
    output: Annotated[
        Path | None, options.into("--output", "-o", help="The folder to write: diff.json and report.html.")
    ] = None,
    force: options.Force = False,
    as_json: options.Json = False,
    model: Annotated[
        str | None, options.files(help="The model, with --target; or a run's, if moved.")
    ] = None,
    data: Annotated[str | None, options.files(help="The table with the columns of both, or a run's.")] = None,
    csv: options.Csv = None,
    missing: options.Missing = None,
    bands: options.Bands = None,
    threshold: options.Threshold = None,
    code_book: options.CodeBook = None,
    trust_pickle: options.TrustPickle = False,
) -> None:
    """Say where two models disagree, or a model and the truth.

    How often, and for whom. With --tolerance the exit code is 1 if they disagree on a
    larger share of the rows.

    Examples:
      hornbook diff run/ --with february.json --tolerance 0.02

      hornbook diff --old old.onnx --new new.json --data loans.csv --target good

      hornbook diff --model model.onnx --data labelled.csv --target good

    """
    from hornbook.diff import diff as compare
    from hornbook.runs import NewRun, describe_code_book
    from hornbook.statistics import exceeds

    _refuse_unclear(run, old, new, other, model, data)
    if run is not None and any((target, csv, missing, columns, drop)):
        raise HornbookError(
            "a run knows its table and its target; leave out --target, --columns, --drop and --csv"
        )
    ModelOptions(max_answers=max_answers).limit(context)
    sides = DiffSides(old, new, other, model, bands, threshold, code_book, seed, trust_pickle, output)
    if run is not None:
        table, subject, about = sides.restore_run(run, data)
    else:
        target = _name_target(str(data), target)
        reading = TableOptions(str(data), target, columns=columns, drop=drop, csv=csv, missing=missing)
        table, subject, about = sides.bind_table(reading.load())
    rival, about_rival = sides.read_other(table, run)
    if output is not None:
        context.with_resource(lock_folder(output))
    settings = {
        "max_literals": max_literals,
        "samples": samples,
        "seed": seed,
        "code_book": describe_code_book(code_book),
    }
    kept = NewRun.start(table, subject, {"old": about, **about_rival}, settings, output, force)
    with progress("asking the models", answers=4 * (len(subject.frame) + samples)):
        result = compare(subject, rival, max_literals=max_literals, n_samples=samples)
    result = replace(
        result,
        provenance={name: kept.config[name] for name in ("data", "model", "settings")},
        notes=(*result.notes, *kept.notes, *(_note_other(table, subject, rival) if about_rival else ())),
    )
    above = tolerance is not None and exceeds(result.share, tolerance, strict)
    _report(result, kept, tolerance, above, as_json)
    raise typer.Exit(int(above))


def _report(result: ModelDiff, run: NewRun, tolerance: float | None, above: bool, as_json: bool) -> None:
    """Save and print a comparison, or its verdict if a share is tolerated."""
    from hornbook.runs import save_diff
    from hornbook.schema import write_object

    folder = run.folder
    if folder is not None:
        run.begin()
        save_diff(folder, result)
    if as_json:
        emit_json({**write_object(result), "above_tolerance": above, "folder": folder and str(folder)})
    elif tolerance is None:
        emit_lines([str(result), *_summarise(result, folder)])
    else:
        emit_lines(_write_verdict(result, tolerance, above, folder))


@dataclass(frozen=True)
class DiffSides:
    """Which models are compared, and how they are read; numbers are cut into classes as is said."""

    old: str | None
    new: str | None
    other: str | None
    model: str | None
    bands: str | None
    threshold: float | None
    code_book: Path | None
    seed: int
    trust_pickle: bool
    output: Path | None  # keeps the answers of endpoints

    def restore_run(self, run: Path, data: str | None) -> tuple[TargetTable, Subject, dict[str, Any]]:
        """The table of a run, its model bound to it, and what is known of the model; both may have moved."""
        from hornbook.code_book import read_code_book
        from hornbook.runs import Run, describe_model

        earlier, moved = Run.load(run), None if self.model is None else Path(self.model)
        loaded, table = earlier.load_model(moved, self.trust_pickle), earlier.load_table(data)
        source = earlier.config["model"].get("url") or str(earlier.find_model(moved))
        words = None if self.code_book is None else read_code_book(self.code_book, table.features)
        subject = replace(earlier.bind(table, loaded, words), seed=self.seed)
        return table, subject, describe_model(source, loaded)

    def bind_table(self, table: TargetTable) -> tuple[TargetTable, Subject, dict[str, Any]]:
        """A table, a model bound to it, and what is known of the model."""
        from hornbook.code_book import read_code_book
        from hornbook.models import load_model
        from hornbook.runs import describe_model

        source = str(self.model or self.old)
        loaded = load_model(source, self.trust_pickle, self.output)
        settings = {"seed": self.seed, **read_cuts(self.bands, self.threshold)}
        words = read_code_book(self.code_book, table.features)
        return table, table.bind(loaded, settings, words), describe_model(source, loaded)

    def read_other(self, table: TargetTable, run: Path | None) -> tuple[Any, dict[str, Any]]:
        """Another model, and what is known of it; or the labels of the table.

        Its numbers are cut into classes as those of the run, if nothing else is said.
        """
        from hornbook.models import load_model
        from hornbook.runs import Run, cut_model, describe_model

        source, cuts = self.other or self.new, read_cuts(self.bands, self.threshold)
        if source is not None:
            if run is not None and not any(cut is not None for cut in cuts.values()):
                cuts = Run.load(run).settings
            loaded = load_model(source, self.trust_pickle, self.output)
            return cut_model(loaded, cuts), {"new": describe_model(source, loaded)}
        if table.labels is None:
            raise HornbookError(
                f"{table.table.name} has no column {table.target!r}; name that of the labels by --target"
            )
        return table.labels, {}


def _note_other(table: TargetTable, subject: Subject, model: Any) -> Iterator[str]:
    """Say what the new model reads, and how often it agrees with the labels."""
    from hornbook.models import note_accuracy, note_columns, note_cut, note_levels

    new = table.bind(model, {"seed": subject.seed}, subject.words)
    yield from note_columns(new, "the new model")
    yield from note_levels(new, "the new model")
    yield from note_cut(new, "the new model")
    if table.labels is not None:
        yield from note_accuracy(new, table.labels, "the new model")


def _refuse_unclear(
    run: Path | None, old: str | None, new: str | None, other: str | None, model: str | None, data: str | None
) -> None:
    """Refuse options that do not say what is compared with what."""
    given = tuple(each is not None for each in (run, other, old, new, model, data))
    of_run = given[:4] == (True, True, False, False)
    if not of_run and given not in ((False, False, True, True, False, True), (False,) * 4 + (True, True)):
        raise HornbookError(
            "give two models, --old FILE --new FILE --data TABLE; or a run and a model, RUN --with FILE; "
            "or a model and the truth, --model FILE --data TABLE --target COLUMN"
        )


def _name_target(data: str, target: str | None) -> str | None:
    """The target of a file where none is given; a dataset has its own."""
    from hornbook.code_book import UNNAMED_TARGET
    from hornbook.tables import DATASETS

    return target if target is not None or data in DATASETS else UNNAMED_TARGET


def _summarise(result: ModelDiff, folder: Path | None) -> list[str]:
    """What else there is to say, as comments."""
    lines = [
        f"{result.answers:,} answers; samples: {result.distribution}",
        f"missing values: {result.missing_values}",
        *([] if folder is None else [f"saved in {folder}; open {folder / 'report.html'} in a browser"]),
    ]
    return [f"# {line}" for line in lines]


MAX_LOGGED_LINES = 2
"""Lines of rules that a pipeline's log gets."""


def _write_verdict(result: ModelDiff, tolerance: float, above: bool, folder: Path | None) -> list[str]:
    """What a pipeline's log needs, in at most five lines."""
    verdict = "FAIL" if above else "PASS"
    lines = [
        f"{verdict}: {line}" if not number else line for number, line in enumerate(result.describe()[:2])
    ]
    lines[0] += f"; the tolerance is {100 * tolerance:g} %"
    named = [
        f"{line.text}: {result.say(line, own)}   # {own.rows:,} rows"
        for line, own in zip(result.explanation.lines(), result.lines, strict=True)
        if line.outcome != result.explanation.classes[0]
    ]
    where = "see it all without --tolerance" if folder is None else f"open {folder / 'report.html'}"
    return [*lines, *named[:MAX_LOGGED_LINES], where]
