"""The report in a real browser: what works, what is read aloud, what is printed."""

import re
from urllib.parse import urlsplit

import pytest
from browser import complaints, requests, show
from sample_reports import asked, clinic, large, renamed, scored
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.select import Select

from hornbook.report.page import to_html

HOSTILE = [
    "<script>document.title='pwned'</script>",
    "</script><img src=x onerror=\"document.title='pwned'\">",
    "\"'`&amp;&lt; {{ 7 * 7 }} {% raw %}",
    "🧬👩🏽‍⚕️ é ñ",
    "\u202eنجاة المريض\u202c שלום",
    "a" * 200,
]

CONTRASTS = r"""
const parse = (text) => text.match(/[\d.]+/g).map(Number);
const linear = (c) => (c <= 0.04045 * 255 ? c / 255 / 12.92 : ((c / 255 + 0.055) / 1.055) ** 2.4);
const luminance = ([r, g, b]) => 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b);
const backdrop = (element) => {
  const [r, g, b, a = 1] = parse(getComputedStyle(element).backgroundColor);
  return a === 1 ? [r, g, b] : backdrop(element.parentElement);
};
const silent = "script, style, noscript, option";
const found = [];
for (const element of document.querySelectorAll(`body *:not(${silent})`)) {
  const text = [...element.childNodes].filter((node) => node.nodeType === 3).map((node) => node.textContent);
  if (!text.join("").trim() || !element.checkVisibility()) continue;
  const style = getComputedStyle(element);
  const ink = luminance(parse(element.closest("svg") ? style.fill : style.color));
  const ground = luminance(backdrop(element));
  const ratio = (Math.max(ink, ground) + 0.05) / (Math.min(ink, ground) + 0.05);
  found.push([ratio, `${element.tagName} ${element.className} ${text.join("").trim()}`]);
}
return found;
"""

CLICK = """
const before = performance.now();
document.querySelector(".fact input[value=yes]").click();
return performance.now() - before;
"""


@pytest.fixture
def page(browser, tmp_path):
    show(browser, to_html(clinic()), tmp_path)
    return browser


def test_the_page_is_quiet_and_asks_for_nothing(browser, tmp_path):
    requests(browser)  # those of the browser's own first page
    show(browser, to_html(clinic()), tmp_path)
    assert complaints(browser) == []
    assert [urlsplit(url).scheme for url in requests(browser)] == ["file"]


def test_rules_are_sorted_by_a_heading(page):
    def precisions():
        return [row.find_elements(By.TAG_NAME, "td")[5].text.split()[0] for row in shown(page)]

    heading = next(th for th in page.find_elements(By.CSS_SELECTOR, "#table th") if "Precision" in th.text)
    button = heading.find_element(By.TAG_NAME, "button")
    button.click()
    assert (precisions(), heading.get_attribute("aria-sort")) == (["65.0", "97.5", "100"], "ascending")
    button.send_keys(Keys.ENTER)
    assert (precisions(), heading.get_attribute("aria-sort")) == (["100", "97.5", "65.0"], "descending")


def test_rules_are_searched(page):
    search = page.find_element(By.ID, "search")
    search.send_keys("ALBUMIN ≤ 2.9 smoker")
    assert [row.find_element(By.TAG_NAME, "td").text for row in shown(page)] == ["3"]
    assert page.find_element(By.ID, "shown").text == "1 of 3 rules"
    search.clear()
    search.send_keys("x", Keys.BACKSPACE)
    Select(page.find_element(By.ID, "conclusion")).select_by_visible_text("does not survive")
    assert [row.find_element(By.TAG_NAME, "td").text for row in shown(page)] == ["2", "3"]


def test_the_explorer_follows_the_rules(page):
    assert (
        verdict(page) == "Undetermined\nThe rules do not decide it. The default answer is does not survive."
    )
    choose(page, "albumin > 4.1 g/dL", "yes")
    assert "no ascites\nwould give: survives" in page.find_element(By.ID, "decide").text.replace(
        " would", "\nwould"
    )
    assert chosen(page, "albumin ≤ 2.9 g/dL") == "no"
    page.find_element(By.CSS_SELECTOR, "#decide button").click()
    assert verdict(page) == "survives\nIt follows from what you said."
    assert page.find_element(By.CSS_SELECTOR, "#why li").text == (
        "survives, because albumin > 4.1 g/dL and no ascites (rule 1)"
    )
    page.find_element(By.ID, "clear").click()
    assert verdict(page).startswith("Undetermined") and chosen(page, "albumin ≤ 2.9 g/dL") == ""


