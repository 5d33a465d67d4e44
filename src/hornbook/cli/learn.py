"""`hornbook learn`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hornbook.cli import options
from hornbook.cli.app import THEORIES, HelpfulCommand, app
from hornbook.cli.inputs import ModelOptions, TableOptions, describe_requests, open_table, read_theory
from hornbook.cli.output import (
    RESUME,
    Interrupted,
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
    from hornbook.models import Predictor
    from hornbook.queries import QuerySubject
    from hornbook.runs import LineProver, NewRun, TargetTable

WHOLE_ROWS = "what it accepts"
"""What a judge decides, in the place of a target."""

NETWORK_FILE = "model.safetensors"
"""The name of a network over variables in the run folder."""


class Learner(StrEnum):
    """Learners of theories."""

    PRIME = "prime"
    LRN_STAR = "lrn_star"
    HORN1 = "horn1"
    ENVELOPE = "envelope"


@app.command(cls=HelpfulCommand, rich_help_panel=THEORIES)
def learn(
    context: typer.Context,
    data: Annotated[str | None, typer.Argument(help="A theory; with --model or --train a table.")] = None,
    target: options.Target = None,
    model: options.Model = None,
    train: Annotated[bool, options.what("--train", help="Train a network on the variables instead.")] = False,
    judge: Annotated[bool, options.what("--judge", help="The model accepts or rejects whole rows.")] = False,
    row_rules: Annotated[
        bool, options.what("--row-rules", help="A judge that learned a rule for each row.")
    ] = False,
    learner: Annotated[Learner | None, options.what(help="prime, lrn_star, horn1 or envelope.")] = None,
    margin: Annotated[
        float, options.what(min=0, help="With envelope: scores this close are possible.")
    ] = 0.0,
    columns: options.Columns = None,
    drop: options.Drop = None,
    positive: options.Positive = None,
    above: options.Above = None,
    max_rules: Annotated[int, options.how_long(min=1, help="Most rules (prime).")] = 100,
    max_literals: Annotated[
        int | None, options.how_long(min=1, help="Most conditions to read; 20 of a classifier (prime).")
    ] = None,
    max_queries: Annotated[int, options.how_long(min=0, help="Most equivalence queries.")] = 100,
    seconds: options.Seconds = None,
    max_answers: Annotated[int | None, options.how_long(min=1, help="Most answers of the model.")] = None,
    groups: options.Groups = None,
    proof: options.Proof = False,
    sample_size: Annotated[
        str | None, options.how_sure(metavar="N", help="Samples: angluin, paper or a number.")
    ] = None,
    epsilon: Annotated[float, options.how_sure(help="Tolerated disagreement, and how often more.")] = 0.05,
    delta: Annotated[float, options.how_sure()] = 0.05,
    seed: options.Seed = 0,
    output: options.Output = None,
    force: options.Force = False,
    as_json: options.Json = False,
    csv: options.Csv = None,
    missing: options.Missing = None,
    code_book: options.CodeBook = None,
    encoding: options.Encoding = None,
    trust_pickle: options.TrustPickle = False,
) -> None:
    """Learn a Horn theory by queries, of one of three teachers.

    With --target it is a classifier, with --model alone a judge of whole rows, with a file of rules a known
    theory. prime finds few short rules, lrn_star is the paper's, envelope asks about every case. The same
    command resumes a run.

    Examples:
      hornbook learn target.horn

      hornbook learn patients.csv --model judge.onnx --learner lrn_star

      hornbook learn hcc-synthetic --train --proof -o run/

    """
    if model is None and not train:
        if any((target, output, judge, groups, positive, above is not None, code_book, encoding, proof)):
            raise HornbookError("give either --model FILE or --train, which trains a model on the table")
        learn_known(data, learner or Learner.LRN_STAR, as_json)
        return
    if data is None:
        raise HornbookError("name a table: a file with rows like those that the model reads, or a dataset")
    from hornbook.tables import is_source

    if model is not None and target is None and not row_rules and is_source(data):
        judge, target = True, WHOLE_ROWS  # a classifier has a target
    judge = judge or row_rules
    reading = TableOptions(data, target, positive, above, groups, None, columns, drop, csv, missing)
    asking = ModelOptions(model, train, trust_pickle, proof, seconds, max_answers)
    chosen = LearnSettings(
        learner,
        judge,
        row_rules,
        margin,
        max_rules,
        max_literals,
        max_queries,
        seconds,
        max_answers,
        sample_size,
        epsilon,
        delta,
        seed,
        output,
        force,
        as_json,
        code_book,
        encoding,
    )
    chosen.refuse_unclear(reading, asking)
    replace(asking, seconds=None, max_answers=None).limit(context)  # the learner keeps these itself
    table = open_table(context, reading, asking, output)
    (learn_levels if chosen.are_levels else learn_rules)(table, asking, chosen)


def learn_known(source: str | None, learner: Learner, as_json: bool) -> None:
    """Learn the theory in a file, or an example, exactly, by queries to a perfect teacher, and print it."""
    from hornbook.logic import HornTheory
    from hornbook.queries import Cached, Counted, PerfectTeacher, by_groups, horn1, lrn_star, shrink_by_halves
    from hornbook.tables import names_table

    if learner in (Learner.PRIME, Learner.ENVELOPE):
        raise HornbookError(
            f"{learner} learns about models; a known theory is learned by --learner lrn_star or horn1"
        )
    if source is not None and names_table(source):
        raise HornbookError(
            f"{source} is a table, and a known theory is a file of rules; learn about a model with --model "
            "FILE, or with --train, and name the column that it predicts with --target"
        )
    example = resources.files("hornbook").joinpath("theories/animals.horn")
    theory = read_theory(Path(source)) if source else HornTheory.parse(example.read_text("utf-8"))
    teacher = PerfectTeacher(theory, "total" if learner is Learner.HORN1 else "violated")
    asked, clock, queries = Counted(teacher.member), Stopwatch(), 0
    given = theory.vocabulary, Cached(asked), teacher.equivalent
    by_halves = lrn_star(*given, rhs=by_groups, shrink=shrink_by_halves)
    with progress("asking the teacher") as show:
        for step in horn1(*given) if learner is Learner.HORN1 else by_halves:
            queries += 1
            show(f"{len(step.hypothesis)} rules, {asked.questions:,} questions")
    learned, seconds = step.hypothesis.minimise(), clock.elapsed
    is_same = learned.equivalent(theory)
    if as_json:
        emit_json(
            {
                "learned": learned.to_text().splitlines(),
                "equivalent": is_same,
                "guarantee": "exact",
                "equivalence_queries": queries,
                "membership_queries": asked.questions,
                "seconds": seconds,
            }
        )
        return
    counts = f"{queries} equivalence and {asked.questions} membership queries, {seconds:.3f} s"
    agreement = f"# equivalent to the target: {'yes' if is_same else 'no'}"
    emit_lines([str(learned), f"# {len(learned)} rules, {counts}", f"# {step.answer}", agreement])


@dataclass(frozen=True)
class LearnSettings:
    """What is learned, by which learner, within which limits, and where it goes."""

    learner: Learner | None
    judge: bool
    row_rules: bool
    margin: float
    max_rules: int
    max_literals: int | None
    max_queries: int
    seconds: float | None
    max_answers: int | None
    sample_size: str | None
    epsilon: float
    delta: float
    seed: int
    output: Path | None
    force: bool
    as_json: bool
    code_book: Path | None
    encoding: str | None

    @property
    def are_levels(self) -> bool:
        """Whether it is an envelope of levels, about a classifier."""
        return self.learner is Learner.ENVELOPE and not self.judge

    def refuse_unclear(self, reading: TableOptions, asking: ModelOptions) -> None:
        """Refuse options that contradict each other."""
        from hornbook.statistics import check_tolerances

        check_tolerances(self.epsilon, self.delta)
        if asking.train and self.judge:
            raise HornbookError("--train trains a classifier; give a judge with --model")
        if self.judge and (reading.columns or reading.drop):
            raise HornbookError("a judge is given all columns; leave out --columns and --drop")
        if self.judge and reading.groups is not None:
            raise HornbookError("no rows of a judge are held out; leave out --groups")
        if self.are_levels and (asking.train or asking.proof):
            raise HornbookError("an envelope is about a model that there is, and is exact without --proof")
        if self.are_levels and self.max_literals is not None:
            raise HornbookError("an envelope says all that there is; leave out --max-literals")

    def describe(self, asking: ModelOptions) -> dict[str, Any]:
        """The settings of a run."""
        from hornbook.models import names_endpoint
        from hornbook.runs import describe_code_book

        by_paper = self.learner is Learner.LRN_STAR and not names_endpoint(asking.model)
        size = self.sample_size or ("paper" if by_paper else "angluin")
        rules = {
            "judge": self.judge,
            "max_rules": self.max_rules,
            "max_literals": self.max_literals,
            **({"row_rules": True} if self.row_rules else {}),
            "encoding": self.encoding,
        }
        return {
            **({"margin": self.margin} if self.are_levels else rules),
            "learner": (self.learner or Learner.PRIME).value,
            "max_queries": self.max_queries,
            "sample_size": int(size) if size.isdigit() else size,
            "epsilon": self.epsilon,
            "delta": self.delta,
            "max_seconds": self.seconds and self.seconds / (1 + asking.proof),
            "max_answers": self.max_answers,
            "seed": self.seed,
            "code_book": describe_code_book(self.code_book),
        }


def learn_levels(table: TargetTable, asking: ModelOptions, chosen: LearnSettings) -> None:
    """Learn the envelope of a classifier, save and print it."""
    from hornbook.code_book import read_code_book
    from hornbook.models import load_model
    from hornbook.runs import NewRun, describe_model, explain_by_settings

    settings, source = chosen.describe(asking), str(asking.model)
    classifier = load_model(source, asking.trust_pickle, chosen.output)
    subject = table.bind(classifier, settings, read_code_book(chosen.code_book, table.features))
    about = describe_model(source, classifier)
    run = NewRun.start(table, subject, about, settings, chosen.output, chosen.force)
    with progress("asking about every case", answers=chosen.max_answers) as show:
        extraction = run.complete(explain_by_settings(subject, settings, tell=show))
    run.begin()
    run.save(extraction)
    _print_theory(run, extraction, subject.predictor, chosen.as_json)


def learn_rules(table: TargetTable, asking: ModelOptions, chosen: LearnSettings) -> None:
    """Learn a theory about a model by queries, save and print it."""
    from hornbook.code_book import read_code_book
    from hornbook.runs import NewRun, make_prover

    settings, output = chosen.describe(asking), chosen.output
    words = read_code_book(chosen.code_book, table.frame_of(settings))
    if asking.model is None:
        about, black_box = _train(table, settings, words)
    else:
        about, black_box = _load(asking.model, table, settings, asking.trust_pickle, output)
    clock, subject = Stopwatch(), table.bind_queries(black_box, settings, words)
    # before the run begins, so that a model of which nothing can be proved is refused at once
    prover = make_prover(subject) if asking.proof else None
    limits = asking.proof_limits
    proof = limits and asdict(limits)
    run = NewRun.start(table, subject, about, settings, output, chosen.force, proof=proof)
    with run.learning():
        if asking.train and output is not None:
            black_box.save(output / NETWORK_FILE)
        learn_about(replace(run, clock=clock), subject, prover, chosen.as_json)


def learn_about(run: NewRun, subject: QuerySubject, prover: LineProver | None, as_json: bool) -> None:
    """Learn a theory about a model, prove its rules with a prover, save and print the result."""
    from hornbook.queries import INTERRUPTED, MODEL_FAILED
    from hornbook.runs import learn_by_settings
    from hornbook.runs.folder import TRACE_FILE

    settings, folder = run.config["settings"], run.folder
    with progress("asking the model", settings["max_queries"]) as show:
        try:
            extraction = learn_by_settings(
                subject,
                settings,
                folder and folder / TRACE_FILE,
                lambda entry: show(_describe_entry(entry)),
                run.clock,
            )
            extraction = run.complete(extraction, prover, watch=show)
        except KeyboardInterrupt:  # during proofs
            raise Interrupted(RESUME) from None
    run.save(extraction)
    _print_theory(run, extraction, subject.predictor, as_json)
    reason = extraction.stop_reason
    where = "" if folder is None else f"the result so far is in {folder}; "
    if reason == INTERRUPTED:
        raise Interrupted(f"{where}{RESUME}")
    if reason.startswith(MODEL_FAILED):
        raise ModelError(f"{reason.removeprefix(f'{MODEL_FAILED}: ')}; {where}{RESUME}")


def _print_theory(run: NewRun, extraction: Extraction, model: Predictor, as_json: bool) -> None:
    """Print what was learned, the verdicts on its rules, and the figures."""
    if as_json:
        emit_json(run.to_object(extraction))
        return
    stopped = f"stopped: {extraction.stop_reason}"
    details = [f"guarantee: {extraction.guarantee}", *extraction.notes, *describe_requests(model), stopped]
    emit_lines([*_rule_lines(extraction), *summarise_run(run, extraction, details)])


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
    binariser = Binariser.fit(frame.iloc[used], kinds=table.kinds_of(frame, words), dual=True)
    _, classes = binary_label(table.labels)
    with progress("training a network"):
        trained = train_classifier(binariser.batch(frame), classes.to_numpy() == 1, seed)
    return describe_network(trained, NETWORK_FILE), trained.network


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
        verdict = "" if line.guarantee is None else f", {line.guarantee.kind}"
        applies = f"# applies to {100 * line.support.estimate:.1f} % of samples{right}{verdict}"
        written.append(f"{text:<{width}}  {applies}")
    return written
