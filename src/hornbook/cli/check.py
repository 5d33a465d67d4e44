"""`hornbook check`."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hornbook.cli.app import app, emit, emit_json, read_theory
from hornbook.errors import HornbookError
from hornbook.logic import Vocabulary
from hornbook.logic.formats import rule_object
from hornbook.logic.syntax import UNICODE, quote, rule_text
from hornbook.queries import Estimated, Exact, Guarantee, Proved
from hornbook.randomness import Purpose, generator

if TYPE_CHECKING:
    from hornbook.explain.claim_check import ClaimCheck
    from hornbook.explain.theory_check import RuleCheck
    from hornbook.models import Predictor


PROOF_NOTE = (
    "# a proof is about every row whose numbers are between the lowest and the highest of their columns, "
    "whole where those are, and missing where the table has missing values and the model takes them"
)


@app.command()
def check(
    rules: Annotated[
        Path,
        typer.Argument(help="The claims to check, one a line; rules over variables for a judge."),
    ],
    model: Annotated[Path, typer.Option(help="The model file, such as model.onnx.")],
    data: Annotated[Path, typer.Option(help="The table whose columns the model reads.")],
    target: Annotated[
        str | None,
        typer.Option(help="The column that the model predicts; a judge of whole rows predicts none."),
    ] = None,
    encoding: Annotated[
        str | None,
        typer.Option(help="Input encoding of unknown values: half, signed, two-channel, nan, complete."),
    ] = None,
    trust_pickle: Annotated[
        bool, typer.Option("--trust-pickle", help="Load a pickle file, which can run any code.")
    ] = False,
    samples: Annotated[int, typer.Option(min=1, help="Number of sampled rows per claim.")] = 10_000,
    proof: Annotated[
        bool,
        typer.Option("--proof", help="Prove or refute each rule for every input (ReLU networks and trees)."),
    ] = False,
    seconds: Annotated[
        float, typer.Option("--proof-seconds", min=0.1, help="Time limit of each proof in seconds.")
    ] = 60.0,
    seed: Annotated[int, typer.Option(min=0, help="Random seed.")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Check whether a model does what is claimed: exit code 0 if all holds, 1 and a counterexample if not.

    Claims speak of columns: age > 40 & sex = f -> survives, or: more income never lowers good.

    Example:
      hornbook check rules.horn --model model.onnx --data patients.csv --target survives

      hornbook check rules.horn --model model.onnx --data patients.csv --target survives --proof

    """
    from hornbook.models import as_predictor, load_model

    subject = load_model(model, trust_pickle)
    if target is None:
        predictor = as_predictor(subject, encoding=encoding, name=model.name)
        _check_judge(rules, predictor, data, samples, proof, seconds, seed, as_json)
        return
    if encoding is not None:
        subject = as_predictor(subject, encoding=encoding, name=model.name)
    _check_columns(rules, subject, data, target, samples, proof, seconds, seed, as_json)


def _check_columns(
    rules: Path,
    model: Any,
    data: Path,
    target: str,
    samples: int,
    proof: bool,
    seconds: float,
    seed: int,
    as_json: bool,
) -> None:
    """Check claims about the columns that a classifier reads."""
    from hornbook.data.table import read_table
    from hornbook.explain.claim_check import check as check_claims

    frame = read_table(data).frame
    if target not in frame:
        raise HornbookError(
            f"there is no column {target!r} in {data}; it has {', '.join(frame.columns[:12])}"
        )
    results = check_claims(
        rules,
        model,
        frame.drop(columns=target),
        target,
        samples=samples,
        proof=proof,
        proof_seconds=seconds,
        seed=seed,
    )
    if as_json:
        emit_json({"claims": [_claim_entry(result) for result in results]})
    else:
        emit("\n".join([*map(_claim_line, results), *([PROOF_NOTE] if proof else [])]))
    raise typer.Exit(1 if any(result.broken for result in results) else 0)


def _claim_line(result: ClaimCheck) -> str:
    """Format a result as one line, and what breaks the claim as further ones."""
    note = _describe_guarantee(result.guarantee)
    if result.undecided:
        note += f"; no proof: {result.undecided}"
    violation = result.violation
    if violation is None:
        return f"holds   {result.claim}   # {note}"
    lines = [f"broken  {result.claim}   # {note}"]
    for place, outcome in enumerate(violation.outcomes):
        values = ", ".join(f"{name}={_cell(violation.rows[name].iloc[place])}" for name in violation.rows)
        lines.append(f"        {outcome}: {values}")
    where = f"row {violation.row} of the table"
    with_changes = f"{where}, with another {', '.join(violation.changed)}" if violation.changed else where
    lines.append(f"        this is {with_changes}")
    return "\n".join(lines)


def _describe_guarantee(guarantee: Guarantee) -> str:
    """What a guarantee says of a claim, in words."""
    if isinstance(guarantee, Estimated):
        share = guarantee.disagreement
        return f"broken by {share.hits} of {share.size} samples, {share}"
    if isinstance(guarantee, Exact):
        return "no row can meet it"
    return str(guarantee).removeprefix("none: ")


