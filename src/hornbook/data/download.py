"""Downloads kept in a cache, with a checksum that later loads are held to."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

from hornbook.logic.errors import HornbookError

TIMEOUT = 30
"""Seconds to wait for a server."""


def cache_folder() -> Path:
    """Where downloads are kept: `HORNBOOK_CACHE`, or `hornbook` in the user's cache folder."""
    if chosen := os.environ.get("HORNBOOK_CACHE"):
        return Path(chosen)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "hornbook"


def cached_download(url: str, folder: Path | None = None) -> Path:
    """The file behind a URL, downloaded once.

    The checksum of the first download is kept beside the file, and every later load must
    match it.
    """
    path = (folder or cache_folder()) / url.rsplit("/", 1)[-1]
    record = path.with_name(path.name + ".sha256")
    if path.exists() and record.exists():
        if _checksum(path.read_bytes()) != record.read_text().strip():
            raise HornbookError(
                f"{str(path)!r} has changed since it was downloaded; delete it to get it anew"
            )
        return path
    content = _content(url)
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(path.name + ".part")
    partial.write_bytes(content)
    partial.replace(path)
    record.write_text(_checksum(content) + "\n")
    return path


def _content(url: str) -> bytes:
    try:
        with urlopen(url, timeout=TIMEOUT) as response:
            content: bytes = response.read()
    except (URLError, OSError, ValueError) as error:
        raise HornbookError(f"could not download {url}: {error}; give the path of a copy instead") from None
    return content


def _checksum(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
