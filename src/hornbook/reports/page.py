"""Pages: one file each, that reads nothing from anywhere."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Sequence
from functools import cache
from importlib import resources
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from hornbook.reports.svg import svg
from hornbook.reports.wording import duration, interval, percent, short

TEMPLATES = resources.files("hornbook.reports") / "templates"


def render(template: str, /, *, title: str, scripts: Sequence[str] = (), **content: Any) -> str:
    """A page from a template that extends `base.html`.

    Whatever is put into a template is shown as text. A page runs the scripts named here and no
    others: its security policy lists their hashes and forbids every connection.

    Parameters
    ----------
    template
        The name of a file beside `base.html`.
    title
        The title of the page.
    scripts
        The names of script files beside `base.html`, in the order in which they run.
    content
        What else the template speaks of.

    Examples
    --------
    >>> page = render("base.html", title="<b>Rules</b>")
    >>> "<title>&lt;b&gt;Rules&lt;/b&gt;</title>" in page
    True

    """
    program = "\n".join(source(name) for name in scripts)
    digest = base64.b64encode(hashlib.sha256(program.encode()).digest()).decode()
    return (
        _environment()
        .get_template(template)
        .render(
            title=title,
            program=Markup(program),
            policy=f"'sha256-{digest}'" if program else "'none'",
            **content,
        )
        + "\n"
    )


@cache
def source(name: str) -> str:
    """A file beside the templates, to be put into a page as it is."""
    return (TEMPLATES / name).read_text("utf-8")


def as_data(value: Any) -> Markup:
    r"""JSON that can stand inside a script element, whatever strings it holds.

    Examples
    --------
    >>> print(as_data({"name": "</script><b>"}))
    {"name":"\u003c/script>\u003cb>"}

    """
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return Markup(text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029"))


def unbroken(text: str) -> str:
    """The text with no line break before a unit."""
    return re.sub(" (%|s|min|h)(?![a-z])", "\N{NO-BREAK SPACE}\\1", text)


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("hornbook.reports"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(
        percent=lambda share: unbroken(percent(share)),
        interval=lambda share: unbroken(interval(share)),
        count="{:,}".format,
        short=short,
        duration=lambda seconds: unbroken(duration(seconds)),
        data=as_data,
        unbroken=unbroken,
    )
    environment.globals.update(svg=svg, style=lambda name: Markup(source(name)))
    return environment
