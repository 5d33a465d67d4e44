"""Names of a package that are imported when they are first used."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from typing import Any


def load_lazily(package: str, names: Mapping[str, Iterable[str]]) -> Callable[[str], Any]:
    """Make the `__getattr__` of a package, so that what takes long to import is loaded when it is used.

    Parameters
    ----------
    package
        The package.
    names
        For each of its modules, the names that come from it.

    Examples
    --------
    >>> get = load_lazily("hornbook.logic", {"rule": ["Rule"]})
    >>> get("Rule").__name__
    'Rule'
    >>> get("Role")
    Traceback (most recent call last):
    AttributeError: module 'hornbook.logic' has no attribute 'Role'

    """
    homes = {name: module for module, several in names.items() for name in several}

    def get_attribute(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(import_module(f"{package}.{homes[name]}"), name)

    return get_attribute
