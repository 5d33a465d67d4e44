"""The report of an extraction: one self-contained page, and a fragment for notebooks.

Other pages extend `templates/base.html` and are rendered by `render_page`.
"""

from hornbook.report.content import format_percent
from hornbook.report.drawings import write_svg
from hornbook.report.page import render_page, to_diff_html, to_html, to_notebook

__all__ = [
    "format_percent",
    "render_page",
    "to_diff_html",
    "to_html",
    "to_notebook",
    "write_svg",
]
