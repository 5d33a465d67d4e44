"""The report in a real browser: what works, what is read aloud, what is printed."""

import re
from dataclasses import replace
from urllib.parse import urlsplit

import pytest
from browser import IS_SHOWN, complaints, read, read_one, requests, show
from sample_reports import (
    card_along_frontier,
    make_card,
    make_classes,
    make_clinic,
    make_extraction,
    make_large,
    make_large_theory,
    make_rules,
    make_tree,
    rename_columns,
    rename_variables,
)
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.select import Select

from hornbook.code_book import CodeBook, ColumnWords
from hornbook.explanations import DecisionTree
from hornbook.extraction import Fidelity, LineStatistics
from hornbook.queries import Proved, Unknown
from hornbook.report import to_html, to_notebook
from hornbook.statistics import Share

HOSTILE = [
    "<script>document.title='pwned'</script>",
    "</script><img src=x onerror=\"document.title='pwned'\">",
    "\"'`&amp;&lt; {{ 7 * 7 }} {% raw %}",
    "nul\0 🧬👩🏽‍⚕️ é ñ",
    "\u202eنجاة المريض\u202c שלום",
    "__proto__",
    "a" * 10_000,
]

VARIABLES = [name for name in HOSTILE if name != "__proto__"]

FORMS = {
    "card": card_along_frontier,
    "tree": lambda: make_extraction(make_tree()),
    "rules": lambda: make_extraction(make_rules()),
    "three classes": lambda: make_extraction(make_classes(), differences=()),
    "theory": make_clinic,
}

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

COUNT = IS_SHOWN + "return [...document.querySelectorAll(arguments[0])].filter(isShown).length;"

FIND = """
const [boxes, title, words] = arguments;
const isTitled = (each) => each.querySelector(title).textContent === words;
const box = [...document.querySelectorAll(boxes)].find(isTitled);
"""

ENTER = (
    FIND
    + """
const [field, value] = [box.querySelector("input[type=number], select"), arguments[3]];
if (field.options) field.selectedIndex = [...field.options].findIndex((option) => option.text === value);
else field.value = value;
for (const event of ["input", "change"]) field.dispatchEvent(new Event(event, { bubbles: true }));
"""
)

SIZES = """
const found = [...document.querySelectorAll(arguments[0])];
return found.map((each) => parseFloat(getComputedStyle(each).fontSize));
"""

UNFOLD = "for (const each of document.querySelectorAll('details')) each.open = true"

CONTROLS = {"button", "checkbox", "combobox", "radio", "searchbox", "slider", "spinbutton", "textbox"}

PUT_BACK = """
const start = document.getElementById("start");
if (start) { start.value = ""; start.dispatchEvent(new Event("change")); }
for (const each of document.querySelectorAll("details")) each.open = false;
"""


def on_pages_of(*forms):
    """Run a test on the page of each form; all tests of a page come one after the other."""
    return pytest.mark.parametrize("form", forms, scope="module")


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """A folder with the page of each form."""
    folder = tmp_path_factory.mktemp("pages")
    for form, make in FORMS.items():
        (folder / f"{form}.html").write_text(to_html(make()), "utf-8")
    return folder


@pytest.fixture
def form_page(browser, pages, form):
    """The page of a form, for tests that change nothing on it: it is not opened again while it is shown."""
    address = (pages / f"{form}.html").as_uri()
    if browser.current_url != address:
        browser.get(address)
    return browser


@pytest.fixture
def tried_page(form_page):
    """The page of a form, for tests that try a case on it; afterwards it starts from the first case again."""
    yield form_page
    form_page.execute_script(PUT_BACK)


@pytest.fixture
def page(browser, tmp_path):
    show(browser, to_html(make_clinic()), tmp_path)
    return browser


@pytest.fixture
def card_page(browser, tmp_path):
    show(browser, to_html(card_along_frontier()), tmp_path)
    return browser


@on_pages_of(*FORMS)
def test_page_is_quiet_and_asks_for_nothing(browser, pages, form):
    requests(browser)  # those of other pages
    browser.get((pages / f"{form}.html").as_uri())
    assert complaints(browser) == []
    assert [urlsplit(url).scheme for url in requests(browser)] == ["file"]


