"""Work for other processes, in a module that they import quickly."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

from hornbook.errors import HornbookError


def judge(weights: bytes, item: int) -> tuple[int, int]:
    return item * item + len(weights), os.getpid()


def die(item: int) -> int:
    if item == 4:
        os.kill(os.getpid(), signal.SIGKILL)
    return item


def fail(item: int) -> int:
    if item == 3:
        raise HornbookError("item 3 makes no sense")
    return item


def wait_with_pid(folder: str) -> None:
    """Leave the number of the process in a folder, and work for a minute."""
    Path(folder, str(os.getpid())).touch()
    time.sleep(60)
