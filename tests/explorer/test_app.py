"""The explorer in a real browser: what a person does, and what the page then shows."""

from __future__ import annotations

import csv
import io
import json
import re
import time
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest

from contextwise import Domain, Structure, compare, examples, write
from contextwise.comparison.error_regions import explain_pair
from contextwise.comparison.two_models import pair_records
from hard import hard_models
from pages import (
    NEEDS_CHROMIUM,
    PATIENCE,
    Browser,
    Page,
    centre,
    click_cell,
    expect,
    explorer,
    launched,
    marked,
    serious_findings,
    settle,
    shows,
    shows_pair,
    tab,
    ungroup,
    visit,
    zoomed,
)

pytestmark = NEEDS_CHROMIUM
FILES = ("chain", "chain-broken", "long", "long-broken", "hard", "hard-guess")
CHAIN, LONG, HARD = (f"?true=given%3A{k}" for k in (2, 4, 6))
HOSTILE = "<img src=x onerror=\"throw Error('run')\">"


@pytest.fixture(scope="module")
def temporary(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("explorer")


@pytest.fixture(scope="module")
def address(temporary: Path) -> Iterator[str]:
    """One explorer for all: six variables, chains of 130 and of 400, and models that are hard."""
    models = [*chains(130), *chains(400), *hard_models()]
    files = [temporary / f"{name}.json" for name in FILES]
    for path, model in zip(files, models, strict=True):
        write(model, path)
    with explorer(temporary, "six", "six-guess", *map(str, files)) as found:
        yield found


def chains(n: int) -> tuple[Structure, Structure]:
    """A chain of many variables, and a guess that lacks one link; nothing else differs."""
    names = [f"v{k}" for k in range(n)]
    pairs = list(pairwise(names))
    true = Structure(dict.fromkeys(names, 2), [{a: 1, b: 1} for a, b in pairs])
    return true, Structure(true.domain, [{a: 1, b: 1} for a, b in pairs if a != "v64"])


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with launched() as found:
        yield found


@pytest.fixture
def page(browser: Browser, address: str) -> Iterator[Page]:
    with visit(browser, address) as found:
        yield found


# -- the heat map ----------------------------------------------------------------------------------


def test_a_click_shows_the_pair_marks_it_and_back_undoes_it(page: Page) -> None:
    found = compare(examples.load("six"), examples.load("six-guess"))
    shows(page, "#summary", f"{found.distance} of {found.total}")
    shows_pair(page, "X1", "X2")
    click_cell(page, "X5", "X4")
    shows_pair(page, "X5", "X4")
    [region] = explain_pair(found, ("X4", "X5")).regions
    shows(page, "#regions", region.when)
    assert marked(page) == ["X5", "X4"]
    page.wait_for_url("**first=X5&second=X4**")
    page.go_back()
    shows_pair(page, "X1", "X2")
    page.go_forward()
    shows_pair(page, "X5", "X4")
    page.select_option("#first", "X4")  # never one variable twice: they change places
    shows_pair(page, "X4", "X5")


def test_the_heat_map_is_used_by_keyboard(page: Page) -> None:
    shows_pair(page, "X1", "X2")
    canvas = page.locator("#heat canvas")
    page.wait_for_function("document.querySelector('#heat').heatMap?.side > 0")
    canvas.focus()
    page.keyboard.press("ArrowRight")
    shows(page, "#heat_readout", "X1 – X3: only in guess in 0 %")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    shows_pair(page, "X2", "X3")
    page.keyboard.press("n")
    shows(page, "#heat_readout", "in 50 %")
    expect(canvas).to_be_focused()


def test_a_lone_error_among_many_is_seen_and_zoomed_without_the_server(
    browser: Browser, address: str
) -> None:
    with visit(browser, address + CHAIN) as page:
        shows(page, "#summary", "1 of 8,385 pairs differ")
        shows(page, "#regions", "in every context")
        ungroup(page)
        canvas = page.locator("#heat canvas")
        canvas.focus()
        place = centre(page, "v65", "v64")
        assert place["cell"] < 6
        page.evaluate("window.asked = []")
        page.evaluate("() => { Shiny.shinyapp.$socket.send = (text) => asked.push(text); }")
        page.mouse.move(place["x"], place["y"])
        shows(page, "#heat_readout", "v65 – v64: only in guess in 0 %, only in true in 100 %")
        page.wait_for_function("!document.querySelector('#heat').heatMap.scrolling")
        for _ in range(3):
            page.mouse.wheel(0, -100)
        zoomed(page, "> 2")
        shows(page, "section.map", "Each cell is a pair of variables")
        near = centre(page, "v65", "v64")
        assert abs(near["x"] - place["x"]) <= near["cell"]
        page.keyboard.press("0")
        zoomed(page, "=== 1")
        assert centre(page, "v65", "v64")["cell"] == place["cell"]
        page.get_by_role("button", name="Zoom in").click()
        zoomed(page, "=== 2")
        before = centre(page, "v65", "v64")
        assert before["cell"] == pytest.approx(2 * place["cell"])
        page.mouse.move(before["x"], before["y"])
        page.mouse.down()
        page.mouse.move(before["x"] + 30, before["y"] + 20, steps=4)
        page.mouse.up()
        after = centre(page, "v65", "v64")
        assert (after["x"] - before["x"], after["y"] - before["y"]) == pytest.approx((30, 20))
        asked = [json.loads(text)["data"] for text in page.evaluate("window.asked")]
        # Shiny itself sends .clientdata to report which outputs are visible.
        assert [key for data in asked for key in data if not key.startswith(".clientdata")] == []


def test_two_fingers_zoom_where_they_are(browser: Browser, address: str) -> None:
    with visit(browser, address + CHAIN, has_touch=True) as page:
        shows(page, "#regions", "in every context")
        ungroup(page)
        place = centre(page, "v65", "v64")
        fingers = page.context.new_cdp_session(page)

        def touch(kind: str, apart: float | None) -> None:
            points = [] if apart is None else [-apart, apart]
            at = [{"x": place["x"] + d, "y": place["y"], "id": k} for k, d in enumerate(points)]
            fingers.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": at})

        touch("touchStart", 20)
        for apart in (30, 40, 50, 60):
            touch("touchMove", apart)
        touch("touchEnd", None)
        zoomed(page, "> 2.9")
        near = centre(page, "v65", "v64")
        assert near["cell"] == pytest.approx(3 * place["cell"])
        assert (near["x"], near["y"]) == pytest.approx((place["x"], place["y"]), abs=1)
        shows_pair(page, "v64", "v65")  # two fingers choose no pair
        touch("touchStart", 60)
        for apart in (40, 20, 10):
            touch("touchMove", apart)
        touch("touchEnd", None)
        zoomed(page, "=== 1")


def test_small_cells_show_the_worst_of_several(browser: Browser, address: str) -> None:
    """At every size of a cell, the pixels of a lone error are there."""
    with visit(browser, address + LONG) as page:
        shows(page, "#regions", "in every context")
        ungroup(page)
        place = centre(page, "v65", "v64")
        assert place["cell"] < 2
        colour = """({x, y}) => {
            const map = document.querySelector('#heat').heatMap;
            const box = map.canvas.getBoundingClientRect();
            const [left, top] = [(x - box.left) * map.ratio - 3, (y - box.top) * map.ratio - 3];
            const {data} = map.context.getImageData(left, top, 7, 7);
            for (let k = 0; k < data.length; k += 4) {
              if (data[k + 2] > data[k] + 60 && data[k + 3] > 200) return true;
            }
            return false;
        }"""
        page.evaluate("document.querySelector('#heat').heatMap.mark(null)")
        assert page.evaluate(colour, place)
        assert not page.evaluate(colour, centre(page, "v300", "v20"))
        click_cell(page, "v66", "v63")  # a click next to a tiny cell selects it
        shows_pair(page, "v65", "v64")


# -- around one variable ---------------------------------------------------------------------------


def test_around_one_variable_and_on_to_the_pair(page: Page, browser: Browser) -> None:
    shows_pair(page, "X1", "X2")
    page.get_by_role("tab", name="Around one variable").click()
    shows(page, "#neighbours", "depend on X1")
    page.fill("#around", "X5")
    shows(page, "#neighbours", "depend on X5")
    page.wait_for_url("**around=X5**")
    with visit(browser, page.url) as again:
        shows(again, "#neighbours", "depend on X5")
    first = page.locator("#neighbours tbody button").first
    expect(first).to_have_text("X4")
    first.click()
    shows_pair(page, "X5", "X4")
    shows(page, "#regions", "only in true")
    page.go_back()
    shows(page, "#neighbours", "depend on X5")


# -- the other views -------------------------------------------------------------------------------


def test_a_context_takes_one_step_and_a_link_brings_it_back(page: Page, browser: Browser) -> None:
    shows(page, "#regions", "X0=1")
    page.get_by_role("button", name="show this context").click()
    expect(page.locator("#state_0")).to_have_value("1", timeout=PATIENCE)
    shows(page, "#context_graphs", "X1 – X2: only in guess in 100 % of contexts")
    expect(page.locator("#context_graphs svg line.fp")).to_have_count(2)  # legend and graph
    page.locator("#state_0").focus()
    page.locator("#state_0").select_option("0")
    shows(page, "#context_graphs", "X4 – X5: only in true in 100 % of contexts")
    expect(page.locator("#state_0")).to_be_focused()
    page.get_by_label("Also show where").check()
    expect(page.locator("#context_graphs .legend")).to_contain_text("in both", timeout=PATIENCE)
    page.wait_for_url("**context=X0%3D0&edges=all**")
    with visit(browser, page.url) as again:
        shows(again, "#context_graphs", "X4 – X5: only in true in 100 % of contexts")
        expect(again.locator("#state_0")).to_have_value("0")
    page.get_by_role("button", name="X4 – X5: only in true").click()
    shows_pair(page, "X4", "X5")


def test_a_link_brings_several_states_of_a_variable(browser: Browser, address: str) -> None:
    where = "?true=example%3Asurvey&tab=graph&context=education%3Dschool%7Ccollege"
    with visit(browser, f"{address}{where}") as page:
        expect(page.locator("#state_2")).to_have_value("school or college", timeout=PATIENCE)
        shows(page, "#context_graphs", "in this context")
        page.locator("#state_0").select_option("man")
        page.wait_for_url("**context=education%3Dschool%7Ccollege+%26+gender%3Dman")
        page.locator("#state_2").select_option("university")
        page.wait_for_url("**context=gender%3Dman+%26+education%3Duniversity")


def test_many_variables_have_a_search_for_their_states(browser: Browser, address: str) -> None:
    with visit(browser, f"{address}{CHAIN}&tab=graph") as page:
        shows(page, "#context_graphs", "The only difference")
        page.fill("#chosen_literal", "v65=1")
        page.keyboard.press("Enter")
        shows(page, "#context_graphs", "agree here")
        expect(page.locator("#context_states select")).to_have_count(1)
        page.locator("#context_states select").select_option("")
        shows(page, "#context_graphs", "The only difference")


def test_a_question_is_answered_by_both_models_and_nonsense_is_explained(
    page: Page, browser: Browser, address: str
) -> None:
    def pick(part: str, *names: str) -> None:
        page.locator(f"#asked_{part}").evaluate("(list, v) => list.selectize.setValue(v)", names)

    tab(page, "Question")
    pick("first", "X1")
    pick("second", "X2", "X3")
    pick("when", "X0=1", "X3=0")
    page.click("#ask")
    shows(page, "#replies", "variable 'X3' is on a side of the query and in the context")
    pick("second", "X2")
    pick("when", "X0=1")
    page.click("#ask")
    shows(page, "#replies", "In six: independent")
    shows(page, "#replies", "In six-guess: dependent")
    pick("when")
    page.click("#ask")
    shows(page, "#replies", "In six: dependent")
    page.go_back()
    shows(page, "#replies", "In six: independent")
    expect(page.locator("#asked_when")).to_have_values(["X0=1"])
    with visit(browser, f"{address}?tab=question&question=X1+_%7C%7C_+Y") as other:
        shows(other, "#replies", "unknown variable 'Y'")


def test_of_many_guesses_one_is_chosen_and_all_are_reported(page: Page, browser: Browser) -> None:
    shows(page, "#summary", "of 240")
    expect(page.locator("#guess_table")).not_to_be_visible()
    page.get_by_label("six-graph (example)").check()
    cells = page.locator("#guess_table tbody tr th")
    expect(cells).to_have_count(2, timeout=PATIENCE)
    expect(cells.first).to_have_text("six-guess")
    shows(page, "#guess_table", "six-guess is nearest to the true model: 6.67 %")
    page.get_by_role("button", name="six-graph").click()
    expect(page.locator("#shown")).to_have_value("example:six-graph", timeout=PATIENCE)
    with page.expect_download() as download:
        page.click("#report_html")
    assert download.value.suggested_filename.endswith("-report.html")
    assert "six-graph" in Path(download.value.path()).read_text(encoding="utf-8")
    with visit(browser, page.url) as again:
        expect(again.locator("#shown")).to_have_value("example:six-graph", timeout=PATIENCE)


def test_a_model_without_a_guess_is_shown_alone(page: Page) -> None:
    shows(page, "#regions", "only in guess")
    page.get_by_label("six-guess").uncheck()
    shows(page, "#summary", "15 pairs: 10 depend in some contexts only, 5 depend in every context")
    shows(page, "#regions", "X1–X2 are independent")
    shows(page, "#worst", "Depend in some contexts only")
    with page.expect_download() as download:
        page.click("#pairs_csv")
    head = Path(download.value.path()).read_text(encoding="utf-8").splitlines()[0]
    assert head == "first,second,dependent,independent"
    page.wait_for_url(re.compile(r"guess=(&|$)"))
    page.get_by_role("button", name="show this context").first.click()
    shows(page, "#context_graphs", "No pair depends here.")
    page.locator(".pan-zoom circle[data-variable='X2']").click()
    shows(page, "#context_states", "X2")
    expect(page.locator("#context_states select").nth(2)).to_have_value("0", timeout=PATIENCE)
    words = page.locator("main, .main").first.inner_text()
    assert "guess" not in words
    assert "true model" not in words
    tab(page, "Question")
    page.click("#ask")
    shows(page, "#replies", "In six: dependent")
    expect(page.get_by_role("tab", name="Experiment")).to_have_count(0)  # there is no run
    page.get_by_label("six-guess").check()
    tab(page, "Overview")
    shows(page, "#regions", "only in guess")


def test_uploads_are_asked_for_shown_as_text_and_gone_with_the_session(
    browser: Browser, address: str, temporary: Path, tmp_path: Path
) -> None:
    domain = Domain({HOSTILE: 2, "B": 2, "C": ["<b>no</b>", "yes"]})
    true = Structure(domain, [{HOSTILE: 1, "B": 1, "C": "<b>no</b>"}])
    guess = Structure(domain, [{HOSTILE: 1, "B": 1}])
    for name, model in (("<i>true.json", true), ("guess.json", guess)):
        write(model, tmp_path / name)
    with visit(browser, address) as page:
        shows(page, "#summary", "of 240")
        page.set_input_files("#upload", [tmp_path / "<i>true.json", tmp_path / "guess.json"])
        shows(page, "#uploaded", "have other variables than this model")
        expect(page.locator("#true")).to_have_value("given:0")
        page.locator("#true").select_option(label="<i>true.json")
        shows(page, "#summary", f"{compare(true, guess).distance} of 6")
        shows(page, "#worst", HOSTILE[:10])
        assert list(temporary.rglob("fileupload-*/**/*.json"))
        for name in ("Graph", "Question", "Overview"):
            tab(page, name)
        shows(page, "#summary", "of 6")
        assert "upload" not in page.url
        with visit(browser, address) as other:
            shows(other, "#summary", "of 240")
            expect(other.locator("#true option")).to_have_count(13)
        expect(page.locator("#true option")).to_have_count(15)
        broken = tmp_path / "broken.mn"
        broken.write_text("2,2\nMN {\n+v0_1 +v7_1\n}\n")
        page.set_input_files("#upload", broken)
        shows(page, "#uploaded", re.compile(r"^broken\.mn:3: "))
    for _ in range(100):
        if not list(temporary.rglob("fileupload-*")):
            break
        time.sleep(0.1)
    assert not list(temporary.rglob("fileupload-*"))


def test_hard_work_says_what_it_does_can_be_stopped_and_survives_a_reload(
    browser: Browser, address: str
) -> None:
    under_way = re.compile(r"Comparing with hard-guess.json: [\d,]+ of [\d,]+")
    with visit(browser, address + HARD) as page:
        shows(page, "#work", under_way)
        head = page.get_by_role("tab", name="Overview")
        busy = head.bounding_box()
        tab(page, "Question")  # the page is alive meanwhile
        expect(page.locator("#ask")).to_be_visible()
        page.wait_for_url("**tab=question**")
        page.reload()
        shows(page, "#work", under_way)
        expect(page.locator("#ask")).to_be_visible()
        page.click("#stop")
        tab(page, "Overview")
        shows(page, "#summary", re.compile(r"[\d,]+ of [\d,]+ pairs are unfinished"))
        shows(page, "#worst", "widest bounds")
        expect(page.locator("#again")).to_be_visible()
        assert head.bounding_box() == busy  # what comes and goes never moves the tabs


def test_downloads_are_what_the_package_gives_and_named_after_the_models(page: Page) -> None:
    found = compare(examples.load("six"), examples.load("six-guess"))
    shows(page, "#summary", "of 240")

    def text(key: str, name: str) -> str:
        with page.expect_download() as download:
            page.click(f"#{key}")
        assert download.value.suggested_filename == f"six-vs-six-guess-{name}"
        return Path(download.value.path()).read_text(encoding="utf-8")

    rows = list(csv.DictReader(io.StringIO(text("pairs_csv", "pairs.csv"))))
    assert [dict(row) for row in rows] == [
        {key: str(value) for key, value in record.items()} for record in pair_records(found)
    ]
    assert "16 of 240" in text("report_html", "report.html")


def test_graphs_zoom_and_pan(page: Page) -> None:
    tab(page, "Graph")
    graph = page.locator("#context_graphs svg.graph")
    graph.wait_for()
    settle(page)
    whole = graph.get_attribute("viewBox")
    page.get_by_role("group", name="Zoom of the graph").get_by_role(
        "button", name="Zoom in"
    ).click()
    expect(graph).not_to_have_attribute("viewBox", str(whole))
    zoomed_in = graph.get_attribute("viewBox")
    box = graph.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] / 2 + 40, box["y"] + box["height"] / 2 + 30, steps=4)
    page.mouse.up()
    expect(graph).not_to_have_attribute("viewBox", str(zoomed_in))
    page.locator("#context_graphs .pan-zoom").focus()
    page.keyboard.press("0")
    expect(graph).to_have_attribute("viewBox", str(whole))
    page.mouse.wheel(0, -100)
    expect(graph).not_to_have_attribute("viewBox", str(whole))


