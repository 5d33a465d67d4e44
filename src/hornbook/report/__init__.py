"""The report of an extraction: one self-contained page, and a fragment for notebooks.

Other pages extend `templates/base.html` and are rendered by `render_page`.
"""

from hornbook.report.content import explain_guarantee, format_percent
from hornbook.report.drawings import Chart, Dot, Series, frontier_chart, to_svg, write_svg
from hornbook.report.page import render_page, to_diff_html, to_html, to_notebook

__all__ = [
    "Chart",
    "Dot",
    "Series",
    "explain_guarantee",
    "format_percent",
    "frontier_chart",
    "render_page",
    "to_diff_html",
    "to_html",
    "to_notebook",
    "to_svg",
    "write_svg",
]
