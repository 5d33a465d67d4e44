"""The run folder: writing and reading everything about a run.

`config.json` holds the settings and is written first; `trace.jsonl` grows during the run;
`rules.json`, `rules.horn`, `metrics.json` and `report.html` are written at the end, each
atomically. A folder with a config and no metrics is an unfinished run.
"""

from __future__ import annotations

import hashlib
import json
import math
import platform
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from importlib import metadata
from pathlib import Path
from typing import Any

import pandas as pd

import hornbook
from hornbook.cards.card import Card
from hornbook.classify.candidate import Point as Weighed
from hornbook.data.binarise import Binariser
from hornbook.distributions import Groups
from hornbook.errors import HornbookError
from hornbook.evaluate import Fidelity, RuleStatistics
from hornbook.explain.answers import FREE, Answers
from hornbook.extraction import share_object
from hornbook.extractor.reading import Reading
from hornbook.learners.extract import INTERRUPTED
from hornbook.logic import HornTheory, Interpretation, Rule, Vocabulary
from hornbook.logic.formats import read_rule, rule_object
from hornbook.proof.certificate import PROOFS_FILE, Certificates, digest
from hornbook.queries import Guarantee
from hornbook.report.content import ReportedRule
from hornbook.statistics import Share
from hornbook.trees.tree import Tree

CONFIG_FILE, RULES_FILE, THEORY_FILE, METRICS_FILE = "config.json", "rules.json", "rules.horn", "metrics.json"
TRACE_FILE, REPORT_FILE, MODEL_FILE = "trace.jsonl", "report.html", "model.safetensors"

DECISIVE_PARTS = ("data", "model", "target", "settings")
"""The parts of a configuration that determine the result."""

RECORDED_LIBRARIES = (
    "numpy",
    "pandas",
    "scikit-learn",
    "torch",
    "onnxruntime",
    "xgboost",
    "lightgbm",
    "keras",
)


@dataclass(frozen=True)
class Run:
    """A saved run.

    Attributes
    ----------
    config, metrics
        The settings and the measured figures.
    answers
        The rules as a classifier.
    rules
        The rules with their support and precision; none for a card or tree.
    groups
        Sets of variables of which at most one is true.
    guarantees
        The guarantee for each rule as JSON; None where nothing was proved.
    checksums
        The checksums of the configuration and of the rules.

    """

    folder: Path
    config: dict[str, Any]
    metrics: dict[str, Any]
    answers: Answers
    rules: tuple[ReportedRule, ...]
    groups: Groups
    guarantees: Mapping[Rule, Any]
    checksums: Mapping[str, str]

    @classmethod
    def load(cls, folder: Path) -> Run:
        """Load the run in a folder; refuse a folder that is missing, damaged or unfinished."""
        if not folder.is_dir():
            raise HornbookError(
                f"there is no run folder {folder}; make one with hornbook extract … -o {folder}"
            )
        config = _read(folder, CONFIG_FILE)
        if not (folder / METRICS_FILE).is_file():
            raise HornbookError(
                f"{folder} holds a run that did not end; resume it with the same command: "
                f"{config.get('command', 'hornbook extract …')}"
            )
        rules, metrics = _read(folder, RULES_FILE), _read(folder, METRICS_FILE)
        try:
            vocabulary = Vocabulary(rules["vocabulary"], rules["duals"])
            background = HornTheory(
                vocabulary, (read_rule(vocabulary, entry) for entry in rules["background"])
            )
            found = {read_rule(vocabulary, entry): entry for entry in rules["rules"]}
            labels, literals = tuple(rules["labels"]), rules["default"]
            answers = Answers(background | HornTheory(vocabulary, found), background, labels)
            default = answers.literals.index(literals) if literals is not None else FREE
            answers = replace(answers, default=default)
            for kind, name in ((Card, "card"), (Tree, "tree")):
                if rules.get(name) is not None:
                    answers = answers.by(kind.from_object(rules[name], answers.features))
            groups = tuple(tuple(map(vocabulary.index, group)) for group in rules["groups"])
            reported, guarantees = (
                tuple(_read_reported_rules(found)),
                {r: e["guarantee"] for r, e in found.items()},
            )
        except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, HornbookError) as error:
            raise HornbookError(f"{folder / RULES_FILE} is not what a run leaves there: {error}") from None
        checksums = run_checksums(config, rules)
        return cls(folder, config, metrics, answers, reported, groups, guarantees, checksums)

    @cached_property
    def binariser(self) -> Binariser:
        """The binariser of the run's table."""
        return Binariser.from_json(json.dumps(self.config.get("binariser")))

    @property
    def found(self) -> HornTheory:
        """The extracted rules, without the background."""
        return HornTheory(self.answers.theory.vocabulary, self.answers.rules)

    def describe(self, name: str) -> str:
        """The condition behind the name of a variable, or the name."""
        return self.binariser.describe(name) if name in self.binariser.vocabulary_ else name

    def empty_frame(self) -> pd.DataFrame:
        """A table without rows, with the columns of the run's table."""
        return pd.DataFrame(columns=list(self.binariser.columns_))

    def facts(self, values: Mapping[str, str]) -> Interpretation:
        """Return the facts that follow from values of columns: numbers, words, bin names, or `?`."""
        true: set[int] = set()
        false: set[int] = set()
        for column, value in values.items():
            known = self.binariser.facts(column, value)
            true |= known.true
            false |= known.false
        return Interpretation(frozenset(true), frozenset(false))


