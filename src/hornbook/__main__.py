"""`python -m hornbook`, and the command `hornbook`."""

from __future__ import annotations

import sys
from signal import SIGTERM, default_int_handler, signal


def main() -> None:
    """Run the command line; an interrupt while it is imported, which takes a second, is one line too."""
    signal(SIGTERM, default_int_handler)
    try:
        from hornbook.cli import main as run_command_line
    except KeyboardInterrupt:
        print("hornbook: interrupted", file=sys.stderr)
        sys.exit(130)
    run_command_line()


if __name__ == "__main__":
    main()
