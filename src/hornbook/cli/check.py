"""`hornbook check`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hornbook.cli import options
from hornbook.cli.app import ASK, HelpfulCommand, app
from hornbook.cli.inputs import ModelOptions, TableOptions, read_cuts, read_theory
from hornbook.cli.output import emit_json, emit_lines, print_remark, progress
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
    target: Annotated[
        str | None, options.what(help="The column that it predicts; a judge predicts none.")
    ] = None,
    columns: options.Columns = None,
    drop: options.Drop = None,
    samples: Annotated[int, options.how_long(min=1, help="Sampled rows for each claim.")] = 10_000,
    seconds: options.Seconds = None,
    max_answers: options.MaxAnswers = None,
    tolerance: options.Tolerance = None,
    strict: options.Strict = False,
    proof: options.Proof = False,
    seed: options.Seed = 0,
    as_json: options.Json = False,
    model: Annotated[str, options.files(help="The model's file, or its URL.")] = ...,  # type: ignore[assignment]
    data: Annotated[str, options.files(help="The table whose columns the model reads.")] = ...,  # type: ignore[assignment]
    csv: options.Csv = None,
    missing: options.Missing = None,
    code_book: options.CodeBook = None,
    bands: options.Bands = None,
    threshold: options.Threshold = None,
    encoding: options.Encoding = None,
    trust_pickle: options.TrustPickle = False,
) -> None:
    """Check whether a model does what is claimed.

    Exit code 0 if all holds, 1 and a counterexample if not. Claims speak of columns, one a line:
    age > 40 and sex = f -> survives, or: more income never lowers good.

    Examples:
      hornbook check claims.txt --model model.onnx --data loans.csv --target good

    """
    from hornbook.models import as_predictor, load_model, name_model_source
    from hornbook.runs import cut_model, read_table_file

    reading = TableOptions(data, target, columns=columns, drop=drop, csv=csv, missing=missing)
    asking = ModelOptions(model, False, trust_pickle, proof, seconds, max_answers)
    if proof and tolerance is not None:
        raise HornbookError("--tolerance is about the share of samples, and a proof about all rows: give one")
    if target is not None and encoding is not None:
        raise HornbookError("--encoding is about a judge of whole rows; leave out --encoding or --target")
    if target is None and (bands is not None or threshold is not None):
        raise HornbookError(
            "a judge says yes or no; leave out --bands and --threshold, or name what it predicts by --target"
        )
    asking.limit(context)
    loaded = load_model(model, trust_pickle)
    proof_seconds = seconds and seconds / 2
    chosen = CheckOptions(samples, proof, proof_seconds, seed, tolerance, strict, as_json)
    if target is None:
        judge = as_predictor(loaded, encoding=encoding, name=name_model_source(model))
        broken = _check_judge(rules, judge, read_table_file(data, reading.text, remark=print_remark), chosen)
    else:
        classifier = cut_model(loaded, read_cuts(bands, threshold))
        broken = _check_columns(rules, classifier, reading.load(), code_book, chosen)
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
        broken = [check.broken if self.tolerance is None else self._exceeds(check) for check in checks]
        if self.as_json:
            emit_json({key: checks, "notes": notes, "holds": not any(broken)}, forms)
        elif self.tolerance is None:
            emit_lines([*lines, *(f"# {note}" for note in notes)])
        else:
            verdict, share = "FAIL" if any(broken) else "PASS", f"{100 * self.tolerance:g} % of samples"
            worst = sorted(range(len(checks)), key=lambda number: not broken[number])[:MAX_LOGGED_CLAIMS]
            emit_lines([f"{verdict}: {sum(broken)} of {len(checks)} are broken in more than {share}"])
            for number in worst:
                first = lines[number].partition("\n")[0]
                emit_lines([first if broken[number] else first.replace("broken", "within", 1)])
            emit_lines([f"# {note}" for note in notes[-1:]])
        return any(broken)

    def _exceeds(self, check: ClaimCheck | RuleCheck) -> bool:
        """Whether a claim is broken on a larger share of samples than is tolerated."""
        from hornbook.queries import Estimated
        from hornbook.statistics import exceeds

        assert self.tolerance is not None
        return isinstance(check.guarantee, Estimated) and exceeds(
            check.guarantee.disagreement, self.tolerance, self.strict
        )


MAX_LOGGED_CLAIMS = 3
"""Claims that a pipeline's log gets."""


def _check_columns(
    rules: Path, model: Any, table: TargetTable, code_book: Path | None, chosen: CheckOptions
) -> bool:
    """Check claims about the columns that a classifier reads; whether one is broken."""
    from hornbook.checks import check as check_claims
    from hornbook.checks import read_claims
    from hornbook.models import Subject
    from hornbook.runs import note_inputs

    subject = Subject.bind(
        model, table.features, target=table.target, code_book=code_book, hold_out=False, seed=chosen.seed
    )
    notes = list(note_inputs(table, subject, {}))
    claims = read_claims(rules, subject, print_remark)
    with progress("checking claims", answers=len(claims) * chosen.samples):
        results = check_claims(
            claims, subject, samples=chosen.samples, proof=chosen.proof, total_seconds=chosen.seconds
        )
    lines = [_claim_line(result, subject.words) for result in results]
    return chosen.report(results, lines, [*([PROOF_NOTE] if chosen.proof else []), *notes], "claims")


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
    others = f", with another {', '.join(map(words.label, violation.changed))}" if violation.changed else ""
    lines.append(f"        this is {where}{others}")
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


def _check_judge(rules: Path, predictor: Predictor, table: Table, chosen: CheckOptions) -> bool:
    """Check rules over variables with a judge of whole rows; whether one is broken."""
    from hornbook.checks import check_theory
    from hornbook.logic import vocabulary_forms
    from hornbook.queries import QuerySubject
    from hornbook.randomness import Purpose, generator

    seed, samples = chosen.seed, chosen.samples
    try:
        claims = read_theory(rules)
    except HornbookError as error:
        hint = "; claims about columns need --target" if rules.is_file() else ""
        raise HornbookError(f"{error}{hint}") from None
    try:
        teacher = QuerySubject.bind(predictor, table.frame, kinds=table.kinds, seed=seed).teacher
        vocabulary = teacher.judge.vocabulary
    except HornbookError as error:
        raise HornbookError(f"{error}; name the column that a classifier predicts with --target") from None
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
        groups=teacher.binariser.groups,
        prover=teacher.prover() if chosen.proof else None,
        seconds=chosen.seconds,
    )
    notes = [
        f"sampled cases: {teacher.distribution.describe()}, changed so that they violate the rule",
        f"unknown values: {teacher.describe()}",
    ]
    lines = [_line(verdict, vocabulary) for verdict in verdicts]
    return chosen.report(verdicts, lines, notes, "rules", vocabulary_forms(vocabulary))


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
