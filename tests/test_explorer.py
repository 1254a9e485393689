"""The explorer in a real browser: what a person clicks, and what the page then shows.

The page runs as the command runs it. Every request that leaves this machine, and every error of a
script, fails the test.
"""

from __future__ import annotations

import csv
import io
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise, product
from pathlib import Path

import pytest

from contextwise import Domain, Structure, compare, examples, explain, write
from contextwise.report.records import pair_records
from hard import hard_models

playwright = pytest.importorskip("playwright.sync_api", reason="needs Playwright for Python")
from playwright.sync_api import Browser, Page, expect  # noqa: E402

CHROMIUM = shutil.which("chromium")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="needs a browser: Debian's chromium")

PATIENCE = 30_000  # milliseconds; a busy machine is slow, not wrong
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
]
HOSTILE = "<img src=x onerror=\"throw Error('run')\">"


@contextmanager
def explorer(temporary: Path, *models: str) -> Iterator[str]:
    """The address of a running explorer, which keeps its temporary files in a folder."""
    command = [sys.executable, "-m", "contextwise", "explore", "--no-browser", *models]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, env={**os.environ, "TMPDIR": str(temporary)}
    ) as server:
        assert server.stdout is not None
        found = re.search(r"http://127\.0\.0\.1:\d+/", server.stdout.readline())
        try:
            assert found is not None
            yield found[0]
        finally:
            server.send_signal(signal.SIGINT)
            assert server.wait(20) == 0


