"""`hornbook extract`."""

from __future__ import annotations

import json
import sys
from enum import StrEnum
from pathlib import Path
from shlex import join
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hornbook.cli.app import app, emit, emit_json, load_table, progress
from hornbook.errors import HornbookError

if TYPE_CHECKING:
    from hornbook.data.binarise import Binariser
    from hornbook.data.table import Table
    from hornbook.extractor.estimator import HornExtractor
    from hornbook.models import Predictor
    from hornbook.proof.certificate import Certificates


class Method(StrEnum):
    """How an explanation is found: a short surrogate from samples, or rules by equivalence queries."""

    READER = "reader"
    QUERIES = "queries"


class Form(StrEnum):
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
    model: Annotated[Path | None, typer.Option(help="The model file, such as model.onnx.")] = None,
    train: Annotated[bool, typer.Option("--train", help="Train a network on the data instead.")] = False,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="The run folder to write: rules, report, settings.")
    ] = None,
    positive: Annotated[str | None, typer.Option(help="The value of the target that counts as true.")] = None,
    above: Annotated[float | None, typer.Option(help="Targets above this number count as true.")] = None,
    judge: Annotated[
        bool, typer.Option("--judge", help="The model accepts or rejects whole rows, target included.")
    ] = False,
    method: Annotated[
        Method, typer.Option(help="reader: a short explanation from samples; queries: equivalence queries.")
    ] = Method.READER,
    form: Annotated[
        Form, typer.Option(help="Form of the explanation; auto chooses the better one.")
    ] = Form.AUTO,
    max_rules: Annotated[
        int | None, typer.Option(min=1, help="Maximum number of rules (reader: 20, queries: 100).")
    ] = None,
    max_literals: Annotated[int, typer.Option(min=1, help="Maximum number of literals to read.")] = 60,
    epsilon: Annotated[float, typer.Option(help="Half-width of the fidelity estimate.")] = 0.05,
    delta: Annotated[float, typer.Option(help="Probability that it is exceeded.")] = 0.05,
    max_queries: Annotated[
        int, typer.Option(min=1, help="Maximum number of equivalence queries (--method queries).")
    ] = 100,
    max_seconds: Annotated[float | None, typer.Option(help="Time limit in seconds.")] = None,
    samples: Annotated[int, typer.Option(min=1, help="Number of labelled samples to learn from.")] = 1 << 14,
    device: Annotated[
        str | None, typer.Option(help="Device of a torch model, such as cuda (--method queries).")
    ] = None,
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
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Explain a model that predicts a column by rules, a score card or a tree.

    The model reads the columns of the data, or the 0/1 variables that hornbook derives from them.
    Run the same command again to resume an interrupted run.

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
    from hornbook.runs.folder import MODEL_FILE, check_writable, metrics_object
    from hornbook.runs.models import make_extractor
    from hornbook.statistics import check_tolerances

    if (model is None) != train:
        raise HornbookError("give either --model FILE or --train, which trains a network on the data")
    if device is not None:
        if method is Method.READER and not judge:
            raise HornbookError(
                f"--device {device} works with equivalence queries only: add --method queries"
            )
        check_device(device)
    check_tolerances(epsilon, delta)
    table = load_table(data, target, positive, above)
    if output is not None:
        check_writable(output)
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
        about, subject = _train_network(table, binariser, judge, seed)
    extractor = make_extractor(subject, str(table.label), positive, binariser, settings)
    frame = table.frame if judge else table.features
    if output is not None:
        source = {"target": target, "positive": positive, "above": above}
        _begin(output, table, data, source, about, settings, binariser, force)
        if train:
            subject.save(output / MODEL_FILE)
    with progress("asking the model", max_queries if method is Method.QUERIES else None) as watch:
        extractor.fit(frame, trace=output and output / "trace.jsonl", watch=watch)
    certificates = None
    if proof:
        kept_model = output / MODEL_FILE if output is not None and train else model
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
        where = (
            ""
            if output is None
            else f"; the result so far is in {output}; run the same command again to resume"
        )
        print(f"hornbook: interrupted{where}", file=sys.stderr)
        raise typer.Exit(130)


def _binariser(table: Table, judge: bool, seed: int, predictor: Predictor | None = None) -> Binariser:
    """Fit a binariser to the rows that the extractor does not hold out."""
    from hornbook.data.binarise import Binariser
    from hornbook.data.table import split_rows
    from hornbook.oracles.columns import fit_binariser

    frame = table.frame if judge else table.features
    if frame.shape[1] == 0:
        raise HornbookError(f"{table.name} has no columns besides {table.label!r}")
    kinds = {column: kind for column, kind in table.kinds.items() if column in frame}
    used, _ = split_rows(frame, seed, hold_out=not judge)
    if predictor is None:
        return Binariser(dual=True, kinds=kinds).fit(frame.iloc[used])
    return fit_binariser([predictor], frame.iloc[used], kinds)


