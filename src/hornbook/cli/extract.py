"""`hornbook extract`."""

from __future__ import annotations

import json
import sys
from enum import StrEnum
from pathlib import Path
from shlex import join
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hornbook.cli.app import app, emit, emit_json, progress, table_of
from hornbook.errors import HornbookError

if TYPE_CHECKING:
    from hornbook.data.binarise import Binariser
    from hornbook.data.table import Table
    from hornbook.extractor.estimator import HornExtractor
    from hornbook.models import Predictor
    from hornbook.proof.certificate import Certificates


class Method(StrEnum):
    """How rules are found."""

    READER = "reader"
    QUERIES = "queries"


class Form(StrEnum):
    """What is to be read."""

    AUTO = "auto"
    RULES = "rules"
    CARD = "card"
    TREE = "tree"


@app.command()
def extract(
    data: Annotated[str, typer.Argument(help="A CSV, ARFF or Parquet file, or a dataset by name.")],
    target: Annotated[
        str | None, typer.Option(help="The column that the model predicts; datasets know theirs.")
    ] = None,
    model: Annotated[Path | None, typer.Option(help="The model, such as model.onnx.")] = None,
    train: Annotated[bool, typer.Option("--train", help="Train a network on the data instead.")] = False,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="A folder to keep the run in.")
    ] = None,
    positive: Annotated[str | None, typer.Option(help="The value of the target that counts as true.")] = None,
    above: Annotated[float | None, typer.Option(help="Numbers above this count as true.")] = None,
    judge: Annotated[
        bool, typer.Option("--judge", help="The model judges whole rows, the target among them.")
    ] = False,
    method: Annotated[
        Method, typer.Option(help="What a reader will read, or rules by equivalence queries.")
    ] = Method.READER,
    form: Annotated[
        Form, typer.Option(help="Rules, a card with points, a tree, or whichever is better.")
    ] = Form.AUTO,
    max_rules: Annotated[
        int | None, typer.Option(min=1, help="So many rules at most: 20 for a reader, 100 by queries.")
    ] = None,
    max_literals: Annotated[int, typer.Option(min=1, help="So many literals a reader will read.")] = 60,
    epsilon: Annotated[float, typer.Option(help="Up to which share fidelity is to be known.")] = 0.05,
    delta: Annotated[float, typer.Option(help="The tolerated probability that it is not.")] = 0.05,
    max_queries: Annotated[int, typer.Option(min=1, help="Equivalence queries, with queries.")] = 100,
    max_seconds: Annotated[float | None, typer.Option(help="So long at most.")] = None,
    samples: Annotated[int, typer.Option(min=1, help="Labelled samples to learn from.")] = 1 << 14,
    device: Annotated[
        str | None, typer.Option(help="Where a torch model answers queries, such as cuda; with queries.")
    ] = None,
    encoding: Annotated[
        str | None, typer.Option(help="How ? enters the model: half, signed, two-channel, nan, complete.")
    ] = None,
    trust_pickle: Annotated[
        bool, typer.Option("--trust-pickle", help="Load a pickle, which can run anything.")
    ] = False,
    proof: Annotated[
        bool,
        typer.Option(
            "--proof", help="Prove each rule for every input, or refute it; ReLU networks and trees."
        ),
    ] = False,
    proof_seconds: Annotated[float, typer.Option(min=0.1, help="What the proof of a rule may take.")] = 60.0,
    proof_total: Annotated[float | None, typer.Option(help="What all proofs together may take.")] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed.")] = 0,
    force: Annotated[bool, typer.Option("--force", help="Write over what the folder holds.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Read rules about a column out of a model that predicts it.

    The model reads the columns of the data, or the variables that hornbook makes of them. A run
    that was interrupted goes on when the same command is given again.

    Examples:
      hornbook extract breast-cancer --train -o run/

      hornbook extract patients.csv --target survives --model model.onnx -o run/

      hornbook extract patients.csv --target age --above 60 --train --form card

      hornbook extract hcc-synthetic --train --method queries --max-queries 50 -o run/

      hornbook extract hcc-synthetic --train --form rules --proof -o run/

    """
    from hornbook.extractor.display import lines
    from hornbook.learners.extract import INTERRUPTED
    from hornbook.logic.arrays import check_device
    from hornbook.models import as_predictor
    from hornbook.runs.folder import MODEL, metrics_object, ready
    from hornbook.runs.models import make_extractor
    from hornbook.statistics import check_tolerances

    if (model is None) != train:
        raise HornbookError("give the model with --model, or train a network with --train; one of the two")
    if device is not None:
        if method is Method.READER and not judge:
            raise HornbookError(f"--device {device} is for equivalence queries: add --method queries")
        check_device(device)
    check_tolerances(epsilon, delta)
    table = table_of(data, target, positive, above)
    if output is not None:
        ready(output)
    settings = {
        "judge": judge,
        "method": method.value,
        "form": form.value,
        "max_rules": max_rules,
        "max_literals": max_literals,
        "epsilon": epsilon,
        "delta": delta,
        "max_equivalence_queries": max_queries,
        "max_seconds": max_seconds,
        "samples": samples,
        "device": device,
        "encoding": encoding,
        "random_state": seed,
    }
    if model is not None:
        about, subject = _model(model, trust_pickle)
        predictor = as_predictor(subject, encoding=encoding, name=model.name)
        binariser = _binariser(table, judge, seed, predictor)
    else:
        binariser = _binariser(table, judge, seed)
        about, subject = _trained(table, binariser, judge, seed)
    extractor = make_extractor(subject, str(table.label), positive, binariser, settings)
    frame = table.frame if judge else table.features
    if output is not None:
        source = {"target": target, "positive": positive, "above": above}
        _begin(output, table, data, source, about, settings, binariser, force)
        if train:
            subject.save(output / MODEL)
    with progress("asking the model", max_queries if method is Method.QUERIES else None) as watch:
        extractor.fit(frame, trace=output and output / "trace.jsonl", watch=watch)
    certificates = None
    if proof:
        kept_model = output / MODEL if output is not None and train else model
        certificates = _prove(extractor, output, kept_model, proof_seconds, proof_total)
    if output is not None:
        _save(output, extractor, table, about, settings, certificates)
    reading = extractor.reading_
    if as_json:
        kept = None if output is None else str(output)
        emit_json(
            {
                **metrics_object(reading),
                "model": about,
                "folder": kept,
                "theory": str(extractor.theory_),
                **({} if certificates is None else {"proofs": _proof_objects(certificates)}),
            }
        )
    else:
        emit("\n".join(lines(reading.answers, extractor.rules_, extractor.reader_.describe)))
        emit("\n".join([*_proof_lines(certificates, extractor), *_summary(extractor, about, output)]))
    if reading.stop_reason == INTERRUPTED:
        where = "" if output is None else f"; what was found is in {output}, and the same command goes on"
        print(f"hornbook: interrupted{where}", file=sys.stderr)
        raise typer.Exit(130)


def _binariser(table: Table, judge: bool, seed: int, predictor: Predictor | None = None) -> Binariser:
    """What makes variables of the columns: fitted to the rows that the extractor will not hold out."""
    from hornbook.data.binarise import Binariser
    from hornbook.data.examples import split_rows
    from hornbook.oracles.columns import fit_binariser

    frame = table.frame if judge else table.features
    if frame.shape[1] == 0:
        raise HornbookError(f"{table.name} has no columns beside {table.label!r}")
    kinds = {column: kind for column, kind in table.kinds.items() if column in frame}
    used, _ = split_rows(frame, seed, hold_out=not judge)
    if predictor is None:
        return Binariser(dual=True, kinds=kinds).fit(frame.iloc[used])
    return fit_binariser([predictor], frame.iloc[used], kinds)


def _model(path: Path, trust_pickle: bool) -> tuple[dict[str, Any], Any]:
    from hornbook.models import load_model
    from hornbook.runs.folder import checksum

    subject = load_model(path, trust_pickle)
    return {"name": path.name, "path": str(path.resolve()), "sha256": checksum(path)}, subject


def _trained(table: Table, binariser: Binariser, judge: bool, seed: int) -> tuple[dict[str, Any], Any]:
    if judge:
        raise HornbookError("--train trains a classifier; a judge is given with --model")
    from hornbook.errors import library

    library("torch", "torch")
    from hornbook.models.training import train_classifier

    classes = table.frame[str(table.label)].to_numpy() == 1
    with progress("training a network"):
        trained = train_classifier(binariser.batch(table.features), classes, seed)
    held_out = {"accuracy": trained.accuracy.estimate, "rows": trained.accuracy.size}
    about = {"name": "the network", "held_out": held_out, **trained.network.provenance}
    return about, trained.network


def _begin(
    folder: Path,
    table: Table,
    data: str,
    source: dict[str, Any],
    about: dict[str, Any],
    settings: dict[str, Any],
    binariser: Binariser,
    force: bool,
) -> None:
    from hornbook.runs.folder import begin, versions

    path = Path(data)
    begin(
        folder,
        {
            "command": join(["hornbook", *sys.argv[1:]]),
            "versions": versions(),
            "data": {
                "source": str(path.resolve()) if path.exists() else data,
                "name": table.name,
                "sha256": table.checksum(),
                "describe": table.describe(),
                **source,
            },
            "target": table.label,
            "model": about,
            "settings": settings,
            "binariser": json.loads(binariser.to_json()),
        },
        force,
    )


def _prove(
    extractor: HornExtractor, folder: Path | None, model: Path | None, seconds: float, total: float | None
) -> Certificates:
    """A certificate for each rule; without a folder, for those that are known when it is interrupted."""
    from hornbook.proof.certificate import PROOFS, Certificates
    from hornbook.runs.proving import prove, prover_of

    if extractor.decider_ is not None:
        raise HornbookError(
            "a card or a tree is no set of rules that could be proved one by one; use --form rules"
        )
    rules = extractor.reading_.answers.rules
    prover = prover_of(extractor.subjects_, seconds)
    certificates = Certificates(prover, folder and folder / PROOFS, model)
    try:
        with progress("proving rules", len(rules)) as watch:
            for _ in prove(certificates, rules, total=total, watch=watch):
                pass
    except KeyboardInterrupt:
        if folder is not None:
            told = f"hornbook: interrupted; the same command goes on from what {folder} holds"
            print(told, file=sys.stderr)
            raise typer.Exit(130) from None
    return certificates


def _proof_lines(certificates: Certificates | None, extractor: HornExtractor) -> list[str]:
    """What became of each rule, as comments."""
    told = []
    for each in () if certificates is None else certificates.by_rule.values():
        told.append(f"# {extractor.say(each.rule)}: {each.verdict}")
        if each.repair is not None:
            prime = "nothing to spare" if each.repair.is_prime else "perhaps with literals to spare"
            told.append(f"#   holds for every input, {prime}: {extractor.say(each.repair.rule)}")
    return told


def _proof_objects(certificates: Certificates) -> list[dict[str, Any]]:
    vocabulary = certificates.prover.vocabulary
    return [each.to_object(vocabulary) for each in certificates.by_rule.values()]


def _save(
    folder: Path,
    extractor: HornExtractor,
    table: Table,
    about: dict[str, Any],
    settings: dict[str, Any],
    certificates: Certificates | None,
) -> None:
    from hornbook.report.page import to_html
    from hornbook.runs.folder import save
    from hornbook.runs.reporting import report_of

    frame = table.frame if extractor.judge else table.features
    truth = None if extractor.judge else table.frame[str(table.label)].to_numpy()
    report = report_of(
        extractor,
        frame,
        name=about["name"],
        model=_facts(about),
        data=(("table", table.describe()), ("SHA-256", table.checksum())),
        settings=_facts(settings),
        truth=truth,
        guarantees=None if certificates is None else certificates.guarantees,
    )
    save(folder, extractor.reading_, extractor.reader_.groups, to_html(report), certificates)


def _facts(entries: dict[str, Any]) -> tuple[tuple[str, str], ...]:
    return tuple((name.replace("_", " "), str(value)) for name, value in entries.items() if value is not None)


def _summary(extractor: HornExtractor, about: dict[str, Any], folder: Path | None) -> list[str]:
    """What a reader should know beside the rules, as comments."""
    reading = extractor.reading_
    told = []
    if "held_out" in about:
        accuracy, rows = about["held_out"]["accuracy"], about["held_out"]["rows"]
        told.append(
            f"the network is right on {100 * accuracy:.1f} % of {rows} rows held out from its training"
        )
    told += [f"fidelity to the model {each}" for each in extractor.fidelity_.describe()]
    used = f"on the {len(extractor.subjects_[0].frame):,} rows that it was made from"
    told.append(f"{used} {100 * extractor.fidelity_.used_rows:.2f} %, which says nothing sure about others")
    if extractor.labels_:
        told.append(f"decided by the default: {extractor.undetermined_} of the samples")
    told.append(f"{reading.literals} literals to read; {reading.queries:,} answers, {reading.seconds:.1f} s")
    told.append(f"ended: {reading.stop_reason}")
    told.append(f"samples: {reading.worst.distribution}; unknown values: {reading.worst.unknowns}")
    if folder is not None:
        told.append(f"kept in {folder}; open {folder / 'report.html'} in a browser")
    return [f"# {' '.join(line.split())}" for line in told]
