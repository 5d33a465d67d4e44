"""What several test modules share."""

import pytest
from browser import chromium


@pytest.fixture(scope="session")
def browser():
    """One browser for all pages; tests that change its settings set them back."""
    with chromium() as started:
        yield started
