"""`hornbook query`."""

from __future__ import annotations

import sys
import time
from dataclasses import replace
from pathlib import Path
from shlex import join
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
    from hornbook.data.binarise import Binariser
    from hornbook.extraction import Extraction
    from hornbook.extractor import QueryExtractor
    from hornbook.proof.certificate import Certificates

NETWORK_FILE = "model.safetensors"
"""The name of a network over variables in the run folder."""


@app.command()
def query(
    data: Annotated[str, typer.Argument(help="A CSV, ARFF or Parquet file, or the name of a dataset.")],
    target: Annotated[
        str | None, typer.Option(help="The column that the model predicts; not needed for a dataset.")
    ] = None,
    model: Annotated[Path | None, typer.Option(help="The model file, such as model.onnx.")] = None,
    train: Annotated[
        bool, typer.Option("--train", help="Train a network on the variables of the data instead.")
    ] = False,
    judge: Annotated[
        bool, typer.Option("--judge", help="The model accepts or rejects whole rows, target included.")
    ] = False,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="The run folder to write: rules, report, settings.")
    ] = None,
    positive: Annotated[str | None, typer.Option(help="The value of the target that counts as true.")] = None,
    above: Annotated[float | None, typer.Option(help="Targets above this number count as true.")] = None,
    max_rules: Annotated[int, typer.Option(min=1, help="Maximum number of rules.")] = 100,
    max_queries: Annotated[int, typer.Option(min=1, help="Maximum number of equivalence queries.")] = 100,
    epsilon: Annotated[float, typer.Option(help="Tolerated disagreement.")] = 0.05,
    delta: Annotated[float, typer.Option(help="Probability that it is exceeded.")] = 0.05,
    max_seconds: Annotated[float | None, typer.Option(help="Time limit in seconds.")] = None,
    encoding: Annotated[
        str | None,
        typer.Option(help="Input encoding of unknown values: half, signed, two-channel, nan, complete."),
    ] = None,
    trust_pickle: Annotated[
        bool, typer.Option("--trust-pickle", help="Load a pickle file, which can run any code.")
    ] = False,
    proof: Annotated[
        bool,
        typer.Option("--proof", help="Prove or refute each rule for every input (ReLU networks and trees)."),
    ] = False,
    proof_seconds: Annotated[
        float, typer.Option(min=0.1, help="Time limit of each proof in seconds.")
    ] = 60.0,
    proof_total: Annotated[
        float | None, typer.Option(help="Time limit of all proofs together in seconds.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Random seed.")] = 0,
    force: Annotated[bool, typer.Option("--force", help="Overwrite an earlier run in the folder.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the extraction as JSON.")] = False,
) -> None:
    """Learn a Horn theory about a model by membership and equivalence queries, as the paper does.

    The model reads the 0/1 variables that hornbook makes of the columns, or the columns themselves:
    then it is asked about values observed in each bin. Run the same command again to resume an
    interrupted run.

    Examples:
      hornbook query patients.csv --target survives --model judge.onnx --judge --encoding half -o run/

      hornbook query hcc-synthetic --train --max-queries 50 --proof -o run/

    """
    from hornbook.data.binarise import Binariser
    from hornbook.data.table import split_rows
    from hornbook.extractor import QueryExtractor
    from hornbook.learners.extract import INTERRUPTED
    from hornbook.models import as_predictor, load_model
    from hornbook.oracles.columns import fit_binariser
    from hornbook.runs import check_writable, library_versions, save_run, start_run
    from hornbook.statistics import check_tolerances

    if (model is None) != train:
        raise HornbookError("give either --model FILE or --train, which trains a network on the variables")
    if train and judge:
        raise HornbookError("--train trains a classifier; give a judge with --model")
    check_tolerances(epsilon, delta)
    table = load_target_table(data, target, positive, above)
    if output is not None:
        check_writable(output)
    frame = table.table.frame if judge else table.features
    kinds = {column: kind for column, kind in table.table.kinds.items() if column in frame}
    used, _ = split_rows(frame, seed, hold_out=not judge)
    black_box: Any
    if model is not None:
        black_box = as_predictor(load_model(model, trust_pickle), encoding=encoding, name=model.name)
        about = describe_file(model)
        binariser = fit_binariser(black_box, frame.iloc[used], kinds)
    else:
        binariser = Binariser(dual=True, kinds=kinds).fit(frame.iloc[used])
        about, black_box = _train(table, binariser, seed)
    settings = {
        "judge": judge,
        "max_rules": max_rules,
        "max_queries": max_queries,
        "epsilon": epsilon,
        "delta": delta,
        "max_seconds": max_seconds,
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
            black_box.save(output / NETWORK_FILE)
    extractor = QueryExtractor(
        black_box,
        table.target,
        judge=judge,
        binariser=binariser,
        max_rules=max_rules,
        max_queries=max_queries,
        epsilon=epsilon,
        delta=delta,
        max_seconds=max_seconds,
        random_state=seed,
    )
    started = time.perf_counter()
    with progress("asking the model", max_queries) as show:
        extractor.fit(
            frame,
            trace=output and output / "trace.jsonl",
            watch=lambda entry: show(
                f"query {entry['query']}: {entry['rules']} rules, {entry['membership_queries']:,} questions"
            ),
        )
    certificates = None
    if proof:
        kept_model = output / NETWORK_FILE if output is not None and train else model
        certificates = _prove(extractor, output, kept_model, proof_seconds, proof_total)
    provenance = {name: config[name] for name in ("data", "model", "settings", "versions")}
    extraction = replace(extractor.extraction_, provenance=provenance)
    if output is not None:
        save_run(output, extraction, time.perf_counter() - started, certificates)
    if as_json:
        proofs = {} if certificates is None else {"proofs": _proof_objects(certificates)}
        emit_json({**extraction.to_object(), "folder": None if output is None else str(output), **proofs})
    else:
        if certificates is not None:
            emit("\n".join(_proof_lines(certificates)))
        emit("\n".join(_rule_lines(extraction)))
        emit("\n".join(_summary(extraction, about, output)))
    if extraction.stop_reason == INTERRUPTED:
        kept = "" if output is None else f"; the result so far is in {output}"
        print(f"hornbook: interrupted{kept}; run the same command again to resume", file=sys.stderr)
        raise typer.Exit(130)


def _train(table: TargetTable, binariser: Binariser, seed: int) -> tuple[dict[str, Any], Any]:
    """Train a network on the variables; what is known about it, and the network."""
    from hornbook.data.table import binary_label
    from hornbook.errors import library

    library("torch", "torch")
    from hornbook.models.training import train_classifier

    if table.labels is None:
        raise HornbookError(f"{table.table.name} has no column {table.target!r} to train a network on")
    _, classes = binary_label(table.labels)
    with progress("training a network"):
        trained = train_classifier(binariser.batch(table.features), classes.to_numpy() == 1, seed)
    held_out = {"accuracy": trained.accuracy.estimate, "rows": trained.accuracy.size}
    about = {"name": "the network", "path": NETWORK_FILE, "held_out": held_out}
    return {**about, **trained.network.provenance}, trained.network


def _prove(
    extractor: QueryExtractor, folder: Path | None, model: Path | None, seconds: float, total: float | None
) -> Certificates:
    """Prove or refute each rule; without a folder, an interrupt keeps the certificates so far."""
    from hornbook.proof.certificate import PROOFS_FILE, Certificates
    from hornbook.runs.proving import prove_and_repair

    rules = extractor.result_.rules
    certificates = Certificates(extractor.bound_.prover(seconds), folder and folder / PROOFS_FILE, model)
    try:
        with progress("proving rules", len(rules)) as show:
            for number, _ in enumerate(prove_and_repair(certificates, rules, total=total), 1):
                show(f"rule {min(number, len(rules))} of {len(rules)}")
    except KeyboardInterrupt:
        if folder is not None:
            print("hornbook: interrupted; run the same command again to resume", file=sys.stderr)
            raise typer.Exit(130) from None
    return certificates


def _proof_lines(certificates: Certificates) -> list[str]:
    """The verdict on each rule, as comments: what holds comes first."""
    from hornbook.logic.syntax import UNICODE, rule_text

    vocabulary = certificates.prover.vocabulary
    decided = certificates.by_rule.values()
    lines = []
    for each in sorted(decided, key=lambda each: each.verdict.status != "proved"):
        lines.append(f"# {rule_text(vocabulary, each.rule, UNICODE)}: {each.verdict}")
        if each.repair is not None:
            prime = "no condition can be dropped" if each.repair.is_prime else "perhaps not the shortest"
            repaired = rule_text(vocabulary, each.repair.rule, UNICODE)
            lines.append(f"#   holds for every input ({prime}): {repaired}")
    return lines


def _proof_objects(certificates: Certificates) -> list[dict[str, Any]]:
    vocabulary = certificates.prover.vocabulary
    return [each.to_object(vocabulary) for each in certificates.by_rule.values()]


def _rule_lines(extraction: Extraction) -> list[str]:
    """One rule a line, with its statistics in a comment; the lines can be read back as a theory."""
    texts = [str(line) for line in str(extraction.theory).splitlines()]
    width = max(map(len, texts), default=0)
    lines = []
    for text, line in zip(texts, extraction.lines, strict=False):
        right = "" if line.precision is None else f", right on {100 * line.precision.estimate:.1f} % of these"
        share = 100 * line.support.estimate
        lines.append(f"{text:<{width}}  # applies to {share:.1f} % of samples{right}")
    if len(extraction.lines) > len(texts):
        default = extraction.explanation.lines()[-1]
        lines.append(f"# {default.text} {default.outcome}")
    return lines


def _summary(extraction: Extraction, about: dict[str, Any], folder: Path | None) -> list[str]:
    """The accuracy, fidelity, guarantee and cost of a run, as comments."""
    lines = []
    if "held_out" in about:
        accuracy, rows = about["held_out"]["accuracy"], about["held_out"]["rows"]
        lines.append(f"accuracy of the network: {100 * accuracy:.1f} % on {rows} held-out rows")
    lines += [f"fidelity to the model {each}" for each in extraction.fidelity.describe()]
    lines.append(f"guarantee: {extraction.guarantee}")
    lines += extraction.notes
    lines.append(f"{extraction.explanation.literals} literals to read; {extraction.answers:,} answers")
    lines.append(f"stopped: {extraction.stop_reason}")
    lines.append(f"samples: {extraction.distribution}; unknown values: {extraction.missing_values}")
    if folder is not None:
        lines.append(f"saved in {folder}; open {folder / 'report.html'} in a browser")
    return [f"# {' '.join(line.split())}" for line in lines]