@on_pages_of(*FORMS)
def test_page_begins_with_the_explanation_and_then_says_how_far_to_trust_it(form_page, form):
    fidelity = FORMS[form]().fidelity
    share, table = fidelity.share, fidelity.table
    large = share.estimate if table is None else table.gap_closed
    assert read_one(form_page, "#summary .value") == f"{100 * large:.1f} %"
    (headline,), second = (font_sizes(form_page, f"#summary {part}") for part in (".value", ".second b"))
    assert second and headline > 2 * max(second), "the headline is the larger text"
    summary, lead = read_one(form_page, "#summary"), read_one(form_page, "header .lead")
    population = f"{share.size:,} {fidelity.population}"
    assert population in summary and "sampled, with" in summary
    assert population in lead and f"{100 * share.estimate:.1f} %" in lead
    if table is not None:
        assert "fewer errors than always" in summary and f"κ {table.kappa:.2f}" in summary
        assert all(f"{one.decided} {one.found} {one.invented}" in summary for one in table.by_class)
    explanation, trust = (form_page.find_element(By.ID, name).rect for name in ("explanation", "summary"))
    assert explanation["y"] < 300 and trust["y"] > explanation["y"]


@on_pages_of(*FORMS)
def test_page_shows_every_line_with_its_figures(form_page, form):
    extraction = FORMS[form]()
    rows = read(form_page, "#explanation :is(.lines tbody tr, .points tbody tr, .verdicts p)")
    for row, line, statistics in zip(rows, extraction.explanation.lines(), extraction.lines, strict=False):
        assert line.words.replace("<=", "≤") in row and line.outcome in row
        assert all(cell in row for cell in line.cells)
        if line.text.startswith("start with"):
            continue  # it applies to every row
        assert statistics.rows is None or f"{statistics.rows}" in row
        share = statistics.precision if form == "card" and line.outcome else statistics.support
        assert f"{100 * share.estimate:.1f}" in row
    assert len(rows) == len(extraction.lines)


@on_pages_of("card")
def test_card_is_grouped_by_column(form_page):
    groups = read(form_page, "#explanation .points tbody")
    assert [group.split("\n") for group in groups] == [
        ["albumin (g/dL) > 3.5 +3 40 11.0 % 10.3 to 11.7 %", "missing +1 41 11.0 % 10.3 to 11.7 %"],
        ["age > 60 −2 42 11.0 % 10.3 to 11.7 %", "missing −1 43 10.9 % 10.3 to 11.6 %"],
        ["age > 60 and stage = IV −1 44 10.9 % 10.3 to 11.6 %"],
    ]
    verdicts = read_one(form_page, "#explanation .verdicts")
    assert "1 or more: survives" in verdicts and "less: does not survive" in verdicts


def test_slider_changes_the_explanation_and_all_that_follows(card_page):
    slider = card_page.find_element(By.ID, "slider")
    assert slider.get_attribute("value") == "1" and "chosen" in read_one(card_page, "#size")
    assert fields(card_page) == ["albumin (g/dL)", "age", "stage"]
    slider.send_keys(Keys.ARROW_LEFT)
    assert read_one(card_page, "#literals") == "2"
    assert "83.3 %" in slider.get_attribute("aria-valuetext").replace("\N{NO-BREAK SPACE}", " ")
    assert fields(card_page) == ["albumin (g/dL)"]
    assert count(card_page, ".points tbody") == 1
    assert "40" in read(card_page, "[data-point] .points tbody .often")[0]
    slider.send_keys(Keys.ARROW_RIGHT, Keys.ARROW_RIGHT)
    explanation = read_one(card_page, "#explanation")
    assert "were not counted for this size" in explanation and "decision tree" in explanation
    assert len(fields(card_page)) == 6 and read_one(card_page, "#literals") == "6"
    marks = card_page.find_elements(By.CSS_SELECTOR, ".chart .mark")
    assert len(marks) == 1 and verdict(card_page).splitlines()[0] in ("survives", "does not survive")


