"""The Typer application."""

from __future__ import annotations

from typing import Annotated

import typer

import hornbook

app = typer.Typer(
    help="Explain a trained model by rules, a score card or a tree.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)


def _version(value: bool) -> None:
    if value:
        print(f"hornbook {hornbook.__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None: ...
