"""Memory is estimated before it is taken: what cannot fit is refused with the number that would."""

from __future__ import annotations

import os
from pathlib import Path

from hornbook.errors import HornbookError


def refuse_beyond_memory(count: int, bytes_each: int, what: str) -> None:
    """Refuse so many things of so many bytes if there is no room for them.

    Examples
    --------
    >>> refuse_beyond_memory(1000, 800, "samples")
    >>> refuse_beyond_memory(10**14, 800, "samples")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    hornbook.errors.HornbookError: 100,000,000,000,000 samples take about 74,505,806 GiB of memory, and ...

    """
    free = available_memory()
    if free is not None and count * bytes_each > free:
        raise HornbookError(
            f"{count:,} {what} take about {count * bytes_each / (1 << 30):,.0f} GiB of memory, and "
            f"{free / (1 << 30):,.1f} GiB are free; ask for at most {free // bytes_each:,}"
        )


def available_memory() -> int | None:
    """The bytes that this process can still take; None where the system does not say."""
    overview = Path("/proc/meminfo")
    if overview.exists():
        for line in overview.read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return 1024 * int(line.split()[1])
    try:
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return None
