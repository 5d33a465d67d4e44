"""Real headless Chromium, for pages that are read in a browser."""

import json
import shutil
import tempfile
from contextlib import contextmanager
from pathlib import Path

import pytest

FLAGS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--hide-scrollbars",
    "--force-prefers-reduced-motion",
)


@contextmanager
def chromium(*flags):
    """A browser with an empty profile; the test is skipped where there is none."""
    program, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if not program or not driver:
        pytest.skip("needs chromium and chromedriver (Debian: apt-get install chromium chromium-driver)")
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    options.binary_location = program
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        for flag in (*FLAGS, *flags, f"--user-data-dir={profile}"):
            options.add_argument(flag)
        browser = webdriver.Chrome(options, webdriver.ChromeService(driver))
        try:
            browser.set_window_size(1280, 900)
            yield browser
        finally:
            browser.quit()


def show(browser, page: str, folder: Path) -> None:
    """Open a page from a file."""
    path = folder / "page.html"
    path.write_text(page, "utf-8")
    browser.get(path.as_uri())


def complaints(browser) -> list[str]:
    """What the browser had to say about the page: errors, refused scripts, failed requests."""
    return [entry["message"] for entry in browser.get_log("browser")]


def requests(browser) -> list[str]:
    """The addresses that the browser asked for."""
    events = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]
    return [e["params"]["request"]["url"] for e in events if e["method"] == "Network.requestWillBeSent"]
