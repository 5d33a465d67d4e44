"""`Endpoint`: a model behind a URL, asked in batches, several at a time, and never twice about a row.

Answers are kept on disk: a killed run pays for nothing twice.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
import threading
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from hornbook.deadline import Stopwatch
from hornbook.display import Displayed
from hornbook.errors import HornbookError, ModelTimeout
from hornbook.models.answers import is_asked_anew
from hornbook.models.outputs import Output
from hornbook.models.predictor import Predictor, RemoteModel
from hornbook.remote import predictor
from hornbook.remote.http import BatchTooLarge, HttpClient
from hornbook.remote.protocols import CellRows, ChatProtocol, EndpointProtocol, find_protocol
from hornbook.remote.settings import EndpointSettings
from hornbook.storage import cache_folder, write_errors

ANSWERS_FILE = "answers.sqlite"
"""The name of the cache in a run folder, or in the user's cache folder."""

LOCK_SECONDS = 60.0
"""Seconds to wait while another process writes answers."""

FIRST_BATCH = 16
"""Rows of the first request."""

BATCH_SECONDS = 0.5
"""How long a request should take: batches grow or shrink towards it."""


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

    def find(self, keys: Iterable[bytes]) -> dict[bytes, Any]:
        """The answers that are known, by their keys."""
        select = "SELECT answer FROM answers WHERE key = ?"
        with self._errors():
            found = ((key, self._connection.execute(select, (key,)).fetchone()) for key in keys)
            return {key: json.loads(row[0]) for key, row in found if row is not None}

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


@dataclass(frozen=True)
class EndpointCounts(Displayed):
    """What an endpoint was asked so far.

    Parameters
    ----------
    requests, retries
        Requests that were sent, and how many of them repeat one that was throttled or lost.
    rows, seconds
        Rows that were sent, and the time until they were answered.
    answers, cached
        Answers that were needed, and how many of them were known already.

    """

    requests: int = 0
    retries: int = 0
    rows: int = 0
    seconds: float = 0.0
    answers: int = 0
    cached: int = 0

    def __str__(self) -> str:
        share = 100 * self.cached / max(1, self.answers)
        return (
            f"{self.requests:,} requests with {self.rows:,} rows in {self.seconds:.1f} s, "
            f"{self.retries:,} retries; "
            f"{share:.0f} % of {self.answers:,} answers were known already"
        )


