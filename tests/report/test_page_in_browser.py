"""The report in a real browser: it fits a phone, zooms where asked, and asks for nothing."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import combinations, pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from contextwise import Structure
from contextwise.analysis import analyse
from contextwise.comparison.error_regions import explain_comparison
from contextwise.evaluation import chance
from contextwise.evidence import check
from contextwise.report.analysis_page import page_of_analysis
from contextwise.report.comparisons import Guess
from contextwise.report.page import report_page
from pages import NEEDS_CHROMIUM, PLAIN_BROWSER, Browser, Page, launched

axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="needs axe-core")
pytestmark = NEEDS_CHROMIUM
FLAGS = [*PLAIN_BROWSER, "--host-resolver-rules=MAP * ~NOTFOUND"]
VARIABLES = 400
HOSTILE = "<img src=x onerror=\"throw Error('run')\">"


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with launched(FLAGS) as found:
        yield found


@pytest.fixture(scope="module")
def page_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A chain of many variables, one of which has a hostile name, without one link."""
    names = [f"v{k}" for k in range(VARIABLES - 1)] + [HOSTILE]
    links = list(pairwise(names))
    true = Structure(dict.fromkeys(names, 2), [{a: 1, b: 1} for a, b in links])
    guess = Structure(true.domain, [{a: 1, b: 1} for a, b in links if a not in ("v64", "v397")])
    beside = chance(true, guess, draws=9)
    found = beside.comparison
    rows = np.random.default_rng(1).integers(2, size=(40, VARIABLES))
    own: dict[str, Any] = {"explanation": explain_comparison(found), "chance": beside}
    own["check"] = check(guess, rows, variables=[*names[:4], HOSTILE])
    guesses = [Guess(name, found, **own) for name in ("one", HOSTILE)]
    path = tmp_path_factory.mktemp("page") / "page.html"
    path.write_text(report_page("true", guesses), "utf-8")
    return path


@contextmanager
def visit(browser: Browser, file: Path, **options: Any) -> Iterator[Page]:
    """Open a page; a script error or a request to another address fails the test."""
    trouble: list[str] = []
    context = browser.new_context(**options)
    page = context.new_page()
    page.on("pageerror", lambda error: trouble.append(str(error)))
    page.on("request", lambda request: trouble.extend(_leaving(request.url)))
    page.goto(file.as_uri())
    yield page
    context.close()
    assert trouble == []


def _overlap(first: Any, second: Any) -> bool:
    """Check whether two boxes share more than a pixel in both directions."""
    return all(
        min(first[x] + first[size], second[x] + second[size]) - max(first[x], second[x]) > 1
        for x, size in (("x", "width"), ("y", "height"))
    )


def _leaving(url: str) -> list[str]:
    return [] if url.startswith(("file:", "data:", "blob:")) else [url]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(("width", "height"), [(1400, 900), (390, 844)])
def test_it_fits(browser: Browser, page_file: Path, scheme: str, width: int, height: int) -> None:
    size = {"width": width, "height": height}
    with visit(browser, page_file, viewport=size, color_scheme=scheme) as page:
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        found = axe.Axe().run(page).response["violations"]
        assert [one["id"] for one in found if one["impact"] in ("serious", "critical")] == []
        for k in range(page.locator("summary").count()):
            page.locator("summary").nth(k).click()
        captions = page.locator("p.caption, figcaption")
        for k in range(captions.count()):
            box = captions.nth(k).bounding_box()
            assert box is not None
            assert box["x"] + box["width"] <= width


def test_the_heat_maps_zoom(browser: Browser, page_file: Path) -> None:
    with visit(browser, page_file, viewport={"width": 1400, "height": 1600}) as page:
        page.wait_for_function(
            "[...document.querySelectorAll('.heat-map')].filter((map) => map.heatMap).length === 2"
        )
        page.locator("summary").first.click()
        canvas = page.locator(".heat-map canvas").first
        page.evaluate(
            """() => {
                const map = document.querySelector('.heat-map').heatMap;
                const place = (name) => map.data.place[map.data.names.indexOf(name)];
                map.setCursor({row: place('v65'), column: place('v64')});
            }"""
        )
        readout = page.locator(".readout").first
        assert "v65 – v64: only in guess in 0 %, only in true in 100 %" in readout.inner_text()
        canvas.focus()
        page.keyboard.press("+")
        assert page.evaluate("document.querySelector('.heat-map').heatMap.view.zoom") == 2
        page.keyboard.press("0")
        assert page.evaluate("document.querySelector('.heat-map').heatMap.view.zoom") == 1
        page.locator("[data-heat=in]").first.click()
        assert page.evaluate("document.querySelector('.heat-map').heatMap.view.zoom") == 2


@pytest.fixture(scope="module", params=[4, 14])
def analysis_file(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Path:
    """The page of an analysis: a graph of few variables, a matrix of more; hostile names."""
    rng = np.random.default_rng(0)
    columns = [rng.integers(0, 3, 900)]
    for k in range(request.param - 1):
        same = rng.random(900) < 0.7
        columns.append(np.where(same, columns[-1] % (2 + k % 2), rng.integers(0, 2, 900)))
    names = [f"a rather long name {k}" for k in range(request.param - 1)] + [HOSTILE]
    rows = [dict(zip(names, row, strict=True)) for row in np.stack(columns, axis=1).tolist()]
    path = tmp_path_factory.mktemp("analysis") / "page.html"
    result = analyse(rows, learner="mpl", resamples=0, outcome=names[1])
    path.write_text(page_of_analysis(result, command="contextwise analyse x", model="x"), "utf-8")
    return path


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1400, 390])
def test_an_analysis_fits(browser: Browser, analysis_file: Path, scheme: str, width: int) -> None:
    size = {"width": width, "height": 900}
    with visit(browser, analysis_file, viewport=size, color_scheme=scheme) as page:
        page.evaluate("document.querySelectorAll('details').forEach((d) => { d.open = true; })")
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        found = axe.Axe().run(page).response["violations"]
        assert [(one["id"], one["nodes"][0]["html"]) for one in found] == []
        boxes = [one.bounding_box() for one in page.locator(".gr .lab text, .gr .node").all()]
        assert len(boxes) > 4 or not page.locator(".gr").count()
        for first, second in combinations([box for box in boxes if box], 2):
            assert not _overlap(first, second), (first, second)
        if width > 390:
            page.emulate_media(media="print")
            assert page.locator(".fold p").first.is_visible()


def test_without_scripts_the_page_says_what_is_missing(browser: Browser, page_file: Path) -> None:
    with visit(browser, page_file, java_script_enabled=False) as page:
        page.locator("summary").first.click()
        assert page.locator("section.pictures noscript").first.is_visible()
