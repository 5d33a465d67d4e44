"""The HCC survival dataset: 165 patients, 49 features, many holes. Never bundled.

References
----------
M. S. Santos, P. H. Abreu, P. J. García-Laencina, A. Simão, A. Carvalho. HCC Survival.
UCI Machine Learning Repository, 2017.

"""

from __future__ import annotations

import re
from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from zipfile import BadZipFile, ZipFile

import pandas as pd

from hornbook.data.delimited import Grid, read_delimited
from hornbook.data.download import cached_download
from hornbook.data.hcc_features import FEATURES, LABEL
from hornbook.data.table import Table, read_table
from hornbook.logic.errors import HornbookError

URL = "https://archive.ics.uci.edu/ml/machine-learning-databases/00423/hcc-survival.zip"
MEMBER = "hcc-data.txt"
"""The data in the archive: comma-separated, without a header."""

LABEL_HEADINGS = ("1survives0dies", "class", "classattribute", LABEL)


def hcc(path: str | PathLike[str] | None = None, url: str = URL) -> Table:
    """The patients, with short column names and the class `survives`.

    Parameters
    ----------
    path
        A copy of the data: the archive, the text in it, or a CSV file with a header. Without
        one it is downloaded, once.
    url
        Where to download the archive from.

    """
    source = Path(path) if path is not None else cached_download(url)
    if not source.is_file():
        raise HornbookError(f"there is no file {str(source)!r}")
    try:
        grid = _read(_text(source))
    except HornbookError as error:
        raise HornbookError(f"{source.name} is not the HCC dataset: {error}") from None
    frame = pd.DataFrame(grid.rows, columns=[*(feature.name for feature in FEATURES), LABEL], dtype=object)
    kinds = {feature.name: feature.kind for feature in FEATURES}
    return read_table(frame, label=LABEL, kinds=kinds, name="hcc")


def _text(path: Path) -> str:
    try:
        if path.suffix.lower() != ".zip":
            return path.read_text("utf-8-sig")
        with ZipFile(path) as archive:
            member = next((name for name in archive.namelist() if name.rsplit("/", 1)[-1] == MEMBER), None)
            if member is None:
                raise HornbookError(f"the archive has no {MEMBER}")
            return archive.read(member).decode("utf-8-sig")
    except (BadZipFile, UnicodeDecodeError) as error:
        raise HornbookError(str(error)) from None


def _read(text: str) -> Grid:
    """The values, with or without a header; its headings are checked."""
    first = text.lstrip().partition("\n")[0]
    if re.match(r"[\d?]", first.split(",")[0]) and not re.search(r"[A-Za-z]{3}", first):
        return read_delimited(text, ",", [*(feature.heading for feature in FEATURES), LABEL])
    grid = read_delimited(text, ",")
    _check_headings(grid.names)
    return grid


def _check_headings(names: Sequence[str]) -> None:
    expected = [*([_letters(feature.heading)] for feature in FEATURES), list(LABEL_HEADINGS)]
    if len(names) != len(expected):
        raise HornbookError(f"it has {len(names)} columns, not {len(expected)}")
    for number, (name, allowed) in enumerate(zip(names, expected, strict=True), 1):
        if _letters(name) not in allowed:
            raise HornbookError(f"column {number} is called {name!r}, not {allowed[0]!r}")


def _letters(name: str) -> str:
    """A heading reduced to what spacing, case and underscores do not change."""
    return re.sub(r"[^a-z0-9]", "", name.lower())
