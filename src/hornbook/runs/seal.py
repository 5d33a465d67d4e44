"""The seal of a run folder: the checksum of every file that the run wrote, so that an edit is noticed.

Anybody can seal a folder again. What is sealed says only that nothing was changed since;
`hornbook.runs.verification` derives the rest.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from hornbook.errors import HornbookError
from hornbook.storage import LOCK_FILE, read_json, read_text, write_file

SEAL_FILE = "seal.json"
"""The name of the seal in a run folder."""

FORMAT = 1
"""The version of the seal, and of the folder that it seals."""


@dataclass(frozen=True)
class Finding:
    """The result of one check: its subject, whether it holds, and why; None for what cannot be derived."""

    about: str
    holds: bool | None
    says: str


def checksum(content: str | bytes) -> str:
    """The SHA-256 of the content of a file."""
    return hashlib.sha256(content.encode() if isinstance(content, str) else content).hexdigest()


def file_checksum(path: Path) -> str:
    """The SHA-256 of a file."""
    try:
        return checksum(path.read_bytes())
    except OSError as error:
        raise HornbookError(f"cannot read {path}: {error.strerror}") from None


def write_seal(folder: Path, checksums: Mapping[str, str]) -> None:
    """Seal a folder: `checksums` are those of its files, by their names."""
    write_file(folder / SEAL_FILE, _seal_text(checksums))


def read_seal(folder: Path) -> dict[str, str]:
    """The checksums of the files of a folder; empty if the seal was edited. Refuse a folder without one."""
    path = folder / SEAL_FILE
    if not folder.is_dir():
        raise HornbookError(f"there is no run folder {folder}; make one with hornbook extract … -o {folder}")
    if not path.is_file():
        raise HornbookError(
            f"{folder} has no {SEAL_FILE}: the run did not end, or an earlier hornbook made it; make the run "
            "again with --force"
        )
    try:
        files = read_json(path)["files"]
        return files if read_text(path) == _seal_text(files) else {}
    except (HornbookError, LookupError, TypeError, AttributeError):
        return {}


def seal_again(folder: Path, name: str) -> None:
    """Seal a file that was written anew, if it belongs to a sealed folder."""
    if (folder / SEAL_FILE).is_file() and name in (sealed := read_seal(folder)):
        write_seal(folder, {**sealed, name: file_checksum(folder / name)})


def find_broken_seals(folder: Path, sealed: Mapping[str, str]) -> Iterator[Finding]:
    """A finding for each file that was changed or removed after the folder was sealed."""
    if not sealed:
        yield Finding(SEAL_FILE, False, "it was changed after the run")
    for name, expected in sealed.items():
        path = folder / name
        if not path.is_file():
            yield Finding(name, False, "the file was removed after the run")
        elif file_checksum(path) != expected:
            yield Finding(name, False, "it was changed after the run: the checksums differ")


def list_unsealed(folder: Path, sealed: Collection[str]) -> Iterator[Finding]:
    """The files in a folder that the run did not seal: the user's, and the answers of an endpoint."""
    ignored = {*sealed, SEAL_FILE, LOCK_FILE}
    for name in sorted(path.name for path in folder.iterdir() if path.name not in ignored):
        yield Finding(name, None, "it is not a file of the run, so it is not sealed")


def _seal_text(files: Mapping[str, str]) -> str:
    content = {"format": FORMAT, "files": dict(sorted(files.items()))}
    return json.dumps({**content, "sha256": checksum(json.dumps(content))}, indent=1) + "\n"
