"""Certificates: what was proved of which network, kept in a file and checked again.

`proofs.json` names the network by a checksum of its weights and threshold, says how it was asked,
and lists for each rule the verdict, the engine, the bound or the witness, and the seconds. It is
written anew after every verdict, so that an interrupted run keeps what it has.
"""

from __future__ import annotations

import hashlib
import json
import math
import time
from collections.abc import Generator, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from hornbook.logic.batch import Batch, Interpretation
from hornbook.logic.errors import HornbookError
from hornbook.logic.formats import read_rule, rule_object
from hornbook.logic.rule import Rule
from hornbook.logic.theory import violation
from hornbook.logic.vocabulary import Vocabulary
from hornbook.oracles.adapters import Encoding, as_predictor
from hornbook.oracles.proof.cascade import Prover, Verdict
from hornbook.oracles.proof.layers import ReluNet
from hornbook.parallel import mapped

PROOFS = "proofs.json"

PATIENCE = 10.0
"""So many seconds at least, and twice what it took before, a proof may take when it is checked."""


@dataclass(frozen=True)
class Checked:
    """One certificate, checked: whether it holds, and what is wrong if not."""

    rule: Rule
    status: str
    holds: bool
    says: str


def checksum(net: ReluNet) -> str:
    """A fingerprint of a network: its shape, weights, biases and threshold."""
    digest = hashlib.sha256()
    for part in (*net.weights, *net.biases):
        digest.update(repr(part.shape).encode())
        digest.update(part.astype("<f8").tobytes())
    return digest.hexdigest()


def proofs(
    prover: Prover,
    rules: Iterable[Rule],
    path: Path | None = None,
    model: Path | None = None,
    *,
    total: float = math.inf,
    n_jobs: int | None = None,
) -> Generator[tuple[Rule, Verdict]]:
    """The verdict on each rule, in order, as it becomes known; `path` keeps them all the while.

    Parameters
    ----------
    prover
        Who answers.
    rules
        The rules.
    path, model
        The file of certificates, and that of the model, which it then names.
    total
        So many seconds for all rules together; what comes later is undecided.
    n_jobs
        How many processes share the questions, see `hornbook.parallel.mapped`.

    """
    rules = list(rules)
    kept: list[dict[str, Any]] = []
    deadline = time.time() + total
    verdicts = mapped(_verdict, rules, shared=(prover, deadline), n_jobs=n_jobs)
    for rule, verdict in zip(rules, verdicts, strict=True):
        kept.append(verdict_object(prover.vocabulary, rule, verdict))
        if path is not None:
            write(path, prover, kept, model)
        yield rule, verdict


def _verdict(prover: Prover, deadline: float, rule: Rule) -> Verdict:
    left = min(prover.seconds, deadline - time.time())
    if left <= 0:
        return Verdict("undecided", "nobody", 0.0, math.inf, reason="the time for all rules was spent")
    return prover.rule(rule, left)


def verdict_object(vocabulary: Vocabulary, rule: Rule, verdict: Verdict) -> dict[str, Any]:
    """A certificate, ready for JSON; a bound that is infinite is null."""
    witness = verdict.witness
    return {
        **rule_object(vocabulary, rule),
        "verdict": verdict.status,
        "by": verdict.by,
        "seconds": round(verdict.seconds, 3),
        "bound": verdict.bound if math.isfinite(verdict.bound) else None,
        "witness": witness
        and {"true": list(vocabulary.named(witness.true)), "false": list(vocabulary.named(witness.false))},
        "reason": verdict.reason or None,
    }


def write(path: Path, prover: Prover, entries: list[dict[str, Any]], model: Path | None = None) -> None:
    """Write certificates, all at once."""
    content = {
        "network": checksum(prover.accepting.net),
        "model": None if model is None else str(model.resolve()),
        "asked": _asked(prover),
        "proofs": entries,
    }
    fresh = path.with_name(f"{path.name}.new")
    fresh.write_text(json.dumps(content, ensure_ascii=False, indent=1) + "\n", "utf-8")
    fresh.replace(path)


