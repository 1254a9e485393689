"""Stability of the page layout: buttons and plots do not move when work begins or ends."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from contextwise import write
from hard import hard_models
from pages import (
    NEEDS_CHROMIUM,
    PATIENCE,
    Browser,
    Page,
    expect,
    explorer,
    launched,
    settle,
    shows,
    tab,
    visit,
)

pytestmark = NEEDS_CHROMIUM
COMPARING = re.compile(r"Comparing with hard-guess.json: [\d,]+ of [\d,]+")


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder: Path = tmp_path_factory.mktemp("still")
    files = [folder / "hard.json", folder / "hard-guess.json"]
    for path, model in zip(files, hard_models(), strict=True):
        write(model, path)
    with explorer(folder, *map(str, files), "six", "six-guess", "six-graph") as found:
        yield found


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with launched() as found:
        yield found


@pytest.fixture(scope="module")
def stopped(browser: Browser, address: str) -> str:
    """The address of models that no time is enough for, with what was known when they stopped."""
    with visit(browser, address) as page:
        shows(page, "#work", COMPARING)
        page.click("#stop")
        shows(page, "#summary", "pairs are unfinished")
    return address


@pytest.fixture
def page(browser: Browser, stopped: str) -> Iterator[Page]:
    with visit(browser, stopped, viewport={"width": 1400, "height": 900}) as found:
        shows(found, "#summary", "pairs are unfinished")
        shows(found, "#worst", "widest bounds")
        settle(found)
        yield found


def boxes(page: Page, *selectors: str) -> list[Any]:
    """Return the bounding boxes of elements."""
    found = [page.locator(one).bounding_box() for one in selectors]
    assert None not in found
    return found


def test_comparing_again_moves_nothing(page: Page) -> None:
    things = ("#heat canvas", "#again", "#first")
    before = boxes(page, *things)
    page.click("#again")
    shows(page, "#work", COMPARING)
    expect(page.locator("#again")).to_be_disabled()
    assert boxes(page, *things) == before
    page.click("#stop")


def test_graphs_stay_until_those_of_the_next_context_are_known(page: Page) -> None:
    tab(page, "Graph")
    shows(page, "#context_graphs", "Shown:")
    settle(page)
    words = page.locator("#context_graphs").inner_text()
    before = boxes(page, "#all_edges", "#context_graphs .graphs")
    page.fill("#chosen_literal", "X0=1")
    page.keyboard.press("Enter")
    expect(page.locator("#context_work .under-way")).to_be_visible()
    expect(page.locator("#context_states select")).to_have_count(1)
    assert page.locator("#context_graphs").inner_text() == words
    assert boxes(page, "#all_edges", "#context_graphs .graphs") == before


def test_a_late_click_on_stop_begins_nothing(page: Page, tmp_path: Path) -> None:
    rows = np.random.default_rng(0).integers(0, 2, (20_000, 60))
    head = ",".join(f"V{k}" for k in range(60))
    np.savetxt(tmp_path / "rows.csv", rows, fmt="%d", delimiter=",", header=head, comments="")
    tab(page, "Rows")
    page.set_input_files("#rows", tmp_path / "rows.csv")
    shows(page, "#columns", "60 columns")
    settle(page)
    before = boxes(page, "#learn_begin")
    page.click("#learn_begin")
    expect(page.locator("#learn_outcome .under-way")).to_be_visible()
    expect(page.locator("#learn_begin")).to_be_disabled()
    assert boxes(page, "#learn_begin") == before
    [stop] = boxes(page, "#learn_stop")
    page.click("#learn_stop")
    expect(page.locator("#learn_stop")).to_have_count(0, timeout=PATIENCE)
    page.mouse.click(stop["x"] + stop["width"] / 2, stop["y"] + stop["height"] / 2)
    settle(page)
    expect(page.locator("#learn_outcome .under-way")).to_have_count(0)
    assert boxes(page, "#learn_begin") == before
