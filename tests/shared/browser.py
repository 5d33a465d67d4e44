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
    "--disable-features=RenderDocument,WebUIOmniboxPopup",  # a frame for each page, and what nobody opens
    "--hide-scrollbars",
    "--force-prefers-reduced-motion",
    "--window-size=1280,900",
)

EMPTY_START = {"session.restore_on_startup": 4, "session.startup_urls": ["about:blank"]}

IS_SHOWN = """
const options = { opacityProperty: true, visibilityProperty: true };
const isShown = (each) => each.checkVisibility(options) && each.getClientRects().length > 0;
"""

READ = (
    IS_SHOWN
    + r"""
const [selector, unfold] = arguments;
const folded = unfold ? [...document.querySelectorAll("details:not([open])")] : [];
const tidy = (text) => text.replace(/[\t\u00a0]/g, " ").replace(/ *\n+ */g, "\n").trim();
for (const each of folded) each.open = true;
const found = [...document.querySelectorAll(selector)].filter(isShown).map((each) => tidy(each.innerText));
for (const each of folded) each.open = false;
return found;
"""
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
    options.add_experimental_option("prefs", EMPTY_START)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        for flag in (*FLAGS, *flags, f"--user-data-dir={profile}"):
            options.add_argument(flag)
        browser = webdriver.Chrome(options, webdriver.ChromeService(driver))
        try:
            yield browser
        finally:
            browser.quit()


def show(browser, page: str, folder: Path) -> None:
    """Open a page from a file."""
    path = folder / "page.html"
    path.write_text(page, "utf-8")
    browser.get(path.as_uri())


def read(browser, selector: str, unfold: bool = False) -> list[str]:
    """The text of each element that can be seen, or could if all were unfolded; the page is asked once."""
    return browser.execute_script(READ, selector, unfold)


def read_one(browser, selector: str) -> str:
    """The text of an element that is there once at most; none where nothing can be seen of it."""
    (text,) = read(browser, selector) or [""]
    return text


def complaints(browser) -> list[str]:
    """What the browser had to say about the page: errors, refused scripts, failed requests."""
    return [entry["message"] for entry in browser.get_log("browser")]


def requests(browser) -> list[str]:
    """The addresses that the browser asked for."""
    events = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]
    return [e["params"]["request"]["url"] for e in events if e["method"] == "Network.requestWillBeSent"]
