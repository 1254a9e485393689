"""The statistics of the explorer in a browser: chance, and claims against rows."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from contextwise import Domain, LogLinear, Structure, write
from contextwise.distributions import sample
from hard import hard_models
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
    drawn = sample(LogLinear(model, [3.0] * len(model)), count, rng=1, method="exact")
    return [list(map(str, row)) for row in drawn.tolist()]


@pytest.fixture(scope="module")
def with_rows(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """An explorer of two models and rows: the guess lacks a dependence that the rows show.

    Of two more models, ten thousand comparisons take many minutes.
    """
    folder = tmp_path_factory.mktemp("rows")
    domain = Domain({"A": 2, "B": 2, "C": 3, "D": 2})
    true = Structure(domain, ["A=1 & B=1 & C=2", "C=1 & D=1"])
    write(true, folder / "true.json")
    write(Structure(domain, ["C=1 & D=1", "A=1 & C=1 & D=0"]), folder / "guess.json")
    lines = [",".join(domain.names), *(",".join(row) for row in rows_of(true, 600))]
    (folder / "rows.csv").write_text("\n".join(lines))
    for name, model in zip(("slow.json", "slow-guess.json"), hard_models(50, 75), strict=True):
        write(model, folder / name)
    names = ("true.json", "guess.json", "slow.json", "slow-guess.json")
    models = [str(folder / name) for name in names]
    with explorer(folder, *models, "--data", str(folder / "rows.csv")) as address:
        yield address


def test_chance_and_checks_are_asked_for(browser: Browser, with_rows: str, tmp_path: Path) -> None:
    with visit(browser, with_rows) as page:
        tab(page, "Statistics")
        page.select_option("#draws", "99")
        page.click("#chance_begin")
        shows(page, "#chance_outcome", re.compile("chance"))
        shows(page, "#chance_outcome", "skill")
        assert serious_findings(page) == []
        page.select_option("#draws", "999")  # another question: its answer is not there yet
        expect(page.locator("#chance_outcome .verdict")).to_have_count(0, timeout=PATIENCE)
        tab(page, "Rows")
        shows(page, "#columns", "rows.csv")
        page.select_option("#checked", "guess")
        page.click("#check_begin")
        shows(page, "#check_outcome", "The rows contradict")
        shows(page, "#check_outcome", "A–B")
        assert serious_findings(page) == []
        with page.expect_download() as download:
            page.click("#check_csv")
        assert "adjusted_p_value" in Path(download.value.path()).read_text()
        (tmp_path / "other.csv").write_text("A,B\n0,1\n")
        page.set_input_files("#rows", tmp_path / "other.csv")
        shows(page, "#columns", "other.csv")
        page.click("#check_begin")
        shows(page, "#check_outcome", re.compile(r"^other\.csv"))


def test_draws_can_be_stopped_and_what_is_done_is_kept(browser: Browser, with_rows: str) -> None:
    with visit(browser, f"{with_rows}?true=given%3A2") as page:
        tab(page, "Statistics")
        page.select_option("#draws", "9999")
        page.click("#chance_begin")
        shows(page, "#chance_outcome", re.compile(r"Drawing random guesses: [\d,]+ of 9,999"))
        page.click("#chance_stop")
        shows(page, "#chance_outcome", re.compile(r"[\d,]+ draws"))
        expect(page.locator("#chance_begin")).to_be_visible()


def test_rows_are_asked_for(page_without_rows: Page) -> None:
    tab(page_without_rows, "Rows")
    shows(page_without_rows, "#columns", "No rows yet")
    expect(page_without_rows.locator("#check_begin")).to_have_count(0)


@pytest.fixture
def page_without_rows(browser: Browser, tmp_path: Path) -> Iterator[Page]:
    with explorer(tmp_path, "six", "six-guess") as address, visit(browser, address) as page:
        shows(page, "#summary", "of 240")
        yield page
