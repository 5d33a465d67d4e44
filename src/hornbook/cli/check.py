"""`hornbook check`."""

from __future__ import annotations

import json
import math
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hornbook.cli.app import app, read_theory
from hornbook.errors import HornbookError
from hornbook.logic import Vocabulary
from hornbook.logic.formats import rule_object
from hornbook.logic.syntax import UNICODE, quote, rule_text
from hornbook.queries import Estimated, Exact, Proved
from hornbook.randomness import Purpose, generator

if TYPE_CHECKING:
    from hornbook.explain.check import RuleCheck


class Mode(StrEnum):
    """What a model answers: whether a row is consistent, or the class of the label."""

    JUDGE = "judge"
    CLASSIFIER = "classifier"


@app.command()
def check(
    rules: Annotated[Path, typer.Argument(help="The rules to check: a .horn file, or rules.json.")],
    model: Annotated[Path, typer.Option(help="The model file, such as model.onnx.")],
    data: Annotated[Path, typer.Option(help="The training table; bins are computed from its rows.")],
    label: Annotated[str | None, typer.Option(help="The column that the model predicts.")] = None,
    mode: Annotated[
        Mode | None,
        typer.Option(help="classifier predicts --label; judge accepts or rejects whole rows."),
    ] = None,
    encoding: Annotated[
        str | None,
        typer.Option(help="Input encoding of unknown values: half, signed, two-channel, nan, complete."),
    ] = None,
    trust_pickle: Annotated[
        bool, typer.Option("--trust-pickle", help="Load a pickle file, which can run any code.")
    ] = False,
    samples: Annotated[int, typer.Option(min=1, help="Number of sampled violations per rule.")] = 10_000,
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
    """Check whether a model obeys rules: exit code 0 if all hold, 1 and a counterexample if not.

    Example:
      hornbook check rules.horn --model model.onnx --data patients.csv --label survives

      hornbook check rules.horn --model model.onnx --data patients.csv --label survives --proof

    """
    from hornbook.explain.check import check as verdicts_on
    from hornbook.models import as_predictor, load_model
    from hornbook.oracles import LocalSearch
    from hornbook.teachers import teacher_from_table

    claims = read_theory(rules)
    predictor = as_predictor(load_model(model, trust_pickle), encoding=encoding, name=model.name)
    if mode is Mode.CLASSIFIER and label is None:
        raise HornbookError("a classifier predicts a label: name its column with --label")
    judges = mode is Mode.JUDGE or label is None
    teacher = teacher_from_table(_table(data, label), predictor, claims, judges=judges, seed=seed)
    vocabulary = teacher.distribution.vocabulary
    try:
        claims = claims.over(vocabulary)
    except HornbookError as error:
        raise HornbookError(f"{rules}: {error}") from None
    guided = LocalSearch(
        teacher, teacher.margin, teacher.distribution, seed=seed, groups=teacher.groups, size=samples
    )
    verdicts = verdicts_on(
        claims,
        teacher,
        teacher.distribution,
        samples,
        rng=generator(seed, Purpose.PROPERTY_CHECK),
        guided=guided,
        groups=teacher.groups,
        prover=teacher.prover(seconds) if proof else None,
    )
    if as_json:
        print(
            json.dumps({"rules": [_entry(verdict, vocabulary) for verdict in verdicts]}, ensure_ascii=False)
        )
    else:
        for verdict in verdicts:
            print(_line(verdict, vocabulary))
        print(f"# sampled cases: {teacher.distribution.describe()}, changed so that they violate the rule")
        print(f"# unknown values: {teacher.describe()}")
    raise typer.Exit(1 if any(verdict.broken for verdict in verdicts) else 0)


def _table(data: Path, label: str | None) -> Any:
    from hornbook.data.table import read_table

    return read_table(data, label=label)


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
    entry["guarantee"] = verdict.guarantee.kind
    if isinstance(verdict.guarantee, Proved):
        margin = verdict.guarantee.margin
        entry |= {"by": verdict.guarantee.by, "margin": margin if math.isfinite(margin) else None}
    if verdict.undecided:
        entry["undecided"] = verdict.undecided
    if isinstance(verdict.guarantee, Estimated):
        share = verdict.guarantee.disagreement
        entry |= {"accepted": share.hits, "samples": share.size, "interval": [share.low, share.high]}
    return entry
