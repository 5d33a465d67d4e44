"""Answers of a model behind an endpoint, kept on disk: a killed run pays for nothing twice."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from hornbook.errors import HornbookError
from hornbook.storage import write_errors

ANSWERS_FILE = "answers.sqlite"
"""The name of the cache in a run folder, or in the user's cache folder."""

KEYS_PER_QUERY = 500
"""Keys that are looked up at a time; SQLite takes 999 at least."""

LOCK_SECONDS = 60.0
"""Seconds to wait while another process writes answers."""


def row_key(identity: str, row: Sequence[Any]) -> bytes:
    """The key of the answer about a row, of 16 bytes; the row cannot be read from it.

    Examples
    --------
    >>> row_key("a", [1, None]) == row_key("a", [1, None]), row_key("a", [1]) == row_key("b", [1])
    (True, False)

    """
    content = json.dumps([identity, row], ensure_ascii=False, separators=(",", ":"))
    return hashlib.blake2b(content.encode("utf-8", "surrogatepass"), digest_size=16).digest()


class AnswerCache:
    """A file of answers, each a JSON value, by the keys of model and row.

    What was added is on the disk when `add` returns, also if the process is killed right after.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     cache = AnswerCache(Path(folder) / "answers.sqlite")
    ...     cache.add({b"first": [0.25, 0.75]})
    ...     cache.find([b"first", b"second"])
    ...     cache.close()
    {b'first': [0.25, 0.75]}

    """

    def __init__(self, path: Path) -> None:
        self.path = path
        with write_errors(path):
            path.parent.mkdir(parents=True, exist_ok=True)
        with self._errors():
            # the calls of an endpoint take turns, whichever thread they come from
            self._connection = sqlite3.connect(path, timeout=LOCK_SECONDS, check_same_thread=False)
            with self._connection as connection:
                connection.execute(
                    "CREATE TABLE IF NOT EXISTS answers (key BLOB PRIMARY KEY, answer TEXT NOT NULL) "
                    "WITHOUT ROWID"
                )

    def find(self, keys: Sequence[bytes]) -> dict[bytes, Any]:
        """The answers that are known, by their keys."""
        answers = {}
        with self._errors():
            for start in range(0, len(keys), KEYS_PER_QUERY):
                part = keys[start : start + KEYS_PER_QUERY]
                places = ",".join("?" * len(part))
                rows = self._connection.execute(
                    f"SELECT key, answer FROM answers WHERE key IN ({places})", part
                )
                answers.update({key: json.loads(answer) for key, answer in rows})
        return answers

    def add(self, answers: Mapping[bytes, Any]) -> None:
        """Keep answers; one that is known already is replaced."""
        rows = [(key, json.dumps(answer)) for key, answer in answers.items()]
        with self._errors(), self._connection as connection:
            connection.executemany("INSERT OR REPLACE INTO answers VALUES (?, ?)", rows)

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    def __del__(self) -> None:
        if hasattr(self, "_connection"):  # the file could be opened
            self.close()

    @contextmanager
    def _errors(self) -> Iterator[None]:
        """Turn what SQLite says into one line."""
        try:
            yield
        except (sqlite3.Error, ValueError, RecursionError) as error:
            raise HornbookError(
                f"{self.path} cannot be used as a cache of answers: {error}; remove it to ask the model anew"
            ) from None
