"""`hornbook check`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hornbook.cli.app import ASK, HelpfulCommand, app
from hornbook.cli.inputs import choose_columns, describe_text, read_cuts, read_theory, refuse_endpoint_proof
from hornbook.cli.options import (
    MODEL_SECONDS,
    BandsOption,
    CodeBookOption,
    ColumnsOption,
    CsvOption,
    DropOption,
    EncodingOption,
    JsonOption,
    MaxAnswersOption,
    MissingOption,
    ModelSecondsOption,
    ProofOption,
    SecondsOption,
    SeedOption,
    StrictOption,
    ThresholdOption,
    ToleranceOption,
    TrustOption,
    files,
    how_long,
    what,
)
from hornbook.cli.output import count_answers, emit_json, emit_lines, print_remark, progress
from hornbook.errors import HornbookError

if TYPE_CHECKING:
    from hornbook.checks import ClaimCheck, RuleCheck
    from hornbook.code_book import CodeBook
    from hornbook.logic import Vocabulary
    from hornbook.models import Predictor
    from hornbook.queries import Guarantee
    from hornbook.runs import TargetTable
    from hornbook.schema import Forms
    from hornbook.tables import Table


PROOF_NOTE = (
    "a proof is about every row whose numbers are between the lowest and the highest of their columns, "
    "whole where those are, and missing where the table has missing values and the model takes them"
)


@app.command(cls=HelpfulCommand, rich_help_panel=ASK)
def check(
    context: typer.Context,
    rules: Annotated[Path, typer.Argument(help="The claims to check, one a line.")],
    target: Annotated[str | None, what(help="The column that it predicts; a judge predicts none.")] = None,
    columns: ColumnsOption = None,
    drop: DropOption = None,
    samples: Annotated[int, how_long(min=1, help="Sampled rows for each claim.")] = 10_000,
    seconds: SecondsOption = None,
    max_answers: MaxAnswersOption = None,
    model_seconds: ModelSecondsOption = MODEL_SECONDS,
    tolerance: ToleranceOption = None,
    strict: StrictOption = False,
    proof: ProofOption = False,
    seed: SeedOption = 0,
    as_json: JsonOption = False,
    model: Annotated[str, files(help="The model's file, or its URL.")] = ...,  # type: ignore[assignment]
    data: Annotated[str, files(help="The table whose columns the model reads.")] = ...,  # type: ignore[assignment]
    csv: CsvOption = None,
    missing: MissingOption = None,
    code_book: CodeBookOption = None,
    bands: BandsOption = None,
    threshold: ThresholdOption = None,
    encoding: EncodingOption = None,
    trust_pickle: TrustOption = False,
) -> None:
    """Check whether a model does what is claimed.

    Exit code 0 if all holds, 1 and a counterexample if not. Claims speak of columns, one a line:
    age > 40 and sex = f -> survives, or: more income never lowers good.

    Examples:
      hornbook check claims.txt --model model.onnx --data loans.csv --target good

    """
    from hornbook.models import as_predictor, limit_model_seconds, load_model, name_model_source
    from hornbook.runs import cut_model, load_target_table, read_table_file

    if proof:
        refuse_endpoint_proof(model)
        if tolerance is not None:
            raise HornbookError(
                "--tolerance is about the share of samples, and a proof about all rows: give one"
            )
    if target is not None and encoding is not None:
        raise HornbookError("--encoding is about a judge of whole rows; leave out --encoding or --target")
    if target is None and (bands is not None or threshold is not None):
        raise HornbookError(
            "a judge says yes or no; leave out --bands and --threshold, or name what it predicts by --target"
        )
    context.with_resource(limit_model_seconds(model_seconds))
    context.with_resource(count_answers(max_answers))
    loaded = load_model(model, trust_pickle)
    options = CheckOptions(samples, proof, seconds, seed, tolerance, strict, as_json)
    text = describe_text(csv, missing)
    if target is None:
        judge = as_predictor(loaded, encoding=encoding, name=name_model_source(model))
        broken = _check_judge(rules, judge, read_table_file(data, text, remark=print_remark), options)
    else:
        table = choose_columns(load_target_table(data, target, csv=text, remark=print_remark), columns, drop)
        broken = _check_columns(
            rules, cut_model(loaded, read_cuts(bands, threshold)), table, code_book, options
        )
    raise typer.Exit(int(broken))


@dataclass(frozen=True)
class CheckOptions:
    """How many samples a check draws, whether and for how long it proves, what it tolerates, its output."""

    samples: int
    proof: bool
    seconds: float | None
    seed: int
    tolerance: float | None
    strict: bool
    as_json: bool

    def report(
        self,
        checks: Sequence[ClaimCheck | RuleCheck],
        lines: Sequence[str],
        notes: Sequence[str],
        key: str,
        forms: Forms | None = None,
    ) -> bool:
        """Print checks, or the verdict in five lines if a share is tolerated; whether it is exceeded."""
        from hornbook.queries import Estimated
        from hornbook.statistics import exceeds

        if self.tolerance is None:
            broken = [check.broken for check in checks]
        else:
            broken = [
                isinstance(check.guarantee, Estimated)
                and exceeds(check.guarantee.disagreement, self.tolerance, self.strict)
                for check in checks
            ]
        if self.as_json:
            emit_json({key: checks, "notes": notes, "holds": not any(broken)}, forms)
            return any(broken)
        if self.tolerance is not None:
            verdict, share = "FAIL" if any(broken) else "PASS", f"{100 * self.tolerance:g} % of samples"
            emit_lines([f"{verdict}: {sum(broken)} of {len(checks)} are broken in more than {share}"])
            worst = sorted(range(len(checks)), key=lambda number: not broken[number])[:MAX_LOGGED_CLAIMS]
            words = {number: lines[number].partition("\n")[0] for number in worst}
            lines = [
                words[each] if broken[each] else words[each].replace("broken", "within", 1) for each in worst
            ]
            notes = notes[-1:]
        emit_lines([*lines, *(f"# {note}" for note in notes)])
        return any(broken)


MAX_LOGGED_CLAIMS = 3
"""Claims that a pipeline's log gets."""


