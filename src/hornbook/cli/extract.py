"""`hornbook extract`."""

from __future__ import annotations

import sys
import time
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from shlex import join
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hornbook.cli.app import (
    TargetTable,
    app,
    describe_file,
    emit,
    emit_json,
    load_target_table,
    progress,
)
from hornbook.errors import HornbookError

if TYPE_CHECKING:
    from hornbook.extraction import Extraction


class FormOption(StrEnum):
    """The form of an explanation."""

    AUTO = "auto"
    RULES = "rules"
    CARD = "card"
    TREE = "tree"


@app.command()
def extract(
    data: Annotated[str, typer.Argument(help="A CSV, ARFF or Parquet file, or the name of a dataset.")],
    target: Annotated[
        str | None, typer.Option(help="The column that the model predicts; not needed for a dataset.")
    ] = None,
    model: Annotated[
        Path | None, typer.Option(help="The model file: ONNX, XGBoost, LightGBM, torch, Keras, skops.")
    ] = None,
    train: Annotated[bool, typer.Option("--train", help="Train a network on the columns instead.")] = False,
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
    encoding: Annotated[
        str | None,
        typer.Option(help="Input encoding of missing values: half, signed, two-channel, nan, complete."),
    ] = None,
    trust_pickle: Annotated[
        bool, typer.Option("--trust-pickle", help="Load a pickle file, which can run any code.")
    ] = False,
    proof: Annotated[
        bool,
        typer.Option("--proof", help="Prove or refute each line for every row (networks and trees)."),
    ] = False,
    proof_seconds: Annotated[
        float, typer.Option(min=0.1, help="Time limit of each proof in seconds.")
    ] = 60.0,
    seed: Annotated[int, typer.Option(min=0, help="Random seed.")] = 0,
    force: Annotated[bool, typer.Option("--force", help="Overwrite an earlier run in the folder.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the extraction as JSON.")] = False,
) -> None:
    """Explain what a model does with the columns of a table: by rules, a score card or a tree.

    The model is asked about rows as it reads them. A fifth of at least 100 rows is held out: the
    fidelity on these unseen rows is the headline.

    Examples:
      hornbook extract breast-cancer --train -o run/

      hornbook extract patients.csv --target survives --model model.onnx -o run/

      hornbook extract patients.csv --target age --above 60 --train --form card --max-literals 8

      hornbook extract patients.csv --target survives --model model.onnx --form rules --proof -o run/

    """
    from hornbook.extractor import HornExtractor
    from hornbook.models import as_predictor, load_model
    from hornbook.runs import check_writable, library_versions, save_run, start_run
    from hornbook.runs.proving import prove_lines

    if (model is None) != train:
        raise HornbookError("give either --model FILE or --train, which trains a network on the columns")
    table = load_target_table(data, target, positive, above)
    if output is not None:
        check_writable(output)
    black_box: Any
    if model is not None:
        black_box = load_model(model, trust_pickle)
        about = describe_file(model)
        if encoding is not None:
            black_box = as_predictor(black_box, encoding=encoding, name=model.name)
    else:
        about, black_box = _train(table, seed)
    settings = {
        "form": form.value,
        "max_literals": max_literals,
        "samples": samples,
        "encoding": encoding,
        "seed": seed,
    }
    config = {
        "command": join(["hornbook", *sys.argv[1:]]),
        "versions": library_versions(),
        "data": table.to_object(),
        "target": table.target,
        "model": about,
        "settings": settings,
    }
    if output is not None:
        start_run(output, config, force)
        if train:
            black_box.save(output / about["path"])
    extractor = HornExtractor(
        black_box,
        table.target,
        form=form.value,
        max_literals=max_literals,
        n_samples=samples,
        random_state=seed,
    )
    started = time.perf_counter()
    try:
        with progress("asking the model") as show:
            extractor.fit(
                table.features,
                watch=lambda one: show(
                    f"{one.form} with {one.literals} literals: {100 * one.fidelity.estimate:.1f} % of samples"
                ),
            )
    except KeyboardInterrupt:
        print("hornbook: interrupted; run the same command again", file=sys.stderr)
        raise typer.Exit(130) from None
    provenance = {name: config[name] for name in ("data", "model", "settings", "versions")}
    extraction = replace(extractor.extraction_, provenance=provenance)
    if proof:
        with progress("proving lines"):
            extraction = prove_lines(extraction, black_box, table.features, proof_seconds)
    if output is not None:
        save_run(output, extraction, time.perf_counter() - started)
    if as_json:
        emit_json({**extraction.to_object(), "folder": None if output is None else str(output)})
        return
    proved, open_lines = _proof_lines(extraction)
    emit("\n".join([*proved, str(extraction.explanation), *open_lines, *_summary(extraction, about, output)]))


def _proof_lines(extraction: Extraction) -> tuple[list[str], list[str]]:
    """What was proved of each line, and what was refuted or left open, as comments."""
    proved: list[str] = []
    others: list[str] = []
    for line, statistics in zip(extraction.explanation.lines(), extraction.lines, strict=True):
        if (guarantee := statistics.guarantee) is not None:
            comment = f"# {line.text}: {line.outcome} # {guarantee}"
            (proved if guarantee.kind == "proved" else others).append(comment)
    return proved, others


def _train(table: TargetTable, seed: int) -> tuple[dict[str, Any], Any]:
    """Train a network on the columns; what is known about it, and the network."""
    from pandas.api.types import is_numeric_dtype

    from hornbook.models import train_column_network
    from hornbook.models.column_training import MAX_NUMERIC_CLASSES
    from hornbook.runs.folder import file_checksum

    if table.labels is None:
        raise HornbookError(f"{table.table.name} has no column {table.target!r} to train a network on")
    known = table.labels.notna()
    numbers = table.labels[known]
    if is_numeric_dtype(numbers) and numbers.nunique() > MAX_NUMERIC_CLASSES:
        raise HornbookError(
            f"{table.target!r} has {numbers.nunique()} different numbers, and a network predicts classes; "
            f"make two of them, e.g. --above {numbers.median():g}"
        )
    with progress("training a network"):
        trained = train_column_network(table.features[known], table.labels[known], seed)
    held_out = {"accuracy": trained.accuracy.estimate, "rows": trained.accuracy.size}
    with TemporaryDirectory() as folder:
        trained.network.save(Path(folder) / NETWORK_FILE)
        checksum = file_checksum(Path(folder) / NETWORK_FILE)
    about = {"name": "the network", "path": NETWORK_FILE, "sha256": checksum, "held_out": held_out}
    return {**about, **trained.network.provenance}, trained.network


NETWORK_FILE = "model.npz"
"""The name of a trained network in the run folder."""


def _summary(extraction: Extraction, about: dict[str, Any], folder: Path | None) -> list[str]:
    """The accuracy, fidelity and cost of a run, as comments."""
    lines = []
    if "held_out" in about:
        accuracy, rows = about["held_out"]["accuracy"], about["held_out"]["rows"]
        lines.append(f"accuracy of the network: {100 * accuracy:.1f} % on {rows} held-out rows")
    lines += [f"fidelity to the model {each}" for each in extraction.fidelity.describe()]
    count = extraction.explanation.literals
    lines.append(f"{count} {'literal' if count == 1 else 'literals'} to read; {extraction.answers:,} answers")
    lines.append(f"samples: {extraction.distribution}; missing values: {extraction.missing_values}")
    if folder is not None:
        lines.append(f"saved in {folder}; open {folder / 'report.html'} in a browser")
    return [f"# {line}" for line in lines]
