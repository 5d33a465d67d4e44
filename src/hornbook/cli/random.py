"""`hornbook random`."""

from __future__ import annotations

from typing import Annotated

import typer

from hornbook.cli.app import SeedOption, app
from hornbook.errors import HornbookError


@app.command("random")
def random_command(
    variables: Annotated[int, typer.Option(min=1, help="Number of variables.")] = 20,
    rules: Annotated[int, typer.Option(min=0, help="Number of rules.")] = 10,
    body: Annotated[str, typer.Option(help="Number of conditions per rule: a number or a range.")] = "2-4",
    seed: SeedOption = 0,
) -> None:
    """Print a random theory, as input for `hornbook learn`.

    Example:
      hornbook random --variables 100 --rules 50 --body 2-4 --seed 1 > target.horn

    """
    from hornbook.logic import random_theory
    from hornbook.randomness import Purpose, generator

    shortest, _, longest = body.partition("-")
    if not shortest.isdigit() or not (longest or shortest).isdigit():
        raise HornbookError(f"--body {body!r}: expected a length or a range, such as 3 or 2-4")
    lengths = int(shortest), int(longest or shortest)
    print(random_theory(variables, rules, lengths, generator(seed, Purpose.RANDOM_THEORY)).to_text(), end="")
