"""Models that are elsewhere: they can be asked about rows, at a price, and not be looked into."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from hornbook.models.outputs import Output
from hornbook.models.predictor import Predictor

_anew: ContextVar[bool] = ContextVar("ask_anew", default=False)


@contextmanager
def ask_anew() -> Iterator[None]:
    """Ask models anew inside this context, although their answers are kept, to see whether they change.

    Examples
    --------
    >>> with ask_anew():
    ...     print(is_asked_anew())
    True

    """
    token = _anew.set(True)
    try:
        yield
    finally:
        _anew.reset(token)


def is_asked_anew() -> bool:
    """Whether kept answers are to be left aside."""
    return _anew.get()


class RemoteModel(ABC):
    """A model that keeps its answers, such as one behind an endpoint.

    Attributes
    ----------
    name
        Its name in messages.
    classes_
        Its classes; None until they are given or found.

    """

    name: str
    classes_: tuple[Any, ...] | None

    @abstractmethod
    def find_classes(self, rows: Any) -> None:
        """Learn the classes from the answers about rows, unless they are known."""

    @abstractmethod
    def adapt(self, name: str, positive: Any, output: Output | None) -> Predictor:
        """The model as a predictor."""

    @abstractmethod
    def describe(self) -> dict[str, Any]:
        """What decisions depend on besides rows, ready for JSON."""

    @abstractmethod
    def describe_requests(self) -> str:
        """What it was asked so far, in a line."""
