"""`hornbook extract`."""

from __future__ import annotations

from dataclasses import asdict
from hashlib import sha256
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hornbook.cli import options
from hornbook.cli.app import ASK, HelpfulCommand, app
from hornbook.cli.inputs import (
    ModelOptions,
    TableOptions,
    describe_requests,
    open_table,
    read_cuts,
)
from hornbook.cli.output import (
    Interrupted,
    emit_json,
    emit_lines,
    print_remark,
    progress,
    summarise_run,
)
from hornbook.errors import HornbookError
from hornbook.storage import write_file

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd

    from hornbook.code_book import CodeBook
    from hornbook.extraction import Extraction
    from hornbook.models import Subject
    from hornbook.runs import LineProver, NewRun, TargetTable
    from hornbook.surrogates import Candidate

MOST_SAMPLES = 40_000
"""Samples that an explanation is fitted to and measured on, about."""

MODEL_FILE = "model.skops"
"""The name of a trained classifier in the run folder."""


@app.command(cls=HelpfulCommand, rich_help_panel=ASK)
def extract(
    context: typer.Context,
    data: options.Source,
    target: options.Target = None,
    model: options.Model = None,
    train: Annotated[
        bool, options.what("--train", help="Train gradient boosting on the columns instead.")
    ] = False,
    form: Annotated[options.Form, options.what(help="auto, rules, card or tree.")] = options.Form.AUTO,
    max_literals: Annotated[int, options.how_long(min=1, max=1000, help="Most conditions to read.")] = 20,
    balance: Annotated[float, options.how_long(min=0, max=1, help="0 to 1: classes weigh alike.")] = 0.0,
    output: options.Output = None,
    columns: options.Columns = None,
    drop: options.Drop = None,
    bands: options.Bands = None,
    threshold: options.Threshold = None,
    positive: options.Positive = None,
    above: options.Above = None,
    samples: Annotated[int | None, options.how_long(min=1, help="Samples to learn from.")] = None,
    certify: Annotated[
        bool, options.how_long("--certify", help="Seek the best tree of 3 questions for two minutes.")
    ] = False,
    seconds: options.Seconds = None,
    max_answers: options.MaxAnswers = None,
    test: options.Test = None,
    groups: options.Groups = None,
    weight: options.Weight = None,
    proof: options.Proof = False,
    seed: options.Seed = 0,
    force: options.Force = False,
    as_json: options.Json = False,
    csv: options.Csv = None,
    missing: options.Missing = None,
    code_book: options.CodeBook = None,
    unknown_levels: options.UnknownLevels = options.LevelsPolicy.REFUSE,
    trust_pickle: options.TrustPickle = False,
) -> None:
    """Explain what a model does with the columns of a table.

    The model is asked about rows as it reads them. A fifth of at least 100 rows is held out, and fidelity
    is measured on these; with --test it is measured on rows of your own.

    Examples:
      hornbook extract breast-cancer --train -o run/

      hornbook extract loans.csv --target good --model model.onnx -o run/

      hornbook extract loans.csv --target good --model http://127.0.0.1:5001/score

      hornbook extract loans.csv --target good --model model.onnx --proof

    """
    from hornbook.runs import NewRun, describe_code_book, make_prover, refuse_unprovable_form

    reading = TableOptions(data, target, positive, above, groups, weight, columns, drop, csv, missing)
    asking = ModelOptions(model, train, trust_pickle, proof, seconds, max_answers)
    if proof:
        form = options.Form.RULES if form is options.Form.AUTO else form
        refuse_unprovable_form(form.value)
    if train and bands is not None:
        raise HornbookError(
            "--bands cuts a regressor's numbers, and --train trains a classifier: give --above"
        )
    asking.limit(context, proof_follows=proof)
    table = open_table(context, reading, asking, output)
    table, words, test_rows = _read_test(table, test, code_book, reading.text, unknown_levels)
    about, black_box, content = _train(table, seed) if model is None else _load(model, trust_pickle, output)
    settings = {
        "form": form.value,
        "max_literals": max_literals,
        "samples": samples,
        **read_cuts(bands, threshold),
        "balance": balance,
        "certify": certify,
        "seed": seed,
        "code_book": describe_code_book(code_book),
    }
    subject = table.bind(black_box, settings, words)
    subject = subject if test_rows is None else subject.with_test_rows(test_rows)
    limits = asking.proof_limits
    prover = make_prover(subject) if proof else None
    run = NewRun.start(table, subject, about, settings, output, force, proof=limits and asdict(limits))
    extraction = _explain(run, subject, prover)
    run.begin()
    if content is not None and output is not None:
        write_file(output / MODEL_FILE, content)
    run.save(extraction)
    if as_json:
        emit_json(run.to_object(extraction))
        return
    proved, open_lines = _proof_lines(extraction)
    summary = summarise_run(run, extraction, [*extraction.notes, *describe_requests(black_box)])
    emit_lines([*proved, str(extraction.explanation), *open_lines, *summary])


