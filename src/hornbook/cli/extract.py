"""`hornbook extract`."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hornbook.cli.app import (
    MODEL_SECONDS,
    CodeBookOption,
    CsvOption,
    DataArgument,
    EncodingOption,
    ForceOption,
    GroupsOption,
    Interrupted,
    ModelSecondsOption,
    ProofSecondsOption,
    SeedOption,
    TargetOption,
    TargetTable,
    TestOption,
    TrustOption,
    app,
    emit,
    emit_json,
    load_test_rows,
    progress,
)
from hornbook.cli.run import (
    CommandRun,
    describe_code_book,
    describe_file,
    describe_model,
    describe_requests,
    open_table,
    refuse_endpoint_proof,
)
from hornbook.errors import HornbookError
from hornbook.storage import write_file

if TYPE_CHECKING:
    from hornbook.code_book import CodeBook
    from hornbook.extraction import Extraction
    from hornbook.extractor import HornExtractor

MODEL_FILE = "model.skops"
"""The name of a trained classifier in the run folder."""


class FormOption(StrEnum):
    """The form of an explanation."""

    AUTO = "auto"
    RULES = "rules"
    CARD = "card"
    TREE = "tree"


@app.command()
def extract(
    context: typer.Context,
    data: DataArgument,
    target: TargetOption = None,
    model: Annotated[
        str | None,
        typer.Option(help="The model file (ONNX, XGBoost, LightGBM, torch, Keras, skops), or its URL."),
    ] = None,
    train: Annotated[
        bool, typer.Option("--train", help="Train gradient boosting on the columns instead.")
    ] = False,
    test: TestOption = None,
    groups: GroupsOption = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="The run folder to write: explanation and report.")
    ] = None,
    positive: Annotated[
        str | None, typer.Option(help="The value of the target that counts as true (with --train).")
    ] = None,
    above: Annotated[
        float | None, typer.Option(help="Targets above this number count as true (with --train).")
    ] = None,
    form: Annotated[
        FormOption, typer.Option(help="Form of the explanation; auto chooses the best one.")
    ] = FormOption.AUTO,
    max_literals: Annotated[int, typer.Option(min=1, help="Most conditions that there may be to read.")] = 20,
    samples: Annotated[
        int | None, typer.Option(min=1, help="Number of labelled samples; default 16,000 to 24,000.")
    ] = None,
    csv: CsvOption = None,
    code_book: CodeBookOption = None,
    encoding: EncodingOption = None,
    trust_pickle: TrustOption = False,
    model_seconds: ModelSecondsOption = MODEL_SECONDS,
    proof: Annotated[
        bool,
        typer.Option(
            "--proof",
            help="Prove or refute each line for every row (networks and trees); rules unless --form tree.",
        ),
    ] = False,
    proof_seconds: ProofSecondsOption = 60.0,
    why: Annotated[
        int, typer.Option(min=0, help="Rows of which the report says why the model itself decides so.")
    ] = 0,
    seed: SeedOption = 0,
    force: ForceOption = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the extraction as JSON.")] = False,
) -> None:
    """Explain what a model does with the columns of a table: by rules, a score card or a tree.

    The model is asked about rows as it reads them. A fifth of at least 100 rows is held out: the
    fidelity on these unseen rows is the headline. With --test it is measured on rows of your own.

    Examples:
      hornbook extract breast-cancer --train -o run/

      hornbook extract patients.csv --target survives --model model.onnx -o run/

      hornbook extract patients.csv --target survives --model model.onnx --test later.csv -o run/

      hornbook extract visits.csv --target survives --model model.onnx --groups patient -o run/

      hornbook extract patients.csv --target survives --model http://127.0.0.1:5001/invocations -o run/

      hornbook extract patients.csv --target age --above 60 --train --form card --max-literals 8

      hornbook extract patients.csv --target survives --train --code-book words.toml -o run/

      hornbook extract patients.csv --target survives --model model.onnx --form rules --proof -o run/

      hornbook extract patients.csv --target survives --model model.onnx --why 4 -o run/

    """
    from hornbook.code_book_source import read_code_book
    from hornbook.extractor import describe_candidate
    from hornbook.models import limit_model_seconds, load_model
    from hornbook.runs import prove_lines, refuse_unprovable, refuse_unprovable_form

    if proof:
        form = FormOption.RULES if form is FormOption.AUTO else form
        refuse_unprovable_form(form.value)
        refuse_endpoint_proof(model)
    context.with_resource(limit_model_seconds(model_seconds))
    table = open_table(context, data, target, positive, above, csv, model, train, output, groups)
    words = read_code_book(code_book, table.features)
    test_rows = None if test is None else load_test_rows(test, table, csv)
    if test is not None:
        table = table.with_test_rows(describe_file(test))
    content = None
    if model is None:
        about, black_box, content = _train(table, seed)
    else:
        black_box = encode(load_model(model, trust_pickle, output), encoding, model)
        about = describe_model(model, black_box)
    if proof:
        refuse_unprovable(black_box, table.features)
    settings = {
        "form": form.value,
        "max_literals": max_literals,
        "samples": samples,
        "encoding": encoding,
        "seed": seed,
        "code_book": describe_code_book(code_book),
    }
    asked = {"proof": {"seconds": proof_seconds} if proof else None, "why": why}
    run = CommandRun.start(table, about, settings, output, force, **asked)
    if content is not None and output is not None:
        write_file(output / MODEL_FILE, content)
    extractor = make_extractor(black_box, table, settings, words)
    try:
        with progress("asking the model") as show:
            extractor.fit(
                table.features,
                groups=table.groups,
                unseen=test_rows,
                watch=lambda candidate: show(describe_candidate(candidate)),
            )
    except KeyboardInterrupt:
        raise Interrupted("run the same command again") from None
    extraction = run.add_provenance(extractor.extraction_)
    if proof:
        with progress("proving lines"):
            extraction = prove_lines(extraction, black_box, table.features, proof_seconds)
    with progress("asking why"):
        cases = extractor.explain_cases(why)
    run.save(extraction, cases=cases)
    if as_json:
        emit_json(run.to_object(extraction))
        return
    proved, open_lines = _proof_lines(extraction)
    emit(
        "\n".join(
            [
                *proved,
                str(extraction.explanation),
                *open_lines,
                *run.summarise(extraction, [*extraction.notes, *describe_requests(black_box)]),
            ]
        )
    )


def encode(loaded: Any, encoding: str | None, source: str) -> Any:
    """A loaded model; it is a predictor only where the encoding of missing values is given."""
    from hornbook.models import as_predictor, name_model_source

    if encoding is None:
        return loaded
    return as_predictor(loaded, encoding=encoding, name=name_model_source(source))


def make_extractor(
    black_box: Any, table: TargetTable, settings: Mapping[str, Any], words: CodeBook
) -> HornExtractor:
    """The extractor of a run with these settings."""
    from hornbook.extractor import HornExtractor

    return HornExtractor(
        black_box,
        table.target,
        form=settings["form"],
        max_literals=settings["max_literals"],
        n_samples=settings["samples"],
        random_state=settings["seed"],
        code_book=words,
    )


def _proof_lines(extraction: Extraction) -> tuple[list[str], list[str]]:
    """What was proved of each line, and what was refuted or left open, as comments."""
    proved: list[str] = []
    others: list[str] = []
    for line, statistics in zip(extraction.explanation.lines(), extraction.lines, strict=True):
        if (guarantee := statistics.guarantee) is not None:
            comment = f"# {line.text}: {line.outcome} # {guarantee}"
            (proved if guarantee.kind == "proved" else others).append(comment)
    return proved, others


def _train(table: TargetTable, seed: int) -> tuple[dict[str, Any], Any, bytes]:
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