# -- for everybody ---------------------------------------------------------------------------------


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing_serious_in_any_view(browser: Browser, address: str, theme: str) -> None:
    link = f"{address}?guess=given%3A1&guess=example%3Asix-graph&question=X1+_%7C%7C_+X2"
    with visit(browser, link, color_scheme=theme) as page:
        shows(page, "#regions", "only in")
        views = {
            "Overview": "#guess_table table",
            "Graph": "#context_graphs svg.graph",
            "Question": "#replies h2",
            "Rows": "#columns p",
        }
        for name, there in views.items():
            tab(page, name)
            page.locator(there).first.wait_for()
            assert serious_findings(page) == []


def test_a_phone_shows_the_view_first(browser: Browser, address: str) -> None:
    phone = {"width": 390, "height": 844}
    with visit(browser, address, viewport=phone, has_touch=True) as page:
        shows(page, "#summary", "16 of 240")
        box = page.locator("#summary .headline").bounding_box()
        assert box is not None
        assert box["y"] < 250
        assert page.evaluate("document.documentElement.scrollWidth") <= phone["width"]
        script = "document.querySelector('#heat').scrollIntoView({behavior: 'instant'})"
        page.evaluate(script)
        place = centre(page, "X5", "X4")
        page.touchscreen.tap(place["x"], place["y"])
        shows_pair(page, "X5", "X4")
