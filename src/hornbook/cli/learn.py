"""`hornbook learn`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hornbook.cli.app import THEORIES, HelpfulCommand, app
from hornbook.cli.inputs import describe_requests, describe_text, open_table, refuse_endpoint_proof
from hornbook.cli.known_theory import Learner, Policy, learn_known
from hornbook.cli.options import (
    MODEL_SECONDS,
    AboveOption,
    CodeBookOption,
    ColumnsOption,
    CsvOption,
    DropOption,
    EncodingOption,
    FolderOption,
    ForceOption,
    GroupsOption,
    JsonOption,
    MissingOption,
    ModelOption,
    ModelSecondsOption,
    PositiveOption,
    ProofOption,
    SeedOption,
    TargetOption,
    TrustOption,
    files,
    how_long,
    how_sure,
    what,
)
from hornbook.cli.output import (
    RESUME,
    Interrupted,
    count_answers,
    emit_json,
    emit_lines,
    progress,
    summarise_run,
)
from hornbook.deadline import Stopwatch
from hornbook.errors import HornbookError, ModelError

if TYPE_CHECKING:
    from hornbook.code_book import CodeBook
    from hornbook.extraction import Extraction
    from hornbook.models import Subject
    from hornbook.proof import RuleProver
    from hornbook.queries import QuerySubject
    from hornbook.runs import NewRun, TargetTable
    from hornbook.runs.certificates import Certificates

WHOLE_ROWS = "what it accepts"
"""What a judge decides, in the place of a target."""

NETWORK_FILE = "model.safetensors"
"""The name of a network over variables in the run folder."""


@app.command(cls=HelpfulCommand, rich_help_panel=THEORIES)
def learn(
    context: typer.Context,
    source: Annotated[str | None, typer.Argument(help="A theory; with --model or --train a table.")] = None,
    target: TargetOption = None,
    model: ModelOption = None,
    train: Annotated[bool, what("--train", help="Train a network on the variables instead.")] = False,
    judge: Annotated[bool, what("--judge", help="The model accepts or rejects whole rows.")] = False,
    row_rules: Annotated[bool, what("--row-rules", help="Of a judge: its target is a rule a row.")] = False,
    learner: Annotated[Learner | None, what(help="prime, lrn_star, horn1 or envelope.")] = None,
    margin: Annotated[float, what(min=0, help="Of an envelope: scores so close are possible.")] = 0.0,
    columns: ColumnsOption = None,
    drop: DropOption = None,
    positive: PositiveOption = None,
    above: AboveOption = None,
    counterexamples: Annotated[
        Policy, what(metavar="WORD", help="A known theory: or inflated, adversarial.")
    ] = Policy.VIOLATED,
    shrink: Annotated[bool, what(help="A known theory: make counterexamples minimal.")] = True,
    max_rules: Annotated[int, how_long(min=1, help="Most rules (prime).")] = 100,
    max_literals: Annotated[
        int | None, how_long(min=1, help="Most conditions to read; 20 of a classifier (prime).")
    ] = None,
    max_queries: Annotated[int, how_long(min=0, help="Most equivalence queries.")] = 100,
    seconds: Annotated[
        float | None, how_long(min=0.1, help="Seconds in all; half of them for proofs.")
    ] = None,
    model_seconds: ModelSecondsOption = MODEL_SECONDS,
    max_answers: Annotated[int | None, how_long(min=1, help="Most answers of the model.")] = None,
    groups: GroupsOption = None,
    proof: ProofOption = False,
    sample_size: Annotated[
        str | None, how_sure(metavar="N", help="Samples: angluin, paper, vapnik or a number.")
    ] = None,
    epsilon: Annotated[float, how_sure(help="Tolerated disagreement, and how often more.")] = 0.05,
    delta: Annotated[float, how_sure()] = 0.05,
    seed: SeedOption = 0,
    output: FolderOption = None,
    force: ForceOption = False,
    as_json: JsonOption = False,
    csv: CsvOption = None,
    missing: MissingOption = None,
    code_book: CodeBookOption = None,
    background: Annotated[Path | None, files(help="A known theory: rules known from the start.")] = None,
    encoding: EncodingOption = None,
    trust_pickle: TrustOption = False,
) -> None:
    """Learn a Horn theory by queries: of a model, or a known one.

    A model reads 0/1 variables made of the columns, or the columns. The same command resumes a run.

    Examples:
      hornbook learn target.horn --counterexamples inflated

      hornbook learn patients.csv --model judge.onnx --learner lrn_star

      hornbook learn patients.csv --target survives --model judge.onnx --row-rules

      hornbook learn hcc-synthetic --train --max-queries 50 --proof -o run/

      hornbook learn levels.csv --target pronoun --model m.toml --learner envelope

    """
    if model is None and not train:
        if any((target, output, judge, groups, positive, above is not None, code_book, encoding, proof)):
            raise HornbookError("give either --model FILE or --train, which trains a model on the table")
        learn_known(source, learner or Learner.LRN_STAR, counterexamples, shrink, background, seed, as_json)
        return
    if source is None:
        raise HornbookError("name a table: a file with rows like those that the model reads, or a dataset")
    from hornbook.models import limit_model_seconds, load_model, names_endpoint
    from hornbook.tables import is_source

    if model is not None and target is None and not row_rules and is_source(source):
        judge, target = True, WHOLE_ROWS  # a classifier has a target
    judge = judge or row_rules
    if train and judge:
        raise HornbookError("--train trains a classifier; give a judge with --model")
    if judge and (columns or drop):
        raise HornbookError("a judge is given all columns; leave out --columns and --drop")
    if groups is not None and judge:
        raise HornbookError("no rows of a judge are held out; leave out --groups")
    if proof:
        refuse_endpoint_proof(model)
    from hornbook.code_book import read_code_book
    from hornbook.runs import NewRun, ProofLimits, describe_code_book, describe_model
    from hornbook.statistics import check_tolerances

    check_tolerances(epsilon, delta)
    csv = describe_text(csv, missing)
    context.with_resource(limit_model_seconds(model_seconds))
    context.with_resource(count_answers(None))
    table = open_table(
        context, source, target, positive, above, csv, model, train, output, groups, columns, drop
    )
    if sample_size is None:
        by_paper = learner is Learner.LRN_STAR and not names_endpoint(model)
        sample_size = "paper" if by_paper else "angluin"
    settings = {
        "judge": judge,
        "learner": (learner or Learner.PRIME).value,
        "max_rules": max_rules,
        "max_literals": max_literals,
        "max_queries": max_queries,
        "sample_size": int(sample_size) if sample_size.isdigit() else sample_size,
        **({"row_rules": True} if row_rules else {}),
        "epsilon": epsilon,
        "delta": delta,
        "max_seconds": seconds if seconds is None or not proof else seconds / 2,
        "max_answers": max_answers,
        "encoding": encoding,
        "seed": seed,
        "code_book": describe_code_book(code_book),
    }
    if learner is Learner.ENVELOPE and not judge:
        if train or proof:
            raise HornbookError("an envelope is about a model that there is, and is exact without --proof")
        if max_literals is not None:
            raise HornbookError("an envelope says all that there is; leave out --max-literals")
        others = ("judge", "max_rules", "max_literals", "row_rules", "encoding")
        settings = {name: value for name, value in settings.items() if name not in others}
        settings["margin"] = margin
        classifier = load_model(str(model), trust_pickle, output)
        bound = table.bind(classifier, settings, read_code_book(code_book, table.features))
        run = NewRun.start(table, bound, describe_model(str(model), classifier), settings, output, force)
        show_envelope(run, bound, as_json)
        return
    words = read_code_book(code_book, table.frame_of(settings))
    if model is None:
        about, black_box = _train(table, settings, words)
    else:
        about, black_box = _load(model, table, settings, trust_pickle, output)
    clock, subject = Stopwatch(), table.bind_queries(black_box, settings, words)
    # before the run begins, so that a model of which nothing can be proved is refused at once
    prover = subject.teacher.prover() if proof else None
    limits = ProofLimits(total=seconds and seconds / 2) if proof else None
    run = NewRun.start(table, subject, about, settings, output, force, proof=limits and asdict(limits))
    file = output and output / NETWORK_FILE if model is None else Path(model)
    with run.learning():
        if train and output is not None:
            black_box.save(output / NETWORK_FILE)
        learn_about(replace(run, clock=clock), subject, prover, file, as_json)


def show_envelope(run: NewRun, subject: Subject, as_json: bool) -> None:
    """Learn the envelope of a classifier, save and print it."""
    from hornbook.runs import explain_as_set

    with progress("asking about every case") as show:
        extraction = run.add_provenance(explain_as_set(subject, run.config["settings"], tell=show))
    run.begin()
    run.save(extraction)
    if as_json:
        emit_json(run.to_object(extraction))
    else:
        requests = describe_requests(subject.predictor)
        reason = f"stopped: {extraction.stop_reason}"
        details = [f"guarantee: {extraction.guarantee}", *extraction.notes, *requests, reason]
        emit_lines([*_rule_lines(extraction), *summarise_run(run, extraction, details)])


def learn_about(
    run: NewRun, subject: QuerySubject, prover: RuleProver | None, model: Path | None, as_json: bool
) -> None:
    """Learn a theory about a model, prove its rules with a prover, save and print the result.

    `model` is its file, which certificates name.
    """
    from hornbook.queries import INTERRUPTED, MODEL_FAILED
    from hornbook.runs import TheoryProofs, learn_as_set
    from hornbook.runs.folder import TRACE_FILE

    settings, folder = run.config["settings"], run.folder
    proving: TheoryProofs | None = None
    with progress("asking the model", settings["max_queries"]) as show:
        if prover is not None:
            proving = TheoryProofs(prover, folder, model, run.config["proof"]["total"])
            proving.watch = lambda number, count: show(f"rule {number} of {count}")
        try:
            extraction = learn_as_set(
                subject,
                settings,
                folder and folder / TRACE_FILE,
                lambda entry: show(_describe_entry(entry)),
                run.clock,
                proving,
            )
        except KeyboardInterrupt:  # during proofs: those that were found are kept
            raise Interrupted(RESUME) from None
    reason, certificates = extraction.stop_reason, None if proving is None else proving.certificates
    extraction = run.add_provenance(extraction)
    run.save(extraction, certificates)
    if as_json:
        proofs = {} if certificates is None else {"proofs": _proof_objects(certificates)}
        emit_json({**run.to_object(extraction), **proofs})
    else:
        proof_lines = [] if certificates is None else _proof_lines(certificates)
        requests = describe_requests(subject.predictor)
        details = [f"guarantee: {extraction.guarantee}", *extraction.notes, *requests, f"stopped: {reason}"]
        emit_lines([*proof_lines, *_rule_lines(extraction), *summarise_run(run, extraction, details)])
    where = "" if folder is None else f"the result so far is in {folder}; "
    if reason == INTERRUPTED:
        raise Interrupted(f"{where}{RESUME}")
    if reason.startswith(MODEL_FAILED):
        raise ModelError(f"{reason.removeprefix(f'{MODEL_FAILED}: ')}; {where}{RESUME}")


def _describe_entry(entry: dict[str, Any]) -> str:
    """An entry of the trace, as progress."""
    return f"query {entry['query']}: {entry['rules']} rules, {entry['membership_queries']:,} questions"


def _load(
    source: str, table: TargetTable, settings: Mapping[str, Any], trust_pickle: bool, folder: Path | None
) -> tuple[dict[str, Any], Any]:
    """Load a model: what is known about it, and the model; a folder keeps the answers of an endpoint."""
    from hornbook.models import load_model
    from hornbook.runs import describe_model, encode_judge

    loaded = load_model(source, trust_pickle, folder)
    predictor = encode_judge(loaded, settings["encoding"], source, table.frame_of(settings))
    return describe_model(source, predictor), predictor


def _train(table: TargetTable, settings: Mapping[str, Any], words: CodeBook) -> tuple[dict[str, Any], Any]:
    """Train a network on the variables of the rows that the run will use; also what is known about it."""
    from hornbook.errors import library
    from hornbook.queries import Binariser
    from hornbook.runs import describe_network
    from hornbook.tables import binary_label, split_rows

    library("torch", "torch")
    library("safetensors", "torch")  # before the training, which takes longer
    from hornbook.queries import train_classifier

    assert table.labels is not None
    frame, seed = table.features, settings["seed"]
    used, _ = split_rows(frame, seed, groups=table.groups)
    binariser = Binariser(dual=True, kinds=table.kinds_of(frame, words)).fit(frame.iloc[used])
    _, classes = binary_label(table.labels)
    with progress("training a network"):
        trained = train_classifier(binariser.batch(frame), classes.to_numpy() == 1, seed)
    return describe_network(trained, NETWORK_FILE), trained.network


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
    """One rule a line, with its statistics in a comment; check reads them as claims."""
    lines = extraction.explanation.lines()
    texts = [f"{line.text}: {line.outcome}" for line in lines]
    if lines and lines[-1].text == "otherwise":
        texts[-1] = f"# {texts[-1]}"
    width = max(map(len, texts), default=0)
    written = []
    for text, line in zip(texts, extraction.lines, strict=True):
        share = line.precision.estimate if line.precision and line.precision.size else None
        right = "" if share is None else f", right on {100 * share:.1f} % of these"
        proved = ", proved" if line.guarantee is not None and line.guarantee.kind == "proved" else ""
        applies = f"# applies to {100 * line.support.estimate:.1f} % of samples{right}{proved}"
        written.append(f"{text:<{width}}  {applies}")
    return written