def test_the_explorer_starts_from_a_case_and_says_what_would_contradict(page):
    Select(page.find_element(By.ID, "start")).select_by_visible_text("row 7")
    assert verdict(page).startswith("does not survive")
    page.find_element(By.ID, "clear").click()
    choose(page, "albumin > 4.1 g/dL", "no")
    choose(page, "smoker", "yes")
    choose(page, "ascites", "no")
    assert page.find_element(By.ID, "contradict").text == ""
    choose(page, "albumin ≤ 2.9 g/dL", "yes")
    assert verdict(page).startswith("does not survive")


def test_contradictions_are_shown_with_their_reason(browser, tmp_path):
    report = clinic(groups=())
    show(browser, to_html(report), tmp_path)
    choose(browser, "albumin > 4.1 g/dL", "yes")
    choose(browser, "ascites", "no")
    choose(browser, "smoker", "yes")
    assert browser.find_element(By.CSS_SELECTOR, "#contradict summary").text == "albumin ≤ 2.9 g/dL"
    fact = find_fact(browser, "albumin ≤ 2.9 g/dL")
    assert fact.find_element(By.TAG_NAME, "small").text == "follows: no"
    choose(browser, "albumin ≤ 2.9 g/dL", "yes")
    assert verdict(browser).startswith("These facts contradict the rules")
    assert browser.find_elements(By.CSS_SELECTOR, "#why li")[-1].text.startswith("a contradiction, because")


def test_the_explorer_works_by_keyboard_alone(page):
    page.find_element(By.ID, "find").send_keys("smo", Keys.TAB, Keys.TAB, Keys.TAB)
    focused = page.switch_to.active_element
    assert (focused.get_attribute("value"), focused.accessible_name) == ("", "unknown")
    focused.send_keys(Keys.ARROW_LEFT, Keys.ARROW_LEFT)
    assert chosen(page, "smoker") == "yes"
    assert len(visible(page.find_elements(By.CLASS_NAME, "fact"))) == 1


def test_models_that_judge_are_explored_too(browser, tmp_path):
    show(browser, to_html(clinic(labels=(), default=None, undetermined=None)), tmp_path)
    Select(browser.find_element(By.ID, "goal")).select_by_visible_text("ascites?")
    choose(browser, "albumin > 4.1 g/dL", "yes")
    choose(browser, "survives", "no")
    assert verdict(browser).startswith("ascites")
    assert browser.find_element(By.CSS_SELECTOR, "#why p").text == (
        "Suppose: no ascites. Then there is a contradiction."
    )


def test_a_card_adds_up(browser, tmp_path):
    show(browser, to_html(scored()), tmp_path)
    assert complaints(browser) == [] and not browser.find_elements(By.ID, "table")
    # nothing known: 1 - 1 + 0
    assert verdict(browser).startswith("does not survive")
    assert browser.find_element(By.CSS_SELECTOR, "#card dd.total").text == "0"
    choose(browser, "albumin > 4.1 g/dL", "yes")
    assert verdict(browser).startswith("survives")
    assert browser.find_element(By.CSS_SELECTOR, "#card dd.total").text == "+2"
    assert (
        "between +1 and +3 whatever is unknown: the answer stays" in browser.find_element(By.ID, "card").text
    )
    choose(browser, "albumin > 4.1 g/dL", "")
    choose(browser, "ascites", "no")
    assert browser.find_element(By.CSS_SELECTOR, "#card dd.total").text == "+1"
    turning = browser.find_element(By.ID, "decide").text
    assert "albumin ≤ 4.1 g/dL would give: does not survive" in turning


def test_a_tree_asks(browser, tmp_path):
    show(browser, to_html(asked()), tmp_path)
    assert complaints(browser) == [] and not browser.find_elements(By.ID, "table")
    lines = [row.text for row in browser.find_elements(By.CSS_SELECTOR, "#tree tbody tr")]
    assert lines == [
        "albumin > 4.1 g/dL",
        "ascites does not survive",
        "otherwise survives",
        "otherwise, if smoker does not survive",
        "otherwise survives",
    ]
    assert verdict(browser).startswith("survives")  # nothing known: neither is true
    choose(browser, "ascites", "yes")
    assert verdict(browser).startswith("survives")  # that was not asked
    choose(browser, "albumin > 4.1 g/dL", "yes")
    assert verdict(browser).startswith("does not survive")
    path = browser.find_element(By.ID, "tree-path").text
    assert "albumin > 4.1 g/dL? yes" in path and "ascites? yes" in path


