"""The report of an extraction: its content, its charts, and a self-contained HTML page.

`content.Report` holds the content; `page.to_html` makes a page of it. Other pages extend
`templates/base.html` and are rendered by `page.render_page`.
"""

from __future__ import annotations