def _check_columns(
    rules: Path, model: Any, table: TargetTable, code_book: Path | None, options: CheckOptions
) -> bool:
    """Check claims about the columns that a classifier reads; whether one is broken."""
    from hornbook.checks import check as check_claims
    from hornbook.models import Subject
    from hornbook.runs import note_inputs

    subject = Subject.bind(
        model, table.features, target=table.target, code_book=code_book, hold_out=False, seed=options.seed
    )
    notes = list(note_inputs(table, subject, {}))
    with progress("checking claims"):
        results = check_claims(
            rules, subject, samples=options.samples, proof=options.proof, total_seconds=options.seconds
        )
    lines = [_claim_line(result, subject.words) for result in results]
    return options.report(results, lines, [*([PROOF_NOTE] if options.proof else []), *notes], "claims")


def _claim_line(result: ClaimCheck, words: CodeBook) -> str:
    """Format a result as one line, and what breaks the claim as further ones."""
    note = _describe_guarantee(
        result.guarantee, result.undecided, "broken by {} of {} samples", "no row can meet it"
    )
    violation, claim = result.violation, result.claim.write(words)
    if violation is None:
        return f"holds   {claim}   # {note}"
    lines = [f"broken  {claim}   # {note}"]
    for place, outcome in enumerate(violation.outcomes):
        values = ", ".join(
            f"{words.label(name)}={_cell(violation.rows[name].iloc[place], name, words)}"
            for name in map(str, violation.rows)
        )
        lines.append(f"        {outcome}: {values}")
    where = f"row {violation.row} of the table, counted from 1"
    with_changes = (
        f"{where}, with another {', '.join(map(words.label, violation.changed))}"
        if violation.changed
        else where
    )
    lines.append(f"        this is {with_changes}")
    return "\n".join(lines)


def _describe_guarantee(guarantee: Guarantee, undecided: str, counted: str, exact: str) -> str:
    """What a guarantee says, in words; `counted` has gaps for hits and size, `exact` is for no samples."""
    from hornbook.queries import Estimated, Exact

    note = str(guarantee).removeprefix("none: ")
    if isinstance(guarantee, Estimated):
        share = guarantee.disagreement
        note = f"{counted.format(share.hits, share.size)}, {share}"
    elif isinstance(guarantee, Exact):
        note = exact
    return f"{note}; no proof: {undecided}" if undecided else note


def _cell(value: Any, column: str, words: CodeBook) -> str:
    return "?" if value is None or value != value else words.name_value(column, value)


def _check_judge(rules: Path, predictor: Predictor, table: Table, options: CheckOptions) -> bool:
    """Check rules over variables with a judge of whole rows; whether one is broken."""
    from hornbook.checks import check_theory
    from hornbook.logic import vocabulary_forms
    from hornbook.queries import judge_of_table
    from hornbook.randomness import Purpose, generator

    claims, seed, samples = read_theory(rules), options.seed, options.samples
    try:
        teacher = judge_of_table(table, predictor, claims, seed=seed)
    except HornbookError as error:
        raise HornbookError(f"{error}; name the column that a classifier predicts with --target") from None
    vocabulary = teacher.distribution.vocabulary
    try:
        claims = claims.over(vocabulary)
    except HornbookError as error:
        raise HornbookError(f"{rules}: {error}") from None
    verdicts = check_theory(
        claims,
        teacher,
        teacher.distribution,
        samples,
        rng=generator(seed, Purpose.PROPERTY_CHECK),
        groups=teacher.groups,
        prover=teacher.prover() if options.proof else None,
        seconds=options.seconds,
    )
    notes = [
        f"sampled cases: {teacher.distribution.describe()}, changed so that they violate the rule",
        f"unknown values: {teacher.describe()}",
    ]
    lines = [_line(verdict, vocabulary) for verdict in verdicts]
    return options.report(verdicts, lines, notes, "rules", vocabulary_forms(vocabulary))


def _line(verdict: RuleCheck, vocabulary: Vocabulary) -> str:
    """Format a verdict as one line."""
    from hornbook.logic import UNICODE, quote, rule_text

    text = rule_text(vocabulary, verdict.rule, UNICODE)
    counted, exact = "the model accepts {} of {} violations", "nothing can violate it"
    sampled = _describe_guarantee(verdict.guarantee, verdict.undecided, counted, exact)
    if verdict.witness is None:
        return f"holds   {text}   # {sampled}"
    known = {"true": verdict.witness.true, "false": verdict.witness.false}
    parts = (
        f"{value}: {', '.join(map(quote, vocabulary.named(variables)))}"
        for value, variables in known.items()
        if variables
    )
    return f"broken  {text}   # it accepts {'; '.join(parts)}; {sampled}"