@on_pages_of("card")
def test_case_is_decided_by_the_card(tried_page):
    enter(tried_page, "albumin (g/dL)", "4.0")
    enter(tried_page, "age", "50")
    assert verdict(tried_page) == "survives\n+3 points; 1 or more for survives"
    assert read_one(tried_page, "#why") == "Because\nalbumin (g/dL) > 3.5\n+3"
    changes = read_one(tried_page, "#changes")
    assert "albumin (g/dL) ≤ 3.5 would give: does not survive" in changes and "age" not in changes
    tried_page.find_element(By.CSS_SELECTOR, "#changes button").click()
    assert verdict(tried_page).startswith("does not survive")
    assert number(tried_page, "albumin (g/dL)") == "3.5"


@on_pages_of("card")
def test_case_may_have_missing_values(tried_page):
    box = find_field(tried_page, "albumin (g/dL)").find_element(By.CSS_SELECTOR, "input[type=checkbox]")
    box.click()
    enter(tried_page, "age", "50")
    assert verdict(tried_page).startswith("survives\n+1 points")
    assert read_one(tried_page, "#why") == "Because\nalbumin (g/dL) is missing\n+1"
    enter(tried_page, "albumin (g/dL)", "1")
    assert not box.is_selected() and verdict(tried_page).startswith("does not survive")
    enter(tried_page, "albumin (g/dL)", "")
    assert box.is_selected() and verdict(tried_page).startswith("survives")


@on_pages_of("card")
def test_case_starts_from_a_row_on_which_explanation_and_model_differ(tried_page):
    Select(tried_page.find_element(By.ID, "start")).select_by_visible_text("difference 1")
    assert [number(tried_page, name) for name in ("albumin (g/dL)", "age")] == ["3.4", "71"]
    stage = find_field(tried_page, "stage").find_element(By.TAG_NAME, "select")
    assert stage.find_element(By.CSS_SELECTOR, "option:checked").text == "(missing)"
    assert verdict(tried_page).startswith("does not survive\n−2 points")


@on_pages_of("tree", "rules")
def test_case_is_decided_by_a_tree_and_by_rules(tried_page, form):
    enter(tried_page, "albumin (g/dL)", "4.0")
    enter(tried_page, "stage", "IV")
    assert verdict(tried_page) == "does not survive"
    because = {"tree": ["albumin (g/dL) > 3.5", "stage = IV"], "rules": ["stage = IV"]}
    assert read_one(tried_page, "#why").splitlines() == ["Because", *because[form]]
    assert complaints(tried_page) == []


def test_page_speaks_in_the_words_of_a_code_book(browser, tmp_path):
    extraction = card_along_frontier()
    stage = ColumnWords(
        "Tumour stage", levels=(("IV", "<i>far</i> advanced"),), order=("I", "II", "III", "IV")
    )
    book = CodeBook({"age": ColumnWords("Age at diagnosis", "years", whole=True), "stage": stage})
    points = [
        replace(point, explanation=point.explanation.with_code_book(book)) for point in extraction.frontier
    ]
    worded = replace(
        extraction, explanation=extraction.explanation.with_code_book(book), frontier=tuple(points)
    )
    show(browser, to_html(worded), tmp_path)
    card = read_one(browser, "#explanation .card")
    assert "Age at diagnosis (years) ≥ 61 −2" in card
    assert "Age at diagnosis ≥ 61 years and Tumour stage = <i>far</i> advanced −1" in card
    assert fields(browser) == ["albumin (g/dL)", "Age at diagnosis", "Tumour stage"]
    assert read(browser, ".field .unit") == ["years"] and "18 to 89 years" in read(browser, ".field")[1]
    options = browser.execute_script(
        "return [...document.querySelectorAll('.field option')].map((e) => e.text)"
    )
    assert options == ["I", "II", "III", "<i>far</i> advanced", "(another value)", "(missing)"]
    enter(browser, "albumin (g/dL)", "3")
    enter(browser, "Age at diagnosis", "70")
    enter(browser, "Tumour stage", "<i>far</i> advanced")
    why = read_one(browser, "#why")
    assert "Age at diagnosis ≥ 61 years\n−2" in why and "Tumour stage = <i>far</i> advanced" in why
    assert any("Age at diagnosis" in words for words in read(browser, "#differences", unfold=True))
    assert complaints(browser) == []
    assert "Age at diagnosis" in to_notebook(worded)


