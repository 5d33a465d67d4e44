"""Files that hornbook keeps: written whole or not at all, read with one line for any damage, and locked."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from hornbook.errors import HornbookError

LOCK_FILE = ".lock"
"""The file in a folder that a process locks while it works there; a process that ends unlocks it."""

UNFINISHED_SUFFIX = ".hornbook-unfinished"
"""The end of the name of a file that is being written."""


def cache_folder() -> Path:
    """The folder of downloads and answers: `HORNBOOK_CACHE`, or `hornbook` in the user's cache folder."""
    if chosen := os.environ.get("HORNBOOK_CACHE"):
        return Path(chosen)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "hornbook"


def write_file(path: Path, content: str | bytes) -> None:
    """Write a file at once: after a crash, too, there is the whole of it, or what was there before.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     write_file(Path(folder) / "metrics.json", "{}")
    ...     os.listdir(folder)
    ['metrics.json']

    """
    unfinished = path.parent / f"{path.name}{UNFINISHED_SUFFIX}"
    with write_errors(path):
        if path.is_dir():
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        try:
            with unfinished.open("wb") as file:
                file.write(_encode(content))
                file.flush()
                os.fsync(file.fileno())
            unfinished.replace(path)
        except OSError:
            unfinished.unlink(missing_ok=True)
            raise
        _sync_folder(path.parent)


def checksum(content: str | bytes) -> str:
    """The SHA-256 of the content of a file."""
    return hashlib.sha256(_encode(content)).hexdigest()


def file_checksum(path: Path) -> str:
    """The SHA-256 of a file."""
    try:
        return checksum(path.read_bytes())
    except OSError as error:
        raise HornbookError(f"cannot read {path}: {error.strerror}") from None


def append_line(path: Path, line: str) -> None:
    """Append a line to a file, and see to it that it is on the disk."""
    with write_errors(path), path.open("ab") as file:
        file.write(_encode(f"{line}\n"))
        file.flush()
        os.fsync(file.fileno())


def read_text(path: Path) -> str:
    """The text of a file; refuse one that is missing, unreadable or no UTF-8."""
    try:
        return path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise HornbookError(f"cannot read {path}: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise HornbookError(
            f"{path} is not UTF-8 text: byte {error.start} is {error.object[error.start]:#x}"
        ) from None


def read_json(path: Path) -> Any:
    """The value that a JSON file holds; refuse a file that is damaged.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "list.json"
    ...     write_file(path, "[" * 200_000)
    ...     read_json(path)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    hornbook.errors.HornbookError: .../list.json is damaged: it is nested too deeply

    """
    text = read_text(path)
    try:
        return parse_json(text)
    except HornbookError as error:
        raise HornbookError(f"{path} is damaged: {error}") from None


def read_toml(path: Path) -> dict[str, Any]:
    """The tables of a TOML file; refuse a file that is not TOML."""
    text = read_text(path)
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise HornbookError(f"{path} is not TOML: it is nested too deeply") from None
    except ValueError as error:  # numbers with thousands of digits too
        raise HornbookError(f"{path} is not TOML: {error}") from None


def parse_json(text: str) -> Any:
    """The value of a JSON text; refuse anything else."""
    try:
        return json.loads(text)
    except RecursionError:
        raise HornbookError("it is nested too deeply") from None
    except ValueError as error:
        raise HornbookError(f"it is not JSON: {error}") from None


@contextmanager
def lock_folder(folder: Path) -> Iterator[None]:
    """Make a folder and lock it for this process; refuse one that another process works in.

    A process that crashes leaves no lock behind: the lock is the system's, not the file's existence.
    The files that it left unfinished are removed, and so is a folder that was made here if it is empty.
    """
    from filelock import FileLock, Timeout

    is_new = not folder.exists()
    with write_errors(folder):
        folder.mkdir(parents=True, exist_ok=True)
    lock = FileLock(folder / LOCK_FILE, timeout=0, is_singleton=True)  # a process may lock it twice
    with write_errors(folder):
        try:
            lock.acquire()
        except Timeout:
            raise HornbookError(
                f"another process is at work in {folder}; wait until it has ended, or choose another folder"
            ) from None
    try:
        for unfinished in folder.glob(f"*{UNFINISHED_SUFFIX}"):
            unfinished.unlink(missing_ok=True)
        yield
    finally:
        if is_new and all(path.name == LOCK_FILE for path in folder.iterdir()):  # nothing came of it
            with suppress(OSError):
                (folder / LOCK_FILE).unlink()
                folder.rmdir()
        lock.release()


@contextmanager
def write_errors(path: Path) -> Iterator[None]:
    """Turn what the system says about writing a file into one line: what to do, and what is kept."""
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            advice = "make room and run the same command again; what was written before is kept"
        else:
            advice = "choose another place"
        raise HornbookError(
            f"cannot write to {path}: {error.strerror or type(error).__name__}; {advice}"
        ) from None


def _encode(content: str | bytes) -> bytes:
    """The bytes of a file; half a character, which some systems let into names, as JSON writes it."""
    return content if isinstance(content, bytes) else content.encode("utf-8", "backslashreplace")


def _sync_folder(folder: Path) -> None:
    """See to it that a new name in a folder is on the disk, where the system can be asked to."""
    if os.name == "nt":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
