"""The Typer application, and how its commands print their help."""

from __future__ import annotations

import inspect
import re
from collections import defaultdict
from collections.abc import Iterator
from textwrap import fill
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.text import Text
from typer.core import TyperCommand, TyperGroup, TyperOption

import hornbook
from hornbook.cli.options import GROUPS

ASK, USE, THEORIES = "Ask a model", "Use a run", "Theories"
"""The groups of commands."""

COMMANDS = ("extract", "why", "check", "diff", "explain", "predict", "show", "compare", "verify", "learn")
"""The commands in the order of their help; others follow."""

MAX_HELP_WIDTH = 120
"""Columns of a terminal that help uses at the most."""

ARGUMENTS = "Arguments"
"""The group of what is given without a name, which stands before all options."""


class HelpfulCommand(TyperCommand):
    """A command whose help fits a screen: a line or two for each option, in groups by what a user wants."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Print usage, what the command does, its options in groups, and examples."""
        console = Console(highlight=False, soft_wrap=True)
        width = min(console.width, MAX_HELP_WIDTH)
        arguments = [_name(each) for each in self.params if not isinstance(each, TyperOption)]
        console.print(Text(" ".join(["Usage: hornbook", str(self.name), *arguments, "[OPTIONS]"]), "bold"))
        about, _, examples = inspect.cleandoc(self.help or "").partition("\n\nExample")
        console.print(Text(fill(" ".join(about.split()), width)))
        for group, lines in _list_options(self.params, width).items():
            console.print(Text(group, "bold"))
            for line in lines:
                console.print(_highlight(line))
        console.print(Text("Examples", "bold"))
        for line in re.findall(r"^ +hornbook .*$", examples, re.MULTILINE):
            console.print(Text(line))


def _list_options(params: list[Any], width: int) -> dict[str, list[str]]:
    """For each group the lines of its parameters; one without help shares the line before it."""
    own: dict[str, list[tuple[str, Any]]] = defaultdict(list)
    for each in params:
        group = own[getattr(each, "rich_help_panel", None) or ARGUMENTS]
        if each.help or not group:
            group.append((_name(each), each))
        else:
            group[-1] = f"{group[-1][0]}, {_name(each)}", group[-1][1]
    names = [name for group in own.values() for name, _ in group]
    indent = 4 + max(len(name) for name in names if len(name) <= MAX_NAME)
    return {
        group: [line for name, each in own[group] for line in _write_parameter(name, each, indent, width)]
        for group in (ARGUMENTS, *GROUPS)
        if group in own
    }


MAX_NAME = 22
"""Characters of an option's name beside which its help begins."""


def _name(param: Any) -> str:
    """The name of a parameter as it is typed, with a word for its value."""
    if not isinstance(param, TyperOption):
        name = param.name.upper()
        return name if param.required else f"[{name}]"
    name = ", ".join([*sorted(param.opts, key=len), *param.secondary_opts])
    return name if param.is_flag else f"{name} {_name_value(param)}"


def _name_value(param: Any) -> str:
    """A word for the value of an option: what a number counts needs none of its own."""
    kind = str(param.type_descriptor.annotation)
    word = next((word for part, word in VALUE_WORDS.items() if part in kind), "NAME")
    return str(param.metavar or word)


VALUE_WORDS = {"int": "N", "float": "X", "Path": "FILE"}
"""What stands for the values of a type of Python."""


def _write_parameter(name: str, param: Any, indent: int, width: int) -> Iterator[str]:
    """The lines of a parameter: its name, what it means, and its default."""
    text = param.help or ""
    default = getattr(param.default, "value", param.default)
    if default not in (None, False, True):
        text += f" [{default:g}]" if isinstance(default, float) else f" [{default}]"
    lines = fill(text, width - indent).split("\n")
    if len(name) + 4 > indent:
        yield f"  {name}"
        name = ""
    yield f"  {name:<{indent - 2}}{lines[0]}"
    yield from (" " * indent + line for line in lines[1:])


def _highlight(line: str) -> Text:
    """A line with the names of options in colour, where a terminal has colours."""
    text = Text(line)
    text.highlight_regex(r"^ +(--?[\w-]+(, )?)+", "cyan")
    return text


class OrderedGroup(TyperGroup):
    """The commands, the commonest first."""

    def list_commands(self, ctx: Any) -> list[str]:
        """The names of all commands."""
        names = super().list_commands(ctx)
        return [*COMMANDS, *(name for name in names if name not in COMMANDS)]


app = typer.Typer(
    cls=OrderedGroup,
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