@pytest.fixture(scope="module")
def temporary(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("explorer")


@pytest.fixture(scope="module")
def address(temporary: Path) -> Iterator[str]:
    with explorer(temporary, "six", "six-guess") as found:
        yield found


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with playwright.sync_playwright() as started:
        chromium = started.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield chromium
        chromium.close()


@contextmanager
def visit(browser: Browser, address: str) -> Iterator[Page]:
    """A new session at an address; trouble on the page is trouble of the test."""
    trouble: list[str] = []
    context = browser.new_context(viewport={"width": 1280, "height": 1600})
    page = context.new_page()
    page.set_default_timeout(PATIENCE)
    page.on("pageerror", lambda error: trouble.append(str(error)))
    page.on(
        "request",
        lambda request: (
            None
            if request.url.startswith(("http://127.0.0.1:", "data:", "blob:"))
            else trouble.append(request.url)
        ),
    )
    page.on(  # a request that fails is one; of that for the icon nothing else is told
        "console", lambda said: trouble.append(said.text) if said.type == "error" else None
    )
    page.goto(address)
    yield page
    context.close()
    assert not trouble


@pytest.fixture
def page(browser: Browser, address: str) -> Iterator[Page]:
    with visit(browser, address) as found:
        yield found


def tab(page: Page, name: str) -> None:
    page.get_by_role("tab", name=name).click()


def shows(page: Page, selector: str, text: str | re.Pattern[str]) -> None:
    expect(page.locator(selector)).to_contain_text(text, timeout=PATIENCE)


def test_the_numbers_a_click_on_a_pair_and_the_keyboard(page: Page) -> None:
    six, guess = examples.load("six"), examples.load("six-guess")
    found = compare(six, guess)
    for text in (f"differ in {found.distance} of", f"FN {found.fn}", f"TN {found.tn}"):
        shows(page, "#summary", text)
    page.locator('#heat rect[data-row="5"][data-column="4"]').click()
    expect(page.locator("#first")).to_have_value("X5", timeout=PATIENCE)
    expect(page.locator("#second")).to_have_value("X4")
    [region] = explain(six, guess, pairs=[("X4", "X5")]).pairs[0].regions
    shows(page, "#regions", region.when)
    shows(page, "#regions", "only in true")
    page.locator("#worst button").first.focus()
    page.keyboard.press("Enter")
    expect(page.locator("#first")).to_have_value("X1", timeout=PATIENCE)
    shows(page, "#regions", "only in guess")


def test_a_context_changes_the_graphs_and_a_link_brings_it_back(
    page: Page, browser: Browser
) -> None:
    tab(page, "Context")
    selector = page.locator("#context_selectors select")
    selector.first.select_option("1")
    shows(page, "#graphs", "X1 – X2: only in guess in 100 % of contexts")
    expect(page.locator("#graphs svg").first.locator("line")).to_have_count(0)
    expect(page.locator("#graphs svg").last.locator("line.fp")).to_have_count(1)
    selector.first.select_option("0")
    shows(page, "#graphs", "X4 – X5: only in true in 100 % of contexts")
    page.wait_for_url("**context=X0%3D0**")
    with visit(browser, page.url) as again:
        shows(again, "#graphs", "X4 – X5: only in true in 100 % of contexts")
        expect(again.locator("#context_selectors select").first).to_have_value("0")


def test_a_question_is_answered_by_both_models_and_nonsense_is_explained(page: Page) -> None:
    tab(page, "Question")
    page.fill("#question", "X1 _||_ X2 | X0=1")
    page.click("#ask")
    shows(page, "#replies", "In the true model: independent")
    shows(page, "#replies", "In the guess: dependent")
    page.fill("#question", "X1 _||_ Y")
    page.click("#ask")
    shows(page, "#replies", "unknown variable 'Y'")


def test_uploads_are_compared_shown_as_text_and_gone_with_the_session(
    browser: Browser, address: str, temporary: Path, tmp_path: Path
) -> None:
    domain = Domain({HOSTILE: 2, "B": 2, "C": ["<b>no</b>", "yes"]})
    true = Structure(domain, [{HOSTILE: 1, "B": 1, "C": "<b>no</b>"}])
    guess = Structure(domain, [{HOSTILE: 1, "B": 1}])
    for name, model in (("<i>true.json", true), ("guess.json", guess)):
        write(model, tmp_path / name)
    with visit(browser, address) as page:
        shows(page, "#summary", "240 assertions")
        page.set_input_files("#upload", [tmp_path / "<i>true.json", tmp_path / "guess.json"])
        shows(page, "#summary", f"differ in {compare(true, guess).distance} of 6")
        shows(page, "#worst", HOSTILE[:10])
        assert list(temporary.rglob("fileupload-*/**/*.json"))
        for name in ("Context", "Question", "Guesses"):
            tab(page, name)
        shows(page, "#guess_table", "guess.json")
        assert "upload" not in page.url
        with visit(browser, address) as other:
            shows(other, "#summary", "240 assertions")
            expect(other.locator("#true option")).to_have_count(9)
        expect(page.locator("#true option")).to_have_count(11)
        broken = tmp_path / "broken.mn"
        broken.write_text("2,2\nMN {\n+v0_1 +v7_1\n}\n")
        page.set_input_files("#upload", broken)
        shows(page, "#uploaded", re.compile(r"^broken\.mn:3: "))
    for _ in range(100):
        if not list(temporary.rglob("fileupload-*")):
            break
        time.sleep(0.1)
    assert not list(temporary.rglob("fileupload-*"))


def test_hard_work_can_be_cancelled_and_leaves_bounds(page: Page, tmp_path: Path) -> None:
    files = []
    for name, model in zip(("true.json", "guess.json"), hard_models(), strict=True):
        write(model, tmp_path / name)
        files.append(tmp_path / name)
    shows(page, "#summary", "240 assertions")
    page.set_input_files("#upload", files)
    page.locator("#stop").wait_for()
    tab(page, "Question")  # the page is alive meanwhile
    expect(page.locator("#question")).to_be_visible()
    tab(page, "Overview")
    page.click("#stop")
    shows(page, "#summary", re.compile(r"Stopped: [\d,]+ of [\d,]+ pairs are open"))
    shows(page, "#summary", "distance, at least")
    expect(page.locator("#again")).to_be_visible()


def test_a_reload_begins_again_with_the_same_choice(browser: Browser, tmp_path: Path) -> None:
    files = [str(tmp_path / name) for name in ("true.json", "guess.json")]
    for path, model in zip(files, hard_models(), strict=True):
        write(model, path)
    with (
        explorer(tmp_path, "six", "six-guess", *files) as address,
        visit(browser, address) as page,
    ):
        shows(page, "#summary", "240 assertions")
        page.select_option("#true", label="true.json")
        page.locator("#stop").wait_for()
        tab(page, "Question")
        page.wait_for_url("**true=given%3A2&guess=given%3A3&tab=question**")
        page.reload()
        page.locator("#stop").wait_for()
        expect(page.locator("#true")).to_have_value("given:2")
        expect(page.locator("#question")).to_be_visible()
        page.click("#stop")
        tab(page, "Overview")
        shows(page, "#summary", "pairs are open")


def test_downloads_are_what_the_package_gives(page: Page) -> None:
    found = compare(examples.load("six"), examples.load("six-guess"))
    shows(page, "#summary", "240 assertions")

    def text(key: str) -> str:
        with page.expect_download() as download:
            page.click(f"#{key}")
        return Path(download.value.path()).read_text(encoding="utf-8")

    rows = list(csv.DictReader(io.StringIO(text("pairs_csv"))))
    assert [dict(row) for row in rows] == [
        {key: str(value) for key, value in record.items()} for record in pair_records(found)
    ]
    assert json.loads(text("comparison_json"))["distance"] == found.distance
    assert text("heat_svg").startswith("<svg")
    shows(page, "#regions", "only in")
    assert json.loads(text("regions_json"))["fp"] == 8
    tab(page, "Context")
    page.locator("#graphs svg").first.wait_for()
    assert text("graph_true_svg").startswith("<svg")


def test_many_guesses_sort_and_choose(page: Page, browser: Browser) -> None:
    page.get_by_label("six-graph (example)").check()
    tab(page, "Guesses")
    cells = page.locator("#guess_table tbody tr td:first-child")
    expect(cells).to_have_count(2, timeout=PATIENCE)
    head = page.get_by_role("button", name="distance")
    head.click()
    expect(cells.first).to_have_text("six-guess")
    head.click()
    expect(cells.first).to_have_text("six-graph (example)")
    page.get_by_role("button", name="six-graph").click()
    expect(page.locator("#shown")).to_have_value("example:six-graph")
    with page.expect_download() as download:
        page.click("#report_html")
    report = Path(download.value.path()).read_text(encoding="utf-8")
    assert "2 guesses compared with six" in report
    page.wait_for_url("**shown=example%3Asix-graph**")
    with visit(browser, page.url) as again:
        expect(again.locator("#shown")).to_have_value("example:six-graph", timeout=PATIENCE)


def test_many_variables_are_an_image_with_a_part_enlarged(page: Page, tmp_path: Path) -> None:
    names = [f"v{k}" for k in range(130)]
    pairs = list(pairwise(names))
    true = Structure(dict.fromkeys(names, 2), [{a: 1, b: 1} for a, b in pairs])
    guess = Structure(true.domain, [{a: 1, b: 1} for a, b in pairs if a != "v64"])
    for name, model in (("true.json", true), ("guess.json", guess)):
        write(model, tmp_path / name)
    shows(page, "#summary", "240 assertions")
    page.set_input_files("#upload", [tmp_path / "true.json", tmp_path / "guess.json"])
    image = page.locator("#heat image")
    box = image.bounding_box()
    assert box is not None
    cell = box["width"] / 130
    image.click(position={"x": 64.5 * cell, "y": 65.5 * cell})
    shows(page, "#regions", "only in true")
    expect(page.locator("#first")).to_have_value("v65")
    lone = page.locator("#enlarged rect.fn")
    expect(lone).to_have_count(1)
    lone.click()
    shows(page, "#regions", "in every context")


def test_the_results_of_an_experiment_are_plotted(page: Page, tmp_path: Path) -> None:
    rows = ["structure,side,size,parameters,errors,percentage,features,kl,converged"]
    rows += [
        f"{s},{side},{size},{p},{s},{10 * s},5,{0.01 * s + 0.001 * p},1"
        for s, side, size, p in product(range(5), ("fp", "fn"), (100, 1000), range(3))
    ]
    (tmp_path / "rows.csv").write_text("\n".join(rows))
    tab(page, "Experiment")
    page.set_input_files("#results", tmp_path / "rows.csv")
    points = page.locator("#scatter .mark title")
    expect(points).to_have_count(10, timeout=PATIENCE)
    page.get_by_label("false positives").uncheck()
    expect(points).to_have_count(5, timeout=PATIENCE)
    expect(page.locator("#scatter line.mark")).to_have_count(5)
    page.get_by_label("none").check()
    expect(page.locator("#scatter line.mark")).to_have_count(0, timeout=PATIENCE)
    shows(page, "#effects", "false negatives")
    (tmp_path / "x.csv").write_text("a\n1\n")
    page.set_input_files("#results", tmp_path / "x.csv")
    shows(page, "#results_problem", "x.csv:2: ")
