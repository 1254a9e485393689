"""The explorer in a real browser: runs that were stored, and statistics on request."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from pathlib import Path

import pytest

from contextwise import LogLinear, Structure, read
from contextwise.distributions import sample
from contextwise.evaluation import stability
from contextwise.learning import Trees
from contextwise.studies.learner_study import configuration_of, run_learners
from contextwise.support.store import Ended, Store
from pages import (
    NEEDS_CHROMIUM,
    Browser,
    expect,
    explorer,
    launched,
    serious_findings,
    shows,
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
        shows(page, "#run", "Study of KL-divergence: run")
        expect(page.locator("#run .study-figures img")).to_have_count(2)
        shows(page, "#run table", "false negatives")
        assert serious_findings(page) == []
        with page.expect_download() as download:
            page.click("#records_csv")
        assert Path(download.value.path()).read_text().count("fp,") == 30


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_run_of_the_study_of_learners_shows_what_it_holds(
    browser: Browser, learners_run: Path, tmp_path: Path, theme: str
) -> None:
    with (
        explorer(tmp_path, "--run", str(learners_run)) as address,
        visit(browser, address, color_scheme=theme) as page,
    ):
        shows(page, "#run", "Study of learners: learners")
        pictures = page.locator("#run .study-figures img")
        expect(pictures.first).to_be_visible()
        broken = "(all) => all.filter((one) => !one.naturalWidth).length"
        assert pictures.evaluate_all(broken) == 0
        shows(page, "#run", re.compile(r"From 16 units on 2 truths"))
        shows(page, "#run", "KL or CMLL")
        assert serious_findings(page) == []
        with page.expect_download() as download:
            page.click("#records_csv")
        assert download.value.suggested_filename == "learners-records.csv"
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
        shows(page, "#run", "Stability of the learned structure: stable")
        shows(page, "#run", "of 5 resamples")
        expect(page.locator("#run figure canvas")).to_be_visible()
        assert serious_findings(page) == []
        with page.expect_download() as download:
            page.click("#medoid_json")
        assert read(download.value.path(), format="json").domain == domain
