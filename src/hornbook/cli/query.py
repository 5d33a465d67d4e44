"""`hornbook query`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hornbook.cli.app import (
    MODEL_SECONDS,
    RESUME,
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
    TrustOption,
    app,
    emit,
    emit_json,
    progress,
)
from hornbook.cli.run import (
    CommandRun,
    describe_code_book,
    describe_model,
    describe_network,
    describe_requests,
    open_table,
    refuse_endpoint_proof,
)
from hornbook.errors import HornbookError, ModelError

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    from numpy.typing import NDArray

    from hornbook.code_book import CodeBook
    from hornbook.extraction import Extraction
    from hornbook.extractor import QueryExtractor
    from hornbook.logic import Rule
    from hornbook.models import Predictor
    from hornbook.proof import Certificates, Prover
    from hornbook.queries import Binariser
    from hornbook.tables import Kind

NETWORK_FILE, TRACE_FILE = "model.safetensors", "trace.jsonl"
"""The names of a network over variables and of the trace in the run folder."""


@app.command()
def query(
    context: typer.Context,
    data: DataArgument,
    target: TargetOption = None,
    model: Annotated[str | None, typer.Option(help="The model file, such as model.onnx, or its URL.")] = None,
    train: Annotated[
        bool, typer.Option("--train", help="Train a network on the variables of the data instead.")
    ] = False,
    judge: Annotated[
        bool, typer.Option("--judge", help="The model accepts or rejects whole rows, target included.")
    ] = False,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="The run folder to write: rules, report, settings.")
    ] = None,
    groups: GroupsOption = None,
    positive: Annotated[str | None, typer.Option(help="The value of the target that counts as true.")] = None,
    above: Annotated[float | None, typer.Option(help="Targets above this number count as true.")] = None,
    max_rules: Annotated[int, typer.Option(min=1, help="Maximum number of rules.")] = 100,
    max_queries: Annotated[int, typer.Option(min=0, help="Maximum number of equivalence queries.")] = 100,
    epsilon: Annotated[float, typer.Option(help="Tolerated disagreement.")] = 0.05,
    delta: Annotated[float, typer.Option(help="Probability that it is exceeded.")] = 0.05,
    max_seconds: Annotated[float | None, typer.Option(help="Time limit in seconds.")] = None,
    csv: CsvOption = None,
    code_book: CodeBookOption = None,
    encoding: EncodingOption = None,
    trust_pickle: TrustOption = False,
    model_seconds: ModelSecondsOption = MODEL_SECONDS,
    proof: Annotated[
        bool,
        typer.Option("--proof", help="Prove or refute each rule for every input (ReLU networks and trees)."),
    ] = False,
    proof_seconds: ProofSecondsOption = 60.0,
    proof_total: Annotated[
        float | None, typer.Option(help="Time limit of all proofs together in seconds.")
    ] = None,
    seed: SeedOption = 0,
    force: ForceOption = False,
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
    from hornbook.code_book_source import read_code_book
    from hornbook.models import limit_model_seconds, load_model
    from hornbook.queries import INTERRUPTED, MODEL_FAILED
    from hornbook.statistics import check_tolerances
    from hornbook.tables import split_rows

    if train and judge:
        raise HornbookError("--train trains a classifier; give a judge with --model")
    if groups is not None and judge:
        raise HornbookError("no rows of a judge are held out; leave out --groups")
    check_tolerances(epsilon, delta)
    if proof:
        refuse_endpoint_proof(model)
    context.with_resource(limit_model_seconds(model_seconds))
    table = open_table(context, data, target, positive, above, csv, model, train, output, groups)
    frame = table.table.frame if judge else table.features
    words = read_code_book(code_book, frame)
    kinds = table.kinds_of(frame, words)
    used, _ = split_rows(frame, seed, not judge, table.groups)
    if model is None:
        about, black_box, binariser = _train(table, kinds, used, seed)
    else:
        loaded = load_model(model, trust_pickle, output)
        black_box, binariser = bind_model(loaded, encoding, model, frame.iloc[used], kinds)
        about = describe_model(model, black_box)
    settings = {
        "judge": judge,
        "max_rules": max_rules,
        "max_queries": max_queries,
        "epsilon": epsilon,
        "delta": delta,
        "max_seconds": max_seconds,
        "encoding": encoding,
        "seed": seed,
        "code_book": describe_code_book(code_book),
    }
    extractor = make_extractor(black_box, table, settings, binariser, words)
    # before the run begins, so that a model of which nothing can be proved is refused at once
    prover = extractor.bind(frame, table.groups).prover(proof_seconds) if proof else None
    limits = {"seconds": proof_seconds, "total": proof_total} if proof else None
    run = CommandRun.start(table, about, settings, output, force, proof=limits)
    if train and output is not None:
        black_box.save(output / NETWORK_FILE)
    failed = False
    with progress("asking the model", max_queries) as show:
        try:
            extractor.fit(
                frame,
                groups=table.groups,
                trace=output and output / TRACE_FILE,
                watch=lambda entry: show(_describe(entry)),
            )
        except ModelError:
            failed = extractor.__sklearn_is_fitted__()
            if not failed:
                raise
    certificates = None
    if prover is not None and not failed:
        kept_model = output / NETWORK_FILE if output is not None and train else _find_file(model)
        certificates = _prove(prover, extractor.result_.rules, output, kept_model, proof_total)
    extraction = run.add_provenance(extractor.extraction_)
    run.save(extraction, certificates)
    if as_json:
        proofs = {} if certificates is None else {"proofs": _proof_objects(certificates)}
        emit_json({**run.to_object(extraction), **proofs})
    else:
        proof_lines = [] if certificates is None else _proof_lines(certificates)
        requests = describe_requests(black_box)
        details = [f"guarantee: {extraction.guarantee}", *extraction.notes, *requests]
        stopped = f"stopped: {extraction.stop_reason}"
        summary = run.summarise(extraction, [*details, stopped])
        emit("\n".join([*proof_lines, *_rule_lines(extraction), *summary]))
    where = "" if output is None else f"the result so far is in {output}; "
    if extraction.stop_reason == INTERRUPTED:
        raise Interrupted(f"{where}{RESUME}")
    if failed:
        reason = extraction.stop_reason.removeprefix(f"{MODEL_FAILED}: ")
        raise ModelError(f"{reason}; {where}{RESUME}")


def _find_file(model: str | None) -> Path | None:
    return None if model is None else Path(model)


def _describe(entry: dict[str, Any]) -> str:
    """An entry of the trace, as progress."""
    return f"query {entry['query']}: {entry['rules']} rules, {entry['membership_queries']:,} questions"


def bind_model(
    loaded: Any,
    encoding: str | None,
    source: str,
    rows: pd.DataFrame,
    kinds: dict[str, Kind],
) -> tuple[Predictor, Binariser]:
    """A loaded model as a predictor, and a binariser that suits it, fitted to the rows of the run."""
    from hornbook.models import RemoteModel, as_predictor, name_model_source
    from hornbook.queries.column_models import fit_binariser

    if isinstance(loaded, RemoteModel):
        loaded.find_classes(rows)
    predictor = as_predictor(loaded, encoding=encoding, name=name_model_source(source))
    return predictor, fit_binariser(predictor, rows, kinds)


def make_extractor(
    black_box: Any, table: TargetTable, settings: Mapping[str, Any], binariser: Binariser, words: CodeBook
) -> QueryExtractor:
    """The extractor of a run with these settings."""
    from hornbook.extractor import QueryExtractor

    return QueryExtractor(
        black_box,
        table.target,
        judge=settings["judge"],
        binariser=binariser,
        max_rules=settings["max_rules"],
        max_queries=settings["max_queries"],
        epsilon=settings["epsilon"],
        delta=settings["delta"],
        max_seconds=settings["max_seconds"],
        random_state=settings["seed"],
        code_book=words,
    )


def _train(
    table: TargetTable, kinds: dict[str, Kind], used: NDArray[np.intp], seed: int
) -> tuple[dict[str, Any], Any, Binariser]:
    """Train a network on the variables of the rows that the run will use; also what is known about it."""
    from hornbook.errors import library
    from hornbook.queries import Binariser
    from hornbook.tables import binary_label

    library("torch", "torch")
    library("safetensors", "torch")  # before the training, which takes longer
    from hornbook.queries import train_classifier

    assert table.labels is not None
    frame = table.features
    binariser = Binariser(dual=True, kinds=kinds).fit(frame.iloc[used])
    _, classes = binary_label(table.labels)
    with progress("training a network"):
        trained = train_classifier(binariser.batch(frame), classes.to_numpy() == 1, seed)
    return describe_network(trained, NETWORK_FILE), trained.network, binariser


def _prove(
    prover: Prover, rules: Sequence[Rule], folder: Path | None, model: Path | None, total: float | None
) -> Certificates:
    """Prove or refute each rule; without a folder, an interrupt keeps the certificates so far."""
    from hornbook.proof import PROOFS_FILE, Certificates
    from hornbook.runs import prove_and_repair

    certificates = Certificates(prover, folder and folder / PROOFS_FILE, model)
    try:
        with progress("proving rules", len(rules)) as show:
            for number, _ in enumerate(prove_and_repair(certificates, rules, total=total), 1):
                show(f"rule {min(number, len(rules))} of {len(rules)}")
    except KeyboardInterrupt:
        if folder is not None:
            raise Interrupted(RESUME) from None
    return certificates


def _proof_lines(certificates: Certificates) -> list[str]:
    """The verdict on each rule, as comments: what holds comes first."""
    from hornbook.logic import UNICODE, rule_text

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
