"""What `hornbook extract` and `hornbook query` share: the model, the run that is saved, and the summary."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from shlex import join
from typing import TYPE_CHECKING, Any

import typer

from hornbook.cli.app import TargetTable, describe_sample, load_target_table
from hornbook.deadline import Stopwatch
from hornbook.errors import HornbookError
from hornbook.storage import lock_folder

if TYPE_CHECKING:
    from hornbook.extraction import Extraction
    from hornbook.proof import Certificates
    from hornbook.queries import TrainedClassifier
    from hornbook.reasons import Why
    from hornbook.tables import Table


def open_table(
    context: typer.Context,
    source: str,
    target: str | None,
    positive: str | None,
    above: float | None,
    csv: str | None,
    model: str | None,
    train: bool,
    folder: Path | None,
    groups: str | None = None,
) -> TargetTable:
    """Load the table of a run and lock its folder; refuse options that the run would fail with later."""
    if (model is None) != train:
        raise HornbookError("give either --model FILE or --train, which trains a model on the table")
    table = load_target_table(source, target, positive, above, csv, groups)
    if train and table.labels is None:
        raise HornbookError(f"{table.table.name} has no column {table.target!r} to train a model on")
    if folder is not None:
        context.with_resource(lock_folder(folder))  # until the command ends
    return table


def describe_code_book(path: Path | None) -> dict[str, Any] | None:
    """The name, place and checksum of a code book."""
    return None if path is None else describe_file(path)


def describe_file(path: Path) -> dict[str, Any]:
    """The name, place and checksum of a file."""
    from hornbook.runs import file_checksum

    return {"name": path.name, "path": str(path.resolve()), "sha256": file_checksum(path)}


def describe_model(source: str, model: Any) -> dict[str, Any]:
    """The name, place and checksum of a model file; the URL and description of a model behind an endpoint.

    A file that describes an endpoint has no checksum here: other limits make no other model.
    """
    from hornbook.models import Predictor, RemoteModel, is_url, name_model_source

    endpoint = model.source if isinstance(model, Predictor) else model
    if not isinstance(endpoint, RemoteModel):
        return describe_file(Path(source))
    path = Path(source)
    about = {"url": source} if is_url(source) else {"path": str(path.resolve())}
    return {"name": name_model_source(source), **about, "endpoint": endpoint.describe()}


def describe_requests(model: Any) -> list[str]:
    """What a model behind an endpoint was asked, as a line of a summary; nothing of other models."""
    from hornbook.models import Predictor, RemoteModel

    endpoint = model.source if isinstance(model, Predictor) else model
    return [endpoint.describe_requests()] if isinstance(endpoint, RemoteModel) else []


def refuse_endpoint_proof(model: str | None) -> None:
    """Refuse to prove anything about a model that can only be asked."""
    from hornbook.models import names_endpoint

    if names_endpoint(model):
        raise HornbookError("nothing can be proved about a model behind an endpoint: it can only be asked")


def describe_network(trained: TrainedClassifier, file: str) -> dict[str, Any]:
    """The name of a trained network, its place in the run folder, its checksum and its accuracy."""
    checksum = hashlib.sha256(trained.network.to_bytes()).hexdigest()
    held_out = {"accuracy": trained.accuracy.estimate, "rows": trained.accuracy.size}
    about = {"name": "the network", "path": file, "sha256": checksum, "held_out": held_out}
    return {**about, **trained.network.provenance}


def note_unused_rows(table: Table) -> Iterator[str]:
    """Say of how many rows the table is a sample."""
    if table.source_rows is not None:
        yield f"{table.name} {describe_sample(len(table), table.source_rows)}"


@dataclass(frozen=True)
class CommandRun:
    """A run that a command makes.

    Parameters
    ----------
    config
        What it is made from: command, versions, data, target, model, settings.
    folder
        Where it is saved; None if it is only printed.
    notes
        What it says about rows that were not used.
    clock
        Measures how long it takes.

    """

    config: Mapping[str, Any]
    folder: Path | None
    notes: tuple[str, ...] = ()
    clock: Stopwatch = field(default_factory=Stopwatch)

    @classmethod
    def start(
        cls,
        table: TargetTable,
        model: Mapping[str, Any],
        settings: Mapping[str, Any],
        folder: Path | None,
        force: bool,
        **further: Any,
    ) -> CommandRun:
        """Start a run, or resume an unfinished one in the same folder.

        `further` parts of the configuration may be others when it is resumed.
        """
        from hornbook.runs import library_versions, start_run

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
            start_run(folder, config, force)
        return cls(config, folder, tuple(note_unused_rows(table.table)))

    def add_provenance(self, extraction: Extraction) -> Extraction:
        """The extraction, with what it was made from."""
        parts = ("data", "model", "settings", "versions")
        return replace(
            extraction,
            provenance={name: self.config[name] for name in parts},
            notes=(*extraction.notes, *self.notes),
        )

    def save(
        self,
        extraction: Extraction,
        certificates: Certificates | None = None,
        cases: Sequence[Why] = (),
    ) -> None:
        """Save the result in the folder, if there is one; the report says why the model decides cases so."""
        from hornbook.runs import save_run

        if self.folder is not None:
            save_run(self.folder, extraction, self.clock.elapsed, certificates, cases)

    def to_object(self, extraction: Extraction) -> dict[str, Any]:
        """The extraction and its folder, ready for JSON."""
        return {**extraction.to_object(), "folder": None if self.folder is None else str(self.folder)}

    def summarise(self, extraction: Extraction, details: Iterable[str] = ()) -> list[str]:
        """The accuracy, fidelity and cost of the run, and further details, as comments."""
        lines = []
        if (held_out := self.config["model"].get("held_out")) is not None:
            accuracy = f"{100 * held_out['accuracy']:.1f} % on {held_out['rows']} held-out rows"
            lines.append(f"accuracy of {self.config['model']['name']}: {accuracy}")
        lines += [f"fidelity to the model {each}" for each in extraction.fidelity.describe()]
        lines += details
        count = extraction.explanation.literals
        noun = "literal" if count == 1 else "literals"
        lines.append(f"{count} {noun} to read; {extraction.answers:,} answers")
        lines.append(f"samples: {extraction.distribution}; missing values: {extraction.missing_values}")
        if self.folder is not None:
            lines.append(f"saved in {self.folder}; open {self.folder / 'report.html'} in a browser")
        return [f"# {' '.join(line.split())}" for line in lines]