def check_writable(folder: Path) -> None:
    """Make a folder, or refuse it if it cannot be written to, before anything is computed."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / CONFIG_FILE).with_suffix(".new").touch()
        (folder / CONFIG_FILE).with_suffix(".new").unlink()
    except OSError as error:
        raise HornbookError(f"cannot write to {folder}: {error.strerror}; choose another folder") from None


def start_run(folder: Path, config: Mapping[str, Any], force: bool = False) -> None:
    """Start a run in a folder, or resume an unfinished one with the same configuration."""
    check_writable(folder)
    if (folder / CONFIG_FILE).exists() and not force:
        _refuse_other(folder, _read(folder, CONFIG_FILE), config)
    for name in (
        RULES_FILE,
        THEORY_FILE,
        METRICS_FILE,
        REPORT_FILE,
        *([TRACE_FILE, PROOFS_FILE] if force else []),
    ):
        (folder / name).unlink(missing_ok=True)
    _write(folder / CONFIG_FILE, _json(config))


def _refuse_other(folder: Path, earlier: Mapping[str, Any], config: Mapping[str, Any]) -> None:
    wanted = json.loads(_json(config))
    for part in DECISIVE_PARTS:
        if earlier.get(part) != wanted.get(part):
            raise HornbookError(
                f"{folder} holds a run with another {part}; choose another folder with -o, "
                "or overwrite it with --force"
            )
    if (folder / METRICS_FILE).is_file() and _read(folder, METRICS_FILE).get("stop_reason") != INTERRUPTED:
        raise HornbookError(
            f"{folder} holds this run already, and it is finished; see hornbook show {folder}, or use --force"
        )


def save_run(
    folder: Path,
    reading: Reading,
    groups: Groups,
    report: str,
    certificates: Certificates | None = None,
) -> None:
    """Save the result of a run; the metrics come last and mark the run as complete."""
    answers = reading.answers
    text = HornTheory(answers.theory.vocabulary, answers.rules).to_text()
    if answers.decider is not None:
        text = "".join(f"# {line}\n" for line in str(answers.decider).splitlines())
    rules = rules_object(reading, groups, {} if certificates is None else certificates.guarantees)
    _write(folder / RULES_FILE, _json(rules))
    _write(folder / THEORY_FILE, text)
    _write(folder / REPORT_FILE, report)
    if certificates is None:
        (folder / PROOFS_FILE).unlink(missing_ok=True)
    else:
        certificates.bind(run_checksums(_read(folder, CONFIG_FILE), rules))
    _write(folder / METRICS_FILE, _json(metrics_object(reading)))


def rules_object(
    reading: Reading, groups: Groups, guarantees: Mapping[Rule, Guarantee] | None = None
) -> dict[str, Any]:
    """Convert the rules and their statistics to a JSON object; a card or tree is not compiled to rules."""
    decider, answers = reading.answers.decider, reading.answers.plain()
    vocabulary = answers.theory.vocabulary
    worth = {found.rule: found for found in reading.rules}
    proved = guarantees or {}
    return {
        "vocabulary": list(vocabulary.names),
        "duals": vocabulary.dual_names,
        "labels": list(answers.labels),
        "default": None if answers.default == FREE else answers.literals[answers.default],
        "groups": [list(vocabulary.named(group)) for group in groups],
        "rules": [
            _reported_rule_object(vocabulary, rule, worth.get(rule), proved.get(rule))
            for rule in answers.rules
        ],
        "background": [rule_object(vocabulary, rule) for rule in answers.background],
        "card": decider.to_object() if isinstance(decider, Card) else None,
        "tree": decider.to_object() if isinstance(decider, Tree) else None,
    }


def metrics_object(reading: Reading) -> dict[str, Any]:
    """Convert the measured figures to a JSON object."""
    fidelity, worst = reading.fidelity, reading.worst
    return {
        "rules": len(reading.answers.readable),
        "literals": reading.literals,
        "fidelity": fidelity_object(fidelity),
        "derived": share_object(reading.derived),
        "undetermined": share_object(reading.undetermined),
        "conflicts": share_object(reading.conflicts),
        "guarantee": {"kind": worst.guarantee.kind, "says": str(worst.guarantee)},
        "stop_reason": reading.stop_reason,
        "queries": reading.queries,
        "seconds": round(reading.seconds, 3),
        "distribution": worst.distribution,
        "unknown_values": worst.unknowns,
        "incoherence": None if worst.coherence is None else share_object(worst.coherence.rate),
        "frontier": [
            {
                "form": found.form if isinstance(found, Weighed) else "rules",
                "rules": point.rules,
                "literals": point.literals,
                "disagreement": share_object(point.disagreement),
            }
            for found, point in zip(worst.frontier, worst.curve, strict=True)
        ],
    }


def fidelity_object(fidelity: Fidelity) -> dict[str, Any]:
    """Convert fidelity to a JSON object: the headline share and population, then the other figures."""
    used_rows = None if math.isnan(fidelity.used_rows) else fidelity.used_rows
    return {
        "population": fidelity.population,
        **share_object(fidelity.share),
        "samples": share_object(fidelity.samples),
        "used_rows": used_rows,
    }


def run_checksums(config: Mapping[str, Any], rules: Mapping[str, Any]) -> dict[str, str]:
    """Return the checksums of a run's configuration and rules, which its certificates record."""
    return {
        "config": digest({part: config.get(part) for part in (*DECISIVE_PARTS, "binariser")}),
        "rules": digest(rules),
    }


