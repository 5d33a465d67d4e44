"""The report in a real browser: what works, what is read aloud, what is printed."""

import re
from dataclasses import replace
from urllib.parse import urlsplit

import pytest
from browser import complaints, requests, show
from sample_reports import (
    card_along_frontier,
    make_card,
    make_cases,
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

from hornbook.evaluate import Fidelity
from hornbook.explanations import CodeBook, ColumnWords, DecisionTree
from hornbook.extraction import LineStatistics
from hornbook.queries import Proved, Unknown
from hornbook.report import to_html, to_notebook, to_text
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

DRAWN_LINES = """
const lines = [...document.querySelectorAll("#explanation .lines tbody tr")];
return lines.filter((line) => line.checkVisibility() && line.getBoundingClientRect().height > 0).length;
"""

VISIBLE = """
const options = { opacityProperty: true, visibilityProperty: true };
return arguments[0].filter((each) => each.checkVisibility(options) && each.getClientRects().length > 0);
"""

FIND = """
const [boxes, title, words] = arguments;
return [...document.querySelectorAll(boxes)].find((box) => box.querySelector(title).textContent === words);
"""

CLICK = """
const before = performance.now();
document.querySelector(".fact input[value=yes]").click();
return performance.now() - before;
"""


@pytest.fixture
def page(browser, tmp_path):
    show(browser, to_html(make_clinic()), tmp_path)
    return browser


@pytest.fixture
def card_page(browser, tmp_path):
    show(browser, to_html(card_along_frontier()), tmp_path)
    return browser


@pytest.mark.parametrize("form", FORMS)
def test_page_is_quiet_and_asks_for_nothing(browser, tmp_path, form):
    requests(browser)  # those of the browser's own first page
    show(browser, to_html(FORMS[form]()), tmp_path)
    assert complaints(browser) == []
    assert [urlsplit(url).scheme for url in requests(browser)] == ["file"]


@pytest.mark.parametrize("form", FORMS)
def test_page_says_on_the_first_screen_what_it_is_and_how_far_to_rely_on_it(browser, tmp_path, form):
    extraction = FORMS[form]()
    show(browser, to_html(extraction), tmp_path)
    value = browser.find_element(By.CSS_SELECTOR, "#summary .value")
    share = extraction.fidelity.share
    assert value.text == f"{100 * share.estimate:.1f} %"
    second = browser.find_elements(By.CSS_SELECTOR, "#summary .second b")
    assert all(size(value) > 2 * size(each) for each in second), "the headline is the larger text"
    summary = browser.find_element(By.ID, "summary")
    population = f"{share.size:,} {extraction.fidelity.population}"
    assert population in summary.text and "95 % interval" in summary.text
    assert "sampled, with" in summary.text and "does it not say" in summary.text
    assert summary.location["y"] + summary.size["height"] < 900


def size(element):
    return float(element.value_of_css_property("font-size").removesuffix("px"))


@pytest.mark.parametrize("form", FORMS)
def test_page_shows_every_line_with_its_figures(browser, tmp_path, form):
    extraction = FORMS[form]()
    show(browser, to_html(extraction), tmp_path)
    browser.execute_script("for (const each of document.querySelectorAll('details')) each.open = true")
    rows = visible(browser.find_elements(By.CSS_SELECTOR, "#explanation .lines tbody tr"))
    for row, line, statistics in zip(rows, extraction.explanation.lines(), extraction.lines, strict=False):
        assert line.text.replace("<=", "≤") in row.text and line.outcome in row.text
        assert all(cell in row.text for cell in line.cells)
        assert statistics.rows is None or f"{statistics.rows}" in row.text
        assert f"{100 * statistics.support.estimate:.1f}" in row.text
    assert len(rows) == len(extraction.lines)


def test_card_is_grouped_by_column(card_page):
    groups = card_page.find_elements(By.CSS_SELECTOR, "#explanation [data-point]:not([hidden]) .points tbody")
    assert [group.text.split("\n") for group in groups] == [
        ["albumin (g/dL) ≤ 3.5 0", "> 3.5 +3", "missing +1"],
        ["age ≤ 60 0", "> 60 −2", "missing −1"],
        ["age > 60 and stage = IV −1"],
    ]
    verdicts = card_page.find_element(By.CSS_SELECTOR, "[data-point]:not([hidden]) .verdicts").text
    assert "1 or more: survives" in verdicts and "less: does not survive" in verdicts


def test_slider_changes_everything_below_it(card_page):
    slider = card_page.find_element(By.ID, "slider")
    assert slider.get_attribute("value") == "1" and "chosen" in card_page.find_element(By.ID, "size").text
    assert fields(card_page) == ["albumin (g/dL)", "age", "stage"]
    slider.send_keys(Keys.ARROW_LEFT)
    assert card_page.find_element(By.ID, "literals").text == "1"
    assert "83.3 %" in slider.get_attribute("aria-valuetext").replace("\N{NO-BREAK SPACE}", " ")
    assert fields(card_page) == ["albumin (g/dL)"]
    assert len(visible(card_page.find_elements(By.CSS_SELECTOR, ".points tbody"))) == 1
    details = card_page.find_element(By.CSS_SELECTOR, "[data-point]:not([hidden]) details")
    details.click()
    assert "40" in details.find_element(By.CSS_SELECTOR, ".lines tbody .rows").text
    slider.send_keys(Keys.ARROW_RIGHT, Keys.ARROW_RIGHT)
    assert "were not counted for this size" in card_page.find_element(By.ID, "explanation").text
    assert "decision tree" in card_page.find_element(By.ID, "explanation").text
    assert len(fields(card_page)) == 6 and card_page.find_element(By.ID, "literals").text == "6"
    marks = card_page.find_elements(By.CSS_SELECTOR, ".chart .mark")
    assert len(marks) == 1 and verdict(card_page).splitlines()[0] in ("survives", "does not survive")


def test_case_is_decided_by_the_card(card_page):
    enter(card_page, "albumin (g/dL)", "4.0")
    enter(card_page, "age", "50")
    assert verdict(card_page) == "survives\n+3 points; 1 or more for survives"
    assert card_page.find_element(By.ID, "why").text == "Because\nalbumin (g/dL) > 3.5\n+3"
    changes = card_page.find_element(By.ID, "changes").text
    assert "albumin (g/dL) ≤ 3.5 would give: does not survive" in changes and "age" not in changes
    card_page.find_element(By.CSS_SELECTOR, "#changes button").click()
    assert verdict(card_page).startswith("does not survive")
    assert (
        find_field(card_page, "albumin (g/dL)").find_element(By.CSS_SELECTOR, "input").get_property("value")
        == "3.5"
    )


def test_case_may_have_missing_values(card_page):
    box = find_field(card_page, "albumin (g/dL)").find_element(By.CSS_SELECTOR, "input[type=checkbox]")
    box.click()
    enter(card_page, "age", "50")
    assert verdict(card_page).startswith("survives\n+1 points")
    assert card_page.find_element(By.ID, "why").text == "Because\nalbumin (g/dL) is missing\n+1"
    enter(card_page, "albumin (g/dL)", "1")
    assert not box.is_selected() and verdict(card_page).startswith("does not survive")
    enter(card_page, "albumin (g/dL)", "")
    assert box.is_selected() and verdict(card_page).startswith("survives")


def test_case_starts_from_a_row_on_which_explanation_and_model_differ(card_page):
    Select(card_page.find_element(By.ID, "start")).select_by_visible_text("difference 1")
    albumin, age, stage = (find_field(card_page, name) for name in ("albumin (g/dL)", "age", "stage"))
    numbers = [f.find_element(By.CSS_SELECTOR, "input").get_property("value") for f in (albumin, age)]
    assert numbers == ["3.4", "71"]
    assert Select(stage.find_element(By.TAG_NAME, "select")).first_selected_option.text == "(missing)"
    assert verdict(card_page).startswith("does not survive\n−2 points")


def test_case_is_decided_by_a_tree_and_by_rules(browser, tmp_path):
    for explanation, because in (
        (make_tree(), "Because\nalbumin (g/dL) > 3.5\nstage = IV"),
        (make_rules(), "Because\nstage = IV"),
    ):
        show(browser, to_html(make_extraction(explanation)), tmp_path)
        enter(browser, "albumin (g/dL)", "4.0")
        Select(find_field(browser, "stage").find_element(By.TAG_NAME, "select")).select_by_visible_text("IV")
        assert verdict(browser) == "does not survive"
        assert browser.find_element(By.ID, "why").text == because
    assert complaints(browser) == []


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
    card = browser.find_element(By.CSS_SELECTOR, "#explanation [data-point]:not([hidden]) .card").text
    assert "Age at diagnosis (years) ≤ 60 0\n≥ 61 −2" in card
    assert "Age at diagnosis ≥ 61 years and Tumour stage = <i>far</i> advanced −1" in card
    assert fields(browser) == ["albumin (g/dL)", "Age at diagnosis", "Tumour stage"]
    age, stage = (find_field(browser, name) for name in ("Age at diagnosis", "Tumour stage"))
    assert age.find_element(By.CLASS_NAME, "unit").text == "years" and "18 to 89 years" in age.text
    select = Select(stage.find_element(By.TAG_NAME, "select"))
    texts = [option.text for option in select.options]
    assert texts == ["I", "II", "III", "<i>far</i> advanced", "(another value)", "(missing)"]
    enter(browser, "albumin (g/dL)", "3")
    enter(browser, "Age at diagnosis", "70")
    select.select_by_visible_text("<i>far</i> advanced")
    why = browser.find_element(By.ID, "why").text
    assert "Age at diagnosis ≥ 61 years\n−2" in why and "Tumour stage = <i>far</i> advanced" in why
    assert "Age at diagnosis" in browser.find_element(By.ID, "differences").get_attribute("textContent")
    assert complaints(browser) == []
    assert "Age at diagnosis ≥ 61 years" in to_text(worded) and "Age at diagnosis" in to_notebook(worded)


def test_case_gets_the_class_with_the_most_points(browser, tmp_path):
    show(browser, to_html(FORMS["three classes"]()), tmp_path)
    enter(browser, "albumin (g/dL)", "4.0")
    select = Select(find_field(browser, "stage").find_element(By.TAG_NAME, "select"))
    select.select_by_visible_text("IV")
    assert verdict(browser) == "ward\nhome 0, ward +2, intensive care +2", "the first of equals"
    select.select_by_visible_text("(another value)")
    assert verdict(browser) == "home\nhome +2, ward +1, intensive care −1"


def test_case_is_tried_by_keyboard_alone(card_page):
    card_page.find_element(By.ID, "start").send_keys(Keys.TAB)
    focused = card_page.switch_to.active_element
    assert focused.accessible_name == "albumin (g/dL)"
    focused.send_keys(Keys.CONTROL, "a")
    focused.send_keys("2", Keys.TAB, Keys.SPACE)
    assert card_page.switch_to.active_element.accessible_name == "albumin (g/dL) is missing"
    assert verdict(card_page).startswith("survives\n+1 points")


def test_groups_are_listed_where_explanation_and_model_differ_most(card_page):
    rows = card_page.find_elements(By.CSS_SELECTOR, "#groups tbody tr")
    assert [row.text.split(" %")[0] for row in rows] == [
        "stage is missing 200 80.0",
        "55 < age ≤ 67 2,048 92.8",
    ]


def test_differences_are_listed_with_the_facts_that_decide(card_page):
    section = card_page.find_element(By.ID, "differences")
    assert "6 of 120 unseen rows are decided differently" in section.text
    row = section.find_element(By.CSS_SELECTOR, "tbody tr").text
    assert "survives" in row and "age > 60: −2" in row
    section.find_element(By.TAG_NAME, "summary").click()
    assert "stage\nmissing" in section.text


def test_differences_are_decided_anew_along_the_slider(card_page):
    section = card_page.find_element(By.ID, "differences")
    card_page.find_element(By.ID, "slider").send_keys(Keys.HOME)
    assert "20 of 120 unseen rows are decided differently by the score card of 1 condition" in section.text
    assert "of these it decides 0 as the model does" in section.text
    card_page.find_element(By.ID, "slider").send_keys(Keys.END)
    row = section.find_element(By.CSS_SELECTOR, "tbody tr")
    assert "laboratory value 0 (mmol/L) is missing" in row.text and "albumin" not in row.text


def test_proofs_of_lines_and_notes_are_shown(browser, tmp_path):
    extraction = make_extraction(make_rules(), notes=("Few patients smoke.",))
    grades = Proved("bounds", 0.5), Unknown("a witness", "refuted"), None
    lines = [replace(line, guarantee=grade) for line, grade in zip(extraction.lines, grades, strict=True)]
    show(browser, to_html(replace(extraction, lines=tuple(lines))), tmp_path)
    cells = browser.find_elements(By.CSS_SELECTOR, ".lines .grade")
    assert [cell.text for cell in cells] == ["proved", "refuted", ""]
    assert "Few patients smoke." in browser.find_element(By.ID, "limits").text


def test_rules_are_sorted_by_a_heading(page):
    def precisions():
        return [row.find_elements(By.TAG_NAME, "td")[4].text.split()[0] for row in shown(page)]

    heading = next(th for th in page.find_elements(By.CSS_SELECTOR, "#table th") if "agrees" in th.text)
    button = heading.find_element(By.TAG_NAME, "button")
    button.click()
    expected = ["65.0", "70.0", "97.5", "100"]
    assert (precisions(), heading.get_attribute("aria-sort")) == (expected, "ascending")
    button.send_keys(Keys.ENTER)
    assert (precisions(), heading.get_attribute("aria-sort")) == (expected[::-1], "descending")


def test_rules_are_searched(page):
    search = page.find_element(By.ID, "search")
    search.send_keys("ALBUMIN ≤ 2.9 smoker")
    assert [row.find_element(By.TAG_NAME, "td").text for row in shown(page)] == [
        "if albumin ≤ 2.9 g/dL and smoker"
    ]
    assert page.find_element(By.ID, "shown").text == "1 of 4 rules"
    search.clear()
    search.send_keys("x", Keys.BACKSPACE)
    Select(page.find_element(By.ID, "conclusion")).select_by_visible_text("survives")
    assert [row.find_element(By.TAG_NAME, "td").text for row in shown(page)] == [
        "if albumin > 4.1 g/dL and no ascites"
    ]


def test_explorer_follows_the_rules(page):
    assert verdict(page) == "Undetermined\nThe rules do not decide it. The default answer is not survives."
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


def test_explorer_starts_from_a_case_and_says_what_would_contradict(page):
    Select(page.find_element(By.ID, "start")).select_by_visible_text("row 1")
    assert verdict(page).startswith("not survives")
    page.find_element(By.ID, "clear").click()
    choose(page, "albumin > 4.1 g/dL", "no")
    choose(page, "smoker", "yes")
    choose(page, "ascites", "no")
    assert page.find_element(By.ID, "contradict").text == ""
    choose(page, "albumin ≤ 2.9 g/dL", "yes")
    assert verdict(page).startswith("not survives")


def test_contradictions_are_shown_with_their_reason(browser, tmp_path):
    show(browser, to_html(make_clinic(groups=())), tmp_path)
    choose(browser, "albumin > 4.1 g/dL", "yes")
    choose(browser, "ascites", "no")
    choose(browser, "smoker", "yes")
    assert browser.find_element(By.CSS_SELECTOR, "#contradict summary").text == "albumin ≤ 2.9 g/dL"
    fact = find_fact(browser, "albumin ≤ 2.9 g/dL")
    assert fact.find_element(By.TAG_NAME, "small").text == "follows: no"
    choose(browser, "albumin ≤ 2.9 g/dL", "yes")
    assert verdict(browser).startswith("These facts contradict the rules")
    assert browser.find_elements(By.CSS_SELECTOR, "#why li")[-1].text.startswith("a contradiction, because")


def test_explorer_works_by_keyboard_alone(page):
    page.find_element(By.ID, "find").send_keys("smo", Keys.TAB, Keys.TAB, Keys.TAB)
    focused = page.switch_to.active_element
    assert (focused.get_attribute("value"), focused.accessible_name) == ("", "unknown")
    focused.send_keys(Keys.ARROW_LEFT, Keys.ARROW_LEFT)
    assert chosen(page, "smoker") == "yes"
    assert len(visible(page.find_elements(By.CLASS_NAME, "fact"))) == 1


def test_models_that_judge_are_explored_too(browser, tmp_path):
    words = {"survives": "survives", "not_survives": "not survives"}
    show(browser, to_html(make_clinic(label=None, words=words)), tmp_path)
    Select(browser.find_element(By.ID, "goal")).select_by_visible_text("ascites?")
    choose(browser, "albumin=high", "yes")
    choose(browser, "survives", "no")
    assert verdict(browser).startswith("ascites")
    assert browser.find_element(By.CSS_SELECTOR, "#why p").text == (
        "Suppose: not ascites. Then there is a contradiction."
    )


@pytest.mark.parametrize("form", ["card", "theory"])
def test_everything_that_can_be_used_has_a_name(browser, tmp_path, form):
    show(browser, to_html(FORMS[form]()), tmp_path)
    for control in visible(browser.find_elements(By.CSS_SELECTOR, "input, select, button")):
        assert control.accessible_name.strip(), control.get_attribute("outerHTML")
    for group in browser.find_elements(By.CSS_SELECTOR, "fieldset"):
        assert group.find_element(By.TAG_NAME, "legend").text
    for picture in browser.find_elements(By.CSS_SELECTOR, "svg"):
        assert picture.get_attribute("aria-label")
    levels = [int(h.tag_name[1]) for h in browser.find_elements(By.CSS_SELECTOR, "h1, h2, h3, h4")]
    assert levels[0] == 1 and levels.count(1) == 1


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("form", ["card", "theory"])
def test_text_stands_out_from_its_background(browser, tmp_path, scheme, form):
    emulate(browser, scheme)
    try:
        show(browser, to_html(FORMS[form]()), tmp_path)
        browser.execute_script("for (const each of document.querySelectorAll('details')) each.open = true")
        if form == "theory":
            choose(browser, "albumin > 4.1 g/dL", "yes")
        else:
            enter(browser, "age", "200")
        contrasts = browser.execute_script(CONTRASTS)
    finally:
        emulate(browser)
    assert len(contrasts) > 80
    assert [(round(ratio, 2), what) for ratio, what in contrasts if ratio < 4.5] == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_cases_show_the_reasons_of_the_model_and_what_would_change_them(browser, tmp_path, scheme):
    emulate(browser, scheme)
    try:
        show(browser, to_html(make_extraction(make_tree()), make_cases()), tmp_path)
        first, second = browser.find_elements(By.CSS_SELECTOR, "#cases .case")
        contrasts = [(ratio, what) for ratio, what in browser.execute_script(CONTRASTS) if ratio < 4.5]
    finally:
        emulate(browser)
    assert "2.5 < albumin (g/dL) ≤ 3.5 and stage = IV" in first.text
    assert "ith albumin (g/dL) 3.1 → 4 and age 71 → 50 it would be survives" in first.text
    assert "no change of one column does (proved)" in first.text
    assert len(first.find_elements(By.CSS_SELECTOR, "svg.reason circle.own")) == 3
    assert len(first.find_elements(By.CSS_SELECTOR, "svg.reason circle.new")) == 2
    assert "stage is missing" in second.text and "90 of 480 rows meet this" in second.text
    assert contrasts == [] and complaints(browser) == []


def test_hostile_columns_and_classes_are_only_text(browser, tmp_path):
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


def test_hostile_variables_are_only_text(browser, tmp_path):
    names = [name for name in HOSTILE if name != "__proto__"]
    show(browser, to_html(rename_variables(names)), tmp_path)
    assert complaints(browser) == []
    words = browser.execute_script(
        "return [...document.querySelectorAll('.fact legend span')].map((e) => e.textContent)"
    )
    assert set(words) <= set(names) and len(words) == 4
    choose(browser, names[3], "yes")
    choose(browser, names[0], "no")
    assert verdict(browser).splitlines()[0] == names[5]
    assert len(browser.find_elements(By.TAG_NAME, "script")) == 2
    assert not browser.find_elements(By.CSS_SELECTOR, "main img")


def test_notebook_shows_explanation_fidelities_and_frontier(browser, tmp_path):
    show(browser, f"<!DOCTYPE html><title>notebook</title>{to_notebook(card_along_frontier())}", tmp_path)
    text = browser.find_element(By.TAG_NAME, "body").text.replace("\N{NO-BREAK SPACE}", " ")
    assert "95.0 % of 120 unseen rows" in text and "95.2 % of 8,192 samples" in text
    for line in make_card().lines():
        assert line.text in text and line.outcome in text
    assert browser.find_elements(By.CSS_SELECTOR, "svg.chart") and complaints(browser) == []
    show(browser, f"<!DOCTYPE html><title>notebook</title>{to_notebook(rename_columns(HOSTILE))}", tmp_path)
    assert browser.title == "notebook" and complaints(browser) == []
    assert not browser.find_elements(By.CSS_SELECTOR, "img, script")


def test_nothing_is_wider_than_a_phone(browser, tmp_path):
    screen = {"width": 390, "height": 844, "deviceScaleFactor": 1, "mobile": True}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", screen)
    try:
        hostile = rename_columns(HOSTILE), rename_variables([n for n in HOSTILE if n != "__proto__"])
        for extraction in (*(make() for make in FORMS.values()), *hostile):
            show(browser, to_html(extraction, make_cases()), tmp_path)
            browser.execute_script(
                "for (const each of document.querySelectorAll('details')) each.open = true"
            )
            assert browser.execute_script("return document.documentElement.scrollWidth") <= 390
    finally:
        browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_paper_shows_every_rule_and_no_control(browser, tmp_path):
    show(browser, to_html(make_large_theory(40, 12)), tmp_path)
    assert len(visible(browser.find_elements(By.CSS_SELECTOR, "#table tbody tr"))) == 25
    emulate(browser, media="print")
    try:
        assert len(visible(browser.find_elements(By.CSS_SELECTOR, "#table tbody tr"))) == 41
        first = browser.find_element(By.CSS_SELECTOR, "#table .line > div")
        assert first.text.count("laboratory value") == 12
        assert first.get_property("scrollHeight") <= first.get_property("clientHeight") + 1, (
            "nothing is cut off"
        )
        assert visible(browser.find_elements(By.CSS_SELECTOR, "button, input, select, nav")) == []
    finally:
        emulate(browser)


def test_paper_shows_the_lines_of_a_card(browser, tmp_path):
    show(browser, to_html(card_along_frontier()), tmp_path)
    emulate(browser, media="print")
    try:
        assert browser.execute_script(DRAWN_LINES) == len(make_card().lines())
        assert visible(browser.find_elements(By.CSS_SELECTOR, "button, input, select, nav")) == []
    finally:
        emulate(browser)
    assert browser.execute_script(DRAWN_LINES) == 0, "they are folded on the screen"


def test_page_of_forty_columns_and_every_size_is_small(browser, tmp_path):
    page = to_html(make_large(40, 20))
    assert len(page.encode()) < 300_000
    show(browser, page, tmp_path)
    assert complaints(browser) == [] and len(fields(browser)) == 20


def test_page_of_five_hundred_long_rules_stays_small_and_quick(browser, tmp_path):
    page = to_html(make_large_theory(500, 40))
    assert len(page.encode()) < 1_000_000
    show(browser, page, tmp_path)
    milliseconds = browser.execute_script(CLICK)
    assert milliseconds < 2000
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
        groups=(),
        differences=(),
        provenance={},
    )
    show(browser, to_html(extraction), tmp_path)
    assert complaints(browser) == [] and verdict(browser) == "b"
    assert "No single value would" in browser.find_element(By.ID, "changes").text
    assert "observed only" in browser.find_element(By.ID, "summary").text
    assert "always: <b>b</b>" in to_notebook(extraction) and "always: b" in to_text(extraction)


