"""The command line, one module per command."""

from __future__ import annotations

import sys
import warnings
from io import TextIOWrapper
from signal import SIG_DFL, SIGTERM, default_int_handler, signal
from tempfile import NamedTemporaryFile
from traceback import format_exception
from typing import Any, NoReturn
from warnings import catch_warnings

from typer import BadParameter

from hornbook.cli import (
    check,
    compare,
    diff,
    extract,
    learn,
    predict,
    reproduce,
    show,
    verify,
    why,
)
from hornbook.cli.app import app
from hornbook.cli.output import Interrupted, close_stream, print_remark
from hornbook.errors import HornbookError, ModelError

__all__ = [
    "app",
    "check",
    "compare",
    "diff",
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

    Exit code 1 says that a property is broken, a share is above the tolerance, or a run is not verified,
    and nothing else. Bad input is one line on stderr and exit code 2, a model that fails one line and exit
    code 3, a fault of ours one line and exit code 4, an interrupt one line and exit code 130. A request to
    terminate is like an interrupt. A reader of the output that wants no more of it, such as `head`, is no
    error.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a terminal may not have all characters
    before = signal(SIGTERM, default_int_handler)
    try:
        try:
            with catch_warnings():
                warnings.showwarning = print_warning  # type: ignore[assignment]
                code = app(standalone_mode=False)
        finally:
            signal(SIGTERM, before or SIG_DFL)  # processes that are forked later end by it as others do
            sys.stdout.flush()
        if code == INTERRUPT_CODE:  # Typer says nothing of interrupts
            fail("interrupted", INTERRUPT_CODE)
        sys.exit(code)
    except SystemExit as ended:
        if isinstance(ended.__context__, BrokenPipeError):  # of which Typer makes exit code 1
            end_unread()
        raise
    except UsageError as error:
        if error.__class__.__name__ == "NoArgsIsHelpError":  # which has printed the help
            sys.exit(error.exit_code)
        message = " ".join(error.format_message().split()).rstrip(".").replace("Value error, ", "")
        command = error.ctx.command_path.rpartition("hornbook")[2] if error.ctx else ""
        fail(f"{message}; see hornbook{command} --help", 2)
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
    except Exception as error:
        fail(f"this is a fault of hornbook, please report it: {describe_fault(error)}", FAULT_CODE)


def print_warning(message: Warning | str, category: type[Warning], *place: Any) -> None:
    """Print what a model or a library warns of as one line, without the line of code that did it."""
    print_remark(f"{category.__name__}: {' '.join(str(message).split())}"[:MAX_FAULT_LENGTH])


FAULT_CODE = 4
"""The exit code of a command that fails although neither its input nor the model is to blame."""


UsageError: Any = BadParameter.__mro__[1]  # which Typer does not export

INTERRUPT_CODE = 130
"""The exit code that a shell expects of a command that was interrupted."""


def describe_fault(error: Exception) -> str:
    """The error in one line, and where its traceback was written."""
    text = " ".join(f"{type(error).__name__}: {error}".split())[:MAX_FAULT_LENGTH]
    try:
        with NamedTemporaryFile("w", prefix="hornbook-", suffix=".txt", delete=False) as file:
            file.write("".join(format_exception(error)))
    except OSError:
        return text
    return f"{text} (the traceback is in {file.name})"


MAX_FAULT_LENGTH = 200
"""Characters of an unexpected error, or of a warning, that are shown."""


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
