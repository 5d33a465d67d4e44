"""`hornbook datasets`."""

from __future__ import annotations

from hornbook.cli.app import JsonOption, app, emit, emit_json


@app.command()
def datasets(
    as_json: JsonOption = False,
) -> None:
    """List the datasets that can be named instead of a file.

    Examples:
      hornbook datasets

      hornbook extract breast-cancer --train

    """
    from hornbook.tables import DATASETS

    if as_json:
        emit_json(DATASETS)
        return
    width = max(map(len, DATASETS))
    emit("\n".join(f"{name:<{width}}  {about}" for name, about in DATASETS.items()))