def _read_test(
    table: TargetTable,
    test: Path | None,
    code_book: Path | None,
    csv: str | None,
    levels: options.LevelsPolicy,
) -> tuple[TargetTable, CodeBook, pd.DataFrame | None]:
    """The table that knows of the file of test rows, the words for its columns, and these rows."""
    from hornbook.code_book import read_code_book
    from hornbook.runs import describe_file, read_test_rows

    words = read_code_book(code_book, table.features)
    if test is None:
        return table, words, None
    rows = read_test_rows(test, table.features, words, csv, levels.value, print_remark)
    return table.with_test_rows({**describe_file(test), "unknown_levels": levels.value}), words, rows


def _explain(run: NewRun, subject: Subject, prover: LineProver | None) -> Extraction:
    """Explain the model as the run is set, and prove the lines, if there is a prover."""
    from hornbook.runs import explain_by_settings

    settings = run.config["settings"]
    planned = 2 * len(subject.frame) + (settings["samples"] or MOST_SAMPLES)
    try:
        with progress("asking the model", answers=planned) as show:
            extraction = explain_by_settings(subject, settings, lambda each: show(describe_candidate(each)))
    except KeyboardInterrupt:
        raise Interrupted("run the same command again") from None
    if prover is None:
        return run.complete(extraction)
    with progress("proving lines", len(extraction.lines)) as show:
        return run.complete(extraction, prover, watch=show)


def describe_candidate(candidate: Candidate) -> str:
    """The form, size and fidelity of a candidate, as progress."""
    fidelity = f"{100 * candidate.agreement:.1f} % of samples"
    return f"{candidate.form} with {candidate.literals} literals: {fidelity}"


def _proof_lines(extraction: Extraction) -> tuple[list[str], list[str]]:
    """What was proved of each line, and what was refuted or left open, as comments."""
    proved: list[str] = []
    others: list[str] = []
    for line, statistics in zip(extraction.explanation.lines(), extraction.lines, strict=True):
        if (guarantee := statistics.guarantee) is not None:
            comment = f"# {line.text}: {line.outcome} # {guarantee}"
            (proved if guarantee.kind == "proved" else others).append(comment)
    return proved, others


def _load(source: str, trust_pickle: bool, folder: Path | None) -> tuple[dict[str, Any], Any, bytes | None]:
    """Load a model; what is known about it, itself, and no file that belongs into the run folder."""
    from hornbook.models import load_model
    from hornbook.runs import describe_model

    black_box = load_model(source, trust_pickle, folder)
    return describe_model(source, black_box), black_box, None


def _train(table: TargetTable, seed: int) -> tuple[dict[str, Any], Any, bytes | None]:
    """Train a classifier on the columns; what is known about it, itself, and its file."""
    from pandas.api.types import is_numeric_dtype

    from hornbook.models import train_pipeline
    from hornbook.models.training import MAX_NUMERIC_CLASSES

    assert table.labels is not None
    known = table.labels.notna()
    numbers = table.labels[known]
    if is_numeric_dtype(numbers) and numbers.nunique() > MAX_NUMERIC_CLASSES:
        raise HornbookError(
            f"{table.target!r} has {numbers.nunique()} different numbers, and a classifier predicts classes; "
            f"make two of them, e.g. --above {numbers.median():g}"
        )
    with progress("training a classifier"):
        trained = train_pipeline(table.features[known], numbers, seed)
    content = trained.to_bytes()
    about = {"name": "the classifier", "path": MODEL_FILE, "sha256": sha256(content).hexdigest()}
    return {**about, **trained.provenance}, trained.pipeline, content
