"""The explorer in a real browser: runs that were stored, and statistics on request."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from pathlib import Path

import pytest

from contextwise import Domain, LogLinear, Structure, read, write
from contextwise.distributions import sample
from contextwise.evaluation import stability
from contextwise.learning import Trees
from contextwise.studies.learners.configuration import configuration_of
from contextwise.studies.learners.run import run_learners
from contextwise.support.store import Ended, Store
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
HOSTILE = "<img src=x onerror=\"throw Error('run')\">"


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with launched() as found:
        yield found


def rows_of(model: Structure, count: int) -> list[list[str]]:
    """Rows in which the features of a model show."""
    drawn = sample(LogLinear(model, [3.0] * len(model)), count, rng=1, method="exact")
    return [list(map(str, row)) for row in drawn.tolist()]


def test_a_run_of_the_kl_study_is_opened_at_once(browser: Browser, tmp_path: Path) -> None:
    records = [
        {
            "structure": s,
            "side": side,
            "size": size,
            "parameters": p,
            "percentage": 10 * s,
            "kl": 0.01 * s + 0.001 * p,
        }
        for s, side, size, p in product(range(5), ("fp", "fn"), (100, 1000), range(3))
    ]
    with Store(tmp_path / "run", {"structures": 5}) as store:
        store.add(Ended("all", seconds=0.1, tries=1, records=records))
    with (
        explorer(tmp_path, "--run", str(tmp_path / "run")) as address,
        visit(browser, address) as page,
    ):
        expect(page.locator("#scatter .mark title")).to_have_count(10, timeout=PATIENCE)
        shows(page, "#effects", "false negatives")
        assert serious_findings(page) == []


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_run_of_the_study_of_learners_shows_what_it_holds(
    browser: Browser, learners_run: Path, tmp_path: Path, theme: str
) -> None:
    with (
        explorer(tmp_path, "--run", str(learners_run)) as address,
        visit(browser, address, color_scheme=theme) as page,
    ):
        shows(page, "#run", "Learners judged by the metric: learners")
        pictures = page.locator("#run .study-figures img")
        expect(pictures.first).to_be_visible()
        for title in ("Learning curves", "False positives against", "Ranks by four", "Time"):
            shows(page, "#run .study-figures", title)
        broken = "(all) => all.filter((one) => !one.naturalWidth).length"
        assert pictures.evaluate_all(broken) == 0
        shows(page, "#run", re.compile(r"From 16 units on 2 truths"))
        shows(page, "#run", "What KL and CMLL see of structures")
        assert serious_findings(page) == []
        with page.expect_download() as download:
            page.click("#units_csv")
        assert download.value.suggested_filename == "learners-units.csv"
        assert Path(download.value.path()).read_text().count("chow-liu") == 8
        wide = page.evaluate("document.documentElement.scrollWidth")
        assert wide <= 1280


@pytest.fixture(scope="module")
def learners_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs") / "learners"
    small = configuration_of(
        truths=["paper", "lung"],
        learners=["chow-liu", "independent"],
        sizes=(50, 100),
        repeats=2,
        unit_limit=30.0,
    )
    run_learners(replace(small, test_rows=100, oracle=False), folder)
    return folder


def test_a_run_of_resamples_says_how_stable_it_is(browser: Browser, tmp_path: Path) -> None:
    model = Structure({"A": 2, "B": 2, HOSTILE: 2}, [{"A": 1, "B": 1, HOSTILE: 1}])
    domain = model.domain
    rows = rows_of(model, 200)
    stability(rows, Trees(penalty=2), resamples=5, domain=domain, folder=tmp_path / "stable")
    with (
        explorer(tmp_path, "--run", str(tmp_path / "stable")) as address,
        visit(browser, address) as page,
    ):
        shows(page, "#run", "How stable is what was learned: stable")
        shows(page, "#run", "of 5 resamples")
        expect(page.locator("#run figure svg")).to_be_visible()
        assert serious_findings(page) == []
        with page.expect_download() as download:
            page.click("#medoid_json")
        assert read(download.value.path(), format="json").domain == domain


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
        shows(page, "#rows_name", "rows.csv")
        page.click("#check_begin")
        shows(page, "#check_outcome", "contradicted by the rows")
        shows(page, "#check_outcome", "A–B")
        assert serious_findings(page) == []
        with page.expect_download() as download:
            page.click("#check_csv")
        assert "adjusted_p_value" in Path(download.value.path()).read_text()
        page.select_option("#draws", "999")  # another question: its answer is not there yet
        expect(page.locator("#chance_outcome .lead")).to_have_count(0, timeout=PATIENCE)
        (tmp_path / "other.csv").write_text("A,B\n0,1\n")
        page.set_input_files("#rows", tmp_path / "other.csv")
        shows(page, "#rows_name", "other.csv")
        page.click("#check_begin")
        shows(page, "#check_outcome", re.compile(r"^other\.csv"))


def test_draws_can_be_stopped_and_what_is_done_is_kept(browser: Browser, with_rows: str) -> None:
    with visit(browser, f"{with_rows}?true=given%3A2") as page:
        tab(page, "Statistics")
        page.select_option("#draws", "9999")
        page.click("#chance_begin")
        shows(page, "#chance_outcome", re.compile(r"Drawing guesses by chance: [\d,]+ of 9,999"))
        page.click("#chance_stop")
        shows(page, "#chance_outcome", re.compile(r"[\d,]+ draws"))
        expect(page.locator("#chance_begin")).to_be_visible()


def test_rows_are_asked_for(page_without_rows: Page) -> None:
    tab(page_without_rows, "Statistics")
    shows(page_without_rows, "#rows_name", "No rows yet")
    expect(page_without_rows.locator("#check_begin")).to_have_count(0)


@pytest.fixture
def page_without_rows(browser: Browser, tmp_path: Path) -> Iterator[Page]:
    with explorer(tmp_path, "six", "six-guess") as address, visit(browser, address) as page:
        shows(page, "#summary", "240 assertions")
        yield page
