"""From rows to a learned structure to a sentence with its evidence, in a browser."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from contextwise import read, sample
from contextwise.data import read_data
from contextwise.data.options import RowOptions
from contextwise.data.rows import as_data, format_rows, summarize_data
from contextwise.errors import ContextwiseError
from contextwise.evidence.claim_tests import judge_claims
from contextwise.explorer import pair_card, tab_rows
from contextwise.explorer.computations import Recipe, analyse_claims, learn_from, read_uploads
from contextwise.explorer.job import Done, Upload
from contextwise.learning import learner_named
from contextwise.learning.parameters import parameters_of
from pages import (
    NEEDS_CHROMIUM,
    PATIENCE,
    Browser,
    expect,
    explorer,
    launched,
    serious_findings,
    shows,
    tab,
    visit,
)


def quiet(words: str, done: int, total: int) -> None:
    """Report progress to nobody."""


def messy(path: Path) -> Path:
    lines = [f"{k},{20 + 7 * k % 41},{'fm'[k % 2]},c{k % 3}" for k in range(200)]
    path.write_text("\n".join(["id,age,sex,city", *lines]) + "\n")
    return path


def test_advice_is_shown_and_followed(tmp_path: Path) -> None:
    path = messy(tmp_path / "messy.csv")
    rows = Upload(str(path), "messy.csv")
    shown = str(tab_rows.columns(Done(summarize_data(str(path))), rows))
    assert "200 rows, 4 columns." in shown
    assert "41 different numbers: a measurement; 4 bins" in shown
    analysis = learn_from(Recipe(rows, RowOptions(), "chow-liu", ()), quiet)
    assert analysis.title == "messy.csv"
    assert [*map(len, analysis.data.domain.states)] == [4, 2, 3]
    assert analysis.structure.evidence is analysis.evidence


def test_choices_are_options_of_reading(tmp_path: Path) -> None:
    use, cut, na = (source.key for source in (tab_rows.USE, tab_rows.CUT, tab_rows.NA))
    chosen = {(use, "city"): "drop", (cut, "age"): " 30|50 ", (na, "sex"): "x, y"}
    how = tab_rows.reading(chosen, "state")
    expected = "--drop city --missing state --na sex=x,sex=y --bins age=30|50"
    assert " ".join(how.words()) == expected
    assert tab_rows.reading({(use, "age"): "category", (cut, "city"): "2"}).category == ("age",)
    assert tab_rows.reading({(use, "age"): "", (cut, "age"): ""}) == RowOptions()
    rows = Upload(str(messy(tmp_path / "messy.csv")), "messy.csv")
    learned = learn_from(Recipe(rows, how, "chow-liu", ()), quiet)
    assert learned.data.domain.names == ("age", "sex")
    assert len(learned.data.domain.states[0]) == 3
    wrong = tab_rows.reading({(cut, "age"): "many"})
    with pytest.raises(ContextwiseError, match=r"bins must be a number.*many"):
        learn_from(Recipe(rows, wrong, "chow-liu", ()), quiet)


def test_two_columns_of_counts_are_refused(tmp_path: Path) -> None:
    rows = Upload(str(messy(tmp_path / "messy.csv")), "messy.csv")
    recipe = Recipe(rows, RowOptions(), "chow-liu", (), counting=("id", "age"))
    with pytest.raises(ContextwiseError, match=r"one column can say .* got id and age"):
        learn_from(recipe, quiet)


def test_rows_among_the_models_are_sent_to_their_tab(tmp_path: Path) -> None:
    path = str(messy(tmp_path / "messy.csv"))
    ((_, message),) = read_uploads([(path, "messy.csv")], quiet)
    assert message == "messy.csv: this is not a model; choose a file of rows in the tab Rows"


def test_a_learner_that_finds_too_little_is_contradicted() -> None:
    rows = Upload("berkeley", "berkeley")
    analysis = learn_from(Recipe(rows, RowOptions(), "independent", ()), quiet)
    assert len(analysis.evidence.contradicted) == 3
    assert {each.verdict for each in analysis.pairs} <= {"associated", "associated, not on average"}
    shown = str(tab_rows.learned_view("independent on berkeley", analysis))
    assert "associated" in shown


def test_the_outcome_is_the_question() -> None:
    rows = Upload("titanic", "titanic")
    recipe = Recipe(rows, RowOptions(), "independent", (), outcome="survived")
    analysis = learn_from(recipe, quiet)
    shown = str(tab_rows.learned_view("independent on titanic", analysis))
    assert "What goes with survived" in shown
    assert "&lt; 0.001" in shown
    assert analysis.outcome == "survived"


def test_every_offered_learner_has_a_form() -> None:
    for name in tab_rows.OFFERED:
        form = str(tab_rows.settings_form(name) or "")
        for parameter in parameters_of(learner_named(name)):
            assert tab_rows.setting_key(name, parameter) in form


def test_rows_test_the_claims_of_a_model(tmp_path: Path) -> None:
    titanic = Upload("titanic", "titanic")
    model = learn_from(Recipe(titanic, RowOptions(), "pair-blocks", ()), quiet).structure
    half = tmp_path / "half.csv"
    labels = as_data("titanic").labels()[1::2]
    half.write_text("\n".join([",".join(model.domain.names), *(",".join(r) for r in labels)]))
    rows = Upload(str(half), "half.csv")
    tested = analyse_claims(model, rows, 60.0, quiet)
    assert tested.evidence.count == 1100
    assert tested.evidence.claims == judge_claims(model, read_data(half, model.domain)).claims
    card = str(pair_card.card(tested, ("survived", "sex")))
    assert "<b>sex</b> and <b>survived</b> are related given the 2 other columns as coded" in card
    assert "1 claim of the structure" in card
    half.write_text(half.read_text().replace(",yes", ",no"))
    alike = analyse_claims(model, rows, 60.0, quiet)
    assert "survived: the same in all rows" in str(pair_card.card(alike, ("survived", "age")))
    half.write_text("A,B\n1,2\n")
    with pytest.raises(ContextwiseError, match=r"half\.csv"):
        analyse_claims(model, rows, 60.0, quiet)


def test_claims_of_a_learned_model_are_found_again_in_halves() -> None:
    recipe = Recipe(Upload("titanic", "titanic"), RowOptions(), "chow-liu", (), 3)
    analysis = learn_from(recipe, quiet)
    assert analysis.halves is not None
    assert analysis.halves.count == 3
    assert analysis.halves.claims.keys() == set(analysis.evidence.claims)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with launched() as found:
        yield found


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("rows")
    people = as_data("titanic")
    (folder / "people.csv").write_text(format_rows(np.array(people.labels()), people.domain.names))
    with explorer(folder, str(folder / "people.csv")) as found:
        yield found


@NEEDS_CHROMIUM
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_from_rows_to_a_sentence_with_its_evidence(
    browser: Browser, address: str, theme: str
) -> None:
    with visit(browser, address, color_scheme=theme) as page:
        shows(page, "#columns", "people.csv: 2,201 rows, 4 columns.")
        shows(page, "#columns", "crew (885), 3rd (706), 1st (325)")
        assert serious_findings(page) == []
        page.select_option("#learner", "pair-blocks")
        page.get_by_text("Settings of the learner").click()
        page.fill("#set_pair_blocks_depth", "many")
        page.click("#learn_begin")
        shows(page, "#learn_outcome", "depth must be a whole number, got 'many'")
        page.fill("#set_pair_blocks_depth", "3")
        page.click("#learn_begin")
        shows(page, "#learn_outcome", "Learned pair-blocks on people.csv from 2,201 rows;")
        answer = page.locator("#learn_outcome h1")
        box = answer.bounding_box()
        assert box is not None
        assert box["y"] < 700  # above the fold
        expect(page.locator("#learn_outcome table.main")).to_contain_text("sex – survived")
        assert serious_findings(page) == []
        with page.expect_download() as download:
            page.click("#learned_json")
        model = read(download.value.path(), format="json")
        assert model.evidence is not None
        tab(page, "Overview")
        shows(page, "#summary", "6 pairs:")
        page.locator("#worst").get_by_role("button", name="sex – survived").first.click()
        shows(page, "#regions", "sex – survived")
        shows(page, "#regions", re.compile("supported|contradicted"))
        assert serious_findings(page) == []
        tab(page, "Rows")
        page.select_option("#outcome", "survived")
        page.click("#learn_begin")
        shows(page, "#learn_outcome", "What goes with survived")
        tab(page, "Rows")
        page.select_option("#outcome", "")
        page.get_by_label("Use of age").select_option("drop")
        page.click("#learn_begin")
        again = page.locator("#learn_outcome", has_text="Learned pair-blocks on people.csv")
        again.filter(has_not_text="age – survived").wait_for()
        tab(page, "Rows")
        page.select_option("#learner", "chow-liu")
        page.locator("#set_chow_liu_prior").wait_for()
        page.click("#learn_begin")
        shows(page, "#learn_outcome", "Learned chow-liu on people.csv")
        page.get_by_label("pair-blocks on people.csv").check()
        tab(page, "Overview")
        shows(page, "#summary", "of all assertions differ")


@NEEDS_CHROMIUM
def test_rows_that_do_not_fit_a_model_say_so(browser: Browser, tmp_path: Path) -> None:
    (tmp_path / "other.csv").write_text("A,B\n0,1\n1,1\n")
    with explorer(tmp_path, "lung") as address, visit(browser, f"{address}?guess=") as page:
        shows(page, "#summary", "3 pairs: 2 depend in some contexts only")
        tab(page, "Rows")
        page.set_input_files("#rows", tmp_path / "other.csv")
        shows(page, "#columns", "other.csv: 2 rows, 2 columns")
        tab(page, "Overview")
        shows(page, "#worst", re.compile(r"other\.csv.*smoker", re.DOTALL))
        drawn = sample("lung", 400, seed=1)
        (tmp_path / "fitting.csv").write_text(drawn.to_csv(index=False))
        tab(page, "Rows")
        page.set_input_files("#rows", tmp_path / "fitting.csv")
        tab(page, "Overview")
        expect(page.locator("#worst td", has_text="contradicted").first).to_be_visible(
            timeout=PATIENCE
        )


@NEEDS_CHROMIUM
def test_learning_can_be_stopped_and_does_not_block_the_page(
    browser: Browser, tmp_path: Path
) -> None:
    names = [f"v{k}" for k in range(40)]
    lines = (
        ",".join(str((k * k + j * 7 + k // (j + 1)) % 3) for j in range(40)) for k in range(900)
    )
    (tmp_path / "wide.csv").write_text("\n".join([",".join(names), *lines]))
    with explorer(tmp_path, str(tmp_path / "wide.csv")) as address, visit(browser, address) as page:
        shows(page, "#columns", "900 rows, 40 columns")
        page.get_by_text("Settings of the learner").click()
        page.select_option("#learner", "gssl")
        page.fill("#set_gssl_count", "100000000")
        page.click("#learn_begin")
        page.locator("#learn_outcome .under-way").wait_for()
        tab(page, "Question")
        expect(page.locator("#ask")).to_be_visible()
        tab(page, "Rows")
        page.click("#learn_stop")
        shows(page, "#learn_outcome", re.compile("stopped|Learned"))


@NEEDS_CHROMIUM
def test_rows_fit_on_a_phone(browser: Browser, address: str) -> None:
    phone = {"width": 390, "height": 844}
    with visit(browser, address, viewport=phone, has_touch=True) as page:
        shows(page, "#columns", "2,201 rows")
        assert page.evaluate("document.documentElement.scrollWidth") <= phone["width"]
