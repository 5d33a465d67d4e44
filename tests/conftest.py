"""What several test modules share."""

import pytest
from browser import chromium
from hypothesis import settings

# laws hold however busy the machine is; how long a test takes is for benchmarks to say
settings.register_profile("hornbook", deadline=None)
settings.load_profile("hornbook")


def pytest_collection_modifyitems(items):
    """Mark the tests that use a browser."""
    for item in items:
        if "browser" in getattr(item, "fixturenames", ()):
            item.add_marker("browser")


@pytest.fixture(scope="session")
def browser():
    """One browser for all pages; tests that change its settings set them back."""
    with chromium() as started:
        yield started
