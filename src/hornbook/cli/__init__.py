"""The command line, one module per command."""

from __future__ import annotations

import sys
from io import TextIOWrapper
from signal import SIG_DFL, SIGTERM, default_int_handler, signal
from typing import NoReturn

from hornbook.cli import (
    check,
    compare,
    diff,
    explain,
    extract,
    learn,
    predict,
    reproduce,
    show,
    verify,
    why,
)
from hornbook.cli.app import app
from hornbook.cli.output import Interrupted, close_stream
from hornbook.errors import HornbookError, ModelError

__all__ = [
    "app",
    "check",
    "compare",
    "diff",
    "explain",
    "extract",
    "learn",
    "main",
    "predict",
    "reproduce",
    "show",
    "verify",
    "why",
]


def main() -> None:
    """Run the command line.

    Bad input is one line on stderr and exit code 2, a model that fails one line and exit code 3, an
    interrupt one line and exit code 130. A request to terminate is like an interrupt. A reader of the
    output that wants no more of it, such as `head`, is no error.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a terminal may not have all characters
    before = signal(SIGTERM, default_int_handler)
    try:
        try:
            app()
        finally:
            signal(SIGTERM, before or SIG_DFL)  # processes that are forked later end by it as others do
            sys.stdout.flush()
    except SystemExit as ended:
        if isinstance(ended.__context__, BrokenPipeError):  # of which Typer makes exit code 1
            end_unread()
        if ended.code == INTERRUPT_CODE:  # Typer says nothing of interrupts
            fail("interrupted", INTERRUPT_CODE)
        raise
    except BrokenPipeError:
        end_unread()
    except Interrupted as advice:
        fail(f"interrupted; {advice}", INTERRUPT_CODE)
    except ModelError as error:
        fail(f"the model failed: {error}", 3)
    except HornbookError as error:
        fail(str(error), 2)
    except MemoryError as error:
        fail(f"there is not enough memory{f': {error}' if str(error) else ''}; ask for fewer samples", 2)
    except OSError as error:
        close_stream(sys.stdout)  # perhaps it is what cannot be written to
        fail(f"{error.filename or 'standard output'}: {error.strerror or error}", 2)
    except KeyboardInterrupt:
        fail("interrupted", INTERRUPT_CODE)


INTERRUPT_CODE = 130
"""The exit code that a shell expects of a command that was interrupted."""


def end_unread() -> NoReturn:
    """Exit quietly: nobody reads the output any more."""
    close_stream(sys.stdout)
    sys.exit(0)


def fail(message: str, code: int) -> NoReturn:
    """Print one line on stderr, and exit."""
    try:
        print(f"hornbook: {message}", file=sys.stderr, flush=True)
    except OSError:
        close_stream(sys.stderr)
    sys.exit(code)