def test_page_without_scripts_shows_the_chosen_explanation(browser, tmp_path):
    browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    try:
        show(browser, to_html(card_along_frontier()), tmp_path)
        text = browser.find_element(By.ID, "explanation").text
        assert "The score card" in text and "> 3.5" in text and "decision tree" not in text
        assert visible(browser.find_elements(By.CSS_SELECTOR, "button, input, select")) == []
        assert "needs JavaScript" in browser.find_element(By.ID, "try").text
    finally:
        browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})


def test_same_extraction_gives_the_same_bytes():
    for make in FORMS.values():
        assert to_html(make()) == to_html(make())


def shown(browser):
    return visible(browser.find_elements(By.CSS_SELECTOR, "#table tbody tr"))


def visible(elements):
    """Those that can be seen; the page is asked once about all of them."""
    return elements[0].parent.execute_script(VISIBLE, elements) if elements else []


def verdict(browser):
    return browser.find_element(By.ID, "verdict").text


def fields(browser):
    labels = "document.querySelectorAll('.field:not([hidden]) label[for]')"
    return browser.execute_script(f"return [...{labels}].map((label) => label.textContent)")


def find_field(browser, name):
    return browser.execute_script(FIND, ".field", "label[for]", name)


def enter(browser, name, value):
    field = find_field(browser, name).find_element(By.CSS_SELECTOR, "input[type=number]")
    browser.execute_script(
        "arguments[0].value = arguments[1]; arguments[0].dispatchEvent(new Event('input'))", field, value
    )


def find_fact(browser, words):
    return browser.execute_script(FIND, ".fact", "legend span", words)


def choose(browser, words, value):
    radio = find_fact(browser, words).find_element(By.CSS_SELECTOR, f"input[value='{value}']")
    browser.execute_script("arguments[0].click()", radio)


def chosen(browser, words):
    return find_fact(browser, words).find_element(By.CSS_SELECTOR, "input:checked").get_attribute("value")


def emulate(browser, scheme=None, media=""):
    features = [{"name": "prefers-color-scheme", "value": scheme}] if scheme else []
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": media, "features": features})