@on_pages_of("three classes")
def test_case_gets_the_class_with_the_most_points(tried_page):
    enter(tried_page, "albumin (g/dL)", "4.0")
    enter(tried_page, "stage", "IV")
    assert verdict(tried_page) == "ward\nhome 0, ward +2, intensive care +2", "the first of equals"
    enter(tried_page, "stage", "(another value)")
    assert verdict(tried_page) == "home\nhome +2, ward +1, intensive care −1"


@on_pages_of("card")
def test_case_is_tried_by_keyboard_alone(tried_page):
    tried_page.find_element(By.ID, "start").send_keys(Keys.TAB)
    focused = tried_page.switch_to.active_element
    assert focused.accessible_name == "albumin (g/dL)"
    focused.send_keys(Keys.CONTROL, "a")
    focused.send_keys("2", Keys.TAB, Keys.SPACE)
    assert tried_page.switch_to.active_element.accessible_name == "albumin (g/dL) is missing"
    assert verdict(tried_page).startswith("survives\n+1 points")


@on_pages_of("card")
def test_differences_are_listed_with_the_facts_that_decide(form_page):
    assert "6 of 120 held-out rows are decided differently" in read_one(form_page, "#differences")
    row = read(form_page, "#differences tbody tr")[0]
    assert row.startswith("17 ") and "survives" in row
    assert "age > 60: −2" in row and "stage\nmissing" not in row
    (unfolded,) = read(form_page, "#differences", unfold=True)
    assert "stage\nmissing" in unfolded


def test_differences_are_decided_anew_along_the_slider(card_page):
    slider = card_page.find_element(By.ID, "slider")
    slider.send_keys(Keys.HOME)
    section = read_one(card_page, "#differences")
    assert "20 of 120 held-out rows are decided differently by the score card of 2 conditions" in section
    assert "of these it decides 0 as the model does" in section
    slider.send_keys(Keys.END)
    row = read(card_page, "#differences tbody tr")[0]
    assert "laboratory value 0 (mmol/L) is missing" in row and "albumin" not in row


def test_proofs_of_lines_and_notes_are_shown(browser, tmp_path):
    extraction = make_extraction(make_rules(), notes=("Few patients smoke.",))
    grades = Proved("bounds", 0.5), Unknown("a witness", "refuted"), None
    lines = [replace(line, guarantee=grade) for line, grade in zip(extraction.lines, grades, strict=True)]
    show(browser, to_html(replace(extraction, lines=tuple(lines))), tmp_path)
    assert read(browser, ".lines .grade") == ["proved", "refuted", ""]
    assert "Few patients smoke." in read_one(browser, "#limits")


def test_rules_are_sorted_by_a_heading(page):
    def precisions():
        return [cell.split()[0] for cell in read(page, "#table tbody td:nth-child(5)")]

    heading = page.find_element(By.CSS_SELECTOR, "#table th:nth-child(5)")
    assert "agrees" in heading.text
    button = heading.find_element(By.TAG_NAME, "button")
    button.click()
    expected = ["65.0", "70.0", "97.5", "100"]
    assert (precisions(), heading.get_attribute("aria-sort")) == (expected, "ascending")
    button.send_keys(Keys.ENTER)
    assert (precisions(), heading.get_attribute("aria-sort")) == (expected[::-1], "descending")


def test_rules_are_searched(page):
    search = page.find_element(By.ID, "search")
    search.send_keys("≤ 2.9 SMO")
    assert read(page, "#table tbody td:first-child") == ["if albumin ≤ 2.9 and smoker is true"]
    assert read_one(page, "#shown") == "1 of 4 rules"
    search.send_keys(Keys.CONTROL, "a", Keys.DELETE)
    Select(page.find_element(By.ID, "conclusion")).select_by_visible_text("survives")
    assert read(page, "#table tbody td:first-child") == ["if albumin > 4.1 and ascites is false"]