def _model(path: Path, trust_pickle: bool) -> tuple[dict[str, Any], Any]:
    from hornbook.models import load_model
    from hornbook.runs.folder import file_checksum

    subject = load_model(path, trust_pickle)
    return {"name": path.name, "path": str(path.resolve()), "sha256": file_checksum(path)}, subject


def _train_network(table: Table, binariser: Binariser, judge: bool, seed: int) -> tuple[dict[str, Any], Any]:
    if judge:
        raise HornbookError("--train trains a classifier; give a judge with --model")
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
    from hornbook.runs.folder import library_versions, start_run

    path = Path(data)
    start_run(
        folder,
        {
            "command": join(["hornbook", *sys.argv[1:]]),
            "versions": library_versions(),
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
    """Prove or refute each rule; without a folder, an interrupt keeps the certificates so far."""
    from hornbook.proof.certificate import PROOFS_FILE, Certificates
    from hornbook.runs.proving import make_prover, prove_and_repair

    if extractor.decider_ is not None:
        raise HornbookError(
            "--proof proves rules one by one, and a card or a tree has none; use --form rules"
        )
    rules = extractor.reading_.answers.rules
    prover = make_prover(extractor.subjects_, seconds)
    certificates = Certificates(prover, folder and folder / PROOFS_FILE, model)
    try:
        with progress("proving rules", len(rules)) as watch:
            for _ in prove_and_repair(certificates, rules, total=total, watch=watch):
                pass
    except KeyboardInterrupt:
        if folder is not None:
            print("hornbook: interrupted; run the same command again to resume", file=sys.stderr)
            raise typer.Exit(130) from None
    return certificates


def _proof_lines(certificates: Certificates | None, extractor: HornExtractor) -> list[str]:
    """Format the verdict on each rule as comments."""
    lines = []
    for each in () if certificates is None else certificates.by_rule.values():
        lines.append(f"# {extractor.say(each.rule)}: {each.verdict}")
        if each.repair is not None:
            prime = "no condition can be dropped" if each.repair.is_prime else "perhaps not the shortest"
            lines.append(f"#   holds for every input ({prime}): {extractor.say(each.repair.rule)}")
    return lines


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
    from hornbook.runs.folder import save_run
    from hornbook.runs.reporting import make_report

    frame = table.frame if extractor.judge else table.features
    truth = None if extractor.judge else table.frame[str(table.label)].to_numpy()
    report = make_report(
        extractor,
        frame,
        name=about["name"],
        model=_details(about),
        data=(("table", table.describe()), ("SHA-256", table.checksum())),
        settings=_details(settings),
        truth=truth,
        guarantees=None if certificates is None else certificates.guarantees,
    )
    save_run(folder, extractor.reading_, extractor.reader_.groups, to_html(report), certificates)


def _details(entries: dict[str, Any]) -> tuple[tuple[str, str], ...]:
    return tuple((name.replace("_", " "), str(value)) for name, value in entries.items() if value is not None)


def _summary(extractor: HornExtractor, about: dict[str, Any], folder: Path | None) -> list[str]:
    """Format the accuracy, fidelity and cost of a run as comments."""
    reading = extractor.reading_
    lines = []
    if "held_out" in about:
        accuracy, rows = about["held_out"]["accuracy"], about["held_out"]["rows"]
        lines.append(f"accuracy of the network: {100 * accuracy:.1f} % on {rows} held-out rows")
    lines += [f"fidelity to the model {each}" for each in extractor.fidelity_.describe()]
    training = f"{len(extractor.subjects_[0].frame):,} training rows of the explanation"
    fidelity = f"{100 * extractor.fidelity_.used_rows:.2f} %"
    lines.append(f"fidelity on the {training}: {fidelity} (no estimate for other rows)")
    if extractor.labels_:
        lines.append(f"answered by the default: {extractor.undetermined_} of the samples")
    cost = f"{reading.queries:,} questions to the model, {reading.seconds:.1f} s"
    lines.append(f"{reading.literals} literals to read; {cost}")
    lines.append(f"stopped: {reading.stop_reason}")
    lines.append(f"samples: {reading.worst.distribution}; unknown values: {reading.worst.unknowns}")
    if folder is not None:
        lines.append(f"saved in {folder}; open {folder / 'report.html'} in a browser")
    return [f"# {' '.join(line.split())}" for line in lines]
