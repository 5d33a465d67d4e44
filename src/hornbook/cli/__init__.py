"""The command line, one module per command."""

from __future__ import annotations

import sys

from hornbook.cli import (
    check,
    compare,
    datasets,
    explain,
    extract,
    learn,
    predict,
    query,
    random,
    reproduce,
    show,
    verify,
)
from hornbook.cli.app import app
from hornbook.errors import HornbookError

__all__ = [
    "app",
    "check",
    "compare",
    "datasets",
    "explain",
    "extract",
    "learn",
    "main",
    "predict",
    "query",
    "random",
    "reproduce",
    "show",
    "verify",
]


def main() -> None:
    """Run the command line; an error is one line on stderr and exit code 2."""
    try:
        app()
    except HornbookError as error:
        print(f"hornbook: {error}", file=sys.stderr)
        sys.exit(2)
    except KeyboardInterrupt:
        print("hornbook: interrupted", file=sys.stderr)
        sys.exit(130)