class Endpoint(RemoteModel):
    """A model behind a URL.

    Parameters
    ----------
    settings
        Where it is and how it is asked, or a TOML file that says so; a URL alone is enough for MLflow.
    folder
        Where answers are kept; by default the user's cache folder.

    Attributes
    ----------
    name
        Its URL without the scheme.
    identity
        The URL, the protocol, and the shape of requests: what answers are kept by.
    classes_
        Its classes; None until they are given or found.

    """

    def __init__(self, settings: EndpointSettings | str | Path, folder: Path | None = None) -> None:
        self.settings = EndpointSettings.of(settings)
        self.folder = folder
        self.name = self.settings.url.partition("://")[2]
        self.classes_ = self.settings.classes
        self.client = HttpClient(self.settings)
        self.protocol: EndpointProtocol = find_protocol(self.settings)
        self.cache = AnswerCache((folder or cache_folder()) / ANSWERS_FILE)
        self._counts = EndpointCounts()
        self._lock = threading.RLock()
        self._batch = FIRST_BATCH

    def __reduce__(self) -> tuple[Any, ...]:
        """Another process opens connections and the cache of its own."""
        return _restore_endpoint, (self.settings, self.folder, self.classes_)

    @property
    def identity(self) -> dict[str, Any]:
        """What answers depend on besides rows: URL, protocol, and the shape of requests."""
        return {
            "url": self.protocol.url,
            "protocol": self.protocol.name,
            "missing": self.settings.missing,
            **self.protocol.describe(),
        }

    def describe(self) -> dict[str, Any]:
        """What decisions depend on besides rows: the identity, and how answers are understood."""
        settings = self.settings
        understood = {
            "classes": settings.classes,
            "threshold": settings.threshold,
            "columns": settings.columns,
        }
        return {**self.identity, **understood}

    def find_classes(self, rows: Any) -> None:
        """Learn the server's classes from its answers about rows, unless they are known."""
        if self.classes_ is None:
            self.classes_ = predictor.find_classes(self, rows)

    def read_numbers(self, rows: Any) -> NDArray[Any] | None:
        """The one number for each row, if the server answers with one, and no threshold is set."""
        answers = predictor.unwrap_answers(self, self.answer_rows(rows))
        if self.settings.threshold is not None or predictor.read_labels(self, answers) is not None:
            return None
        scores = predictor.read_scores(self, answers)
        return scores if scores.ndim == 1 else None

    def adapt(self, name: str, positive: Any, output: Output | None) -> Predictor:
        """The score of the positive class, and the server's own decision."""
        return predictor.adapt(self, name, positive, output)

    def describe_requests(self) -> str:
        """What it was asked so far, in a line."""
        return f"endpoint: {self.counts}"

    @property
    def counts(self) -> EndpointCounts:
        """What the endpoint was asked so far."""
        return replace(self._counts, requests=self.client.requests, retries=self.client.repetitions)

    def _count(self, **more: float) -> None:
        """Add to what the endpoint was asked so far."""
        sums = {name: getattr(self._counts, name) + number for name, number in more.items()}
        self._counts = replace(self._counts, **sums)

    def answer_rows(self, rows: Any) -> list[Any]:
        """The server's answer about each row of a frame or an array, as a JSON value.

        Rows whose answers are known are not sent, unless they are asked about anew (`ask_anew`).
        """
        with self._lock:
            cells = CellRows.of(rows)
            if not len(cells):
                return []
            digest = hashlib.sha256(json.dumps([self.identity, cells.columns]).encode()).hexdigest()
            places = {row_key(digest, row): place for row, place in cells.find_different().items()}
            known = self.cache.find(places)
            self._count(answers=len(places), cached=len(known))
            if is_asked_anew():
                answers = self._ask_rows(cells, places, keep=False)
            else:
                lacking = {key: place for key, place in places.items() if key not in known}
                answers = known | self._ask_rows(cells, lacking)
            by_row = {cells.rows[place]: answers[key] for key, place in places.items()}
            return [by_row[row] for row in cells.rows]

    def _ask_rows(self, cells: CellRows, places: Mapping[bytes, int], keep: bool = True) -> dict[bytes, Any]:
        """Ask the server about rows, in batches; each answer is on the disk as soon as it comes.

        After an error or an interrupt no request is sent or repeated, and those in flight are waited
        for: their answers are paid for.
        """
        answers: dict[bytes, Any] = {}
        clock = Stopwatch()
        queue, pending = deque(places), dict[Future[tuple[list[Any], float]], list[bytes]]()
        with ThreadPoolExecutor(self.settings.in_flight) as pool:
            try:
                while queue or pending:
                    while queue and len(pending) < self.settings.in_flight:
                        batch = self._take_batch(queue)
                        rows = cells.take([places[key] for key in batch])
                        pending[pool.submit(self._ask_batch, rows)] = batch
                    for future in wait(pending, return_when=FIRST_COMPLETED).done:
                        batch = pending.pop(future)
                        try:
                            answers |= self._receive(batch, future, keep)
                        except BatchTooLarge:
                            self._halve_batches(batch)
                            queue.extendleft(reversed(batch))
            except BaseException:
                with self.client.without_repetitions():
                    for future in wait(pending).done:
                        if future.exception() is None:
                            self._receive(pending[future], future, keep)
                raise
        self._count(seconds=clock.elapsed)
        return answers

    def _take_batch(self, queue: deque[bytes]) -> list[bytes]:
        """The rows of the next request."""
        limits = (len(queue), self._batch, self.settings.max_batch, self.protocol.max_rows or len(queue))
        batch = [queue.popleft() for _ in range(min(limits))]
        self._count(rows=len(batch))
        return batch

    def _ask_batch(self, rows: CellRows) -> tuple[list[Any], float]:
        """The answers about some rows, and the seconds that they took; runs in a thread of its own."""
        url, written = self.protocol.url, rows.write_nan() if self.settings.missing == "nan" else rows
        request = self.protocol.write(written)
        content, seconds = self.client.post(url, request)
        content = self.protocol.add_missing(content, lambda: self.client.post(url, request)[0])
        return self.protocol.read(content, len(rows)), seconds

    def propose(self, rules: Sequence[str]) -> list[Mapping[str, Any]]:
        """Rows that the model, if it chats and the user wants proposals, expects to break rules about it."""
        protocol = self.protocol
        if not isinstance(protocol, ChatProtocol):
            return []
        sentence, request = protocol.sentence, protocol.write_proposals(rules)
        try:
            contents = [self.client.post(protocol.url, request)[0] for _ in range(sentence.proposals)]
        except BatchTooLarge:
            raise self._too_late() from None
        return [sentence.read_case(text) for each in contents for text in protocol.read_texts(each)]

    def _too_late(self) -> ModelTimeout:
        """The error for a server that is too slow for a single question."""
        return ModelTimeout(
            f"{self.settings.url} does not answer about one row within {self.settings.timeout:g} seconds"
        )

    def _receive(
        self, batch: list[bytes], future: Future[tuple[list[Any], float]], keep: bool
    ) -> dict[bytes, Any]:
        """The answers to a request; keep them, and fit the size of batches to the time they took."""
        values, seconds = future.result()
        answers = dict(zip(batch, values, strict=True))
        if keep:
            self.cache.add(answers)
        if len(batch) >= self._batch or seconds > BATCH_SECONDS:
            growth = min(2.0, max(0.5, BATCH_SECONDS / max(seconds, 1e-3)))
            self._batch = min(self.settings.max_batch, max(1, round(len(batch) * growth)))
        return answers

    def _halve_batches(self, batch: list[bytes]) -> None:
        """Ask about half as many rows at a time; raise if a request about one row was too large or slow."""
        if len(batch) == 1:
            raise self._too_late()
        self._batch = max(1, len(batch) // 2)


def _restore_endpoint(
    settings: EndpointSettings, folder: Path | None, classes: tuple[Any, ...] | None
) -> Endpoint:
    """An endpoint that was pickled; credentials come from the environment again."""
    endpoint = Endpoint(settings, folder)
    endpoint.classes_ = classes
    return endpoint
