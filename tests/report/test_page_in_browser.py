"""The report in a real browser: it fits a phone, zooms where asked, and asks for nothing."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from contextwise import Structure, distance_matrix
from contextwise.comparison.explain import explain_comparison
from contextwise.evaluation import chance, check
from contextwise.evaluation.resampling import Stability
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
    guesses = [Guess(name, found, group=name, **own) for name in ("one", HOSTILE)]
    models = (true, guess, guess)
    stable = Stability(models, true, distance_matrix(models), 40, "bootstrap", 0.5)
    path = tmp_path_factory.mktemp("page") / "page.html"
    path.write_text(report_page("true", guesses, stability=stable), "utf-8")
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
        captions = page.locator("p.caption, figcaption")
        for k in range(captions.count()):
            box = captions.nth(k).bounding_box()
            assert box is not None
            assert box["x"] + box["width"] <= width


def test_the_heat_maps_zoom(browser: Browser, page_file: Path) -> None:
    with visit(browser, page_file, viewport={"width": 1400, "height": 1600}) as page:
        page.wait_for_function(
            "[...document.querySelectorAll('.heat-map')].filter((map) => map.heatMap).length === 3"
        )
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


def test_without_scripts_the_page_says_what_is_missing(browser: Browser, page_file: Path) -> None:
    with visit(browser, page_file, java_script_enabled=False) as page:
        assert page.locator("section.pictures noscript").first.is_visible()