@on_pages_of("card", "theory")
def test_everything_that_can_be_used_has_a_name(form_page):
    nodes = form_page.execute_cdp_cmd("Accessibility.getFullAXTree", {})["nodes"]
    names = [
        node["name"]["value"] for node in nodes if not node["ignored"] and node["role"]["value"] in CONTROLS
    ]
    assert len(names) >= count(form_page, "input, select, button") and all(name.strip() for name in names)
    assert (
        form_page.find_elements(By.CSS_SELECTOR, "fieldset:not(:has(> legend)), svg:not([aria-label])") == []
    )
    assert all(read(form_page, "legend"))
    headings = form_page.execute_script(
        "return [...document.querySelectorAll('h1, h2, h3, h4')].map((each) => each.tagName)"
    )
    assert headings[0] == "H1" and headings.count("H1") == 1


@on_pages_of("card", "tree")
def test_text_stands_out_from_its_background(tried_page, form):
    tried_page.execute_script(UNFOLD)
    enter(tried_page, "age", "200")
    for scheme, contrasts in measure_contrasts(tried_page).items():
        assert len(contrasts) > 80
        assert [(round(ratio, 2), what) for ratio, what in contrasts if ratio < 4.5] == [], scheme


def test_hostile_columns_and_classes_are_only_text_that_fits_a_phone(browser, tmp_path):
    show(browser, to_html(rename_columns(HOSTILE)), tmp_path)
    assert complaints(browser) == []
    assert browser.title == re.sub(r"\s+", " ", f"What {HOSTILE[0]} says about {HOSTILE[0]}")
    text = browser.execute_script("return document.body.textContent")
    assert all(name in text for name in HOSTILE)
    words = browser.execute_script(
        "return [...document.querySelectorAll('.field label[for]')].map((e) => e.textContent)"
    )
    assert set(words) == set(HOSTILE[:4])
    enter(browser, HOSTILE[0], "9")
    assert verdict(browser).splitlines()[0] == HOSTILE[-2]
    slider = browser.find_element(By.ID, "slider")
    slider.send_keys(Keys.HOME)
    assert verdict(browser).splitlines()[0] in HOSTILE[-2:]
    assert complaints(browser) == [] and len(browser.find_elements(By.TAG_NAME, "script")) == 2
    assert not browser.find_elements(By.CSS_SELECTOR, "main img")
    assert_no_wider_than_a_phone(browser)


def test_hostile_variables_are_only_text_that_fits_a_phone(browser, tmp_path):
    show(browser, to_html(rename_variables(VARIABLES)), tmp_path)
    assert complaints(browser) == []
    text = browser.execute_script("return document.body.textContent")
    assert all(name in text for name in (VARIABLES[k] for k in (0, 1, 4, 5)))
    assert len(browser.find_elements(By.TAG_NAME, "script")) == 1
    assert not browser.find_elements(By.CSS_SELECTOR, "main img")
    assert_no_wider_than_a_phone(browser)


def test_notebook_shows_explanation_fidelities_and_frontier(browser, tmp_path):
    show(
        browser,
        f"<!DOCTYPE html><meta charset=utf-8><title>notebook</title>{to_notebook(card_along_frontier())}",
        tmp_path,
    )
    text = read_one(browser, "body")
    assert "95.0 % of 120 held-out rows" in text and "95.2 % of 8,192 samples" in text
    for line in make_card().lines():
        assert line.text in text and line.outcome in text
    assert browser.find_elements(By.CSS_SELECTOR, "svg.chart") and complaints(browser) == []
    show(
        browser,
        f"<!DOCTYPE html><meta charset=utf-8><title>notebook</title>{to_notebook(rename_columns(HOSTILE))}",
        tmp_path,
    )
    assert browser.title == "notebook" and complaints(browser) == []
    assert not browser.find_elements(By.CSS_SELECTOR, "img, script")


@on_pages_of(*FORMS)
def test_nothing_is_wider_than_a_phone(tried_page):
    assert_no_wider_than_a_phone(tried_page)


def test_paper_shows_every_rule_and_no_control(browser, tmp_path):
    show(browser, to_html(make_large_theory(40, 12)), tmp_path)
    assert count(browser, "#table tbody tr") == 25
    emulate(browser, media="print")
    try:
        assert count(browser, "#table tbody tr") == 41
        first = browser.find_element(By.CSS_SELECTOR, "#table .line > div")
        assert first.text.count("laboratory value") == 12
        assert first.get_property("scrollHeight") <= first.get_property("clientHeight") + 1, (
            "nothing is cut off"
        )
        assert count(browser, "button, input, select, nav") == 0
    finally:
        emulate(browser)