def _asked(prover: Prover) -> dict[str, Any]:
    """All that decides what a question means."""
    vocabulary, predictor = prover.vocabulary, prover.predictor
    positive = predictor.positive
    return {
        "vocabulary": list(vocabulary.names),
        "duals": {vocabulary.name(v): vocabulary.name(w) for v, w in vocabulary.pairs},
        "groups": [list(vocabulary.named(group)) for group in prover.groups],
        "values": prover.values,
        "label": prover.label,
        "features": None if prover.classifier is None else list(prover.classifier.features.names),
        "encoding": asdict(predictor.encoding),
        "threshold": predictor.threshold,
        "positive": positive.item() if hasattr(positive, "item") else positive,
        "output": predictor.output if hasattr(predictor.source, "parameters") else None,
    }


def restored(content: Mapping[str, Any], model: Any, name: str) -> Prover:
    """The prover that certificates came from, about a model that was loaded again."""
    try:
        asked = dict(content["asked"])
        vocabulary = Vocabulary(asked["vocabulary"], asked["duals"])
        groups = tuple(tuple(map(vocabulary.index, group)) for group in asked["groups"])
        predictor = as_predictor(
            model,
            encoding=Encoding(**asked["encoding"]),
            threshold=asked["threshold"],
            positive=asked["positive"],
            output=asked["output"],
            name=name,
        )
        how = {part: asked[part] for part in ("values", "label", "features")}
    except (KeyError, TypeError, ValueError) as error:
        raise HornbookError(f"the proofs do not say how the model was asked: {error!r}") from None
    return Prover(predictor, vocabulary, groups=groups, **how)


def read(path: Path) -> dict[str, Any]:
    """The certificates in a file."""
    try:
        content = json.loads(path.read_text("utf-8"))
        entries = content["proofs"]
        if not isinstance(content["network"], str) or not isinstance(entries, list):
            raise ValueError
    except FileNotFoundError:
        raise HornbookError(
            f"there is no {path}; make proofs with hornbook extract --proof, or hornbook check --proof"
        ) from None
    except (OSError, ValueError, KeyError, TypeError):
        raise HornbookError(f"{path} holds no proofs, or is damaged; make them anew with --proof") from None
    return dict(content)


def verified(prover: Prover, content: Mapping[str, Any]) -> Iterator[Checked]:
    """Check every certificate: witnesses are given to the model again, proofs are made again."""
    if content["network"] != checksum(prover.accepting.net):
        raise HornbookError("the proofs are about another network: the checksums of the weights differ")
    for entry in content["proofs"]:
        try:
            rule = read_rule(prover.vocabulary, entry)
            status, seconds = entry["verdict"], float(entry["seconds"])
            known = entry["witness"] and _read_item(prover.vocabulary, entry["witness"])
        except (KeyError, TypeError, ValueError) as error:
            raise HornbookError(f"a certificate is damaged: {error!r}") from None
        yield _checked(prover, rule, status, seconds, known)


def _checked(
    prover: Prover, rule: Rule, status: str, seconds: float, witness: Interpretation | None
) -> Checked:
    if status == "undecided":
        return Checked(rule, status, True, "nothing is claimed")
    if status == "refuted" and witness is not None:
        question = violation(rule)
        breaks = question.true <= witness.true and question.false <= witness.false
        accepted = breaks and prover.member(Batch.from_interpretations([witness], prover.vocabulary))[0]
        return Checked(
            rule, status, bool(accepted), "the model accepts the witness" if accepted else "it does not"
        )
    again = prover.rule(rule, max(PATIENCE, 2 * seconds))
    return Checked(rule, status, again.status == status, str(again))


def _read_item(vocabulary: Vocabulary, entry: Mapping[str, Any]) -> Interpretation:
    return Interpretation(vocabulary.variables(entry["true"]), vocabulary.variables(entry["false"]))