def _cell(value: Any) -> str:
    from hornbook.explanations.conditions import write_value

    return "?" if value is None or value != value else write_value(value)


def _claim_entry(result: ClaimCheck) -> dict[str, Any]:
    """Convert a result to a JSON object."""
    entry: dict[str, Any] = {"claim": str(result.claim), "holds": not result.broken, "witness": None}
    if (violation := result.violation) is not None:
        cells = violation.rows.astype(object).where(violation.rows.notna(), None)
        entry["witness"] = {
            "rows": json.loads(cells.to_json(orient="records")),
            "outcomes": list(violation.outcomes),
            "row": violation.row,
            "changed": list(violation.changed),
        }
    return {**entry, **_guarantee_entry(result.guarantee, result.undecided, "broken")}


def _check_judge(
    rules: Path,
    predictor: Predictor,
    data: Path,
    samples: int,
    proof: bool,
    seconds: float,
    seed: int,
    as_json: bool,
) -> None:
    """Check rules over variables with a judge, which accepts or rejects whole rows."""
    from hornbook.data.table import read_table
    from hornbook.explain.theory_check import check_theory
    from hornbook.oracles import LocalSearch
    from hornbook.query_teacher import judge_of_table

    claims = read_theory(rules)
    try:
        teacher = judge_of_table(read_table(data), predictor, claims, seed=seed)
    except HornbookError as error:
        raise HornbookError(f"{error}; name the column that a classifier predicts with --target") from None
    vocabulary = teacher.distribution.vocabulary
    try:
        claims = claims.over(vocabulary)
    except HornbookError as error:
        raise HornbookError(f"{rules}: {error}") from None
    local_search = LocalSearch(
        teacher, teacher.margin, teacher.distribution, seed=seed, groups=teacher.groups, size=samples
    )
    verdicts = check_theory(
        claims,
        teacher,
        teacher.distribution,
        samples,
        rng=generator(seed, Purpose.PROPERTY_CHECK),
        local_search=local_search,
        groups=teacher.groups,
        prover=teacher.prover(seconds) if proof else None,
    )
    if as_json:
        emit_json({"rules": [_entry(verdict, vocabulary) for verdict in verdicts]})
    else:
        for verdict in verdicts:
            emit(_line(verdict, vocabulary))
        emit(f"# sampled cases: {teacher.distribution.describe()}, changed so that they violate the rule")
        emit(f"# unknown values: {teacher.describe()}")
    raise typer.Exit(1 if any(verdict.broken for verdict in verdicts) else 0)


def _line(verdict: RuleCheck, vocabulary: Vocabulary) -> str:
    """Format a verdict as one line."""
    text = rule_text(vocabulary, verdict.rule, UNICODE)
    sampled = "nothing can violate it"
    if isinstance(verdict.guarantee, Estimated):
        share = verdict.guarantee.disagreement
        sampled = f"the model accepts {share.hits} of {share.size} violations, {share}"
    elif not isinstance(verdict.guarantee, Exact):
        sampled = str(verdict.guarantee).removeprefix("none: ")
    if verdict.undecided:
        sampled += f"; no proof: {verdict.undecided}"
    if verdict.witness is None:
        return f"holds   {text}   # {sampled}"
    known = {"true": verdict.witness.true, "false": verdict.witness.false}
    parts = (
        f"{value}: {', '.join(map(quote, vocabulary.named(variables)))}"
        for value, variables in known.items()
        if variables
    )
    return f"broken  {text}   # it accepts {'; '.join(parts)}; {sampled}"


def _entry(verdict: RuleCheck, vocabulary: Vocabulary) -> dict[str, Any]:
    """Convert a verdict to a JSON object."""
    entry = {**rule_object(vocabulary, verdict.rule), "holds": not verdict.broken, "witness": None}
    if verdict.witness is not None:
        entry["witness"] = {
            "true": list(vocabulary.named(verdict.witness.true)),
            "false": list(vocabulary.named(verdict.witness.false)),
        }
    return {**entry, **_guarantee_entry(verdict.guarantee, verdict.undecided, "accepted")}


def _guarantee_entry(guarantee: Guarantee, undecided: str, hits: str) -> dict[str, Any]:
    """Convert a guarantee to a JSON object; `hits` is what its samples are counted as."""
    entry: dict[str, Any] = {"guarantee": guarantee.kind}
    if isinstance(guarantee, Proved):
        margin = guarantee.margin
        entry |= {"by": guarantee.by, "margin": margin if math.isfinite(margin) else None}
    if undecided:
        entry["undecided"] = undecided
    if isinstance(guarantee, Estimated):
        share = guarantee.disagreement
        entry |= {hits: share.hits, "samples": share.size, "interval": [share.low, share.high]}
    return entry
