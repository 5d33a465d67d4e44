"""Reports: what is on the page, whatever the names are."""

import re
import xml.etree.ElementTree as ElementTree
from html import unescape

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sample_reports import make_extraction, make_tree

from hornbook.extraction import Fidelity, FrontierPoint
from hornbook.report import to_html
from hornbook.report.drawings import HEIGHT, WIDTH, FrontierChart, even_ticks
from hornbook.statistics import Share

finite = st.floats(-1e9, 1e9, allow_subnormal=False)


@given(finite, finite)
def test_ticks_span_what_is_plotted(one, other):
    low, high = sorted((one, other))
    ticks = even_ticks(low, high)
    slack = 1e-6 * max(abs(low), abs(high), 1e-3)
    assert ticks == sorted(set(ticks)) and 2 <= len(ticks) <= 8
    assert ticks[0] <= low + slack and ticks[-1] >= high - slack


def test_a_picture_is_wellformed_and_stays_in_its_frame():
    shares = Share.of(50, 100), Share.of(70, 100), Share.of(95, 100)
    frontier = [FrontierPoint(size, Fidelity(share)) for size, share in zip((1, 3, 200), shares, strict=True)]
    picture = ElementTree.fromstring(FrontierChart.of(frontier).draw())
    circles = [element for element in picture.iter() if element.tag == "circle"]
    assert len(circles) == 3
    assert all(0 < float(c.get("cx")) < WIDTH and 0 < float(c.get("cy")) < HEIGHT for c in circles)
    heights = [float(c.get("cy")) for c in circles]
    assert heights == sorted(heights, reverse=True)


@pytest.mark.parametrize("sizes", [(), (0,), (3, 3), (1, 2, 20)])
@pytest.mark.parametrize("unseen", [None, Share.of(0, 0), Share.of(9, 10)])
def test_short_frontiers_are_drawn_too(sizes, unseen):
    frontier = [FrontierPoint(size, Fidelity(Share.of(5, 10), unseen)) for size in sizes]
    ElementTree.fromstring(FrontierChart.of(frontier).draw(mark=3))


def test_page_has_a_strict_policy_and_loads_nothing():
    page = to_html(make_extraction(make_tree()))
    policy = re.search(r'<meta http-equiv="Content-Security-Policy" content="([^"]*)"', page)[1]
    parts = dict(part.strip().split(" ", 1) for part in unescape(policy).split(";"))
    assert parts["default-src"] == parts["base-uri"] == parts["form-action"] == "'none'"
    assert all(source.startswith("'sha256-") for source in parts["script-src"].split())
    assert not re.search(r"""(?:src|href|action)\s*=\s*["']?(?:https?:)?//""", page)