def file_checksum(path: Path) -> str:
    """The SHA-256 of a file."""
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError as error:
        raise HornbookError(f"cannot read {path}: {error.strerror}") from None


def library_versions() -> dict[str, str]:
    """The versions of hornbook, Python and the installed model libraries."""
    found = {"hornbook": hornbook.__version__, "python": platform.python_version()}
    for name in RECORDED_LIBRARIES:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found


def _reported_rule_object(
    vocabulary: Vocabulary, rule: Rule, worth: RuleStatistics | None, guarantee: Guarantee | None
) -> dict[str, Any]:
    measured = {
        "support": None if worth is None else share_object(worth.support),
        "precision": None if worth is None else share_object(worth.precision),
        "guarantee": None if guarantee is None else {"kind": guarantee.kind, "says": str(guarantee)},
    }
    return {**rule_object(vocabulary, rule), **measured}


def _read_reported_rules(found: Mapping[Rule, Mapping[str, Any]]) -> Iterator[ReportedRule]:
    for rule, entry in found.items():
        if entry["support"] is not None:
            support, precision = (
                Share.of(entry[name]["hits"], entry[name]["of"]) for name in ("support", "precision")
            )
            yield ReportedRule(rule, support, precision)


def _read(folder: Path, name: str) -> dict[str, Any]:
    try:
        content = json.loads((folder / name).read_text("utf-8"))
    except FileNotFoundError:
        raise HornbookError(
            f"{folder} is no run folder: it has no {name}; make one with hornbook extract"
        ) from None
    except OSError as error:
        raise HornbookError(f"cannot read {folder / name}: {error.strerror}") from None
    except ValueError:
        content = None
    if not isinstance(content, dict):
        raise HornbookError(f"{folder / name} is damaged; repeat the run with hornbook extract --force")
    return content


def _write(path: Path, text: str) -> None:
    fresh = path.with_name(f"{path.name}.new")
    fresh.write_text(text, "utf-8")
    fresh.replace(path)  # at once: whoever looks finds the whole or nothing


def _json(content: Mapping[str, Any]) -> str:
    return json.dumps(content, ensure_ascii=False, indent=1) + "\n"
