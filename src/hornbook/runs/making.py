"""A run as a command makes it, and makes it again: begun with its configuration, ended with its result."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from shlex import join
from typing import Any

from hornbook.deadline import Stopwatch
from hornbook.extraction import Extraction, explain, learn_judged_cases, learn_levels, learn_theory
from hornbook.extraction.learning import Watch
from hornbook.models import Subject
from hornbook.queries import Budget, QuerySubject, Settings
from hornbook.runs.folder import abandon_run, library_versions, refuse_other_run, relate, save_run, start_run
from hornbook.runs.inputs import TargetTable, note_inputs
from hornbook.runs.proving import LineProver, ProofLimits, prove_lines
from hornbook.surrogates import Candidate, SearchSettings

PROVENANCE = ("data", "model", "settings", "versions")
"""The parts of a configuration that its result keeps."""


@dataclass(frozen=True)
class NewRun:
    """A run that a command makes.

    Parameters
    ----------
    config
        What it is made from: command, versions, data, target, model, settings.
    folder
        Where it is saved; None if it is only printed.
    force
        Whether it replaces another run in the folder.
    notes
        What it says about rows that were not used, and about the model beside the labels.
    clock
        Measures how long it takes.

    """

    config: Mapping[str, Any]
    folder: Path | None
    force: bool = False
    notes: tuple[str, ...] = ()
    clock: Stopwatch = field(default_factory=Stopwatch)

    @classmethod
    def start(
        cls,
        table: TargetTable,
        subject: Subject | QuerySubject,
        model: Mapping[str, Any],
        settings: Mapping[str, Any],
        folder: Path | None,
        force: bool,
        **further: Any,
    ) -> NewRun:
        """Start a run, or resume an unfinished one in the same folder, which `begin` writes to.

        `further` parts of the configuration may be others when it is resumed.
        """
        config = {
            "command": join(["hornbook", *sys.argv[1:]]),
            "versions": library_versions(),
            "data": table.to_object(),
            "target": table.target,
            "model": model,
            "settings": settings,
            **further,
        }
        if folder is not None:
            config = relate(config, folder)
            refuse_other_run(folder, config, force)
        return cls(config, folder, force, tuple(note_inputs(table, subject, model)))

    def begin(self) -> None:
        """Write the configuration: a run that keeps what it learns does so at once, others at their end."""
        if self.folder is not None:
            start_run(self.folder, self.config, self.force)

    @contextmanager
    def learning(self) -> Iterator[None]:
        """Write the configuration; if what follows fails and has learned nothing, nothing stays."""
        self.begin()
        try:
            yield
        except Exception:
            if self.folder is not None:
                abandon_run(self.folder)
            raise

    def complete(
        self,
        extraction: Extraction,
        prover: LineProver | None = None,
        limits: ProofLimits | None = None,
        watch: Callable[[str], None] | None = None,
    ) -> Extraction:
        """The extraction, with what it was made from, and with what is proved of its lines by a prover."""
        extraction = replace(
            extraction,
            provenance={name: self.config[name] for name in PROVENANCE},
            notes=(*extraction.notes, *self.notes),
        )
        if prover is None:
            return extraction
        return prove_lines(extraction, prover, limits or ProofLimits(**self.config["proof"]), watch)

    def save(self, extraction: Extraction) -> None:
        """Save the result in the folder, if there is one."""
        if self.folder is not None:
            save_run(self.folder, extraction, self.clock.elapsed)

    def to_object(self, extraction: Extraction) -> dict[str, Any]:
        """The extraction and its folder, ready for JSON."""
        return {**extraction.to_object(), "folder": None if self.folder is None else str(self.folder)}


def explain_by_settings(
    subject: Subject,
    settings: Mapping[str, Any],
    watch: Callable[[Candidate], None] | None = None,
    tell: Callable[[str], None] | None = None,
) -> Extraction:
    """Explain a model by the settings of a run's configuration: by an explanation, or by its envelope."""
    if settings.get("learner") == "envelope":
        return learn_levels(subject, settings["margin"], read_learning(settings), tell)
    wanted = SearchSettings(
        settings["form"],
        settings["max_literals"],
        settings["samples"],
        settings["balance"],
        settings.get("certify", False),
    )
    return explain(subject, wanted, watch)


def learn_by_settings(
    subject: QuerySubject,
    settings: Mapping[str, Any],
    trace: Path | None = None,
    watch: Watch | None = None,
    clock: Stopwatch | None = None,
) -> Extraction:
    """Learn a theory about a model by the settings of a run's configuration."""
    own = read_learning(settings)
    if own.learner == "envelope":
        return learn_judged_cases(subject, own)
    return learn_theory(subject, own, trace=trace, watch=watch, clock=clock)


def read_learning(settings: Mapping[str, Any]) -> Settings:
    """The settings of a query learner in those of a run's configuration."""
    return Settings(
        Budget(settings["max_queries"], settings.get("max_answers"), settings["max_seconds"]),
        settings["learner"],
        size=settings["sample_size"],
        epsilon=settings["epsilon"],
        delta=settings["delta"],
        min_precision=settings.get("min_precision", 0.9),
        max_rules=settings.get("max_rules", 100),
        max_literals=settings.get("max_literals"),
        seed=settings["seed"],
    )