def test_everything_that_can_be_used_has_a_name(page):
    for control in page.find_elements(By.CSS_SELECTOR, "input, select, button"):
        if control.is_displayed():
            assert control.accessible_name.strip(), control.get_attribute("outerHTML")
    for group in page.find_elements(By.CSS_SELECTOR, "fieldset"):
        assert group.find_element(By.TAG_NAME, "legend").text
    for picture in page.find_elements(By.CSS_SELECTOR, "svg"):
        assert picture.get_attribute("aria-label")
    headings = [int(h.tag_name[1]) for h in page.find_elements(By.CSS_SELECTOR, "h1, h2, h3, h4")]
    assert headings[0] == 1 and headings.count(1) == 1


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_stands_out_from_its_background(browser, tmp_path, scheme):
    emulate(browser, scheme)
    try:
        show(browser, to_html(clinic()), tmp_path)
        choose(browser, "albumin > 4.1 g/dL", "yes")
        contrasts = browser.execute_script(CONTRASTS)
    finally:
        emulate(browser)
    assert len(contrasts) > 80
    assert [(round(ratio, 2), what) for ratio, what in contrasts if ratio < 4.5] == []


def test_hostile_names_are_only_text(browser, tmp_path):
    show(browser, to_html(renamed(HOSTILE)), tmp_path)
    assert complaints(browser) == []
    assert browser.title == re.sub(r"\s+", " ", HOSTILE[0])
    text = browser.execute_script("return document.body.textContent")
    assert all(name in text for name in HOSTILE)
    words = browser.execute_script(
        "return [...document.querySelectorAll('.fact legend span')].map((e) => e.textContent)"
    )
    assert set(words) <= set(HOSTILE) and len(words) == 4
    choose(browser, HOSTILE[3], "yes")
    choose(browser, HOSTILE[0], "no")
    assert verdict(browser).splitlines()[0] == HOSTILE[5]
    assert len(browser.find_elements(By.TAG_NAME, "script")) == 2
    assert not browser.find_elements(By.CSS_SELECTOR, "main img")


def test_nothing_is_wider_than_a_phone(browser, tmp_path):
    screen = {"width": 390, "height": 844, "deviceScaleFactor": 1, "mobile": True}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", screen)
    try:
        for report in (clinic(), renamed(HOSTILE)):
            show(browser, to_html(report), tmp_path)
            assert browser.execute_script("return document.documentElement.scrollWidth") <= 390
    finally:
        browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_paper_shows_every_rule_and_no_control(browser, tmp_path):
    show(browser, to_html(large(40, 12)), tmp_path)
    assert len(visible(browser.find_elements(By.CSS_SELECTOR, "#table tbody tr"))) == 25
    emulate(browser, media="print")
    try:
        assert len(visible(browser.find_elements(By.CSS_SELECTOR, "#table tbody tr"))) == 40
        assert (
            len(visible(browser.find_elements(By.CSS_SELECTOR, "#table tr:first-child li:not(.more)"))) == 12
        )
        assert visible(browser.find_elements(By.CSS_SELECTOR, "button, input, select, nav")) == []
    finally:
        emulate(browser)


def test_five_hundred_long_rules_stay_small_and_quick(browser, tmp_path):
    page = to_html(large(500, 40))
    assert len(page.encode()) < 1_000_000
    show(browser, page, tmp_path)
    milliseconds = browser.execute_script(CLICK)
    assert milliseconds < 2000
    assert complaints(browser) == []


def test_the_same_report_gives_the_same_bytes():
    assert to_html(clinic()) == to_html(clinic())


def shown(browser):
    return visible(browser.find_elements(By.CSS_SELECTOR, "#table tbody tr"))


def visible(elements):
    return [element for element in elements if element.is_displayed()]


def verdict(browser):
    return browser.find_element(By.ID, "verdict").text


def find_fact(browser, words):
    facts = browser.find_elements(By.CLASS_NAME, "fact")
    return next(
        fact
        for fact in facts
        if fact.find_element(By.CSS_SELECTOR, "legend span").get_property("textContent") == words
    )


def choose(browser, words, value):
    radio = find_fact(browser, words).find_element(By.CSS_SELECTOR, f"input[value='{value}']")
    browser.execute_script("arguments[0].click()", radio)


def chosen(browser, words):
    return find_fact(browser, words).find_element(By.CSS_SELECTOR, "input:checked").get_attribute("value")


def emulate(browser, scheme=None, media=""):
    features = [{"name": "prefers-color-scheme", "value": scheme}] if scheme else []
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": media, "features": features})
