"""Rows beside a comparison, in a browser."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from contextwise import Domain, LogLinear, Structure, write
from drawn_rows import sample
from pages import (
    NEEDS_CHROMIUM,
    PATIENCE,
    Browser,
    Page,
    expect,
    explorer,
    launched,
    serious_findings,
    shows,
    tab,
    visit,
)

pytestmark = NEEDS_CHROMIUM


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with launched() as found:
        yield found


def rows_of(model: Structure, count: int) -> list[list[str]]:
    """Rows in which the features of a model show."""
    drawn = sample(LogLinear(model, [3.0] * len(model)), count, seed=1, method="exact")
    return [list(map(str, row)) for row in drawn.tolist()]


@pytest.fixture(scope="module")
def with_rows(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """An explorer of two models and rows: the guess lacks a dependence that the rows show."""
    folder = tmp_path_factory.mktemp("rows")
    domain = Domain({"A": 2, "B": 2, "C": 3, "D": 2})
    true = Structure(domain, ["A=1 & B=1 & C=2", "C=1 & D=1"])
    write(true, folder / "true.json")
    write(Structure(domain, ["C=1 & D=1", "A=1 & C=1 & D=0"]), folder / "guess.json")
    lines = [",".join(domain.names), *(",".join(row) for row in rows_of(true, 600))]
    (folder / "rows.csv").write_text("\n".join(lines))
    models = [str(folder / name) for name in ("true.json", "guess.json")]
    with explorer(folder, *models, "--check", str(folder / "rows.csv")) as address:
        yield address


def test_rows_stand_beside_a_difference(browser: Browser, with_rows: str, tmp_path: Path) -> None:
    with visit(browser, f"{with_rows}?first=A&second=B") as page:
        shows(page, "#regions", "only in true")
        shows(page, "#regions", "By the rows, as true.json claims")
        shows(page, "#regions", re.compile("supported"))
        assert serious_findings(page) == []
        (tmp_path / "other.csv").write_text("A,B\n0,1\n")
        tab(page, "Rows")
        page.set_input_files("#rows", tmp_path / "other.csv")
        shows(page, "#columns", "other.csv")
        tab(page, "Overview")
        expect(page.locator("#regions .card")).to_have_count(0, timeout=PATIENCE)


def test_rows_are_asked_for(page_without_rows: Page) -> None:
    tab(page_without_rows, "Rows")
    shows(page_without_rows, "#columns", "No rows yet")
    expect(page_without_rows.locator("#learn_begin")).to_have_count(0)


@pytest.fixture
def page_without_rows(browser: Browser, tmp_path: Path) -> Iterator[Page]:
    with explorer(tmp_path, "six", "six-guess") as address, visit(browser, address) as page:
        shows(page, "#summary", "of 240")
        yield page
