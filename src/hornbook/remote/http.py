"""Requests to a server that may be slow, throttle or lose connections."""

from __future__ import annotations

import json
import random
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

from hornbook.deadline import Deadline, Stopwatch
from hornbook.errors import HornbookError, ModelError, ModelTimeout, library
from hornbook.remote.settings import EndpointSettings
from hornbook.storage import parse_json

NO_CONNECTION, LOST_CONNECTION = 0, 1
"""Stand for a status where a server takes no connection, or ends it without an answer."""

BUSY_STATUSES = (NO_CONNECTION, 429, 503)
"""Statuses of a server that may answer any request later."""

RETRIED_STATUSES = (*BUSY_STATUSES, LOST_CONNECTION, 500, 502, 504)
"""Statuses that may be gone when the same request is repeated."""

FAILURE_RETRIES = 2
"""How often a request is repeated after status 500, which many servers give for rows they cannot read, and
how often a first one is where no server answers."""

FIRST_DELAY, MAX_DELAY = 0.25, 30.0
"""Seconds before the first repetition, and the most; they double in between, and vary by half."""

MAX_RETRY_AFTER = 600.0
"""The longest wait, in seconds, that a server may ask for."""

MAX_REPEATED_TEXT = 300
"""Characters of a server's own message that an error repeats."""


class BatchTooLarge(Exception):
    """A server does not take, or not in time, as many rows as a request has."""


@dataclass(frozen=True)
class Response:
    """The response to a request.

    Parameters
    ----------
    status, text
        Its status and its body.
    seconds
        The time that it took, without that of earlier attempts.
    retry_after
        For how many seconds the server wants to be left alone.

    """

    status: int
    text: str
    seconds: float = 0.0
    retry_after: float = 0.0


class HttpClient:
    """Sends requests to a server, from several threads: with credentials, a timeout and repetitions.

    A server that is busy or loses the connection is asked again after a delay that doubles each
    time, or after the one that it asks for: then all requests wait.

    Parameters
    ----------
    settings
        The headers, the timeout and the number of repetitions.

    Attributes
    ----------
    requests, repetitions
        How many requests were sent, and how many of them repeat another one.

    """

    def __init__(self, settings: EndpointSettings) -> None:
        self.settings = settings
        self.requests = self.repetitions = 0
        self._urllib3 = library("urllib3", "http")
        self._headers = {
            "Content-Type": "application/json",
            "Accept": "application/json",
            **settings.find_headers(),
        }
        self._secrets = settings.list_secrets()
        self._pool = self._open_pool()
        self._lock = threading.Lock()
        self._quiet = Deadline.after(0)
        self._stopped = threading.Event()
        self._is_found = False

    def post(self, url: str, value: Any) -> tuple[Any, float]:
        """The JSON value in answer to another one, and the seconds that it took.

        `BatchTooLarge` is raised if it does not come in time, or is refused for its length; any other
        answer than a successful one is an error.
        """
        response = self._repeat(url, json.dumps(value, ensure_ascii=False).encode("utf-8", "replace"))
        if response.status != 200:
            raise self._error(response, url)
        try:
            return parse_json(response.text), response.seconds
        except HornbookError as error:
            raise ModelError(f"{url} answered with something else than JSON: {error}") from None

    @contextmanager
    def without_repetitions(self) -> Iterator[None]:
        """Repeat no requests inside: their next answer counts, whatever it is."""
        self._stopped.set()
        try:
            yield
        finally:
            self._stopped.clear()

    def _repeat(self, url: str, body: bytes) -> Response:
        """Send a request until it is answered, or repeated as often as may be."""
        attempt = 0
        while True:
            self._stopped.wait(self._quiet.left)
            response = self._send(url, body)
            retries = self.settings.retries if response.status in RETRIED_STATUSES else 0
            self._is_found |= response.status != NO_CONNECTION
            most = min(FAILURE_RETRIES, retries) if response.status == 500 or not self._is_found else retries
            if attempt >= most or self._stopped.is_set():
                return response
            delay = min(FIRST_DELAY * 2**attempt, MAX_DELAY) * (0.5 + random.random())
            if response.retry_after:
                self._quiet = Deadline.after(response.retry_after)
            self._stopped.wait(max(delay, response.retry_after))
            attempt += 1
            with self._lock:
                self.repetitions += 1

    def _send(self, url: str, body: bytes) -> Response:
        errors, clock = self._urllib3.exceptions, Stopwatch()
        with self._lock:
            self.requests += 1
        try:
            answer = self._pool.request(
                "POST",
                url,
                body=body,
                headers=self._headers,
                timeout=self.settings.timeout,
                retries=False,
                redirect=False,
            )
        except errors.ReadTimeoutError:
            raise BatchTooLarge from None
        except errors.LocationValueError as error:
            raise HornbookError(f"{url} is not a URL: {error}") from None
        except (errors.ConnectTimeoutError, errors.NewConnectionError, errors.ProxyError) as error:
            return Response(NO_CONNECTION, _describe_failure(error))
        except (errors.HTTPError, OSError) as error:
            return Response(LOST_CONNECTION, _describe_failure(error))
        if answer.status == 413:
            raise BatchTooLarge
        return Response(
            answer.status,
            answer.data.decode("utf-8", "replace"),
            clock.elapsed,
            self._read_retry_after(answer.headers.get("Retry-After")),
        )

    def _read_retry_after(self, header: str | None) -> float:
        """The seconds that a header names, or those until the date that it names."""
        if header is None:
            return 0.0
        try:
            seconds = float(self._urllib3.Retry().parse_retry_after(header))
        except self._urllib3.exceptions.InvalidHeader:
            return 0.0
        return min(max(0.0, seconds), MAX_RETRY_AFTER)

    def _open_pool(self) -> Any:
        """Connections that are used again; through the proxy of the environment, if there is one."""
        parts = urlsplit(self.settings.url)
        proxy = getproxies().get(parts.scheme)
        if proxy is None or proxy_bypass(str(parts.hostname)):
            return self._urllib3.PoolManager(maxsize=self.settings.in_flight)
        return self._urllib3.ProxyManager(proxy, maxsize=self.settings.in_flight)

    def _error(self, response: Response, url: str) -> ModelError:
        """The error for a response; a busy server is late (`ModelTimeout`), and has refused nothing."""
        status = response.status
        if status == NO_CONNECTION:
            return ModelTimeout(f"cannot reach {self.settings.url}: {response.text}; is the server running?")
        if status == LOST_CONNECTION:
            return ModelError(f"{url} ends the connection without an answer: {response.text}")
        if status in BUSY_STATUSES:
            return ModelTimeout(
                f"{url} is too busy (status {status}), also after {self.settings.retries} retries"
            )
        return ModelError(f"{url} answered with status {status}: {self._quote(response.text)}")

    def _quote(self, text: str) -> str:
        """The beginning of a server's text, on one line and without credentials."""
        for secret in self._secrets:
            text = text.replace(secret, "…")
        line = " ".join(text.split())
        return line if len(line) <= MAX_REPEATED_TEXT else f"{line[:MAX_REPEATED_TEXT]}…"


def _describe_failure(error: Exception) -> str:
    """Why there is no connection, in words that hold neither addresses nor credentials."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, OSError) and cause.strerror:
            return cause.strerror.lower()
        cause = cause.__cause__ or cause.__context__
    words = "".join(f" {each.lower()}" if each.isupper() else each for each in type(error).__name__)
    return words.strip().removesuffix(" error")
