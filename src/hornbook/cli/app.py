"""The Typer application, and how its commands print their help."""

from __future__ import annotations

import inspect
import re
from collections import defaultdict
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

import hornbook
from hornbook.cli.options import GROUPS

ASK, USE, THEORIES = "Ask a model", "Use a run", "Theories"
"""The groups of commands."""


class HelpfulCommand(TyperCommand):
    """A command whose help has its options in groups, by what a user wants."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write usage, what the command does, its options in groups, and examples."""
        about, _, examples = inspect.cleandoc(self.help or "").partition("\n\nExample")
        self.format_usage(ctx, formatter)
        formatter.write_paragraph()
        formatter.write_text(about)
        by_group = defaultdict(list)
        for each in self.params:
            group = getattr(each, "rich_help_panel", None) or "Arguments"
            by_group[group].append(each.get_help_record(ctx))
        for group in ("Arguments", *GROUPS):
            if group in by_group:
                with formatter.section(group):
                    formatter.write_dl(by_group[group])
        with formatter.section("Examples"):
            for line in re.findall(r"hornbook .*", examples):
                formatter.write(f"  {line}\n")


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
