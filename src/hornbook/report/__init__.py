"""Reports that people read: what one contains, and one self-contained page of it.

`content.Report` is what an extraction has to say; `html.to_html` makes a page of it. Other pages
extend `templates/base.html` and are rendered by `page.render`.
"""

from __future__ import annotations