@on_pages_of("card")
def test_paper_shows_the_lines_of_a_card(form_page):
    emulate(form_page, media="print")
    try:
        assert count(form_page, "#explanation :is(.points tbody tr, .verdicts p)") == len(make_card().lines())
        assert count(form_page, "button, input, select, nav") == 0
    finally:
        emulate(form_page)
    assert count(form_page, "button, input, select, nav") > 0


def test_page_of_forty_columns_and_every_size_is_small(browser, tmp_path):
    page = to_html(make_large(40, 20))
    assert len(page.encode()) < 300_000
    show(browser, page, tmp_path)
    assert complaints(browser) == [] and len(fields(browser)) == 20


def test_page_of_five_hundred_long_rules_stays_small_and_quick(browser, tmp_path):
    page = to_html(make_large_theory(500, 40))
    assert len(page.encode()) < 1_000_000
    show(browser, page, tmp_path)
    assert complaints(browser) == []


@pytest.mark.parametrize("size", [0, 1000])
def test_page_of_a_constant_without_unseen_rows_is_shown_too(browser, tmp_path, size):
    constant = DecisionTree(("a", "b"), 1)
    lines = (LineStatistics(None, Share.of(size, size), Share.of(size, size)),)
    extraction = make_extraction(
        constant,
        fidelity=Fidelity(Share.of(size, size)),
        guarantee=Unknown("nothing was measured"),
        frontier=(),
        lines=lines,
        columns=(),
        differences=(),
        provenance={},
    )
    show(browser, to_html(extraction), tmp_path)
    assert complaints(browser) == [] and verdict(browser) == "b"
    assert "No single value would" in read_one(browser, "#changes")
    assert "observed only" in read_one(browser, "#summary")
    assert "always: <b>b</b>" in to_notebook(extraction)


def test_page_without_scripts_shows_the_chosen_explanation(browser, tmp_path):
    browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    try:
        show(browser, to_html(card_along_frontier()), tmp_path)
        text = read_one(browser, "#explanation")
        assert "The score card" in text and "> 3.5" in text and "decision tree" not in text
        assert count(browser, "button, input, select") == 0
        assert "needs JavaScript" in read_one(browser, "#try")
    finally:
        browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})


def test_same_extraction_gives_the_same_bytes():
    for make in FORMS.values():
        assert to_html(make()) == to_html(make())


def count(browser, selector):
    """How many elements can be seen."""
    return browser.execute_script(COUNT, selector)


def font_sizes(browser, selector):
    return browser.execute_script(SIZES, selector)


def verdict(browser):
    return read_one(browser, "#verdict")


def fields(browser):
    return read(browser, ".field label[for]")


def find_field(browser, name):
    return browser.execute_script(FIND + "return box", ".field", "label[for]", name)


def number(browser, name):
    """What stands in a field for a number."""
    find = FIND + "return box.querySelector('input[type=number]').value"
    return browser.execute_script(find, ".field", "label[for]", name)


def enter(browser, name, value):
    """Write a number into a field, or choose one of its words."""
    browser.execute_script(ENTER, ".field", "label[for]", name, value)


def measure_contrasts(browser):
    """The contrast of each text with its background, by day and by night."""
    contrasts = {}
    try:
        for scheme in ("light", "dark"):
            emulate(browser, scheme)
            contrasts[scheme] = browser.execute_script(CONTRASTS)
    finally:
        emulate(browser)
    assert contrasts["light"] != contrasts["dark"]
    return contrasts


def assert_no_wider_than_a_phone(browser):
    screen = {"width": 390, "height": 844, "deviceScaleFactor": 1, "mobile": True}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", screen)
    try:
        browser.execute_script(UNFOLD)
        width, inner = browser.execute_script("return [document.documentElement.scrollWidth, innerWidth]")
    finally:
        browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    assert width <= inner == 390


def emulate(browser, scheme=None, media=""):
    features = [{"name": "prefers-color-scheme", "value": scheme}] if scheme else []
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": media, "features": features})
