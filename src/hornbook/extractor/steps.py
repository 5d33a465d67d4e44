"""The candidates of a search, noted down as they come."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

from hornbook.classify.candidate import Point

Watch: TypeAlias = Callable[[dict[str, Any]], None]
"""Is called with what just happened, ready for JSON."""


class Steps:
    """Called with every candidate, it keeps an entry, writes a line and tells a watcher.

    Parameters
    ----------
    path
        A file that gets a line for each, as it happens; None for none.
    watch
        Is called with each entry.

    """

    def __init__(self, path: Path | None = None, watch: Watch | None = None) -> None:
        self.path, self.watch = path, watch
        self.entries: list[dict[str, Any]] = []
        self.started = time.perf_counter()
        if path is not None:
            path.write_text("", "utf-8")

    def __call__(self, point: Point) -> None:
        """Note a candidate."""
        entry = {
            "candidate": len(self.entries) + 1,
            "form": point.form,
            "rules": point.rules,
            "literals": point.literals,
            "fidelity": point.fidelity.estimate,
            "interval": [point.fidelity.low, point.fidelity.high],
            "undetermined": point.undetermined.estimate,
            "seconds": round(time.perf_counter() - self.started, 6),
        }
        self.entries.append(entry)
        if self.path is not None:
            with self.path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(entry, ensure_ascii=False) + "\n")
        if self.watch is not None:
            self.watch(entry)
