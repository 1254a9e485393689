"""From rows to a learned structure to a sentence with its evidence, in a browser."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from contextwise import read, sample
from contextwise.data.options import RowOptions
from contextwise.data.rows import as_data, format_rows, summarize_data
from contextwise.errors import ContextwiseError
from contextwise.explorer import tab_rows
from contextwise.explorer.computations import (
    Recipe,
    evidence_of,
    learn_from,
    regions_of,
    stability_of,
)
from contextwise.explorer.job import Done, Upload
from contextwise.learning import learner_named
from contextwise.learning.parameters import parameters_of, parse_values
from contextwise.report.structures import evidence_text, key_of, one_model
from contextwise.testing import contexts_of, depends
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
    summary = summarize_data(str(path))
    shown = str(tab_rows.columns(Done(summary), Upload(str(path), "messy.csv")))
    assert "200 rows, 4 columns; 1 column to decide about" in shown
    assert "--bins age=4" in shown
    assert tab_rows.reading(Done(summary), advised=False).bins == ()
    how = tab_rows.reading(Done(summary), advised=True)
    rows = Upload(str(path), "messy.csv")
    label, model, words, _ = learn_from(Recipe(rows, how, "chow-liu", ()), quiet)
    assert label == "chow-liu on messy.csv"
    assert model.domain.names == ("age", "sex", "city")
    assert words.startswith("200 rows, 3 variables: ")
    with pytest.raises(ContextwiseError, match=r"^messy\.csv"):
        learn_from(Recipe(rows, RowOptions(), "chow-liu", ()), quiet)


def test_a_learner_that_finds_too_little_is_named() -> None:
    rows = Upload("berkeley", "berkeley")
    missed = learn_from(Recipe(rows, RowOptions(), "independent", ()), quiet).missed
    assert missed.startswith("3 of 3 pairs that the structure claims to be independent")
    assert "Try the learner" in missed


def test_settings_are_values_of_their_type() -> None:
    trees = learner_named("trees")
    assert parse_values(trees, {"penalty": " 2.5 ", "min_count": "10", "refit": "l1"}) == {
        "penalty": 2.5,
        "refit": "l1",
    }
    for texts, message in (
        ({"penalty": "much"}, "penalty must be a number, got 'much'"),
        ({"min_count": "1.5"}, "min_count must be a whole number"),
        ({"refit": "l3"}, "refit must be one of l1"),
    ):
        with pytest.raises(ContextwiseError, match=message):
            parse_values(trees, texts)


def test_every_offered_learner_has_a_form() -> None:
    for name in tab_rows.OFFERED:
        form = str(tab_rows.settings_form(name) or "")
        for parameter in parameters_of(learner_named(name)):
            assert tab_rows.setting_key(name, parameter) in form


def test_evidence_warns_of_the_rows_that_were_learned_from(tmp_path: Path) -> None:
    titanic = Upload("titanic", "titanic")
    model = learn_from(Recipe(titanic, RowOptions(), "edge-trees", ()), quiet).model
    one = one_model(model)
    assert evidence_of(one, titanic, quiet).learned_from
    half = tmp_path / "half.csv"
    labels = as_data("titanic").labels()[:1000]
    half.write_text("\n".join([",".join(model.domain.names), *(",".join(r) for r in labels)]))
    rows = Upload(str(half), "half.csv")
    tested = evidence_of(one, rows, quiet)
    assert not tested.learned_from
    assert tested.rows == 1000
    for file, words in ((rows, "no row tells"), (titanic, "706 of 706 rows, p = 0.073, could")):
        pair, found = regions_of(model, ("age", "survived"), file, 3, 20.0, quiet)
        assert found is not None
        (statement,) = pair
        assert evidence_text(statement, [found]).startswith(words)
    half.write_text("A,B\n1,2\n")
    with pytest.raises(ContextwiseError, match=r"half\.csv"):
        evidence_of(one, rows, quiet)
    assert regions_of(model, ("age", "survived"), rows, 3, 20.0, quiet)[1] is None


def test_stability_counts_the_resamples_that_have_a_sentence() -> None:
    recipe = Recipe(Upload("titanic", "titanic"), RowOptions(), "edge-trees", (("depth", "3"),))
    model = learn_from(recipe, quiet).model
    one = stability_of(one_model(model), recipe, 6, quiet)
    assert one.stability is not None
    statements = [statement for pair in (*one.somewhere, *one.never) for statement in pair]
    assert len(statements) == 2
    for statement in statements:
        pair = statement.first, statement.second
        region = [
            context
            for context in contexts_of(model.domain, pair)
            if all((context[x.variable] in x.states) != x.negated for x in statement.region)
        ]
        independent = [
            not any(depends(structure, pair, context) for context in region)
            for structure in one.stability.structures
        ]
        assert one.supports[key_of(statement)] == sum(independent)


# -- in a browser ----------------------------------------------------------------------------------


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
        page.fill("#set_edge_trees_depth", "many")
        page.click("#learn_begin")
        shows(page, "#learn_outcome", "depth must be a whole number, got 'many'")
        page.fill("#set_edge_trees_depth", "3")
        page.click("#learn_begin")
        shows(page, "#learn_outcome", "2,201 rows, 4 variables: 32 features, 5 pairs")
        with page.expect_download() as download:
            page.click("#learned_json")
        assert len(read(download.value.path(), format="json").domain) == 4
        page.get_by_role("button", name="Show it in the overview").click()
        shows(page, "#summary", "5 of 6 pairs depend; age and survived only when class≠3rd.")
        row = page.locator("#worst tr", has_text="age and survived are independent when class=3rd")
        expected = re.compile(r"25 %\s*706 of 706\s*0\.073.*OR [\d.]+\)\s*not contradicted")
        expect(row).to_contain_text(expected, timeout=PATIENCE)
        shows(page, "#worst", "The model was learned from these rows")
        shows(page, "#regions", "706 of 706 rows, p = 0.073, could show 0.009 (OR 2.3)")
        page.click("#stability_begin")
        expect(row).to_contain_text(re.compile(r"not contradicted\s*\d+ of 50"), timeout=PATIENCE)
        shows(page, "#stability_outcome", "Learning again from 50 % of the rows finds")
        assert serious_findings(page) == []
        tab(page, "Rows")
        page.select_option("#learner", "chow-liu")
        page.locator("#set_chow_liu_prior").wait_for()
        page.click("#learn_begin")
        shows(page, "#learn_outcome", "Learned chow-liu on people.csv")
        page.get_by_label("edge-trees on people.csv").check()
        tab(page, "Overview")
        shows(page, "#summary", "of all assertions differ")


@NEEDS_CHROMIUM
def test_rows_that_do_not_fit_a_model_say_so(browser: Browser, tmp_path: Path) -> None:
    (tmp_path / "other.csv").write_text("A,B\n0,1\n1,1\n")
    with explorer(tmp_path, "lung") as address, visit(browser, f"{address}?guess=") as page:
        shows(page, "#summary", "3 variables, 3 of 3 pairs depend")
        tab(page, "Rows")
        page.set_input_files("#rows", tmp_path / "other.csv")
        shows(page, "#columns", "other.csv: 2 rows, 2 columns")
        tab(page, "Overview")
        shows(page, "#worst", re.compile(r"other\.csv.*smoker", re.DOTALL))
        drawn = sample("lung", 400, rng=1)
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
        page.select_option("#learner", "gssl")
        page.fill("#set_gssl_count", "100000000")
        page.click("#learn_begin")
        page.locator("#learn_outcome .under-way").wait_for()
        tab(page, "Question")
        expect(page.locator("#ask_picked")).to_be_visible()
        tab(page, "Rows")
        page.click("#learn_stop")
        shows(page, "#learn_outcome", re.compile("stopped|Learned"))


@NEEDS_CHROMIUM
def test_rows_fit_on_a_phone(browser: Browser, address: str) -> None:
    phone = {"width": 390, "height": 844}
    with visit(browser, address, viewport=phone, has_touch=True) as page:
        shows(page, "#columns", "2,201 rows")
        assert page.evaluate("document.documentElement.scrollWidth") <= phone["width"]
